import CLibc
import Core
import Web

/// Standard output of sse-tail: which events are printed, and how.
final class TailOutput {
  private let writer = RecordWriter(interrupted: { Signals.hasPending })
  private let selector: EventSelector
  private var records: EventRecord

  /// Told a write that failed.
  var onFailure: (WriteFailure) -> Void = { _ in }

  /// - Parameter options: the command line.
  init(_ options: TailOptions) {
    selector = EventSelector(options.events)
    records = EventRecord(
      dataOnly: options.dataOnly, receivedAt: options.receivedAt, isTerminal: isatty(1) == 1)
  }

  /// Prints an event if it is wanted.
  ///
  /// - Returns: whether it is.
  func write(_ event: StreamEventView) -> Bool {
    guard selector.matches(event.type) else { return false }
    do throws(WriteFailure) {
      try records.write(event, time: Timestamp.now, to: writer)
    } catch {
      onFailure(error)
    }
    return true
  }

  /// Prints missed rows as one event, if it is wanted.
  ///
  /// - Parameter rows: as they came, newest first.
  /// - Returns: whether it is.
  func write(backfill rows: [[UInt8]]) -> Bool {
    var data = Array("{\"actions\":[".utf8)
    for (index, row) in rows.enumerated() {
      if index > 0 { data.append(44) }
      data += row.map { $0 == 10 || $0 == 13 ? 32 : $0 }
    }
    data += Array("]}".utf8)
    let event = ActivityFollower.HeldEvent(
      type: Array("actions_backfill".utf8), id: [], data: data, isPartial: false)
    var isWanted = false
    event.withView { isWanted = write($0) }
    return isWanted
  }

  /// Prints a comment as a record.
  func write(comment text: UnsafeRawBufferPointer) {
    var line = ByteBuffer()
    for byte in "{\"type\":\"comment\",\"text\":".utf8 { line.append(byte) }
    JSONQuote.append(text, to: &line)
    for byte in "}\n".utf8 { line.append(byte) }
    do throws(WriteFailure) { try writer.write(line.bytes) } catch { onFailure(error) }
  }

  /// Prints a record that ends in LF.
  func write(record: String) {
    do throws(WriteFailure) { try writer.write(record) } catch { onFailure(error) }
  }

  /// Writes all that is complete.
  func flush() {
    do throws(WriteFailure) { try writer.flush() } catch { onFailure(error) }
  }
}
