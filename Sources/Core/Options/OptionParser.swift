import CLibc

/// What getopt_long(3) made of a command line.
public struct ParsedWords: Equatable, Sendable {
  /// One option as given.
  public struct Item: Equatable, Sendable {
    /// Of `CommandUsage.entries`.
    public let index: Int
    /// As the name of a file, see `FileName`; empty for a flag.
    public let argument: String
  }

  /// In the order given.
  public var items: [Item] = []
  /// The words that are not options, as names of files, see `FileName`.
  public var paths: [String] = []
}

extension CommandUsage {
  /// What getopt_long returns for the first option of the table by its long
  /// name: past every letter, and past what musl makes of a byte over 0x7f.
  private static let longBase: Int32 = 1 << 20

  /// Reads a command line with getopt_long(3): abbreviations of long names,
  /// grouped letters, `--` and operands between options work as that says
  /// (with POSIXLY_CORRECT set, the first operand ends the options).
  public func parse(_ arguments: [String]) throws(UsageError) -> ParsedWords {
    clibc_getopt_lock()
    defer { clibc_getopt_unlock() }
    clibc_getopt_reset()

    // getopt_long permutes the words: memory of ours, not an array's.
    let words = [program] + joined(arguments)
    let argv = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
      capacity: words.count + 1)
    for (index, word) in words.enumerated() { argv[index] = word.withCString { strdup($0) } }
    argv[words.count] = nil
    defer {
      for index in words.indices { free(argv[index]) }
      argv.deallocate()
    }
    let names = longNames()
    defer {
      for name in names { free(UnsafeMutableRawPointer(mutating: name.name)) }
      names.deallocate()
    }
    let shortOptions = letters()

    func word(_ index: Int32) -> String {
      words.indices.contains(Int(index)) ? argv[Int(index)].map { String(cString: $0) } ?? "" : ""
    }
    var parsed = ParsedWords()
    while true {
      let state = clibc_getopt_next(
        Int32(words.count), argv, shortOptions, names.baseAddress)
      if state.result == -1 {
        let operands = state.index < words.count ? Int(state.index)..<words.count : 0..<0
        parsed.paths = operands.map { word(Int32($0)) }
        return parsed
      }
      guard let index = index(of: state.result) else {
        throw UsageError(
          problem(state, current: word(state.index), before: word(state.index - 1)))
      }
      let value = state.argument.map { String(cString: $0) } ?? ""
      parsed.items.append(ParsedWords.Item(index: index, argument: value))
    }
  }

  /// Without String's joined, whose types would be most of the start of a small command.
  private func letters() -> [CChar] {
    var letters = endsAtOperand ? [CChar(0x2b), CChar(0x3a)] : [CChar(0x3a)]
    for option in entries {
      for letter in [option.letter, option.formerLetter] {
        guard let letter = letter?.asciiValue else { continue }
        letters.append(CChar(bitPattern: letter))
        if option.argument != nil { letters.append(0x3a) }
        if option.isArgumentOptional { letters.append(0x3a) }
      }
    }
    letters.append(0)
    return letters
  }

  private func longNames() -> UnsafeMutableBufferPointer<CLibc.option> {
    let names = UnsafeMutableBufferPointer<CLibc.option>.allocate(capacity: entries.count + 1)
    names.initialize(repeating: CLibc.option(name: nil, has_arg: 0, flag: nil, val: 0))
    for (index, option) in entries.enumerated() {
      names[index] = CLibc.option(
        name: UnsafePointer(option.name.withCString { strdup($0) }),
        has_arg: option.argument == nil ? 0 : option.isArgumentOptional ? 2 : 1,
        flag: nil, val: Self.longBase + Int32(index))
    }
    return names
  }

  private func index(of number: Int32) -> Int? {
    let index = Int(number - Self.longBase)
    if entries.indices.contains(index) { return index }
    guard let letter = letter(number), letter != "?", letter != ":" else { return nil }
    return entries.firstIndex { $0.goes(by: letter) }
  }

  private func letter(_ number: Int32) -> Character? {
    (0x21...0x7e).contains(number) ? Character(Unicode.Scalar(UInt8(number))) : nil
  }

  private func problem(_ state: clibc_getopt, current: String, before: String) -> String {
    let index = Int(state.unknown - Self.longBase)
    if entries.indices.contains(index) {
      // BSD says ":" of both, glibc "?" of one.
      let option = entries[index]
      return option.argument.map { "option --\(option.name) needs an argument: \($0)" }
        ?? "option --\(option.name) takes no argument"
    }
    if let letter = letter(state.unknown) {
      // A dash is no letter: it is told with the one in front of it.
      for word in [current, before] where letter == "-" && word.hasPrefix("-") {
        guard let dash = word.dropFirst(2).firstIndex(of: "-"), !word.hasPrefix("--") else {
          continue
        }
        return "unknown option -\(word[word.index(before: dash)...])"
      }
      let argument = entries.first { $0.goes(by: letter) }?.argument
      return argument.map { "option -\(letter) needs an argument: \($0)" }
        ?? "unknown option -\(letter)" + guess("-\(letter)")
    }
    if state.unknown != 0 {
      // A byte of a letter that is not ASCII, or a control character.
      for word in [current, before] where word.hasPrefix("-") && !word.hasPrefix("--") {
        if let letter = word.first(where: { $0.asciiValue.map { $0 < 0x21 || $0 > 0x7e } ?? true })
        {
          return "unknown option -\(letter)"
        }
      }
    }
    let name = before.split(separator: "=", maxSplits: 1).first.map(String.init) ?? before
    let matches = entries.filter { "--\($0.name)".hasPrefix(name) }
    return matches.count > 1
      ? "option \(name) is ambiguous: \(matches.map { "--\($0.name)" }.joined(separator: ", "))"
      : "unknown option \(name)" + hint(option: name)
  }

  /// What an error about a long option adds that there is not.
  public func hint(option word: String) -> String {
    guard word.hasPrefix("--") else { return "" }
    let name = word.dropFirst(2).prefix { $0 != "=" }
    let guess = guess("--\(name)")
    if !guess.isEmpty { return guess }
    let near = NearestWord.hint(for: String(name), among: entries.map(\.name), after: "--")
    return near.isEmpty ? hint(choice: name) : near
  }

  private func guess(_ option: String) -> String { guesses[option].map { ": \($0)" } ?? "" }

  /// Whoever types `--errors` means what an option has among its words: `--domain error`.
  private func hint(choice name: Substring) -> String {
    let one = name.last == "s" ? name.dropLast() : name
    for option in entries where option.name != "completions" {
      guard case .words(let words) = option.completion else { continue }
      if let word = words.first(where: { $0 == name || $0 == one }) {
        return ": did you mean --\(option.name) \(word)?"
      }
    }
    return ""
  }

  /// The words of a command line with each optional argument joined to its option by
  /// `=`, which is where getopt_long(3) looks for it. The word behind such an option is
  /// its argument when it can be nothing else: a path, with a slash and without `://`.
  func joined(_ arguments: [String]) -> [String] {
    guard entries.contains(where: \.isArgumentOptional) else { return arguments }
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

  func waiting(_ word: String) -> OptionEntry? {
    if word.hasPrefix("--") {
      if word.utf8.contains(UInt8(ascii: "=")) { return nil }
      let name = word.dropFirst(2)
      if let exact = entries.first(where: { $0.name == name }) {
        return exact.argument == nil ? nil : exact
      }
      let matches = entries.filter { $0.name.hasPrefix(name) }
      return matches.count == 1 && matches[0].argument != nil ? matches[0] : nil
    }
    guard word.hasPrefix("-") else { return nil }
    let letters = word.dropFirst()
    for (index, letter) in zip(letters.indices, letters) {
      guard let option = entries.first(where: { $0.goes(by: letter) }) else { return nil }
      if option.argument != nil {
        return letters.index(after: index) == letters.endIndex ? option : nil
      }
    }
    return nil
  }
}
