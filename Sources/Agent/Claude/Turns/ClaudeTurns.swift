public import Core
import Records

/// What the transcript of Claude Code tells of turns (CONTRACT.md 2 to 5). A session is a thread,
/// and a prompt begins a turn of its id.
public struct ClaudeTurns: TurnDecoder {
  private var sessions: [String: ClaudeSession] = [:]
  private var last = ""
  /// The lines that came, by their ids, and the session in which each answer came first: a
  /// session that is resumed may begin with a copy of what was said before.
  private var seen = SeenIDs()
  private var owners: [String: String] = [:]
  /// The last line of each session, whose last lines these are, and of which session another one
  /// has a copy up to there.
  private var ends: [String: String] = [:]
  private var tips: [String: String] = [:]
  private var copied: [String: String] = [:]
  /// By the ids of subagents, the call that made each.
  private var origins: [String: String] = [:]

  /// An id of fewer bytes is one of a provider that counts in each session by itself.
  private static let shortest = 12
  private static let mostOwners = 65_536
  private static let mostSessions = 1024

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    if line.isWrapped, line.event == ClaudeTranscripts.originEvent {
      learn(line)
      return true
    }
    guard line.shape == .own || line.isWrapped, let kind = ClaudeLine.Kind(line.object) else {
      return false
    }
    guard let value = line.value else { return true }
    let entry = ClaudeLine(kind, value, line)
    // A title stands before all that says whose it is; a follower knows the file.
    let session = entry.session ?? line.id.split(separator: "/").first.map(String.init) ?? last
    if session.isEmpty { return true }
    last = session
    if isCopy(entry, of: session) {
      if let other = tips[entry.id], other != session { copied[session] = entry.id }
      return true
    }
    if sessions.count >= Self.mostSessions, sessions[session] == nil {
      (sessions, ends, tips, copied) = ([:], [:], [:], [:])
    }
    if entry.isPrompt || entry.shellCommand != nil, !entry.isSide {
      leave(for: session, at: entry)
    }
    note(entry, of: session)
    sessions[session, default: ClaudeSession(session, line.origin(.claude))]
      .receive(entry, madeBy: entry.value["agentId"]?.string.flatMap { origins[$0] })
    events += entry.events
    return true
  }

  /// Keeps which call made a subagent.
  private mutating func learn(_ line: TurnLine) {
    let name = line.id.split(separator: "/").first ?? ""
    guard name.hasPrefix("agent-"), let call = line.value?["toolUseId"]?.string else { return }
    if origins.count >= Self.mostOwners { origins = [:] }
    origins[String(name.dropFirst("agent-".count))] = call
  }

  /// The type of a line of a transcript of which nothing is known here, with its subtype; nil for
  /// any other.
  public static func unknownType(_ line: TurnLine) -> String? {
    guard line.shape == .own || line.isWrapped else { return nil }
    return ClaudeLine.unknownType(line)
  }
}

extension ClaudeTurns {
  /// Going on behind the last line of another session ends what was left there, like a prompt.
  private mutating func leave(for session: String, at line: ClaudeLine) {
    let tip = copied.removeValue(forKey: session) ?? line.parent ?? ""
    guard let other = tips[tip], other != session else { return }
    sessions[other]?.leave(at: line)
  }

  private mutating func note(_ line: ClaudeLine, of session: String) {
    guard !line.id.isEmpty, !line.isSide else { return }
    if let before = ends[session] { tips[before] = nil }
    (ends[session], tips[line.id]) = (line.id, session)
  }

  private mutating func isCopy(_ line: ClaudeLine, of session: String) -> Bool {
    if !line.id.isEmpty, !seen.insert(line.id) { return true }
    guard line.kind == .assistant, let answer = line.value["message"]?["id"]?.string,
      answer.utf8.count >= Self.shortest
    else { return false }
    if let owner = owners[answer] { return owner != session }
    if owners.count >= Self.mostOwners { owners = [:] }
    owners[answer] = session
    return false
  }
}

/// A line of a transcript (CONTRACT.md 1).
final class ClaudeLine {
  enum Kind: Sendable {
    case user, assistant, system, summary, customTitle, agentName

    fileprivate static let table = NameTable<Kind>([
      ("user", .user), ("assistant", .assistant), ("system", .system), ("summary", .summary),
      ("custom-title", .customTitle), ("agent-name", .agentName),
    ])

    init?(_ object: ScanValue) {
      let fields = ScanFields<Name>(object.bytes)
      guard fields[.sessionId].isString || fields[.leafUuid].isString,
        let kind = Self.table.word(fields[.type])
      else { return nil }
      self = kind
    }
  }

  let kind: Kind
  let value: JSONValue
  /// The bytes of `message`, for arguments as they came.
  let line: TurnLine
  /// What it tells.
  var events: [TurnEvent] = []

  init(_ kind: Kind, _ value: JSONValue, _ line: TurnLine) {
    (self.kind, self.value, self.line) = (kind, value, line)
  }

  var session: String? { value["sessionId"]?.string.flatMap { $0.isEmpty ? nil : $0 } }
  var id: String { value["uuid"]?.string ?? "" }
  /// The answer of the API that the line is of, else the line itself.
  var answer: String { value["message"]?["id"]?.string ?? id }
  var parent: String? { value["parentUuid"]?.string }
  var time: Timestamp? { value["timestamp"]?.time }
  var isSide: Bool { value["isSidechain"]?.bool == true }
  var isMeta: Bool {
    value["isMeta"]?.bool == true || value["isCompactSummary"]?.bool == true
  }

  var blocks: [JSONValue] { value["message"]?["content"]?.elements ?? [] }

  var text: String? {
    let content = value["message"]?["content"]
    if let text = content?.string { return text }
    let texts = blocks.filter { $0["type"]?.string == "text" }.compactMap { $0["text"]?.string }
    return texts.isEmpty ? nil : texts.joined(separator: "\n")
  }

  /// What the session is called; nil for a line that says nothing of it.
  var title: String? {
    switch kind {
    case .summary: value["summary"]?.string
    case .customTitle: value["customTitle"]?.string
    case .agentName: value["agentName"]?.string
    case .user, .assistant, .system: nil
    }
  }

  /// The types and subtypes that tell nothing of turns, besides those of `Kind`.
  private static let silent: Set<String> = [
    "mode", "permission-mode", "atis-latch", "file-history-snapshot", "file-history-delta",
    "queue-operation", "last-prompt", "tools-used", "attachment", "api-request",
    "api-request-shape", "api-request-blob", "cost-state", "progress",
    ClaudeTranscripts.originEvent,
    "system/turn_duration", "system/stop_hook_summary", "system/local_command",
    "system/compact_boundary", "system/informational", "system/model_refusal_no_fallback",
  ]

  private enum Name: Int, ScanName {
    case type, subtype, sessionId, leafUuid
    static let table = NameTable<Name>()
  }

  static func unknownType(_ line: TurnLine) -> String? {
    if line.event == ClaudeTranscripts.originEvent { return nil }
    let fields = ScanFields<Name>(line.object.bytes)
    guard fields[.type].isString, var type = fields[.type].string,
      fields[.sessionId].isString || line.isWrapped && line.event == type && line.id.contains("/")
    else { return nil }
    if type != "system" {
      return Kind.table.word(fields[.type]) != nil || silent.contains(type) ? nil : type
    }
    type += "/" + (fields[.subtype].isString ? fields[.subtype].string ?? "" : "")
    return silent.contains(type) ? nil : type
  }

  /// What stands between two tags of a name; nil where they do not.
  static func part(_ name: String, of text: String) -> String? {
    guard let start = text.place(of: "<\(name)>"),
      let end = text[start.upperBound...].place(of: "</\(name)>")
    else { return nil }
    return String(text[start.upperBound..<end.lowerBound])
  }

  /// What a person runs in a shell.
  var shellCommand: String? {
    guard kind == .user, let text, text.hasPrefix("<bash-input>") else { return nil }
    return Self.part("bash-input", of: text)
  }

  /// What that printed.
  var shellOutput: (stdout: String, stderr: String)? {
    guard kind == .user, let text, text.hasPrefix("<bash-stdout>") else { return nil }
    return Self.part("bash-stdout", of: text).map {
      ($0, Self.part("bash-stderr", of: text) ?? "")
    }
  }

  /// A task in the background that has ended, as the program says in place of a person.
  var endedTask: (id: String, isWell: Bool)? {
    guard isOfProgram, let text, let id = Self.part("task-id", of: text) else { return nil }
    return (id, Self.part("status", of: text) == "completed")
  }

  /// The text without the marks around what was pasted.
  var words: String? {
    guard let text, text.holds("<pasted_content id=") else { return text }
    var (words, rest) = ("", text[...])
    while let tag = rest.place(of: "pasted_content id="),
      let end = rest[tag.upperBound...].firstIndex(of: ">"),
      let mark = rest[..<tag.lowerBound].lastIndex(of: "<")
    {
      let isEnd = rest[mark...].hasPrefix("</")
      words += isEnd && rest[..<mark].hasSuffix("\n") ? rest[..<mark].dropLast() : rest[..<mark]
      rest = rest[rest.index(after: end)...]
      if !isEnd, rest.first == "\n" { rest.removeFirst() }
    }
    return String((words + rest).trimming { $0 == "\n" })
  }

  /// Whether the program says it in place of a person: what came of a task in the background.
  var isOfProgram: Bool { value["origin"]?["kind"]?.string == "task-notification" }

  /// Whether somebody said something to the agent (CONTRACT.md 2).
  var isPrompt: Bool {
    guard kind == .user, !isMeta, let text, !text.isEmpty else { return false }
    return !["<command-", "<local-command-", "<bash-"].contains { text.hasPrefix($0) }
  }

  var isInterruption: Bool {
    kind == .user && text?.hasPrefix("[Request interrupted by user") == true
  }

  /// The arguments of the call in the block of this index, with their bytes.
  func arguments(_ index: Int) -> [UInt8]? {
    guard let message = try? ScanMembers.value(of: "message", in: line.object.bytes),
      message.isObject, let content = try? ScanMembers.value(of: "content", in: message.bytes),
      case let blocks = content.elements, blocks.indices.contains(index)
    else { return nil }
    return (try? ScanMembers.value(of: "input", in: blocks[index].bytes)).flatMap(\.json)
  }
}

/// The line of a transcript of Claude Code with which a turn ends (CONTRACT.md 3 and
/// Agent/Riff/CONTRACT.md 4).
public struct ClaudeAnswer: Sendable {
  /// The line's own id; a session that goes on in another file has it again.
  public let id: String
  /// The session's id; empty where nothing says it.
  public let session: String
  /// What the agent says, in Markdown.
  public let text: String
  /// When; nil where the line does not say.
  public let time: Timestamp?

  /// - Returns: nil for any other line: of a subagent, of somebody else, without a text.
  public init?(_ line: TurnLine) {
    guard line.shape == .own || line.isWrapped,
      ClaudeLine.Kind(line.object) == .assistant, let value = line.value
    else { return nil }
    let entry = ClaudeLine(.assistant, value, line)
    guard !entry.isSide, value["message"]?["stop_reason"]?.string == "end_turn",
      value["isApiErrorMessage"]?.bool != true,
      let text = entry.text, !text.isEmpty, !entry.id.isEmpty
    else { return nil }
    id = entry.id
    session = entry.session ?? ""
    self.text = text
    time = entry.time
  }
}
