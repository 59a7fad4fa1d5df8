import CLibc

/// How a command is used: the one place from which parsing, usage, `--help`, the
/// completions and the manual check are made. It knows what options are called; what
/// they do is `OptionTable`'s.
public struct CommandUsage: Sendable {
  /// The command's name.
  public let program: String
  /// What the command does, one line, for `--help`.
  public let summary: String
  /// The words after the name in the usage line: `[options] URL`.
  public let synopsis: String
  /// What the shell completes operands to.
  public let operands: Completion
  /// The options as they are declared, and the three that every command has.
  public let entries: [OptionEntry]
  /// Whether the first operand ends the options: what is behind it is somebody else's.
  var endsAtOperand = false
  /// What people type because other commands have it, and what does that here.
  var guesses: [String: String] = [:]

  /// The options that every command has.
  static let common = [
    OptionEntry(
      nil, "completions", "SHELL", "completions for bash, zsh or fish, or the option list",
      completion: { .words(["bash", "zsh", "fish", "list"]) }, isRare: true),
    OptionEntry("h", "help", nil, "print this help"),
    OptionEntry("V", "version", nil, "print the version"),
  ]

  /// One line: `usage: prog [options] URL`.
  public var line: String { "usage: \(program) \(synopsis)" }

  var sorted: [OptionEntry] { entries.sorted { $0.place < $1.place } }

  /// The text of `--help`: the options people use most where all do not fit on a screen.
  public var help: String {
    let all = allHelp
    guard all.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count > 25
    else { return all }
    return help(of: sorted.filter { !$0.isRare })
      + "\n`\(program) --help all` lists every option.\n"
  }

  /// The text of `--help all`.
  public var allHelp: String { help(of: sorted) }

  private func help(of entries: [OptionEntry]) -> String {
    let left = entries.map { entry -> String in
      let letter = entry.letter.map { "-\($0), " } ?? "    "
      let argument = entry.argument.map { " \($0)" } ?? ""
      return "  \(letter)--\(entry.name)\(argument)"
    }
    let width = min(left.map(\.count).max() ?? 0, 26)
    let margin = String(repeating: " ", count: width + 2)
    var text = "\(line)\n\(summary)\n\n"
    for (words, entry) in zip(left, entries) {
      var lines = Self.folded(entry.help, to: 80 - margin.count)[...]
      if words.count > width {
        text += words + "\n"
      } else {
        text += words + margin.dropFirst(words.count) + (lines.popFirst() ?? "") + "\n"
      }
      for line in lines { text += margin + line + "\n" }
    }
    return text
  }

  private static func folded(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// A line an option, `-e --event NAME`, for the check against the manual.
  public var list: String { optionList(withFormer: false) }

  func optionList(withFormer: Bool) -> String {
    sorted.map { entry in
      let letter = entry.letter.map { "-\($0)" } ?? "-"
      let former = withFormer ? entry.formerLetter.map { " -\($0)" } ?? " -" : ""
      return "\(letter) --\(entry.name) \(entry.argument ?? "-")\(former)\n"
    }.joined()
  }

  /// Reads the command line of the process and answers `--help`, `--version` and
  /// `--completions`, which end the process.
  func parseOrAnswer(_ diagnostics: Diagnostics) throws(UsageError) -> ParsedWords {
    StandardFiles.ensure()
    let words = Process.arguments
    if words.first == "--completions",
      let (usage, text) = completions(words.dropFirst(), help: { Self.standardInput })
    {
      if let text { diagnostics.answer(text) }
      let argument = OptionArgument(name: "completions", path: words.last ?? "")
      Diagnostics(program: usage.program).usage(Self.unknownShell(argument), usage)
    }
    let parsed = try parse(words)
    for item in parsed.items {
      switch entries[item.index].name {
      case "help": diagnostics.answer(parsed.paths == ["all"] ? allHelp : help)
      case "version": diagnostics.answer("\(program) \(suiteVersion)\n")
      case "completions":
        try diagnostics.answer(completions(for: FileName.repaired(item.argument)))
      default: break
      }
    }
    return parsed
  }

  private static func unknownShell(_ argument: OptionArgument) -> UsageError {
    argument.fault("not bash, zsh, fish or list")
  }

  /// Answers `--completions SHELL`.
  public func completions(for shell: String) throws(UsageError) -> String {
    if let text = completions(shell: shell) { return text }
    throw Self.unknownShell(OptionArgument(name: "completions", path: shell))
  }

  /// What stands on standard input, as far as a help goes.
  public static var standardInput: String {
    String(decoding: (try? BoundedFile.bytes(of: 0, limit: 1 << 20)) ?? [], as: UTF8.self)
  }
}

extension Diagnostics {
  /// Says the problem and one usage line, unless that is another's than the script's that
  /// runs the command, and leaves with `ExitStatus.failure`.
  public func usage(_ error: UsageError, _ usage: CommandUsage) -> Never {
    say(error.problem)
    if program == usage.program { emit(usage.line + "\n") }
    if let advice = error.advice { say(advice) }
    Process.exit(.failure)
  }

  func answer(_ text: String) -> Never {
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(text)
      try writer.flush()
    } catch {
      fail(writing: error)
    }
    Process.exit(.success)
  }

  /// Says why a command ends and leaves: a usage error with the usage line, a closed pipe
  /// without a word.
  ///
  /// - Parameter error: `UsageError`, `WriteFailure`, one that is `Reported`; the words of
  ///   any other are said as they are.
  public func fail(_ error: any Error, _ usage: CommandUsage) -> Never {
    switch error {
    case let error as UsageError: self.usage(error, usage)
    case let failure as WriteFailure: fail(writing: failure)
    case let error as any Reported: fail(error.message, error.status)
    default: fail("\(error)")
    }
  }

  /// The same where libraries may have threads at work: nothing is left to be put in order.
  public func failAtOnce(_ error: any Error) -> Never {
    if let failure = error as? WriteFailure {
      if failure.isClosedPipe { Process.die(by: SIGPIPE) }
      self.error("standard output", failure.reason)
      Process.exitAtOnce(.failure)
    }
    let reported = error as? any Reported
    say(reported?.message ?? "\(error)")
    Process.exitAtOnce(reported?.status ?? .failure)
  }
}
