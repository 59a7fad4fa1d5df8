import Core

struct AskedCommand {
  let name: String
  let help: String

  var isPassedOn: Bool { ["those of", "options of"].contains { help.holds("\($0) \(name)") } }

  func usage() throws(CommandRun.Failure) -> CommandUsage {
    CommandUsage(program: name, entries: try Self.ask([name, "--completions", "entries"]))
  }

  /// What the last of a script's words could become, or of the command's own.
  func completed(_ words: [String], asItself: Bool = false) throws(CommandRun.Failure) -> String {
    try Self.ask([name, "--completions"] + (asItself ? [] : ["-"]) + ["words"] + words, help)
  }

  func hint(for error: UsageError) throws(CommandRun.Failure) -> String {
    let start = "unknown option --"
    let problem = error.problem
    guard problem.hasPrefix(start), !problem.holds(": did you mean ") else { return "" }
    let option = "--" + problem.dropFirst(start.count)
    let hint = try Self.ask([name, "--completions", "-", "near", option], help)
    return String(hint.prefix { $0 != "\n" })
  }

  private static func ask(_ words: [String], _ input: String = "") throws(CommandRun.Failure)
    -> String
  {
    let run = CommandRun(words, limit: 1 << 20, timeout: 60)
    let answer = try run.output(input: Array(input.utf8))
    return String(decoding: answer, as: UTF8.self)
  }
}
