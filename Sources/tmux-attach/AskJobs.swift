import CLibc
import Core
import Records
import Screen
import Shell

extension HostVisit {
  /// `--asks`: a record for each permission that is asked for, and another when it is over. `open` says
  /// that all that waits was told, `lost` that the link is down. Goes on until a signal, a closed pipe
  /// or a link that cannot be kept.
  func asks() throws {
    var known: [String: ApprovalRecord] = [:]
    // Also those that cannot be read; nil where the link is not open.
    var ids: [String]?
    lost = { [output] failure in
      ids = nil
      try? output.record(RecordText(.lost).string("reason", failure.reason).time(.now()).bytes)
      try? output.flush()
    }
    while true {
      let asks = try ask(try tmux.asks(known: ids, host: host))
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
      if ids == nil {
        try output.record(RecordText(.open).string("host", host).time(.now()).bytes)
      }
      ids = asks.ids
      try output.flush()
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }

  /// `--decide`: takes the answers of standard input to the host, a line each: an id, a blank, and what
  /// the agent's hook is to print. A word for each line says what came of it; behind `unknown`, why.
  func decide() throws {
    // Who waits for the first answer waits for no link.
    try calls.connect()
    var lines = LineReader(descriptor: 0)
    while let line = try lines.next() {
      let bytes = Array(line.bytes)
      let end = bytes.firstIndex(of: 32) ?? bytes.endIndex
      let id = String(decoding: bytes[..<end], as: UTF8.self)
      // It is not sent twice: the first may have arrived.
      _ = try ask(try calls.connect())
      var word: String
      do throws(HostFailure) {
        word = try tmux.answer(id, with: Array(bytes[end...].dropFirst()))
      } catch {
        if case .interrupted = error { throw error }
        calls.close()
        word = "unknown \(error.reason)"
      }
      try output.text("\(word)\n")
      try output.flush()
    }
  }
}
