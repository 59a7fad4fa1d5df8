extension OptionTable {
  /// The words of a command line with each optional argument joined to its option by
  /// `=`, which is where getopt_long(3) looks for it. The word behind such an option is
  /// its argument when it can be nothing else: a path, with a slash and without `://`.
  func joined(_ arguments: [String]) -> [String] {
    guard options.contains(where: \.isArgumentOptional) else { return arguments }
    var words: [String] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
      words.append(word)
      if word == "--" { break }
      guard let option = waiting(word), let next = rest.first else { continue }
      if !option.isArgumentOptional {
        words.append(next)
      } else if !next.hasPrefix("-"), next.utf8.contains(UInt8(ascii: "/")), !next.holds("://") {
        words[words.count - 1] = word.hasPrefix("--") ? "\(word)=\(next)" : word + next
      } else {
        continue
      }
      rest.removeFirst()
    }
    return words + rest
  }

  /// The option whose argument would be the next word.
  private func waiting(_ word: String) -> Option? {
    if word.hasPrefix("--") {
      if word.utf8.contains(UInt8(ascii: "=")) { return nil }
      let name = word.dropFirst(2)
      if let exact = options.first(where: { $0.long == name }) {
        return exact.argument == nil ? nil : exact
      }
      let matches = options.filter { $0.long.hasPrefix(name) }
      return matches.count == 1 && matches[0].argument != nil ? matches[0] : nil
    }
    guard word.hasPrefix("-") else { return nil }
    let letters = word.dropFirst()
    for (index, letter) in zip(letters.indices, letters) {
      guard let option = options.first(where: { $0.short == letter }) else { return nil }
      if option.argument != nil {
        return letters.index(after: index) == letters.endIndex ? option : nil
      }
    }
    return nil
  }
}
