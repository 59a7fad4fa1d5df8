import Core
import Records
import Turns

/// What can be asked of a gateway's conversation beside a prompt: its name, and the end of what
/// the agent is at. No network, no clock.
struct JoelclawLists {
  var pace = StatusPace()
  /// When an answer is given up, seconds of `Clock.monotonic`.
  private(set) var limit = Double.infinity
  private var waiting: ChatList?
  /// What came of it.
  var result: Result<[[UInt8]], Failure>?
  private var ending: JoelclawStatus.Request?

  /// How long is waited for a status, where the user gives no time, and for the end of what the
  /// agent is at; seconds.
  private static let (usualTime, abortTime) = (10.0, 5.0)

  mutating func ask(_ list: ChatList, place: String, now: Double) {
    result = nil
    let reason: String? =
      switch list {
      case .agents: "a joelclaw gateway has one agent, and no list"
      case .history: "a joelclaw gateway shows no history"
      case .ending(let thread, let agent) where thread != nil || agent != nil:
        "a joelclaw gateway has one agent and one conversation"
      case .threads, .ending: nil
      }
    if let reason { return finish(.failure(Failure(place, reason, .failure))) }
    waiting = list
    pace.begin(now, after: 0)
  }

  mutating func asked(_ now: Double, patience: Double?) {
    pace.asked(now)
    if waiting != nil, limit == .infinity { limit = now + (patience ?? Self.usualTime) }
  }

  /// Whether the agent is to be told to end what it is at.
  mutating func receive(_ status: JoelclawStatus, origin: RecordOrigin, clock: Double) -> Bool {
    guard let list = waiting else { return false }
    pace.answered(clock)
    guard case .ending = list else {
      let threads = status.session.map { [ThreadRecord(origin, id: $0, time: .now()).bytes] }
      finish(.success(threads ?? []))
      return false
    }
    if let ending {
      if status.active?.id == ending.id { return false }
      let record = TurnRecord(
        origin, id: ending.id, thread: status.session ?? "gateway", state: .aborted, time: .now())
      finish(.success([record.bytes]))
      return false
    }
    guard let active = status.active else {
      finish(.success([]))
      return false
    }
    ending = active
    limit = clock + Self.abortTime
    pace.begin(clock)
    return true
  }

  /// Gives up what has waited for too long.
  mutating func giveUp(_ now: Double, place: String) {
    guard now >= limit else { return }
    let words = ending == nil ? "no status came in time" : "the agent goes on with what it is at"
    fail(Failure(place, words, .temporary))
  }

  mutating func fail(_ failure: Failure) { finish(.failure(failure)) }

  private mutating func finish(_ result: Result<[[UInt8]], Failure>) {
    (waiting, ending, limit, self.result) = (nil, nil, .infinity, result)
    pace.stop()
  }
}
