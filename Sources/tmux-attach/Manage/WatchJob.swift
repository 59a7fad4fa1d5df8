import CLibc
import Core
import Screen
import Shell

/// `--watch`: one record for each change of the list, those that are there at the
/// start first.
struct WatchJob {
  /// Seconds between two looks.
  private static let interval = 2.0

  private let visit: HostVisit
  private let output: RowOutput
  private var keeper: LinkKeeper

  init(_ visit: HostVisit, _ output: RowOutput) {
    self.visit = visit
    self.output = output
    keeper = LinkKeeper(visit)
  }

  /// Goes on until a signal, a closed pipe or a link that cannot be kept.
  mutating func run() throws -> Int32 {
    var last: [TmuxSession] = []
    while true {
      let sessions = try keeper.ask { tmux throws(TmuxError) in try tmux.sessions() }
      let changes = SessionChange.between(last, sessions, time: Timestamp.now())
      last = sessions
      try output.list(changes.map(\.record), .sessionChanges)
      try output.flush()
      try keeper.idle(seconds: Self.interval)
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }
}
