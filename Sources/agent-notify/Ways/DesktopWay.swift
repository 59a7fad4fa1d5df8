import CLibc
import Core
import Notices

/// notify-send(1) that asks: where it knows actions, the notice of a question has the buttons, and
/// stays until one is pressed, it is closed, or the question ends. All else is told as without.
final class DesktopWay: ProgramWay {
  private let answers: Answers
  private var shown: [Shown] = []

  private final class Shown {
    let telling: Telling
    let ask: Ask
    let codes: [String]
    let call: ProgramCall
    let since: Double
    var isTold = false

    init(_ telling: Telling, _ ask: Ask, _ codes: [String], _ call: ProgramCall, _ now: Double) {
      (self.telling, self.ask, self.codes) = (telling, ask, codes)
      (self.call, since) = (call, now)
    }
  }

  /// So many notices stay at once; more are told without buttons.
  private static let most = 8
  /// One that has not failed by then is on the screen, seconds.
  private static let start = 1.0

  init(_ answers: Answers, _ outcome: Outcome) {
    self.answers = answers
    super.init("notify-send", outcome) { ProgramWay.notifySendWords($0, options: []) }
  }

  /// Whether the program takes actions: since libnotify 0.7.11.
  static var isThere: Bool {
    guard ProgramCall.isThere("notify-send"),
      let call = try? ProgramCall(["notify-send", "--help"], isOurs: false)
    else { return false }
    ProgramCall.wait(for: [call])
    return String(decoding: call.output, as: UTF8.self).holds("--action")
  }

  override var isIdle: Bool { super.isIdle && shown.allSatisfy(\.isTold) }
  override var descriptors: [Int32] { shown.flatMap(\.call.reading) }

  override func post(_ telling: Telling) {
    switch answers.question(telling.delivery) {
    case .question(let ask, let delivery) where shown.count < Self.most:
      do throws(Failure) {
        shown.append(try show(telling, delivery, ask))
      } catch {
        end([telling], Failure(systemReason(error.code), .temporary))
      }
    case .gone: end([telling])
    default: super.post(telling)
    }
  }

  private func show(
    _ telling: Telling, _ delivery: Delivery, _ ask: Ask
  ) throws(Failure) -> Shown {
    ask.delivery = telling.delivery
    // Nobody can allow what they have not seen.
    let isWhole = WayText.isWhole(delivery) && (ask.notice?.text ?? "") == telling.delivery.body
    let buttons = zip(ask.buttons, ask.codes).filter { isWhole || $0.0 == .no }
    let actions = buttons.enumerated().flatMap { ["-A", "\($0.offset)=\($0.element.0.label)"] }
    let call = try ProgramCall(
      ProgramWay.notifySendWords(delivery, options: actions), isOurs: false, most: 512)
    return Shown(telling, ask, buttons.map(\.1), call, Clock.monotonic)
  }

  override func work(now: Double) -> Double {
    var due = super.work(now: now)
    for one in shown {
      // SIGINT takes the notice off the screen.
      if one.ask.state != .open { one.call.child.kill(SIGINT) }
      let hasEnded = one.call.look()
      if hasEnded { press(one) }
      if !one.isTold, hasEnded || now - one.since >= Self.start {
        one.isTold = true
        end([one.telling], hasEnded ? failure(of: one) : nil)
      }
      if hasEnded { shown.removeAll { $0 === one } }
      // Its end is nothing that can be polled for.
      if !one.isTold { due = min(due, one.since + Self.start) }
      if !one.call.isTalking, !hasEnded { due = min(due, now + 0.02) }
    }
    return due
  }

  private func press(_ one: Shown) {
    let word = String(decoding: one.call.output.prefix { $0 != 10 }, as: UTF8.self)
    if let number = Int(word), one.codes.indices.contains(number) {
      answers.receive(one.codes[number])
    }
  }

  private func failure(of one: Shown) -> Failure? {
    let isAnswered = one.call.child.exitStatus == 0 || !one.call.output.isEmpty
    if isAnswered || one.ask.state != .open { return nil }
    let said = one.call.said
    return Failure(said.isEmpty ? "it ended without an answer" : said, .temporary)
  }

  override func stop() {
    super.stop()
    for one in shown { one.call.child.kill(SIGINT) }
  }
}
