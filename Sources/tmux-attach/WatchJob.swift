import CLibc
import Core
import Records
import Screen
import Shell

/// `--watch`: one record for each change of the list, those that are there at the
/// start first; or its summary, whenever that is another.
struct WatchJob {
  /// Seconds between two looks where there is nothing to wait for.
  private static let interval = 1.0

  private let output: RowOutput
  private let summary: SummaryOutput?
  private var keeper: LinkKeeper

  init(_ visit: HostVisit, _ output: RowOutput) {
    self.output = output
    keeper = LinkKeeper(visit)
    guard let form = visit.options.form, form.rows == nil else {
      summary = nil
      return
    }
    let summary = SummaryOutput(form, output)
    self.summary = summary
    // A reader that has gone is met by the next line.
    keeper.lost = { try? summary.show(summary.summary.trouble($0)) }
  }

  /// Goes on until a signal, a closed pipe or a link that cannot be kept.
  mutating func run() throws -> Int32 {
    var last: SessionLook?
    while true {
      let look = try keeper.ask { tmux throws(HostFailure) in try tmux.sessions(after: last) }
      if let summary {
        try summary.show(summary.summary.line(look.sessions))
      } else {
        let changes = SessionChange.between(
          last?.sessions ?? [], look.sessions, time: Timestamp.now())
        try output.list(changes.map(\.record), .sessionChanges)
        try output.flush()
      }
      last = look
      if look.isFleeting { try keeper.idle(seconds: Self.interval) }
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }
}
