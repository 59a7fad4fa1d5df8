/// The command line of a command: its options, each with what it does to the values
/// that the command line sets, and what is made of the other words.
public struct OptionTable<Values>: Sendable {
  /// Names, help, completions.
  public let usage: CommandUsage
  private let options: [Option<Values>]
  private let finish: @Sendable (inout Values, CommandWords) throws(UsageError) -> Void

  /// - Parameters:
  ///   - synopsis: the usage after the name.
  ///   - operands: what the shell offers for operands.
  ///   - endsAtOperand: whether the first operand ends the options.
  ///   - guesses: options that people try because other commands have them, with their dashes,
  ///     and what an error says of each: `-f lists all facts`.
  ///   - rare: those that few people need, see `Option.rare`.
  ///   - finish: called when every option has taken effect: takes the operands, and
  ///     refuses what does not go together.
  public init(
    program: String, summary: String, synopsis: String, operands: Completion = .file,
    endsAtOperand: Bool = false, guesses: [String: String] = [:], options: [Option<Values>],
    rare: [Option<Values>] = [],
    finish: @escaping @Sendable (inout Values, CommandWords) throws(UsageError) -> Void
  ) {
    let options = options + rare.map(\.rare)
    usage = CommandUsage(
      program: program, summary: summary, synopsis: synopsis, operands: operands,
      entries: options.map(\.entry) + CommandUsage.common, endsAtOperand: endsAtOperand,
      guesses: guesses)
    (self.options, self.finish) = (options, finish)
  }

  /// Reads a command line.
  ///
  /// - Parameter values: what holds when nothing is said.
  public func parse(_ arguments: [String], _ values: Values) throws(UsageError) -> Values {
    try apply(usage.parse(arguments), to: values)
  }

  /// Reads the command line of the process. `--help`, `--version`, `--completions` and
  /// mistakes end the process, these with the usage and status 2.
  ///
  /// - Parameter values: what holds when nothing is said.
  public func parseOrExit(_ values: Values) -> Values {
    let diagnostics = Diagnostics(program: usage.program)
    do throws(UsageError) {
      return try apply(usage.parseOrAnswer(diagnostics), to: values)
    } catch {
      diagnostics.usage(error, usage)
    }
  }

  /// The whole of a command: reads the command line of the process, does what it asks for, and
  /// leaves, with what went wrong as that deserves.
  public func run(
    _ values: Values, verbose: (Values) -> Bool = { _ in false },
    _ body: (Values, Diagnostics) throws -> ExitStatus
  ) -> Never {
    let options = parseOrExit(values)
    let diagnostics = Diagnostics(program: usage.program, verbose: verbose(options))
    do { Process.exit(try body(options, diagnostics)) } catch { diagnostics.fail(error, usage) }
  }

  private func refuseSeveral(_ parsed: ParsedWords) throws(UsageError) {
    for item in parsed.items {
      let entry = usage.entries[item.index]
      guard let advice = entry.onceAdvice else { continue }
      let same = parsed.items.filter { $0.index == item.index }
      if let other = same.first(where: { $0.argument != item.argument }) {
        let value = FileName.repaired(other.argument)
        throw UsageError("one \(entry.name) at a time: \(value); \(advice)")
      }
    }
  }

  private func apply(_ parsed: ParsedWords, to values: Values) throws(UsageError) -> Values {
    try refuseSeveral(parsed)
    var values = values
    // The last of the table are the three that every command has.
    for item in parsed.items where item.index < options.count {
      let name = usage.entries[item.index].name
      try options[item.index].apply(&values, OptionArgument(name: name, path: item.argument))
    }
    try finish(
      &values,
      CommandWords(names: parsed.items.map { usage.entries[$0.index].name }, paths: parsed.paths))
    return values
  }
}

/// What a command line says besides what its options did.
public struct CommandWords: Sendable {
  /// The long names of the options that were given, in their order.
  public let names: [String]
  /// The words that are not options, as names of files, see `FileName`.
  public let paths: [String]
  /// The words that are not options, as text.
  public var operands: [String] { paths.map(FileName.repaired) }

  /// What is to be done, of a command whose first word says that.
  ///
  /// - Parameter taking: for what an option is; nil for everything.
  /// - Returns: the word.
  /// - Throws: `UsageError` also for an option that is for something else.
  public func verb<Verb: RawRepresentable<String> & CaseIterable & Equatable>(
    taking: (String) -> [Verb]?
  ) throws(UsageError) -> Verb {
    let all = Verb.allCases.map(\.rawValue)
    let list = all.joined(separator: ", ")
    guard let word = operands.first else { throw UsageError("a command is needed: \(list)") }
    guard let verb = Verb(rawValue: word) else {
      let hint = NearestWord.hint(for: word, among: all)
      throw UsageError("unknown command \(word)\(hint.isEmpty ? ": not one of \(list)" : hint)")
    }
    for name in names where taking(name)?.contains(verb) == false {
      throw UsageError("--\(name) is not for \(word)")
    }
    return verb
  }
}
