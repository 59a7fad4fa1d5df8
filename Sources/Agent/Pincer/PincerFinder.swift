import Core
import Records
import Web

/// Finds the turn that answers a question of which no answer came: among those that began
/// behind it in the thread, the first whose message has its words
/// (Agent/Pincer/CONTRACT.md 4.3).
final class PincerFinder {
  /// A turn and the message that it answers.
  typealias Found = (turn: String, message: String)

  private let calls: PincerCalls
  /// What came so far, of any turn.
  private var events: [[UInt8]] = []
  private var size = 0
  private var candidates: [Found] = []
  private var isChecking = false
  /// Counts the searches, so that an answer for an earlier one is told from its own.
  private var search = 0
  /// When a check that failed is made again, seconds of `Clock.monotonic`.
  private var again = Double.infinity
  private var check: () -> Void = {}

  /// How much is kept until the turn is found, bytes.
  private static let most = 64 << 20
  private static let pageSize = 200
  private static let pause = 2.0

  init(_ calls: PincerCalls) { self.calls = calls }

  /// Forgets the search.
  func reset() {
    search += 1
    (events, size, candidates, isChecking, again) = ([], 0, [], false, .infinity)
    check = {}
  }

  /// Checks once more what could not be checked.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    if again <= now {
      again = .infinity
      check()
    }
    return again
  }

  /// Takes an event behind the question.
  func take(
    _ message: [UInt8], _ event: JSONValue, thread: String, text: String,
    then: @escaping (Found, [[UInt8]]) -> Void
  ) {
    if size + message.count <= Self.most {
      events.append(message)
      size += message.count
    }
    guard let begin = PincerTurn.beginning(event), !begin.message.isEmpty else { return }
    candidates.append(begin)
    check = { [unowned self] in next(thread, text, then) }
    check()
  }

  private func next(
    _ thread: String, _ text: String, _ then: @escaping (Found, [[UInt8]]) -> Void
  ) {
    guard !isChecking, let candidate = candidates.first else { return }
    isChecking = true
    compare(candidate, thread, text, PincerPages(), search) { [unowned self] isOurs in
      isChecking = false
      switch isOurs {
      case true?:
        let events = events
        reset()
        then(candidate, events)
      case false?:
        candidates.removeFirst()
        next(thread, text, then)
      case nil: again = Clock.monotonic + Self.pause
      }
    }
  }

  /// Compares the words of a message.
  ///
  /// - Parameter then: told nil when they could not be had now; nothing in a later search.
  private func compare(
    _ found: Found, _ thread: String, _ text: String, _ pages: PincerPages, _ number: Int,
    then: @escaping (Bool?) -> Void
  ) {
    let question = RecordText().string("threadId", thread).number("pageSize", Self.pageSize)
      .string("pageToken", pages.token)
    calls.call(.listThreadMessages, question) { [unowned self] outcome in
      guard number == search else { return }
      guard case .success(let reply) = outcome else {
        if case .failure(.refused(let problem, _)) = outcome, problem.status != .temporary {
          return then(false)
        }
        return then(nil)
      }
      let items = reply.value.pincer("items")?.elements ?? []
      if let item = items.first(where: { $0.pincerText("messageId") == found.message }) {
        return then(Self.words(item.pincerText("content")) == Self.words(text))
      }
      var pages = pages
      guard (try? pages.turn(reply.value, at: "")) == true else { return then(false) }
      compare(found, thread, text, pages, number, then: then)
    }
  }

  /// A text without white space at its ends, which a server may have taken away.
  private static func words(_ text: String) -> Substring {
    let head = text.drop(while: \.isWhitespace)
    return head.lastIndex { !$0.isWhitespace }.map { head[...$0] } ?? ""
  }
}
