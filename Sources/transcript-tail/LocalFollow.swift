import Core
import Records
import Shell
import Turns

struct LocalFollow {
  private var place: LocalTranscripts
  private let plan: FollowPlan
  private let output: TranscriptOutput
  private let once: Bool

  private var next = (soonest: 0.0, latest: 0.0)

  init(_ place: LocalTranscripts, _ plan: FollowPlan, _ output: TranscriptOutput, once: Bool) {
    self.place = place
    self.plan = plan
    plan.most = place.most
    self.output = output
    self.once = once
    self.place.fault = { output.fault($0, $1) }
  }

  /// With `--once` until all is printed, else until a signal or a closed pipe.
  mutating func run() throws -> ExitStatus {
    do {
      try output.tell(RecordText(.open).string("url", FileName.shown(place.path)))
      while true {
        place.forget()
        try output.tell(plan.look(look()))
        try plan.read(to: output, whole: Self.readWhole) { piece, bytes in
          output.check(plan)
          try place.read(piece, bytes)
        }
        let save = try output.settle(plan, isLast: once)
        if once { return output.finish(plan) }
        wait(until: min(save, next.latest))
      }
    } catch let failure as WriteFailure {
      output.leave(failure)
    }
  }

  /// At all files or, a moment later and with many, at those at which somebody is at work.
  private mutating func look() -> [SeenFile] {
    let began = Clock.monotonic
    if began < next.soonest {
      next.latest = next.soonest
      return place.look(at: plan.recent)
    }
    let files = place.look()
    let now = Clock.monotonic
    // A tenth of the time at most, or a fiftieth.
    next = (now + 9 * (now - began), now + max(1, 49 * (now - began)))
    return files
  }

  private static func readWhole(_ path: String) -> [UInt8]? {
    try? BoundedFile.given(path, limit: ClaudeTranscripts.originLimit)
  }

  private func wait(until end: Double) {
    // What is written in a burst is read at once.
    var set = PollSet()
    set.add(EndSignals.descriptor)
    set.wait(seconds: 0.005)
    output.check(plan)
    set.add(place.descriptor)
    set.wait(seconds: end - Clock.monotonic)
    output.check(plan)
  }
}
