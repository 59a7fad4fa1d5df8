import Core
import Turns

/// Turns lines of a transcript into records: `{"event":...,"id":...,"data":...}` on one line
/// (agentutils-records(5)).
struct TranscriptRecord: ~Copyable {
  /// The output is a terminal: what it would obey is escaped inside strings.
  let isTerminal: Bool
  private var text = ByteBuffer()
  /// The lines that were written: a session that is resumed begins with a copy of them, and a
  /// file that is replaced has them again.
  private var seen = SeenIDs()

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  /// What is wrong with the line, or a part of it.
  ///
  /// - Parameters:
  ///   - event: what it is called; nil for its type.
  ///   - end: its end in its file, a resume point.
  mutating func write(
    _ line: UnsafeRawBufferPointer, event: String? = nil, session: String, begin: Int64,
    end: Int64, to writer: RecordWriter
  ) throws(WriteFailure) -> String? {
    let names: (type: String?, id: String?)
    do throws(ScanFault) {
      names = try ClaudeTranscripts.names(of: line)
    } catch {
      if error == .empty { return nil }
      guard let torn = TornLine(line) else { return error.reason }
      for (index, part) in torn.records.enumerated() {
        let start = part.baseAddress.flatMap { part in line.baseAddress.map { part - $0 } } ?? 0
        let isLast = index == torn.records.count - 1
        let behind = isLast ? end : begin + Int64(start + part.count)
        _ = try write(part, session: session, begin: begin, end: behind, to: writer)
      }
      return torn.fault?.reason
    }
    if let id = names.id, !id.isEmpty, !seen.insert(id) { return nil }
    text.removeAll(keepingAtMost: 1 << 20)
    append("{\"event\":")
    let type = event ?? names.type ?? ""
    JSONQuote.append(type.isEmpty ? "message" : type, to: &text)
    append(",\"id\":")
    JSONQuote.append("\(session)/\(end)", to: &text)
    append(",\"data\":")
    let data = UnsafeRawBufferPointer(
      rebasing: line.trimming { $0 == 32 || $0 == 9 || $0 == 13 })
    if UTF8Text.isValid(data) {
      try add(data, to: writer)
    } else {
      let repaired = UTF8Text.repaired(data)
      var failure: WriteFailure?
      repaired.withUnsafeBytes { bytes in
        do throws(WriteFailure) { try add(bytes, to: writer) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    try writer.write("}\n")
    return nil
  }

  mutating func know(_ line: UnsafeRawBufferPointer) {
    let torn = TornLine(line)?.records ?? [line]
    for part in torn {
      if let id = ClaudeTranscripts.id(of: part) { _ = seen.insert(id) }
    }
  }

  private mutating func add(
    _ data: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    if isTerminal { JSONQuote.appendVisible(json: data, to: &text) }
    try writer.write(text.bytes)
    if !isTerminal { try writer.write(data) }
  }

  private mutating func append(_ text: StaticString) {
    self.text.append(
      UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
