import Core
import Records
import Web

// MARK: - What is waited for

extension PincerChat {
  /// How long nothing of an answer may come, in general and while a tool runs, seconds. A
  /// server ends a turn after 2 minutes, a tool after 15 at most.
  private static let (usualPatience, toolPatience) = (300.0, 1000.0)
  /// How long the last word of a turn that is over may be on its way, seconds.
  private static let lastWord = 10.0
  /// How long an approval waits where that is not said, seconds.
  private static let approvalLife = 86_400.0

  /// The question's own stream tells no more: the thread does.
  func watch() {
    guard let turn else { return }
    leave()
    finder.reset()
    var policy = wishes.policy
    policy.idleTimeout = policy.idleTimeout ?? PincerBackend.usualSilence
    policy.lastEventID = Array(String(turn.base).utf8)
    phase = .watching(
      PincerWatch(client, calls.server, thread: turn.thread, policy: policy, handler: self))
  }

  /// When the question's own stream is left for the thread's, seconds of `Clock.monotonic`:
  /// a connection may die without a word, and the turn does not end with it.
  func silence(of stream: ConnectStream) -> Double {
    stream.lastHeard + (wishes.policy.idleTimeout ?? PincerBackend.usualSilence)
  }

  /// When the question is given up, seconds of `Clock.monotonic`.
  var deadline: Double {
    guard let turn else { return wishes.patience.map { lastNews + $0 } ?? .infinity }
    if turn.isStuck || isDead {
      return lastNews + min(Self.lastWord, wishes.patience ?? .infinity)
    }
    if let patience = wishes.patience { return lastNews + patience }
    guard turn.isPaused else {
      return lastNews + (turn.isWorking ? Self.toolPatience : Self.usualPatience)
    }
    let left = turn.lastExpiry.map { Double($0.seconds) - Clock.unix } ?? Self.approvalLife
    return max(Clock.monotonic + left, lastNews) + Self.usualPatience
  }

  func giveUp() {
    guard let turn else {
      let seconds = Latency.seconds(wishes.patience ?? 0)
      return finish(.lost("no answer of the server in \(seconds) s; nothing was sent"))
    }
    if turn.isStuck {
      return finish(.failed("an approval expired, and the server does not go on with the turn"))
    }
    if isDead { return finish(.lost("the turn is over, and how it ended is not said")) }
    if turn.isPaused { return finish(.paused(turn.waitsFor)) }
    let usual = turn.isWorking ? Self.toolPatience : Self.usualPatience
    let seconds = Latency.seconds(wishes.patience ?? usual)
    let what = turn.id == nil ? "whether it arrived is not known" : "the turn may go on"
    finish(.lost("nothing of the answer came for \(seconds) s; \(what)"))
  }
}

// MARK: - The question's own stream

extension PincerChat: ConnectStreamHandler {
  func connectOpened(_ place: String) {}

  func connectMessage(_ message: [UInt8]) -> Bool {
    take(message, isWatched: false)
    return turn?.end == nil && turn?.isPaused == false
  }

  func connectOversize(bytes: Int) {
    listener?.chatLink(.fault("an event of \(bytes) bytes was passed over"))
  }

  func connectEnded(_ end: ConnectEnd) {
    guard let turn else { return }
    if let withheld { return finish(.refused(withheld)) }
    if case .cut(let reason) = end, !isSent { return finish(.lost(reason)) }
    if turn.end != nil || turn.isPaused { return settle() }
    switch end {
    case .failed(let error, let head):
      let problem = calls.server.problem(of: error, head)
      if turn.id == nil, error.code.meansUndone { return finish(.refused(problem)) }
      isDead = error.code == .internal
      lastNews = Clock.monotonic
    case .refused(let head, let body):
      let problem =
        calls.server.problem(of: head, body, method: "POST")
        ?? AnswerProblem("\(head.summary): not a stream of a Pincer server", .failure)
      if problem.status != .temporary || head.status == 429 { return finish(.refused(problem)) }
    case .unusable(let reason):
      return finish(.refused(AnswerProblem(reason, .failure)))
    case .cut, .complete, .stopped: break
    }
    watch()
  }
}

// MARK: - The thread's stream

extension PincerChat: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    if let down { listener?.chatLink(.open(place: place, isFirst: false, down: down)) }
  }

  func streamItem(_ item: StreamItem) {
    switch item {
    case .event(let event): take(Array(event.data), isWatched: true)
    case .oversize(let bytes): connectOversize(bytes: bytes)
    case .fault(let reason): listener?.chatLink(.fault(reason))
    case .comment, .retry, .message: break
    }
  }

  func streamFaulted(_ reason: String) { listener?.chatLink(.fault(reason)) }

  func streamLost(_ reason: String, wait: Double) {
    listener?.chatLink(.lost(reason, wait: wait))
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    let problem = AnswerProblem("\(end.problem.line); the turn may go on", end.problem.status)
    finish(problem.status == .denied ? .refused(problem) : .lost(problem.line))
  }
}
