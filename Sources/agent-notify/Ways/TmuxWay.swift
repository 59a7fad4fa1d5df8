import CLibc
import Core

/// A message in the status line of the terminal that was used last. Without a terminal tmux(1)
/// shows it to nobody, and does not say so: it is asked who is there before.
final class TmuxWay: Way {
  let name = "tmux"
  private(set) var unsupportedReason = ""
  private let show: ProgramWay
  private let seat: Seat
  private var question: ChildProcess?
  private var said: [UInt8] = []
  private var deadline = 0.0
  private var answer: (isThere: Bool, until: Double)?

  private final class Seat {
    var name = ""
  }

  /// Seconds between two questions while nobody is there, and for an answer.
  private static let (pause, patience) = (2.0, 10.0)
  /// How long who was there is taken to be there, seconds.
  private static let trust = 0.25

  init(_ outcome: Outcome) {
    let seat = Seat()
    self.seat = seat
    show = ProgramWay(name, outcome) { delivery in
      ["tmux", "display-message", "-d", "5000"] + (seat.name.isEmpty ? [] : ["-c", seat.name])
        + ["--", WayText.tmux(WayText.line(delivery))]
    }
  }

  var isIdle: Bool { show.isIdle }

  func post(_ telling: Telling) { show.post(telling) }
  var ended: [WayEnd] {
    get { show.ended }
    set { show.ended = newValue }
  }

  func isThere(now: Double) -> Bool? {
    if let answer, now < answer.until { return answer.isThere }
    if question == nil { ask(now) }
    return question == nil ? answer?.isThere : nil
  }

  func work(now: Double) -> Double {
    let next = show.work(now: now)
    if let question {
      go(on: question, now)
      // Somebody waits for the answer.
      return self.question == nil ? now : min(next, now + 0.02)
    }
    // Then it is to be asked again, if somebody still wants to know.
    guard let answer, !answer.isThere, answer.until > now else { return next }
    return min(next, answer.until)
  }

  func stop() { show.stop() }

  private func ask(_ now: Double) {
    let form = "#{client_control_mode} #{client_activity} #{client_name}"
    said = []
    do throws(Failure) {
      question = try ChildProcess(
        ["tmux", "list-clients", "-F", form], error: .pipe, leadsGroup: true)
      deadline = now + Self.patience
    } catch {
      // Who tells will say so.
      answer = (true, now + Self.trust)
    }
  }

  private func go(on question: ChildProcess, _ now: Double) {
    let hasEnded = question.reap()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while said.count < piece.count {
      let count = read(question.output, &piece, piece.count)
      if count <= 0 { break }
      said += piece[..<count]
    }
    if hasEnded {
      let reason = ProgramWay.firstLine(of: question.error)
      self.question = nil
      seat.name = Self.lastUsed(String(decoding: said, as: UTF8.self))
      unsupportedReason = reason.isEmpty ? "nobody is attached" : reason
    } else if now > deadline {
      question.kill(SIGKILL)
      self.question = nil
      seat.name = ""
      unsupportedReason = "no answer"
    } else {
      return
    }
    let isThere = !seat.name.isEmpty
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
