import CLibc

/// What a command line said.
public struct ParsedOptions: Sendable, Equatable {
  /// One option as given: its long name, and its argument (empty for a flag).
  public struct Item: Sendable, Equatable {
    /// The long name of the table.
    public let name: String
    /// The argument; empty for a flag.
    public let value: String
  }

  /// In the order given.
  public var items: [Item]
  /// The words that are no options.
  public var operands: [String]
}

/// Why a command line cannot be understood: one line for the user.
public struct UsageError: Error, Equatable, Sendable {
  /// What is wrong, lower case: `unknown option --colour`.
  public let problem: String

  /// - Parameter problem: one line, lower case, no full stop.
  public init(_ problem: String) { self.problem = problem }
}

extension OptionTable {
  /// Reads a command line with getopt_long(3): abbreviations of long names,
  /// grouped letters, `--` and operands between options work as that says.
  ///
  /// - Parameter arguments: the words after the command's name.
  /// - Throws: `UsageError`.
  public func parse(_ arguments: [String]) throws(UsageError) -> ParsedOptions {
    clibc_getopt_lock()
    defer { clibc_getopt_unlock() }
    clibc_getopt_reset()

    let words = [program] + arguments
    var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    argv.append(nil)
    // getopt permutes the array: free what was allocated, not what it holds last.
    let owned = argv
    defer { for word in owned { free(word) } }

    var names = options.map { option in
      CLibc.option(
        name: UnsafePointer(strdup(option.long)), has_arg: option.argument == nil ? 0 : 1,
        flag: nil, val: 0)
    }
    defer { for name in names { free(UnsafeMutablePointer(mutating: name.name)) } }
    for index in names.indices { names[index].val = Int32(1000 + index) }
    names.append(CLibc.option(name: nil, has_arg: 0, flag: nil, val: 0))
    let letters =
      ":"
      + options.compactMap { option in
        option.short.map { option.argument == nil ? "\($0)" : "\($0):" }
      }.joined()

    var parsed = ParsedOptions(items: [], operands: [])
    var index = 1
    while true {
      let word = index < words.count ? argv[max(index, 1)].map { String(cString: $0) } : nil
      let state = clibc_getopt_next(Int32(words.count), argv, letters, names)
      defer { index = Int(state.index) }
      if state.result == -1 {
        parsed.operands = argv[Int(state.index)..<words.count].map { String(cString: $0!) }
        return parsed
      }
      if state.result == 63 || state.result == 58 {  // "?" and ":"
        let last = argv[Int(state.index) - 1].map { String(cString: $0) } ?? word ?? ""
        throw UsageError(problem(state, word: last))
      }
      let option = try option(for: state)
      parsed.items.append(
        ParsedOptions.Item(
          name: option.long, value: state.argument.map { String(cString: $0) } ?? ""))
    }
  }

  /// Reads the command line of the process and answers `--help`, `--version`
  /// and `--completions`; a mistake ends the process with the usage, status 2.
  public func parseOrExit() -> ParsedOptions {
    StandardFiles.ensure()
    let diagnostics = Diagnostics(program: program)
    do throws(UsageError) {
      let parsed = try parse(Process.arguments)
      for item in parsed.items {
        switch item.name {
        case "help": answer(help, diagnostics)
        case "version": answer("\(program) \(suiteVersion)\n", diagnostics)
        case "completions":
          guard let text = completions(shell: item.value) else {
            throw UsageError("--completions \(item.value): not bash, zsh, fish or list")
          }
          answer(text, diagnostics)
        default: break
        }
      }
      return parsed
    } catch {
      diagnostics.usage(error.problem, self)
    }
  }

  private func answer(_ text: String, _ diagnostics: Diagnostics) -> Never {
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(text)
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
    Process.exit(.success)
  }

  private func option(for state: clibc_getopt) throws(UsageError) -> Option {
    if state.result >= 1000 { return options[Int(state.result) - 1000] }
    let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: state.result)))
    guard let option = options.first(where: { $0.short == letter }) else {
      throw UsageError("unknown option -\(letter)")
    }
    return option
  }

  private func problem(_ state: clibc_getopt, word: String) -> String {
    let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
    let isMissing = state.result == 58
    if state.unknown >= 1000 {
      let option = options[Int(state.unknown) - 1000]
      return isMissing
        ? "option --\(option.long) needs an argument: \(option.argument ?? "")"
        : "option --\(option.long) takes no argument"
    }
    if state.unknown > 0 {
      let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: state.unknown)))
      let argument = options.first { $0.short == letter }?.argument
      return isMissing
        ? "option -\(letter) needs an argument: \(argument ?? "")" : "unknown option -\(letter)"
    }
    let matches = options.filter { "--\($0.long)".hasPrefix(name) }
    return matches.count > 1
      ? "option \(name) is ambiguous: \(matches.map { "--\($0.long)" }.joined(separator: ", "))"
      : "unknown option \(name)"
  }
}
