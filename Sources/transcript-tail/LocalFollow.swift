import Core
import Records
import Shell

/// Follows transcripts of this machine: the command's loop where there is no host.
struct LocalFollow {
  private var place: LocalTranscripts
  private var plan: FollowPlan
  private let output: TranscriptOutput
  private let once: Bool

  /// Seconds between two looks when nothing hints at a change.
  private static let rescan = 1.0

  init(_ place: LocalTranscripts, _ plan: FollowPlan, _ output: TranscriptOutput, once: Bool) {
    self.place = place
    self.plan = plan
    self.output = output
    self.once = once
    self.place.fault = { output.fault($0, $1) }
  }

  /// Goes on until all is printed, with `--once`, or until a signal or a closed pipe, which
  /// end the process.
  ///
  /// - Throws: `SettingsError` when the state cannot be kept.
  mutating func run() throws -> ExitStatus {
    do {
      try output.tell(RecordText(.open).string("url", FileName.shown(place.path)))
      while true {
        place.forget()
        let began = Clock.monotonic
        try output.tell(plan.look(place.look()))
        let took = Clock.monotonic - began
        try readAll()
        let save = try output.settle(plan, isLast: once)
        if once { return output.finish(plan) }
        // A look at many files takes a tenth of the time at most.
        try wait(until: save, rest: 9 * took)
      }
    } catch let end as TranscriptOutput.End {
      output.leave(end, plan)
    } catch let failure as WriteFailure {
      output.leave(.writing(failure), plan)
    }
  }

  private mutating func readAll() throws {
    while let piece = plan.next(atMost: place.most) {
      try output.check()
      try place.read(piece) { bytes in
        try plan.take(bytes) { line, file, begin, end throws(WriteFailure) in
          try output.print(line, of: file, from: begin, to: end)
        }
      }
    }
  }

  private func wait(until save: Double, rest: Double) throws {
    let now = Clock.monotonic
    var set = PollSet()
    if rest > 0.01 {
      set.add(EndSignals.descriptor)
      set.wait(seconds: rest)
      try output.check()
      set.removeAll()
    }
    set.add(EndSignals.descriptor)
    set.add(place.descriptor)
    set.wait(seconds: min(now + max(Self.rescan, rest), save) - Clock.monotonic)
    try output.check()
  }
}
