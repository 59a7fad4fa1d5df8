import CLibc
import Core
import Web

enum OperatorQuestion {
  case http(Request)
  case program([String], input: [UInt8])
}

enum OperatorOutcome {
  case response(ResponseHead, [UInt8])
  case output([UInt8], error: String, status: Int32?)
  /// Nobody is there; one line.
  case failed(String)
  case late
}

final class OperatorRound {
  private final class Probe {
    var outcome: OperatorOutcome?
    var seconds = 0.0
    var fetch: Fetch?
    var program: OperatorProgram?
  }

  private let client: WebClient
  private let start = Clock.monotonic

  /// How often a program that has printed all is looked at until it ends, seconds.
  private static let lookEvery = 0.02

  init(_ client: WebClient) { self.client = client }

  /// Watches INT, TERM, HUP and QUIT from the first program on: each has its own process group.
  func ask(_ questions: [OperatorQuestion], time: Double) -> [(OperatorOutcome, Double)] {
    let probes = questions.map(begin)
    let limit = start + time
    while Clock.monotonic < limit {
      client.perform()
      for probe in probes { look(probe) }
      let open = probes.filter { $0.outcome == nil }
      if open.isEmpty { break }
      let programs = open.compactMap(\.program)
      let longest = programs.contains(where: \.isSilent) ? Self.lookEvery : 60
      let signals = programs.isEmpty ? [] : [EndSignals.descriptor]
      client.wait(
        seconds: max(min(limit - Clock.monotonic, longest), 0),
        reading: signals + programs.flatMap(\.reading), writing: programs.flatMap(\.writing))
      if !programs.isEmpty, let signal = EndSignals.next() {
        for program in programs { program.kill(signal) }
        Process.die(by: signal)
      }
    }
    return probes.map { probe in
      // What does not end by itself is killed when it is let go.
      probe.program = nil
      return (probe.outcome ?? .late, probe.outcome == nil ? time : probe.seconds)
    }
  }

  private func begin(_ question: OperatorQuestion) -> Probe {
    let probe = Probe()
    switch question {
    case .http(let request):
      probe.fetch = Fetch(client, request, now: start, silence: .infinity)
    case .program(let words, let input):
      EndSignals.watch(withQuit: true)
      do throws(Failure) {
        probe.program = try OperatorProgram(words, input: input)
      } catch {
        settle(probe, .failed(error.message))
      }
    }
    return probe
  }

  private func look(_ probe: Probe) {
    if probe.outcome != nil { return }
    switch probe.fetch?.end {
    case .response(let head, let body): settle(probe, .response(head, body))
    case .failed(let reason): settle(probe, .failed(reason))
    case .unusable(let failure): settle(probe, .failed(failure.reason))
    case .late: settle(probe, .late)
    case nil: if let outcome = probe.program?.look() { settle(probe, outcome) }
    }
  }

  private func settle(_ probe: Probe, _ outcome: OperatorOutcome) {
    probe.outcome = outcome
    probe.seconds = Clock.monotonic - start
  }
}
