/// A command's options: the one place from which parsing, usage, `--help`, the
/// completions and the manual check are made.
public struct OptionTable: Sendable {
  /// The command's name.
  public let program: String
  /// What the command does, one line, for `--help`.
  public let summary: String
  /// The words after the name in the usage line: `[options] URL`.
  public let synopsis: String
  /// What the shell completes operands to.
  public let operands: Option.Completion
  /// The command's options and the three that every command has.
  public let options: [Option]

  /// - Parameters:
  ///   - program: the command's name.
  ///   - summary: one line for `--help`.
  ///   - synopsis: the usage after the name.
  ///   - operands: what the shell offers for operands.
  ///   - options: the command's own options; `help`, `version` and
  ///     `completions` are added.
  public init(
    program: String, summary: String, synopsis: String, operands: Option.Completion = .file,
    options: [Option]
  ) {
    self.program = program
    self.summary = summary
    self.synopsis = synopsis
    self.operands = operands
    self.options =
      options + [
        Option(
          nil, "completions", "SHELL",
          "print completions for bash, zsh or fish, or the option list",
          completion: .words(["bash", "zsh", "fish", "list"])),
        Option("h", "help", nil, "print this help"),
        Option("V", "version", nil, "print the version"),
      ]
  }

  /// One line: `usage: prog [options] URL`.
  public var usage: String { "usage: \(program) \(synopsis)" }

  /// The text of `--help`.
  public var help: String {
    let left = options.map { option -> String in
      let short = option.short.map { "-\($0), " } ?? "    "
      let value = option.argument.map { " \($0)" } ?? ""
      return "  \(short)--\(option.long)\(value)"
    }
    let width = min(left.map(\.count).max() ?? 0, 30)
    var text = "\(usage)\n\(summary)\n\n"
    for (words, option) in zip(left, options) {
      if words.count > width {
        text += words + "\n" + String(repeating: " ", count: width) + "  \(option.help)\n"
      } else {
        text += words + String(repeating: " ", count: width - words.count) + "  \(option.help)\n"
      }
    }
    return text
  }

  /// A line an option, `-e --event NAME`, for the check against the manual.
  public var list: String {
    options.map { option in
      let short = option.short.map { "-\($0)" } ?? "-"
      return "\(short) --\(option.long) \(option.argument ?? "-")\n"
    }.joined()
  }
}
