import Archive
import CLibc
import Core
import Records

/// action-filter(1): selects actions from the suite's record stream.
public func actionFilterMain() {
  let start = FilterOptions(now: .now())
  let options = FilterOptions.table.parseOrExit(start)
  let diagnostics = Diagnostics(program: "action-filter")
  do {
    switch options.mode {
    case .select:
      var run = FilterRun(options, diagnostics) {
        try? FilterOptions.table.parse(Process.arguments, start)
      }
      Process.exit(try run.run())
    case .pack:
      try pack(options.files[0], to: RecordWriter())
      Process.exit(.success)
    case .contents: Process.exit(try Contents.list(options, diagnostics))
    }
  } catch let failure as Failure where options.mode == .pack {
    let file = options.files[0]
    diagnostics.fail("\(file == "-" ? "standard input" : file): \(failure.reason)")
  } catch let failure as WriteFailure {
    diagnostics.fail(writing: failure)
  } catch {
    diagnostics.fail("\(error)")
  }
}

/// What the indexes of packed files say of their records: `--contents`.
enum Contents {
  static func list(
    _ options: FilterOptions, _ diagnostics: Diagnostics
  ) throws(WriteFailure) -> ExitStatus {
    let writer = RecordWriter()
    var (count, hasFault) = (0, false)
    for entry in InputList.entries(options) {
      if case .fault(let path, let reason) = entry {
        diagnostics.error(path, reason)
        hasFault = true
      }
      guard let path = entry.path else { continue }
      // An archiver has packed it meanwhile.
      var link = stat()
      if case .rest = entry, lstat(path, &link) != 0, systemError == ENOENT { continue }
      guard let file = PackedFile(path, writtenTo: nil, isWanted: { _ in false }) else {
        if let reason = unreadable(path) {
          diagnostics.error(path, reason)
          hasFault = true
        }
        continue
      }
      count += 1
      try writer.write(record(file))
      try writer.newline()
    }
    try writer.flush()
    return hasFault ? .failure : count > 0 ? .success : .negative
  }

  private static func unreadable(_ path: String) -> String? {
    if path == "-" { return nil }
    guard let status = stat(following: path) else { return systemReason(systemError) }
    if !status.isRegular { return nil }
    let file = clibc_open(path, O_RDONLY)
    if file < 0 { return systemReason(systemError) }
    close(file)
    return nil
  }

  /// Times are written with all their decimals, for they decide what is opened.
  private static func record(_ file: PackedFile) -> [UInt8] {
    let summary = file.index.summary
    let name = file.path.split(separator: "/").last.map(String.init)
    return RecordText(.archiveIndex).string("name", name).number("size", file.size)
      .stringOrNull("oldest", summary.oldest?.exact).stringOrNull("newest", summary.newest?.exact)
      .number("length", summary.length).number("frames", file.index.count)
      .number("lines", summary.lines).number("actions", summary.actions)
      .number("others", summary.others).number("bad", summary.bad)
      .object("kinds", kinds(summary)).bytes
  }

  /// How many actions are of each kind, the most first; nil where there are too many kinds.
  private static func kinds(_ summary: FrameSummary) -> RecordText? {
    guard var members = try? ScanMembers(summary.kinds.bytes) else { return nil }
    var counts: [String: Int] = [:]
    while (try? members.next()) == true {
      counts[members.key.unescaped, default: 0] &+= members.value.wholeNumber ?? 0
    }
    let order = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var text: [UInt8] = []
    for (kind, count) in order {
      if !text.isEmpty { text.append(UInt8(ascii: ",")) }
      text += Array("\(JSONQuote.string(kind)):\(count)".utf8)
    }
    return RecordText().members(text)
  }
}

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
