import CLibc
import Core
import Records

/// What a person is asked while the turn goes on. In a pipe its card comes at its end, which
/// waits for the answer: so the question is told before, once nothing follows it.
struct OpenQuestions {
  private var waiting: [(key: PartKey, since: Double)] = []
  /// What was asked; it is asked once.
  private var known: Set<PartKey> = []

  /// Seconds: a record that is read back at full speed asks nobody.
  private static let patience = 0.25
  /// More than anyone is asked at once; the oldest are left to their cards.
  private static let most = 1000

  /// Notes what a record asks.
  mutating func add(_ record: ConversationRecord) {
    guard case .approval(let approval) = record, approval.state == .pending,
      let key = PartKey(record)
    else { return }
    if known.count >= Self.most { known.removeAll() }
    guard known.insert(key).inserted else { return }
    if waiting.count == Self.most { waiting.removeFirst() }
    waiting.append((key, Clock.monotonic))
  }

  func isReadable(_ descriptor: Int32) -> Bool {
    guard let first = waiting.first else { return true }
    let left = first.since + Self.patience - Clock.monotonic
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return left > 0 && poll(&entry, 1, Int32(left * 1000) + 1) != 0
  }

  mutating func due() -> [PartKey] {
    let count = waiting.prefix { $0.since + Self.patience <= Clock.monotonic }.count
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map(\.key)
  }
}
