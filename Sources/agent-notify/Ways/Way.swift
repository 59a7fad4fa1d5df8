import CLibc
import Core
import Records
import Screen

/// A way to tell a person something. None of them waits: what takes time goes on in `work`.
class Way {
  typealias End = (tellings: [Telling], failure: Failure?, isFinal: Bool)

  let name: String
  fileprivate(set) var ended: [End] = []

  init(_ name: String) { self.name = name }

  var isIdle: Bool { true }
  /// Whether it tells nothing more, whatever is tried.
  var isClosed: Bool { false }
  var unsupportedReason: String { "" }
  /// What to wait for beside.
  var descriptors: [Int32] { [] }

  /// Whether somebody can be told in this way now; nil while that is found out, in `work`.
  func isThere(now: Double) -> Bool? { true }

  func post(_ telling: Telling) throws(WriteFailure) {}

  /// Goes on. Returns when to be called again at the latest.
  func work(now: Double) -> Double { .infinity }

  /// Ends what goes on: nobody is there any more to wait for it.
  func stop() {}

  /// These were told; or, with a failure, not. A final one is of these alone: no later try betters it.
  final func end(_ tellings: [Telling], _ failure: Failure? = nil, isFinal: Bool = false) {
    ended.append((tellings, failure, isFinal))
  }
}

final class Telling {
  let delivery: Delivery
  let bundles: [Bundle]
  let wasKept: Bool
  var open: Set<Int>
  var failed: Set<Int> = []
  var isPosted = false
  var wasTold = false

  init(_ delivery: Delivery, of bundles: [Bundle], wasKept: Bool, by channels: Set<Int>) {
    (self.delivery, self.bundles, self.wasKept) = (delivery, bundles, wasKept)
    open = channels
  }
}

struct Channel {
  private let ways: [Way]
  private var current = 0
  private var until = Double.infinity

  /// The first is tried again after so long, seconds.
  private static let rest = 300.0

  init(_ ways: [Way]) { self.ways = ways }

  var way: Way { ways[current] }
  var isIdle: Bool { ways.allSatisfy(\.isIdle) }
  var isClosed: Bool { ways.allSatisfy(\.isClosed) }
  var descriptors: [Int32] { ways.flatMap(\.descriptors) }

  func isThere(now: Double) -> Bool? { way.isThere(now: now) }
  func stop() { for way in ways { way.stop() } }

  /// Goes on. Returns when to be called again at the latest.
  mutating func work(now: Double) -> Double {
    if now >= until { (current, until) = (0, .infinity) }
    return ways.map { $0.work(now: now) }.min() ?? .infinity
  }

  func ended() -> [(way: Way, end: Way.End)] {
    ways.flatMap { way in
      defer { way.ended = [] }
      return way.ended.map { (way, $0) }
    }
  }

  mutating func passes(_ way: Way, now: Double) -> Bool {
    guard let place = ways.firstIndex(where: { $0 === way }), place + 1 < ways.count else {
      return false
    }
    if current == place { (current, until) = (place + 1, now + Self.rest) }
    return true
  }
}

final class Outcome {
  private let diagnostics: Diagnostics
  private(set) var status = ExitStatus.success

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  func note(_ way: String, _ reason: String) { diagnostics.error(way, reason) }

  func fail(_ way: String, _ reason: String, _ failure: ExitStatus = .temporary) {
    diagnostics.error(way, reason)
    if status != .denied { status = failure }
  }

  func noteSum(_ way: String, _ count: Int) {
    note(way, "too slow: \(count) notifications are told in one")
  }

  func mend() {
    if status == .temporary { status = .success }
  }
}

/// What waits for a way that takes time, the most urgent first. Of what is not pressing no more
/// than a few are told each: what is too much is told in one.
struct WayQueue {
  private var pressing: [Telling] = []
  private var waiting: [Telling] = []
  private var rest: [Telling] = []
  private static let most = 16

  mutating func add(_ telling: Telling) {
    if telling.delivery.urgency.isPressing { return pressing.append(telling) }
    if rest.isEmpty, waiting.count < Self.most { return waiting.append(telling) }
    rest.append(telling)
  }

  /// All that waits, which is then no more in it.
  mutating func drain() -> [Telling] {
    defer { self = WayQueue() }
    return pressing + waiting + rest
  }

  mutating func next(summed: (Int) -> Void) -> (Delivery, of: [Telling])? {
    if !pressing.isEmpty {
      let first = pressing.firstIndex { $0.delivery.urgency == .emergency } ?? 0
      let telling = pressing.remove(at: first)
      return (telling.delivery, [telling])
    }
    if !waiting.isEmpty {
      let first = waiting.removeFirst()
      return (first.delivery, [first])
    }
    guard let first = rest.first else { return nil }
    defer { rest = [] }
    if rest.count == 1 { return (first.delivery, rest) }
    var sum = Summary()
    for each in rest { sum.add(each.delivery) }
    summed(sum.count)
    return (sum.delivery, rest)
  }

  var isEmpty: Bool { pressing.isEmpty && waiting.isEmpty && rest.isEmpty }
}

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
      // What it said before it ended may have come behind the look.
      call.look()
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

/// A message in the status line of the terminal that was used last. Without a terminal tmux(1)
/// shows it to nobody, and does not say so: it is asked who is there before.
final class TmuxWay: ProgramWay {
  private var reason = ""
  /// The client of the terminal that was used last; empty for none.
  private var seat = ""
  private var question: ProgramCall?
  private var deadline = 0.0
  private var answer: (isThere: Bool, until: Double)?
  /// Seconds between two questions while nobody is there, and for an answer.
  private static let (pause, patience) = (2.0, 10.0)
  /// How long who was there is taken to be there, seconds.
  private static let trust = 0.25

  init(_ outcome: Outcome) { super.init("tmux", outcome) { _ in [] } }

  override var unsupportedReason: String { reason }

  override func words(for delivery: Delivery) -> [String] {
    ["tmux", "display-message", "-d", "5000"] + (seat.isEmpty ? [] : ["-c", seat])
      + ["--", WayText.tmux(WayText.line(delivery))]
  }

  override func isThere(now: Double) -> Bool? {
    if let answer, now < answer.until { return answer.isThere }
    if question == nil { ask(now) }
    return question == nil ? answer?.isThere : nil
  }

  override func work(now: Double) -> Double {
    let next = super.work(now: now)
    if let question {
      go(on: question, now)
      // Somebody waits for the answer.
      return self.question == nil ? now : min(next, now + 0.02)
    }
    // Then it is to be asked again, if somebody still wants to know.
    guard let answer, !answer.isThere, answer.until > now else { return next }
    return min(next, answer.until)
  }

  private func ask(_ now: Double) {
    let form = "#{client_control_mode} #{client_activity} #{client_name}"
    do throws(Failure) {
      question = try ProgramCall(
        ["tmux", "list-clients", "-F", form], isOurs: false, most: 1 << 16)
      deadline = now + Self.patience
    } catch {
      // Who tells will say so.
      answer = (true, now + Self.trust)
    }
  }

  private func go(on question: ProgramCall, _ now: Double) {
    if question.look() {
      self.question = nil
      seat = Self.lastUsed(String(decoding: question.output, as: UTF8.self))
      reason = question.said.isEmpty ? "nobody is attached" : question.said
    } else if now > deadline {
      question.child.kill(SIGKILL)
      self.question = nil
      seat = ""
      reason = "no answer"
    } else {
      return
    }
    let isThere = !seat.isEmpty
    answer = (isThere, now + (isThere ? Self.trust : Self.pause))
  }

  /// The client of the terminal that was used last; programs that speak with tmux see nothing.
  private static func lastUsed(_ list: String) -> String {
    let clients = list.split(separator: "\n").compactMap { line -> (time: Int, name: String)? in
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, words[0] != "1" else { return nil }
      return (Int(words[1]) ?? 0, String(words[2]))
    }
    return clients.max { $0.time < $1.time }?.name ?? ""
  }
}

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

final class LineWay: Way {
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let rings: Bool

  init(rings: Bool = false) {
    self.rings = rings
    super.init("line")
  }

  override func post(_ telling: Telling) throws(WriteFailure) {
    let delivery = telling.delivery
    let time = TimeText.absolute(Timestamp.now()).dropFirst(11)
    try writer.write("\(time) \(delivery.urgency.rawValue)  \(WayText.line(delivery))\n")
    try writer.flush()
    if rings { _ = BellWay.ring() }
    end([telling])
  }
}

final class BellWay: Way {
  init() { super.init("bell") }

  override func post(_ telling: Telling) {
    end([telling], Self.ring() ? nil : Failure("no terminal", .temporary))
  }

  /// Whether there is a terminal.
  static func ring() -> Bool {
    let terminal = clibc_open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    var bell: UInt8 = 7
    // Who does not read the terminal hears no bell, either.
    _ = write(terminal, &bell, 1)
    return true
  }
}

/// The texts of a delivery, made safe for where each way puts them. What a terminal would
/// obey or a person could not see has become text in all of them.
enum WayText {
  static func title(_ delivery: Delivery) -> String { Plain.line(delivery.title) }

  private static let (mostLines, mostLine) = (12, 1000)

  static func body(_ delivery: Delivery) -> String {
    if delivery.body.isEmpty { return "" }
    let lines = Plain.lines(delivery.body)
    let shown = lines.count > mostLines ? lines.prefix(mostLines - 1) + ["…"] : lines[...]
    return shown.map { NtfyMessage.cut($0, mostLine) }.joined(separator: "\n")
  }

  /// Whether all of the text is in `body`.
  static func isWhole(_ delivery: Delivery) -> Bool {
    let lines = Plain.lines(delivery.body)
    return !delivery.body.isEmpty && lines.count <= mostLines
      && lines.allSatisfy { $0.utf8.count <= mostLine }
  }

  static func line(_ delivery: Delivery) -> String {
    let body = Plain.line(delivery.body, limit: 1000)
    return title(delivery) + (body.isEmpty ? "" : ": " + body)
  }

  /// Desktop text may have markup and, to notify-send(1), escapes as in C.
  static func markup(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\\": out += "\\\\"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// A line for tmux(1), which expands `#` and, as strftime(3) does, `%`; and a word that
  /// ends in `;` ends a command.
  static func tmux(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      if scalar == "#" || scalar == "%" { out.unicodeScalars.append(scalar) }
      out.unicodeScalars.append(scalar)
    }
    return out.hasSuffix(";") ? out.dropLast() + "\\;" : out
  }
}
