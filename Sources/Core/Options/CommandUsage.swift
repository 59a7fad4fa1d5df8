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

  init(
    program: String, summary: String, synopsis: String, operands: Completion,
    entries: [OptionEntry]
  ) {
    self.program = program
    self.summary = summary
    self.synopsis = synopsis
    self.operands = operands
    self.entries = entries + Self.common
  }

  private static let common = [
    OptionEntry(
      nil, "completions", "SHELL", "print completions for bash, zsh or fish, or the option list",
      completion: { .words(["bash", "zsh", "fish", "list"]) }),
    OptionEntry("h", "help", nil, "print this help"),
    OptionEntry("V", "version", nil, "print the version"),
  ]

  /// One line: `usage: prog [options] URL`.
  public var line: String { "usage: \(program) \(synopsis)" }

  /// The options in the order of help and manual.
  var sorted: [OptionEntry] { entries.sorted { $0.place < $1.place } }

  /// The text of `--help`.
  public var help: String {
    let entries = sorted
    let left = entries.map { entry -> String in
      let letter = entry.letter.map { "-\($0), " } ?? "    "
      let argument = entry.argument.map { " \($0)" } ?? ""
      return "  \(letter)--\(entry.name)\(argument)"
    }
    let width = min(left.map(\.count).max() ?? 0, 30)
    var text = "\(line)\n\(summary)\n\n"
    for (words, entry) in zip(left, entries) {
      if words.count > width {
        text += words + "\n" + String(repeating: " ", count: width) + "  \(entry.help)\n"
      } else {
        text += words + String(repeating: " ", count: width - words.count) + "  \(entry.help)\n"
      }
    }
    return text
  }

  /// A line an option, `-e --event NAME`, for the check against the manual.
  public var list: String {
    sorted.map { entry in
      let letter = entry.letter.map { "-\($0)" } ?? "-"
      return "\(letter) --\(entry.name) \(entry.argument ?? "-")\n"
    }.joined()
  }

  /// Reads the command line of the process and answers `--help`, `--version` and
  /// `--completions`, which end the process.
  func parseOrAnswer(_ diagnostics: Diagnostics) throws(UsageError) -> ParsedWords {
    StandardFiles.ensure()
    let parsed = try parse(Process.arguments)
    for item in parsed.items {
      switch entries[item.index].name {
      case "help": answer(help, diagnostics)
      case "version": answer("\(program) \(suiteVersion)\n", diagnostics)
      case "completions":
        let argument = OptionArgument(name: "completions", path: item.argument)
        guard let text = completions(shell: argument.value) else {
          throw argument.fault("not bash, zsh, fish or list")
        }
        answer(text, diagnostics)
      default: break
      }
    }
    return parsed
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
}

extension Diagnostics {
  /// Says the problem and one usage line, and leaves with `ExitStatus.failure`.
  public func usage(_ error: UsageError, _ usage: CommandUsage) -> Never {
    say(error.problem)
    emit(usage.line + "\n")
    Process.exit(.failure)
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
}
