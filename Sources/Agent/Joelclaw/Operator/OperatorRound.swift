import CLibc
import Core
import Web

/// What is asked of a part of the system.
enum OperatorQuestion {
  case http(Request)
  /// A program, and what it reads.
  case program([String], input: [UInt8])
}

/// What came of a question.
enum OperatorOutcome {
  /// A response of any status.
  case response(ResponseHead, [UInt8])
  /// What a program printed, and what it said went wrong.
  case output([UInt8], error: String, status: Int32?)
  /// Nobody is there; one line.
  case failed(String)
  /// Nothing whole came in time.
  case late
}

/// Asks several parts at once, over HTTP and by programs, and waits for all.
final class OperatorRound {
  /// One question under way.
  private final class Probe {
    var outcome: OperatorOutcome?
    var seconds = 0.0
    var fetch: Fetch?
    var child: ChildProcess?
    var (output, error): ([UInt8], [UInt8]) = ([], [])
    /// Whether what it prints has ended, and its errors.
    var (isOutputOver, isErrorOver) = (false, false)
  }

  private let client: WebClient
  private let start = Clock.monotonic

  /// The most that is taken of what a program prints, bytes.
  private static let largest = 64 << 20

  init(_ client: WebClient) { self.client = client }

  /// Asks.
  ///
  /// - Parameters:
  ///   - questions: of different parts.
  ///   - time: for all, seconds.
  /// - Returns: what came of each, and how long it took, seconds.
  func ask(_ questions: [OperatorQuestion], time: Double) -> [(OperatorOutcome, Double)] {
    let probes = questions.map(begin)
    let limit = start + time
    while probes.contains(where: { $0.outcome == nil }), Clock.monotonic < limit {
      client.perform()
      for probe in probes { read(probe) }
      let open = probes.filter { $0.outcome == nil }
      if open.isEmpty { break }
      let descriptors = open.flatMap { probe -> [Int32] in
        guard let child = probe.child else { return [] }
        return (probe.isOutputOver ? [] : [child.output]) + (probe.isErrorOver ? [] : [child.error])
      }
      client.wait(seconds: max(min(limit - Clock.monotonic, 60), 0), reading: descriptors)
    }
    return probes.map { probe in
      probe.fetch?.cancel()
      // What does not end by itself is killed when it is let go.
      probe.child = nil
      return (probe.outcome ?? .late, probe.outcome == nil ? time : probe.seconds)
    }
  }

  private func begin(_ question: OperatorQuestion) -> Probe {
    let probe = Probe()
    switch question {
    case .http(let request):
      probe.fetch = Fetch(client, request, now: start, silence: .infinity) {
        [unowned self, unowned probe] end in
        let outcome: OperatorOutcome =
          switch end {
          case .response(let head, let body): .response(head, body)
          case .failed(let reason), .unusable(let reason): .failed(reason)
          }
        settle(probe, outcome)
      }
    case .program(let words, let input):
      do throws(ChildProcess.Failure) {
        let child = try ChildProcess(words, input: .pipe, output: .pipe, error: .pipe)
        probe.child = child
        // A few commands: less than a pipe holds.
        _ = input.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
        child.closeInput()
      } catch {
        settle(probe, .failed(error.words))
      }
    }
    return probe
  }

  private func settle(_ probe: Probe, _ outcome: OperatorOutcome) {
    probe.outcome = outcome
    probe.seconds = Clock.monotonic - start
  }

  private func read(_ probe: Probe) {
    guard probe.outcome == nil, let child = probe.child else { return }
    if !probe.isOutputOver { probe.isOutputOver = Self.drain(child.output, into: &probe.output) }
    if !probe.isErrorOver { probe.isErrorOver = Self.drain(child.error, into: &probe.error) }
    if probe.output.count > Self.largest { return settle(probe, .failed("it printed too much")) }
    guard probe.isOutputOver, probe.isErrorOver else { return }
    _ = child.waitForEnd()
    let words = String(decoding: probe.error, as: UTF8.self)
    let last = words.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    settle(probe, .output(probe.output, error: last, status: child.exitStatus))
  }

  /// Reads what is there.
  ///
  /// - Returns: whether nothing more comes.
  private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= largest {
      let count = CLibc.read(descriptor, &piece, piece.count)
      if count > 0 {
        bytes += piece[..<count]
      } else {
        return count == 0 || (systemError != EAGAIN && systemError != EINTR)
      }
    }
    return true
  }
}
