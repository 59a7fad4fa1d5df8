import CLibc
import Core
import Notices

/// notify-send(1) that asks: where it knows actions, the notice of a question has the buttons, and
/// stays until one is pressed, it is closed, or the question ends. All else is told as without.
final class DesktopWay: Way {
  let name = "notify-send"
  private let plain: ProgramWay
  private let answers: Answers
  private var shown: [Shown] = []
  private var ownEnds: [WayEnd] = []

  private final class Shown {
    let telling: Telling
    let ask: Ask
    let codes: [String]
    let child: ChildProcess
    let since: Double
    var isTold = false
    var said: [UInt8] = []

    init(_ telling: Telling, _ ask: Ask, _ codes: [String], _ child: ChildProcess, _ now: Double) {
      (self.telling, self.ask, self.codes) = (telling, ask, codes)
      (self.child, since) = (child, now)
    }
  }

  /// So many notices stay at once; more are told without buttons.
  private static let most = 8
  /// One that has not failed by then is on the screen, seconds.
  private static let start = 1.0

  init(_ plain: ProgramWay, _ answers: Answers) { (self.plain, self.answers) = (plain, answers) }

  /// Whether the program takes actions: since libnotify 0.7.11.
  static var isThere: Bool {
    guard Programs.has("notify-send"),
      let child = try? ChildProcess(["notify-send", "--help"], error: .nothing)
    else { return false }
    var lines = LineReader(descriptor: child.output)
    var found = false
    while let line = try? lines.next() {
      found = found || String(decoding: line.bytes, as: UTF8.self).holds("--action")
    }
    child.kill(SIGKILL)
    _ = child.waitForEnd()
    return found
  }

  var isIdle: Bool { plain.isIdle && shown.allSatisfy(\.isTold) }
  var descriptors: [Int32] { shown.map(\.child.output) }
  var ended: [WayEnd] {
    get { plain.ended + ownEnds }
    set { (plain.ended, ownEnds) = ([], newValue) }
  }

  func post(_ telling: Telling) {
    switch answers.question(telling.delivery) {
    case .question(let ask, let delivery) where shown.count < Self.most:
      do throws(Failure) {
        shown.append(try show(telling, delivery, ask))
      } catch {
        ownEnds.append(
          WayEnd(tellings: [telling], failure: WayFailure(reason: systemReason(error.code))))
      }
    case .gone: ownEnds.append(WayEnd(tellings: [telling], failure: nil))
    default: plain.post(telling)
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
    let child = try ChildProcess(
      Programs.notifySendWords(delivery, options: actions), error: .pipe, leadsGroup: true)
    return Shown(telling, ask, buttons.map(\.1), child, Clock.monotonic)
  }

  func work(now: Double) -> Double {
    var due = plain.work(now: now)
    for one in shown {
      var piece = [UInt8](repeating: 0, count: 256)
      let count = read(one.child.output, &piece, piece.count)
      one.said += piece.prefix(max(0, min(count, 256 - one.said.count)))
      // SIGINT takes the notice off the screen.
      if one.ask.state != .open { one.child.kill(SIGINT) }
      let hasEnded = count == 0 && one.child.reap()
      if hasEnded { end(one) }
      if !one.isTold, hasEnded || now - one.since >= Self.start {
        one.isTold = true
        ownEnds.append(WayEnd(tellings: [one.telling], failure: hasEnded ? failure(of: one) : nil))
      }
      if hasEnded { shown.removeAll { $0 === one } }
      // Its end is nothing that can be polled for.
      if !one.isTold { due = min(due, one.since + Self.start) }
      if count == 0, !hasEnded { due = min(due, now + 0.02) }
    }
    return due
  }

  private func end(_ one: Shown) {
    let word = String(decoding: one.said.prefix { $0 != 10 }, as: UTF8.self)
    if let number = Int(word), one.codes.indices.contains(number) {
      answers.receive(one.codes[number])
    }
  }

  private func failure(of one: Shown) -> WayFailure? {
    if one.child.exitStatus == 0 || !one.said.isEmpty || one.ask.state != .open { return nil }
    let said = ProgramWay.firstLine(of: one.child.error)
    return WayFailure(reason: said.isEmpty ? "it ended without an answer" : said)
  }

  func stop() {
    plain.stop()
    for one in shown { one.child.kill(SIGINT) }
  }
}
