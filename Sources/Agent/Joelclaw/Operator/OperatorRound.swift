import CLibc
import Core
import Web

enum OperatorQuestion {
  case http(Request)
  case program([String], input: [UInt8])

  /// The most that is taken of what a program prints, bytes.
  private static let largest = 64 << 20
  /// How often a program that has printed all is looked at until it ends, seconds.
  private static let lookEvery = 0.02

  /// Asks all at once, so many seconds at most. From the first program on INT, TERM, HUP and QUIT are
  /// watched: each has its own process group.
  ///
  /// - Returns: for each what came of it, and after how many seconds.
  static func ask(
    _ questions: [OperatorQuestion], _ client: WebClient, time: Double
  ) -> [(OperatorOutcome, Double)] {
    let start = Clock.monotonic
    var answers: [Int: (OperatorOutcome, Double)] = [:]
    // What does not end by itself is killed when it is let go.
    var (fetches, programs): ([Int: Fetch], [Int: ProgramCall]) = ([:], [:])
    for (index, question) in questions.enumerated() {
      switch question {
      case .http(let request):
        fetches[index] = Fetch(client, request, now: start, silence: .infinity)
      case .program(let words, let input):
        EndSignals.watch(withQuit: true)
        do throws(Failure) {
          programs[index] = try ProgramCall(words, input: input, isOurs: false, most: largest)
        } catch {
          answers[index] = (.failed(error.message), 0)
        }
      }
    }
    while Clock.monotonic < start + time {
      client.perform()
      for (index, fetch) in fetches {
        guard let end = fetch.end else { continue }
        fetches[index] = nil
        answers[index] = (OperatorOutcome(end), Clock.monotonic - start)
      }
      for (index, program) in programs {
        let hasEnded = program.look()
        guard hasEnded || program.output.count >= largest else { continue }
        programs[index] = nil
        answers[index] = (OperatorOutcome(program, hasEnded), Clock.monotonic - start)
      }
      if answers.count == questions.count { break }
      let isSilent = programs.values.contains { !$0.isTalking }
      client.wait(
        seconds: max(min(start + time - Clock.monotonic, isSilent ? lookEvery : 60), 0),
        reading: (programs.isEmpty ? [] : [EndSignals.descriptor])
          + programs.values.flatMap(\.reading),
        writing: programs.values.map(\.child.input).filter { $0 >= 0 })
      if !programs.isEmpty, let signal = EndSignals.next() {
        for program in programs.values { program.child.kill(signal) }
        Process.die(by: signal)
      }
    }
    return questions.indices.map { answers[$0] ?? (.late, time) }
  }
}

enum OperatorOutcome {
  case response(ResponseHead, [UInt8])
  case output([UInt8], error: String, status: Int32?)
  /// Nobody is there; one line.
  case failed(String)
  case late

  init(_ end: FetchEnd) {
    switch end {
    case .response(let head, let body): self = .response(head, body)
    case .failed(let reason): self = .failed(reason)
    case .unusable(let failure): self = .failed(failure.reason)
    case .late: self = .late
    }
  }

  fileprivate init(_ program: ProgramCall, _ hasEnded: Bool) {
    let words = String(decoding: program.error, as: UTF8.self)
    let last = words.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    self =
      hasEnded
      ? .output(program.output, error: last, status: program.child.exitStatus)
      : .failed("it printed too much")
  }
}
