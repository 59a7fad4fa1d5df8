import Core
import Records
import Web

/// The messages of a thread, page by page. One whose text is not UTF-8 keeps the server from
/// sending its page, for ever (Agent/Pincer/CONTRACT.md 3.4): it is fetched around.
struct PincerMessages {
  private static let largest = 200
  /// Who gives more pages than this never ends.
  private static let most = 100_000

  private let calls: PincerCalls
  private let thread: String
  /// How many messages were passed, and how many are asked for.
  private var (passed, size) = (0, largest)
  private var token: String?
  private var count = 0
  private var isOver = false
  /// The places of messages that the server cannot send, from 1.
  private(set) var missing: [Int] = []

  init(_ calls: PincerCalls, thread: String) { (self.calls, self.thread) = (calls, thread) }

  /// The next page; nil behind the last one.
  mutating func next(_ waiter: Waiter) throws(LinkEnd) -> PincerCalls.Outcome? {
    while !isOver {
      let question = RecordText().string("threadId", thread).number("pageSize", size)
        .string("pageToken", token)
      let outcome = try calls.ask(.listThreadMessages, question, waiter)
      count += 1
      if count > Self.most { isOver = true }
      if case .failure(let refusal) = outcome, refusal.isUnreadable, !isOver {
        if size == 1 {
          passed += 1
          missing.append(passed)
        }
        // A token is the number of messages before its page.
        token = passed == 0 ? nil : String(passed)
        size = max(size / 2, 1)
        continue
      }
      if case .success(let reply) = outcome { turn(reply) }
      return outcome
    }
    return nil
  }

  private mutating func turn(_ reply: PincerCalls.Reply) {
    let next = reply.value.pincerText("nextPageToken")
    isOver = isOver || next.isEmpty || next == token
    token = next
    passed += reply.value.pincer("items")?.count ?? 0
    size = min(size * 2, Self.largest)
  }

  /// What asks for the number of a thread's last event, which comes with any page.
  ///
  /// - Parameter place: of the message that comes with it, from 0.
  static func question(_ thread: String?, at place: Int = 0) -> RecordText {
    RecordText().string("threadId", thread).number("pageSize", 1)
      .string("pageToken", place == 0 ? nil : String(place))
  }

  /// The place of another message to ask for where the one at `place` cannot be sent; there is
  /// an empty page behind the last.
  static func other(than place: Int) -> Int { max(place * 2, 1) }
  /// No thread has so many messages: then there is no other reason to ask on.
  static let furthest = 1 << 32
}
