import CLibc
import Core
import Records
import Screen
import Shell

/// `--asks`: a record for each permission that is asked for, and another when it is over. `open` says
/// that all that waits was told, `lost` that the link is down.
struct AsksJob {
  private let output: RowOutput
  private let host: String
  private var keeper: LinkKeeper

  init(_ visit: HostVisit, _ output: RowOutput) {
    (self.output, host) = (output, visit.request.destination.name)
    keeper = LinkKeeper(visit)
  }

  /// Goes on until a signal, a closed pipe or a link that cannot be kept.
  mutating func run() throws -> Int32 {
    var known: [String: ApprovalRecord] = [:]
    // Also those that cannot be read.
    var ids: [String] = []
    var isOpen = false
    let (output, host) = (output, host)
    keeper.lost = { failure in
      isOpen = false
      try? output.record(RecordText(.lost).string("reason", failure.reason).time(.now()).bytes)
      try? output.flush()
    }
    while true {
      let seen = isOpen ? ids : nil
      let asks = try keeper.ask { tmux throws(HostFailure) in
        try tmux.asks(known: seen, host: host)
      }
      ids = asks.ids
      for (id, record) in known where !asks.ids.contains(id) {
        known[id] = nil
        var record = record
        (record.state, record.time) = (.cancelled, .now())
        record.reason = "answered there or elsewhere, or the turn went on"
        try output.record(record.bytes)
      }
      for record in asks.new where known[record.id] == nil {
        known[record.id] = record
        try output.record(record.bytes)
      }
      if !isOpen {
        isOpen = true
        try output.record(RecordText(.open).string("host", host).time(.now()).bytes)
      }
      try output.flush()
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }
}

/// `--decide`: takes the answers of standard input to the host, a line each: an id, a blank, and what
/// the agent's hook is to print. A word for each line says what came of it; behind `unknown`, why.
struct DecideJob {
  private let visit: HostVisit
  private let output: RowOutput
  private var keeper: LinkKeeper

  init(_ visit: HostVisit, _ output: RowOutput) {
    (self.visit, self.output) = (visit, output)
    keeper = LinkKeeper(visit)
  }

  /// Goes on to the end of standard input.
  mutating func run() throws -> Int32 {
    // Who waits for the first answer waits for no link.
    try visit.calls.connect()
    var lines = LineReader(descriptor: 0)
    while let line = try lines.next() {
      let bytes = Array(line.bytes)
      let end = bytes.firstIndex(of: 32) ?? bytes.endIndex
      let id = String(decoding: bytes[..<end], as: UTF8.self)
      let words = Array(bytes[end...].dropFirst())
      // It is not sent twice: the first may have arrived.
      _ = try keeper.ask { _ throws(HostFailure) in try visit.calls.connect() }
      var word: String
      do throws(HostFailure) { word = "\(try visit.tmux.answer(id, with: words))" } catch {
        if case .interrupted = error { throw error }
        visit.calls.close()
        word = "unknown \(error.reason)"
      }
      try output.text("\(word)\n")
      try output.flush()
    }
    return ExitStatus.success.rawValue
  }
}
