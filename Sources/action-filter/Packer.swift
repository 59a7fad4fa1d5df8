import Archive
import Core
import Records

/// Packs lines, whatever they are, with an index: `--pack`.
func pack(_ path: String, to output: RecordWriter) throws {
  var input = try RecordInput(path: path, writtenTo: FileIdentity(descriptor: 1), .bytes)
  let level = FrameEncoder.level(Process.environment("ZSTD_CLEVEL"))
  var writer = PackWriter(level: level, to: output)
  let noter = FrameNoter()
  var frame = ByteBuffer()
  while let line = try input.next() {
    if !frame.isEmpty, frame.count + line.whole.count >= PackWriter.frame {
      try writer.add(frame.bytes, noter.finish())
      frame.removeAll(keepingAtMost: 2 * PackWriter.frame)
    }
    noter.note(line)
    frame.append(line.whole)
    if line.isTerminated { frame.append(10) }
  }
  if !frame.isEmpty { try writer.add(frame.bytes, noter.finish()) }
  try writer.finish()
}

final class FrameNoter: ActionRowReader {
  private(set) var notes = FrameNotes()
  private var record = RecordScan()
  private let scratch = ScanScratch()
  private var names = NameScan()
  private let mark = LiteralSearch([.init(bytes: NameScan.mark)])
  private var rows = FrameNotes()

  func note(_ line: RecordInput.Line) {
    notes.lines += 1
    let isUsual = line.isTerminated && line.whole.count == line.bytes.count
    if !note(line.bytes) || !isUsual { notes.isPlain = false }
    if mark.find(line.bytes) != nil, !names.names(in: line.bytes).isEmpty {
      notes.tellsNames = true
    }
  }

  func finish() -> FrameNotes {
    defer { notes = FrameNotes() }
    return notes
  }

  /// Whether the line is one action.
  private func note(_ line: UnsafeRawBufferPointer) -> Bool {
    let shape: RecordShape
    do throws(ScanFault) {
      shape = try record.read(line, rows: self)
    } catch {
      if error == .empty { return false }
      guard let torn = TornLine(line) else {
        notes.bad += 1
        return false
      }
      for record in torn.records { _ = note(record) }
      if torn.fault != nil { notes.bad += 1 }
      return false
    }
    notes.add(profile: record.profile)
    switch shape {
    case .action, .unmarked:
      add(record.fields, to: &notes)
      return true
    case .list:
      if !record.hasReadRows, !walk(record.rows) { notes.bad += 1 }
      notes.add(rows)
    case .own, .event, .stats, .voiceState: notes.others += 1
    }
    return false
  }

  func begin() { rows = FrameNotes() }

  func add(_ fields: ActionFields, _ action: ScanValue) { add(fields, to: &rows) }

  private func walk(_ list: ScanValue) -> Bool {
    begin()
    var isGood = true
    do throws(ScanFault) {
      var elements = try ScanElements(list.bytes)
      while try elements.next() {
        if let fields = try? ActionFields(elements.value.bytes) {
          add(fields, to: &rows)
        } else {
          isGood = false
        }
      }
    } catch {
      isGood = false
    }
    return isGood
  }

  private func add(_ fields: ActionFields, to notes: inout FrameNotes) {
    notes.add(
      time: fields.time(scratch), isError: ActionPredicate.isError(fields, scratch),
      kind: fields.kind, guild: fields.guild, channel: fields.channel, user: fields.user)
  }
}
