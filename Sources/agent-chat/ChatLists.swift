import Agent
import CLibc
import Core
import Records
import Screen

struct ChatLists {
  private let loop: ChatLoop
  private let options: ChatOptions
  private let output: RowOutput
  private let diagnostics: Diagnostics

  init(_ loop: ChatLoop, options: ChatOptions, _ diagnostics: Diagnostics) {
    (self.loop, self.options, self.diagnostics) = (loop, options, diagnostics)
    let form: RowOutput.Form =
      options.form == .json ? .json : isatty(1) == 1 ? .table : .tsv
    output = RowOutput(form: form, look: options.look, isQuiet: false)
  }

  func run() throws -> ExitStatus {
    switch options.mode {
    case .agents:
      let rows = try loop.list(.agents)
      if rows.isEmpty { tellEmpty("no agents: whoever runs the server makes them there") }
      if output.form == .tsv { try tellAgents(rows) } else { try output.list(rows, Self.agents) }
    case .threads:
      let rows = try loop.list(.threads)
      try output.list(rows, Self.threads)
      if rows.isEmpty { tellEmpty("no conversations yet: agent-chat MESSAGE begins one") }
    case .abort:
      let runs = try loop.list(.ending(thread: options.thread, agent: options.agent))
      try output.list(runs, Self.runs)
      try output.flush()
      // There was nothing to end.
      return runs.isEmpty ? .negative : .success
    default:
      let rows = try loop.list(
        .history(thread: options.thread, agent: options.agent, count: options.count))
      if options.form == .json { try output.list(rows, Self.threads) } else { try tell(rows) }
      if rows.isEmpty { tellEmpty("nothing was said here yet: agent-chat MESSAGE begins") }
    }
    try output.flush()
    return loop.isCut ? .failure : .success
  }

  private func tellEmpty(_ words: String) { output.tellEmpty(words, diagnostics) }

  /// `who: words`, a message after the other.
  private func tell(_ rows: [[UInt8]]) throws {
    let isScreen = output.form == .table
    for row in rows {
      guard let message = try? row.withUnsafeBytes({ try JSONValue.parse($0) }) else { continue }
      let who = Self.speaker(message["author"]?.string ?? message["role"]?.string ?? "?")
      let files = message["attachments"]?.elements.count ?? 0
      let words = [
        message["text"]?.string ?? "",
        files == 0 ? "" : files == 1 ? "(1 attachment)" : "(\(files) attachments)",
      ].filter { !$0.isEmpty }.joined(separator: " ")
      // No line of a message can pass for another's.
      let lines = words.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let text = "\(who): \(lines.joined(separator: "\n  "))"
      try output.text(isScreen ? StreamedText.visible(text) : text)
    }
  }

  /// Who speaks, whatever a stranger's record calls them: one line, and no colon but the last.
  static func speaker(_ name: String) -> String {
    let words = String(name.prefix(200)).split { $0.isWhitespace || $0.isNewline }
      .map { $0.hasSuffix(":") ? $0.dropLast() : $0 }
    return String(words.joined(separator: " ").prefix(60))
  }

  private func tellAgents(_ rows: [[UInt8]]) throws {
    for row in rows {
      guard let agent = try? row.withUnsafeBytes({ try JSONValue.parse($0) }) else { continue }
      let words = [agent["id"], Self.name(agent)].map { RowText.escape($0?.text ?? "") }
      try output.text(words.joined(separator: "\t"))
    }
  }

  private static func name(_ agent: JSONValue) -> JSONValue? {
    agent["identity"]?["name"] ?? agent["name"] ?? agent["id"]
  }

  private static let agents = Listing(
    columns: [
      .text("ID", "id"),
      Listing.Column("NAME", gives: true) { .text(name($0)) },
    ], fields: ["id", "name"])

  private static let threads = Listing(
    columns: [.text("ID", "id"), .text("TITLE", "title", gives: true), .time("LAST", "last")],
    fields: ["id", "title", "last"])

  private static let runs = Listing(columns: [.text("ENDED", "id")], fields: ["id"])
}
