import Core
import Records
import Web

/// Finds the turn that answers a question of which no answer came: among those that began
/// behind it in the thread, the first whose message has its words
/// (Agent/Pincer/CONTRACT.md 4.3).
struct PincerFinder {
  /// How much is kept until the turn is found, bytes.
  private static let most = 64 << 20
  /// How soon it is asked again what could not be had, seconds.
  private static let pause = 2.0

  private let calls: PincerCalls
  private(set) var events: [[UInt8]] = []
  private var size = 0

  init(_ calls: PincerCalls) { self.calls = calls }

  /// The turn that answers and the message, if it is this one; searches until `until`, monotonic.
  mutating func found(
    _ message: [UInt8], thread: String, text: String, _ waiter: Waiter,
    until: Double
  ) throws(LinkEnd) -> (turn: String, message: String)? {
    if size + message.count <= Self.most {
      events.append(message)
      size += message.count
    }
    guard let begin = PincerTurn.beginning(message), !begin.message.isEmpty else { return nil }
    while Clock.monotonic < until {
      if let isOurs = try has(begin.message, thread, text, waiter) {
        return isOurs ? begin : nil
      }
      let again = min(Clock.monotonic + Self.pause, until)
      while Clock.monotonic < again { try waiter.wait(until: again) }
    }
    return nil
  }

  /// Whether a message has the words; nil when that could not be found out now.
  private func has(
    _ id: String, _ thread: String, _ text: String, _ waiter: Waiter
  ) throws(LinkEnd) -> Bool? {
    var messages = PincerMessages(calls, thread: thread)
    while let page = try messages.next(waiter) {
      switch page {
      case .failure(let refusal): return refusal.problem.status == .temporary ? nil : false
      case .success(let reply):
        let items = reply.value.pincer("items")?.elements ?? []
        if let item = items.first(where: { $0.pincerText("messageId") == id }) {
          return item.pincerText("content").trimmed == text.trimmed
        }
      }
    }
    return false
  }
}
