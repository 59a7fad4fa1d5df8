import CLibc
import Core

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
