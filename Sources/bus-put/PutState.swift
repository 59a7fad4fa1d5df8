import Bus
import Core
import Records

/// The file of `--state`: the resume point of the last event before which all is stored, which
/// sse-tail goes on from.
struct PutState {
  private let file: StateFile
  private var state: FollowState
  private var saved: FollowState
  private var savedAt = -Double.infinity

  /// The shortest time between two saves, seconds.
  private static let interval = 1.0

  init(path: String) throws(Failure) {
    file = StateFile(path: path)
    state = FollowState(source: "")
    if let bytes = try file.read(), !bytes.isEmpty {
      guard let found = FollowState(bytes) else {
        throw Failure(path, "not a state file of sse-tail")
      }
      state = found
    }
    saved = state
  }

  /// Saves what changed, if it is time. Returns when to be called again at the latest.
  mutating func save(
    _ mark: BusWindow.Mark, now: Double, force: Bool = false
  ) throws(Failure) -> Double {
    if let event = mark.event { state.lastEventID = event }
    state.newest = BusWindow.Mark.later(state.newest, mark.created)
    if state == saved { return .infinity }
    if !force, now < savedAt + Self.interval { return savedAt + Self.interval }
    try file.replace(with: Array(state.record.utf8))
    (saved, savedAt) = (state, now)
    return .infinity
  }
}
