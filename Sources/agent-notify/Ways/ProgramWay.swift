import CLibc
import Core
import Records

/// Runs a program for each notification, one after the other. No text of the notification
/// reaches a shell.
class ProgramWay: Way {
  private let outcome: Outcome
  private let input: (Delivery) -> [UInt8]
  private let words: (Delivery) -> [String]
  private let isOwn: Bool
  private var queue = WayQueue()
  private var call: ProgramCall?
  private var current: [Telling] = []
  private var deadline = 0.0
  private var hasTimedOut = false
  /// One that takes longer is ended, seconds.
  private static let timeLimit = 60.0

  init(
    _ name: String, _ outcome: Outcome, isOwn: Bool = false,
    input: @escaping (Delivery) -> [UInt8] = { _ in [] },
    _ words: @escaping (Delivery) -> [String]
  ) {
    (self.outcome, self.isOwn, self.input, self.words) = (outcome, isOwn, input, words)
    super.init(name)
  }

  func words(for delivery: Delivery) -> [String] { words(delivery) }

  override var isIdle: Bool { call == nil && queue.isEmpty }

  override func post(_ telling: Telling) { queue.add(telling) }

  override func work(now: Double) -> Double {
    if let call { go(on: call, now) }
    while call == nil, let next = queue.next(summed: { outcome.noteSum(name, $0) }) {
      current = next.of
      start(next.0, now)
    }
    // Its end is nothing that can be polled for.
    return call == nil ? .infinity : now + 0.02
  }

  override func stop() { call?.child.kill(SIGTERM) }

  private func start(_ delivery: Delivery, _ now: Double) {
    (hasTimedOut, deadline) = (false, now + Self.timeLimit)
    do throws(Failure) {
      let call = try ProgramCall(
        words(for: delivery), input: input(delivery), isOurs: false, passesOn: isOwn, most: 512)
      self.call = call
      go(on: call, now)
    } catch {
      end(current, Failure(systemReason(error.code), .temporary))
    }
  }

  private func go(on call: ProgramCall, _ now: Double) {
    // What it started may hold its output open.
    if call.look() || call.child.reap() {
      self.call = nil
      end(current, reason(call).map { Failure($0, .temporary) })
    } else if now > deadline {
      call.child.kill(hasTimedOut ? SIGKILL : SIGTERM)
      hasTimedOut = true
      deadline = now + 2
    }
  }

  private func reason(_ call: ProgramCall) -> String? {
    if call.child.exitStatus == 0 { return nil }
    if hasTimedOut { return "took longer than 60 seconds" }
    let how = call.child.endSignal.map { "signal \($0)" } ?? "status \(call.child.exitStatus ?? 0)"
    return call.said.isEmpty ? how : call.said
  }
}

extension ProgramCall {
  /// The first line of what it said on standard error.
  var said: String { String(decoding: error.prefix { $0 != 10 }, as: UTF8.self) }
}

extension ProgramWay {
  static func notifySend(_ outcome: Outcome) -> ProgramWay {
    ProgramWay("notify-send", outcome) { notifySendWords($0, options: []) }
  }

  static func notifySendWords(_ delivery: Delivery, options: [String]) -> [String] {
    let urgency =
      switch delivery.urgency {
      case .emergency: "critical"
      case .urgent, .attention: "normal"
      case .info, .noise: "low"
      }
    return ["notify-send", "-a", "agentutils", "-u", urgency]
      + (delivery.hasSound ? ["-h", "string:sound-name:message-new-instant"] : []) + options
      + ["--", WayText.title(delivery), WayText.markup(WayText.body(delivery))]
  }

  /// The words of the script are the same for all; what is told are its arguments, behind
  /// the `-` that ends the options.
  static func osascript(_ outcome: Outcome) -> ProgramWay {
    ProgramWay(
      "osascript", outcome,
      input: { delivery in
        let sound = delivery.hasSound ? " sound name \"Ping\"" : ""
        let show = "display notification (item 2 of words) with title (item 1 of words)"
        return Array("on run words\n\(show)\(sound)\nend run\n".utf8)
      }, { ["osascript", "-", WayText.title($0), WayText.body($0)] })
  }

  /// The user's own; the words are for a shell, the record is not.
  static func command(_ words: String, _ outcome: Outcome) -> ProgramWay {
    ProgramWay(words, outcome, isOwn: true, input: \.record) { _ in ["/bin/sh", "-c", words] }
  }
}
