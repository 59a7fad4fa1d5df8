import Core
import Records

/// What the actions of a dashboard tell of turns (Agent/Clanky/CONTRACT.md 3.6), in either
/// spelling, bare, wrapped or in lists, each once. Actions of one agent are put into their
/// turns by what they name, or by place and time.
public struct ClankyTurns: TurnDecoder {
  private var agents: [RecordOrigin: ClankyAgent] = [:]
  private var seen = ActionWindow(capacity: 1 << 16)
  private var lineScan = RecordScan()
  private var rowScan = RecordScan()
  private let scratch = ScanScratch()

  /// More agents than anyone has; a file may name as many as it likes.
  private static let mostAgents = 64

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    let origin = line.origin(.clanky)
    switch line.shape {
    case .action:
      // `session.message` of a gateway has a kind and a creation, too.
      if line.eventName.bytes.contains(UInt8(ascii: ".")) { return false }
      guard (try? lineScan.read(line.bytes)) == .action else { return false }
      // What has a kind and was created at no time is something else.
      guard !lineScan.fields.createdAt.isNull else { return false }
      receive(lineScan.fields, lineScan.source, origin, into: &events)
    case .list:
      guard (try? lineScan.read(line.bytes)) == .list else { return false }
      // Servers send the newest first.
      for row in lineScan.rows.elements.reversed() where (try? rowScan.read(row.bytes)) == .action {
        receive(rowScan.fields, .row, origin, into: &events)
      }
    case .stats, .voiceState: break
    case .own, .event, .unmarked: return false
    }
    return true
  }

  /// Tells of what came in order so far.
  public mutating func pause(into events: inout [TurnEvent]) {
    for origin in origins { agents[origin]?.pause(into: &events) }
  }

  /// Tells of what still waited for its turn, at the end of what is read.
  public mutating func finish(into events: inout [TurnEvent]) {
    for origin in origins { agents[origin]?.finish(into: &events) }
    agents.removeAll()
  }

  private var origins: [RecordOrigin] {
    agents.keys.sorted { $0.profile ?? "" < $1.profile ?? "" }
  }

  private mutating func receive(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ origin: RecordOrigin,
    into events: inout [TurnEvent]
  ) {
    guard let kind = fields.kind.string, ClankyAgent.isTold(kind) else { return }
    // A string of JSON; no two names become the same.
    let profile = Array("\"\(origin.profile ?? "")\"".utf8)
    let isNew = profile.withUnsafeBytes { name in
      seen.isNew(
        fields, source, profile: origin.profile == nil ? .absent : ScanValue(name), scratch)
    }
    guard isNew else { return }
    if agents[origin] == nil, agents.count == Self.mostAgents { finish(into: &events) }
    agents[origin, default: ClankyAgent(origin)].receive(
      ClankyAction(fields, kind: kind, origin), into: &events)
  }
}

struct ClankyAgent {
  private let origin: RecordOrigin
  private var order = ActionOrder()
  private var scan = RecordScan()
  private var chain = ReplyChain()
  private var voice: VoiceRooms

  /// The kinds that tell of tools, what the tools are called, and whether they failed.
  private static let tools: [String: (name: String, isError: Bool)] = [
    "search_call": ("search", false), "search_error": ("search", true),
    "image_call": ("image", false), "image_error": ("image", true),
    "gif_call": ("gif", false), "gif_error": ("gif", true),
    "video_call": ("video", false), "video_error": ("video", true),
    "video_context_call": ("video_context", false), "video_context_error": ("video_context", true),
    "code_agent_call": ("code_agent", false), "code_agent_error": ("code_agent", true),
    "browser_browse_call": ("browser", false), "browser_browse_failed": ("browser", true),
    "browser_agent_session_turn": ("browser", false),
  ]

  private enum Part {
    case answer, model
    case tool(name: String, isError: Bool)
    case browserStep, voice
  }

  private static let parts: [String: Part] = {
    var parts = tools.mapValues { Part.tool(name: $0.name, isError: $0.isError) }
    for kind in [
      "sent_reply", "sent_message", "initiative_post", "automation_post", "reply_skipped",
    ] { parts[kind] = .answer }
    for kind in ["llm_call", "llm_tool_call", "llm_error"] { parts[kind] = .model }
    for kind in ["browser_tool_step", "browser_tool_result"] { parts[kind] = .browserStep }
    for kind in ["voice_session_start", "voice_session_end", "voice_runtime", "voice_error"] {
      parts[kind] = .voice
    }
    return parts
  }()

  static func isTold(_ kind: String) -> Bool { parts[kind] != nil }

  init(_ origin: RecordOrigin) {
    self.origin = origin
    voice = VoiceRooms(origin)
  }

  mutating func receive(_ action: ClankyAction, into events: inout [TurnEvent]) {
    guard Self.isTold(action.kind) else { return }
    let id = ScanNumber(action.fields.id)?.double
    order.add(action.time, id: id, action.copy())
    if order.isFull { read(order.takeFull(), into: &events) }
  }

  private mutating func read(_ actions: [[UInt8]], into events: inout [TurnEvent]) {
    for bytes in actions {
      bytes.withUnsafeBytes { bytes in
        guard (try? scan.read(bytes)) == .action, let kind = scan.fields.kind.string else { return }
        events += read(ClankyAction(scan.fields, kind: kind, origin))
      }
    }
  }

  private mutating func read(_ action: ClankyAction) -> [TurnEvent] {
    switch Self.parts[action.kind] {
    case .answer: chain.receive(ReplyTurn(action))
    case .model:
      // One that speaks in a voice session says so by its source or its session.
      let metadata = action.metadata
      let speaks = metadata.text(.source)?.hasPrefix("voice") ?? false
      if let room = voice.room(metadata.text(.sessionId), speaks ? action.place : nil) {
        return voice.receive(ChainPart(model: action, place: room))
      }
      chain.receive(ChainPart(model: action, place: action.place))
    case .tool(let name, let isError):
      chain.receive(ChainPart(tool: name, isError: isError, action, place: action.place))
    case .browserStep:
      if let part = ChainPart(browser: action, place: action.place) { chain.receive(part) }
    case .voice: return voice.receive(action)
    case nil: break
    }
    return chain.takeEvents()
  }

  mutating func pause(into events: inout [TurnEvent]) {
    read(order.takeAtPause(), into: &events)
  }

  mutating func finish(into events: inout [TurnEvent]) {
    read(order.takeAll(), into: &events)
    chain.finish()
    events += chain.takeEvents()
  }
}

/// The actions of one agent in the order in which they were done.
///
/// Histories come newest first, and files in any order. So actions are held back until it
/// shows that no earlier ones come: at the end, when nothing more is there to be read and the
/// last one came in order, or when so many came in order.
struct ActionOrder {
  /// With the row's number; those of one instant stand by it.
  private var held: [(time: Timestamp, id: Double?, number: Int, bytes: [UInt8])] = []
  private var size = 0
  private var newest: Timestamp?
  /// The time of the last one.
  private var last: Timestamp?
  private var isForward = false
  private var inOrder = 0

  /// So many that came in order show that the rest does, too.
  private static let window = 1024
  /// Bytes that are held at most.
  private static let most = 64 << 20
  /// What is written at once may be a little out of order.
  private static let slack = Duration.seconds(1)

  /// An action without a time stays with the one before it.
  mutating func add(_ time: Timestamp?, id: Double?, _ bytes: [UInt8]) {
    let time = time ?? last ?? Timestamp(seconds: 0)
    let isLate = newest.map { time.adding(Self.slack) < $0 } ?? false
    inOrder = isLate ? 0 : inOrder + 1
    // A time in the future does not hold up all that is done until then.
    isForward = !isLate || last.map { $0 < time } ?? true
    (last, newest) = (time, max(newest ?? time, time))
    held.append((time, id, held.count, bytes))
    size += bytes.count
  }

  var isFull: Bool { inOrder >= Self.window || size >= Self.most }

  /// What no earlier action can come for, as far as one can tell, oldest first.
  mutating func takeFull() -> [[UInt8]] {
    if size >= Self.most { return takeAll() }
    sort()
    let rest = held.count - Self.window / 2
    let taken = held.prefix(rest).map(\.bytes)
    held.removeFirst(rest)
    for index in held.indices { held[index].number = index }
    size = held.reduce(0) { $0 + $1.bytes.count }
    inOrder = held.count
    return taken
  }

  /// All that is held where the last one came in order, else nothing; oldest first.
  mutating func takeAtPause() -> [[UInt8]] { isForward ? takeAll() : [] }

  mutating func takeAll() -> [[UInt8]] {
    sort()
    defer {
      held.removeAll(keepingCapacity: true)
      (size, inOrder) = (0, 0)
    }
    return held.map(\.bytes)
  }

  private mutating func sort() {
    // Those of one instant without numbers come as the others do.
    let isBackwards = held.last.map { $0.time < held[0].time } ?? false
    held.sort { a, b in
      let (one, other) = isBackwards ? (b.number, a.number) : (a.number, b.number)
      return (a.time, a.id ?? .infinity, one) < (b.time, b.id ?? .infinity, other)
    }
  }
}

/// The voice sessions of one agent: who says what, which tools run, and the turns in which
/// the agent answers. Everything names its session, or is in the session's channel; nothing
/// names a turn.
struct VoiceRooms {
  private let origin: RecordOrigin
  private var rooms: [String: VoiceRoom] = [:]
  private var sessions: [String: String] = [:]

  /// More sessions than can be up at once.
  private static let most = 256

  init(_ origin: RecordOrigin) { self.origin = origin }

  func room(_ session: String?, _ channel: String?) -> String? {
    if let session, rooms[session] != nil { return session }
    return channel.flatMap { sessions[$0] }
  }

  mutating func receive(_ part: ChainPart) -> [TurnEvent] {
    rooms[part.place]?.receive(part)
    return rooms[part.place]?.takeEvents() ?? []
  }

  mutating func receive(_ action: ClankyAction) -> [TurnEvent] {
    let metadata = action.metadata
    guard let session = metadata.text(.sessionId) ?? sessions[action.place] else { return [] }
    if rooms[session] == nil, rooms.count == Self.most {
      rooms.removeAll()
      sessions.removeAll()
    }
    sessions[action.place] = session
    var room = rooms[session] ?? VoiceRoom(origin, session)
    room.receive(action, metadata)
    let events = room.takeEvents()
    rooms[session] = room
    if action.kind == "voice_session_end" {
      rooms[session] = nil
      sessions = sessions.filter { $0.value != session }
    }
    return events
  }
}

/// One action of a dashboard, as long as its bytes are there.
struct ClankyAction {
  let fields: ActionFields
  /// Never empty.
  let kind: String
  let origin: RecordOrigin
  let time: Timestamp?

  init(_ fields: ActionFields, kind: String, _ origin: RecordOrigin) {
    (self.fields, self.kind, self.origin) = (fields, kind, origin)
    time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
  }

  /// The row's id; without one its time and kind, which are the same wherever it is read.
  var id: String { fields.id.string ?? "\(fields.createdAt.string ?? "")/\(kind)" }
  var content: String? { fields.content.storedText }
  var user: String? { fields.user.storedText }
  var message: String? { fields.message.storedText }
  /// What happens outside of any channel belongs to the guild, or to the agent itself.
  var place: String { fields.channel.storedText ?? fields.guild.storedText ?? "agent" }
  /// US dollars; nil for 0, which is what a row has when nobody knows.
  var cost: Double? {
    ScanNumber(fields.cost).flatMap { $0.isZero || !$0.double.isFinite ? nil : $0.double }
  }

  /// What is read of what stands beside it.
  var metadata: ScanFields<ClankyField> { ScanFields(fields.metadata.bytes) }

  /// The action as a row, with what is read of its metadata alone: prompts are long.
  func copy() -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    func add(_ name: String, _ value: ScanValue) {
      if value.isAbsent { return }
      if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: name.utf8)
      bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
      bytes.append(contentsOf: value.bytes)
    }
    add("id", fields.id)
    add("created_at", fields.createdAt)
    add("guild_id", fields.guild)
    add("channel_id", fields.channel)
    add("message_id", fields.message)
    add("user_id", fields.user)
    add("kind", fields.kind)
    add("content", fields.content)
    add("usd_cost", fields.cost)
    let metadata = metadata
    bytes += Array(",\"metadata\":{".utf8)
    for (name, field) in zip(ClankyField.names, ClankyField.allCases) { add(name, metadata[field]) }
    bytes += Array("}}".utf8)
    return bytes
  }
}

/// What is read of the metadata of actions, and of what stands in it.
enum ClankyField: Int, ScanName {
  case source, messageId, sessionId, sessionKey, latencyMs, durationMs
  // Of a call of a model, and of the calls of tools in it.
  case provider, model, usage, inputTokens, outputTokens, stopReason, toolNames, toolCalls
  case id, name, input, arguments
  // Of a tool, and of a step in a browser.
  case query, returnedResults, errorMessage, step, tool, isError, fullLength
  // Of an answer.
  case triggerMessageId, triggerMessageIds, performance, totalMs, llm, costUsd
  // Of what happens in voice.
  case transcript, transcriptSource, speakerName, itemId, allow, callId, toolName, toolInput
  case runtimeMs, outputSummary, toolResultSummary, error, skipCause, responseStatus
  case responseUsage, hadAudio

  static let table = NameTable<ClankyField>()
  static let names = allCases.map { String(describing: $0) }
}

extension ScanFields<ClankyField> {
  func text(_ name: ClankyField) -> String? {
    guard let text = self[name].string, !text.isEmpty else { return nil }
    return text
  }

  /// A whole number; nil when it is none, or too large.
  func count(_ name: ClankyField) -> Int? {
    ScanNumber(self[name]).flatMap { Int(exactly: $0.double.rounded()) }
  }

  func usage(_ name: ClankyField) -> TurnRecord.Usage? {
    let usage = Self(self[name].bytes)
    let (input, output) = (usage.count(.inputTokens), usage.count(.outputTokens))
    guard input != nil || output != nil else { return nil }
    return TurnRecord.Usage(inputTokens: input, outputTokens: output)
  }
}
