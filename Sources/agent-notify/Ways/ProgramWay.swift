import CLibc
import Core
import Records

/// Runs a program for each notification, one after the other. No text of the notification
/// reaches a shell.
final class ProgramWay: Way {
  let name: String
  private let outcome: Outcome
  private let words: (Delivery) -> [String]
  private let input: (Delivery) -> [UInt8]
  private let isOwn: Bool
  var ended: [WayEnd] = []
  private var queue = WayQueue()
  private var child: ChildProcess?
  private var current: [Telling] = []
  private var rest: ArraySlice<UInt8> = []
  private var deadline = 0.0
  private var hasTimedOut = false

  /// One that takes longer is ended, seconds.
  private static let timeLimit = 60.0

  init(
    _ name: String, _ outcome: Outcome, isOwn: Bool = false,
    input: @escaping (Delivery) -> [UInt8] = { _ in [] },
    _ words: @escaping (Delivery) -> [String]
  ) {
    (self.name, self.outcome, self.isOwn, self.input) = (name, outcome, isOwn, input)
    self.words = words
  }

  var isIdle: Bool { child == nil && queue.isEmpty }

  func post(_ telling: Telling) { queue.add(telling) }

  func work(now: Double) -> Double {
    if let child { go(on: child, now) }
    while child == nil, let next = queue.next(summed: { outcome.noteSum(name, $0) }) {
      current = next.of
      start(next.0, now)
    }
    // Its end is nothing that can be polled for.
    return child == nil ? .infinity : now + 0.02
  }

  func stop() { child?.kill(SIGTERM) }

  private func start(_ delivery: Delivery, _ now: Double) {
    rest = input(delivery)[...]
    hasTimedOut = false
    do throws(Failure) {
      let child = try ChildProcess(
        words(delivery), input: rest.isEmpty ? .nothing : .pipe,
        output: isOwn ? .ours : .nothing, error: isOwn ? .ours : .pipe, leadsGroup: true)
      self.child = child
      deadline = now + Self.timeLimit
      go(on: child, now)
    } catch {
      end(WayFailure(reason: systemReason(error.code)))
    }
  }

  private func go(on child: ChildProcess, _ now: Double) {
    while !rest.isEmpty, child.input >= 0 {
      let count = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
      if count < 0, systemError == EINTR { continue }
      if count < 0, systemError == EAGAIN { break }
      // Who does not read it all has read enough.
      rest = count < 0 ? [] : rest.dropFirst(count)
    }
    if rest.isEmpty { child.closeInput() }
    if child.reap() {
      self.child = nil
      end(failure(of: child))
    } else if now > deadline {
      child.kill(hasTimedOut ? SIGKILL : SIGTERM)
      hasTimedOut = true
      deadline = now + 2
    }
  }

  private func end(_ failure: WayFailure?) {
    ended.append(WayEnd(tellings: current, failure: failure))
    current = []
  }

  private func failure(of child: ChildProcess) -> WayFailure? {
    if child.exitStatus == 0 { return nil }
    if hasTimedOut { return WayFailure(reason: "took longer than 60 seconds") }
    let said = isOwn ? "" : Self.firstLine(of: child.error)
    let how = child.endSignal.map { "signal \($0)" } ?? "status \(child.exitStatus ?? 0)"
    return WayFailure(reason: said.isEmpty ? how : said)
  }

  static func firstLine(of descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &bytes, bytes.count)
    let line = bytes.prefix(max(0, count)).prefix { $0 != 10 }
    return String(decoding: line, as: UTF8.self)
  }
}

enum Programs {
  static func has(_ name: String) -> Bool {
    (Process.environment("PATH") ?? "").split(separator: ":").contains { folder in
      access(Folders.join(String(folder), name), X_OK) == 0
    }
  }

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
