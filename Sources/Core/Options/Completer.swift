/// Answers a shell that asks what a word of a command line could become. The scripts of all
/// shells ask the command itself, so that this is the one place that knows.
struct Completer {
  let usage: CommandUsage

  /// A line for each word that is offered, fitting or not; behind a tab what it means.
  /// `:file` stands for the names of files.
  func answer(_ words: [String]) -> String {
    var words = words
    var isApart = false
    while let mark = words.indices.dropFirst().first(where: { index in
      words[index] == "=" && words[index - 1].hasPrefix("--")
    }) {
      isApart = mark >= words.count - 2
      words[mark - 1] += "=" + (mark + 1 < words.count ? words[mark + 1] : "")
      words.removeSubrange(mark..<min(mark + 2, words.count))
    }
    let word = words.popLast() ?? ""
    var operands: [String] = []
    var open: OptionEntry?
    var areOver = false
    for word in words {
      if open != nil {
        open = nil
      } else if areOver || word == "-" || !word.hasPrefix("-") {
        operands.append(word)
      } else if word == "--" {
        areOver = true
      } else if let option = usage.waiting(word), !option.isArgumentOptional {
        open = option
      }
    }
    if let open { return argument(of: open, word, in: "") }
    if areOver || !word.hasPrefix("-") {
      return lines(usage.operands.words(behind: operands), in: "")
    }
    if let mark = word.firstIndex(of: "="), word.hasPrefix("--") {
      guard let option = usage.waiting(String(word[..<mark])) else { return "" }
      let start = word.index(after: mark)
      return argument(of: option, String(word[start...]), in: isApart ? "" : String(word[..<start]))
    }
    if !word.hasPrefix("--"), word.utf8.count > 2,
      let end = word.indices.dropFirst(2).first(where: { usage.waiting(String(word[..<$0])) != nil }
      ),
      let option = usage.waiting(String(word[..<end]))
    {
      return argument(of: option, String(word[end...]), in: String(word[..<end]))
    }
    return usage.sorted.map { option in
      [option.letter.map { "-\($0)" }, option.name.isEmpty ? nil : "--\(option.name)"]
        .compactMap { $0.map { "\($0)\t\(option.help)\n" } }.joined()
    }.joined()
  }

  private func argument(of option: OptionEntry, _ word: String, in start: String) -> String {
    let words = option.completion.words(behind: [])
    guard option.isList, let comma = word.lastIndex(of: ",") else {
      return lines(words, in: start)
    }
    let chosen = word[...comma]
    let taken = chosen.split(separator: ",").map(String.init)
    return lines(words.filter { !taken.contains($0) }, in: start + chosen)
  }

  private func lines(_ words: [String], in start: String) -> String {
    words.map { $0 == Completion.files ? "\($0)\n" : "\(start)\($0)\n" }.joined()
  }
}
