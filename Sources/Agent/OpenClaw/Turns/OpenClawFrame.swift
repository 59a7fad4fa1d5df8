import Core
import Records

/// An event that tells of turns, however it came: as a record of `agent-tail`, or as the
/// gateway's own frame, bare or as a record of `ws-tail` (CONTRACT.md 1).
package struct OpenClawFrame {
  /// What an event is about.
  package enum Kind: Sendable {
    case chat, agent
    case approval(tool: String, isOver: Bool)
  }

  let kind: Kind
  let payload: ScanValue

  private static let kinds = NameTable<Kind>([
    ("chat", .chat), ("agent", .agent), ("session.tool", .agent),
    ("exec.approval.requested", .approval(tool: "exec", isOver: false)),
    ("exec.approval.resolved", .approval(tool: "exec", isOver: true)),
    ("plugin.approval.requested", .approval(tool: "plugin", isOver: false)),
    ("plugin.approval.resolved", .approval(tool: "plugin", isOver: true)),
  ])

  private enum Member: Sendable { case type, event, payload }
  private static let members = NameTable<Member>([
    ("type", .type), ("event", .event), ("payload", .payload),
  ])

  init?(_ line: TurnLine) {
    if line.isWrapped, !line.eventName.isAbsent {
      guard line.shape == .event, let kind = Self.kind(line.eventName) else { return nil }
      (self.kind, payload) = (kind, line.object)
      return
    }
    guard line.shape == .own || line.shape == .unmarked || line.isWrapped,
      var members = try? ScanMembers(line.object.bytes)
    else { return nil }
    var (type, event, body) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    while (try? members.next()) == true {
      switch Self.members[members.key] {
      case .type?: type = members.value
      case .event?: event = members.value
      case .payload?: body = members.value
      case nil: break
      }
    }
    guard type.isText("event"), let kind = Self.kind(event) else { return nil }
    (self.kind, payload) = (kind, body)
  }

  private static func kind(_ name: ScanValue) -> Kind? {
    guard name.isString else { return nil }
    return kinds[ScanValue(start: name.start + 1, count: name.count - 2)]
  }
}

/// The members of `chat` and `agent` payloads (CONTRACT.md 7).
struct OpenClawFields {
  private(set) var (run, session, state, deltaText) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  private(set) var (replaces, message, usage, stopReason) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  private(set) var (errorKind, errorMessage, phase, agent) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  private(set) var (stream, data, time, number) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )

  private enum Member: Sendable {
    case run, session, state, deltaText, replaces, message, usage, stopReason, errorKind,
      errorMessage, phase, agent, stream, data, time, number
  }

  private static let names = NameTable<Member>([
    ("runId", .run), ("sessionKey", .session), ("state", .state), ("deltaText", .deltaText),
    ("replace", .replaces), ("message", .message), ("usage", .usage),
    ("stopReason", .stopReason), ("errorKind", .errorKind), ("errorMessage", .errorMessage),
    ("phase", .phase), ("agentId", .agent), ("stream", .stream), ("data", .data), ("ts", .time),
    ("seq", .number),
  ])

  init(_ payload: ScanValue) {
    guard var members = try? ScanMembers(payload.bytes) else { return }
    while (try? members.next()) == true {
      let value = members.value
      switch Self.names[members.key] {
      case .run?: run = value
      case .session?: session = value
      case .state?: state = value
      case .deltaText?: deltaText = value
      case .replaces?: replaces = value
      case .message?: message = value
      case .usage?: usage = value
      case .stopReason?: stopReason = value
      case .errorKind?: errorKind = value
      case .errorMessage?: errorMessage = value
      case .phase?: phase = value
      case .agent?: agent = value
      case .stream?: stream = value
      case .data?: data = value
      case .time?: time = value
      case .number?: number = value
      case nil: break
      }
    }
  }
}
