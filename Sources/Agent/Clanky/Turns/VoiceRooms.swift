import Core
import Records

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
    let metadata = action.metadata(VoiceRoom.members)
    guard let session = metadata.text("sessionId") ?? sessions[action.place] else { return [] }
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
