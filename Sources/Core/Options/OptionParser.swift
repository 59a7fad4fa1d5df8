import CLibc

/// What a command line said.
public struct ParsedOptions: Sendable, Equatable {
  /// One option as given: its long name, and its argument (empty for a flag).
  public struct Item: Sendable, Equatable {
    /// The long name of the table.
    public let name: String
    /// The argument as the name of a file, see `FileName`; empty for a flag.
    public let path: String
    /// The argument as text: what is not UTF-8 in it is U+FFFD.
    public var value: String { FileName.repaired(path) }
  }

  /// In the order given.
  public var items: [Item]
  /// The words that are no options, as names of files, see `FileName`.
  public var paths: [String]
  /// The words that are no options, as text.
  public var operands: [String] { paths.map(FileName.repaired) }
}

/// Why a command line cannot be understood: one line for the user.
public struct UsageError: Error, Equatable, Sendable {
  /// What is wrong, lower case: `unknown option --colour`.
  public let problem: String

  /// - Parameter problem: one line, lower case, no full stop.
  public init(_ problem: String) { self.problem = problem }
}

extension OptionTable {
  /// What getopt_long returns for the first option of the table by its long
  /// name: past every letter, and past what musl makes of a byte over 0x7f.
  private static let longBase: Int32 = 1 << 20

  /// Reads a command line with getopt_long(3): abbreviations of long names,
  /// grouped letters, `--` and operands between options work as that says
  /// (with POSIXLY_CORRECT set, the first operand ends the options).
  ///
  /// - Parameter arguments: the words after the command's name.
  /// - Throws: `UsageError`.
  public func parse(_ arguments: [String]) throws(UsageError) -> ParsedOptions {
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
    var parsed = ParsedOptions(items: [], paths: [])
    while true {
      let state = clibc_getopt_next(
        Int32(words.count), argv, shortOptions, names.baseAddress)
      if state.result == -1 {
        let operands = state.index < words.count ? Int(state.index)..<words.count : 0..<0
        parsed.paths = operands.map { word(Int32($0)) }
        return parsed
      }
      guard let option = option(of: state.result) else {
        throw UsageError(
          problem(state, current: word(state.index), before: word(state.index - 1)))
      }
      let value = state.argument.map { String(cString: $0) } ?? ""
      parsed.items.append(ParsedOptions.Item(name: option.long, path: value))
    }
  }

  /// The letters as getopt_long takes them, without String's joined, whose
  /// types would be most of the start of a small command.
  private func letters() -> [CChar] {
    var letters = [CChar(0x3a)]
    for option in options {
      guard let letter = option.short?.asciiValue else { continue }
      letters.append(CChar(bitPattern: letter))
      if option.argument != nil { letters.append(0x3a) }
      if option.isArgumentOptional { letters.append(0x3a) }
    }
    letters.append(0)
    return letters
  }

  private func longNames() -> UnsafeMutableBufferPointer<CLibc.option> {
    let names = UnsafeMutableBufferPointer<CLibc.option>.allocate(capacity: options.count + 1)
    names.initialize(repeating: CLibc.option(name: nil, has_arg: 0, flag: nil, val: 0))
    for (index, option) in options.enumerated() {
      names[index] = CLibc.option(
        name: UnsafePointer(option.long.withCString { strdup($0) }),
        has_arg: option.argument == nil ? 0 : option.isArgumentOptional ? 2 : 1,
        flag: nil, val: Self.longBase + Int32(index))
    }
    return names
  }

  /// The option of a number of getopt_long: a letter, or a long name's.
  private func option(of number: Int32) -> Option? {
    let index = Int(number - Self.longBase)
    if options.indices.contains(index) { return options[index] }
    guard let letter = letter(number), letter != "?", letter != ":" else { return nil }
    return options.first { $0.short == letter }
  }

  private func letter(_ number: Int32) -> Character? {
    (0x21...0x7e).contains(number) ? Character(Unicode.Scalar(UInt8(number))) : nil
  }

  /// - Parameters:
  ///   - current: the word that is read next; the faulty one if letters of it
  ///     are left.
  ///   - before: the word before it.
  private func problem(_ state: clibc_getopt, current: String, before: String) -> String {
    let index = Int(state.unknown - Self.longBase)
    if options.indices.contains(index) {
      // BSD says ":" of both, glibc "?" of one.
      let option = options[index]
      return option.argument.map { "option --\(option.long) needs an argument: \($0)" }
        ?? "option --\(option.long) takes no argument"
    }
    if let letter = letter(state.unknown) {
      let argument = options.first { $0.short == letter }?.argument
      return argument.map { "option -\(letter) needs an argument: \($0)" }
        ?? "unknown option -\(letter)"
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
    let matches = options.filter { "--\($0.long)".hasPrefix(name) }
    return matches.count > 1
      ? "option \(name) is ambiguous: \(matches.map { "--\($0.long)" }.joined(separator: ", "))"
      : "unknown option \(name)"
  }
}
