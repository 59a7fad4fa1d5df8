import Core
import Records

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
    guard let part = Self.parts[action.kind] else { return }
    let id = ScanNumber(action.fields.id)?.double
    order.add(action.time, id: id, action.copy(with: Self.members(part)))
    if order.isFull { read(order.takeFull(), into: &events) }
  }

  private static func members(_ part: Part) -> [StaticString] {
    switch part {
    case .answer: ReplyTurn.members
    case .model: ChainPart.modelMembers + ["sessionId"]
    case .tool: ChainPart.toolMembers
    case .browserStep: ChainPart.stepMembers
    case .voice: VoiceRoom.members
    }
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
      let metadata = action.metadata(["source", "sessionId"])
      let speaks = metadata.text("source")?.hasPrefix("voice") ?? false
      if let room = voice.room(metadata.text("sessionId"), speaks ? action.place : nil) {
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
