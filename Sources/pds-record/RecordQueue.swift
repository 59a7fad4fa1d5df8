import Agent
import Core
import Records

/// What `--queue` adds: writes go through the outbox of the profile, and what cannot be read is
/// shown as it was read last. Once the server is away, nothing more is sent in this run.
final class RecordQueue {
  private let file: OutboxFile
  private let copies: RecordCopies
  private let records: PDSRecords
  private let sender: OutboxSender
  private let patience: Double
  private let diagnostics: Diagnostics
  private var failure: Failure?

  init(
    _ profile: String?, _ records: PDSRecords, _ copies: RecordCopies?, _ options: PDSOptions,
    _ diagnostics: Diagnostics
  ) throws(Failure) {
    file = try OutboxFile(profile: profile, diagnostics)
    self.copies = copies ?? RecordCopies(profile: file.profile, account: records.account)
    sender = OutboxSender(file, records, self.copies)
    patience = options.timeout ?? 60
    (self.records, self.diagnostics) = (records, diagnostics)
  }

  // MARK: - Writing

  /// Whose a repository is; unknown while nobody lets us in, who could say it.
  func owner(_ repository: Repository) -> PDSRecords.Owner {
    let known = records.knownOwner(repository)
    guard known == .unknown, failure == nil else { return known }
    do throws(Failure) {
      return try records.owns(repository) ? .own : .others
    } catch {
      diagnostics.say("\(error.message); kept in the outbox")
      failure = error
      return .unknown
    }
  }

  func write(
    _ change: OutboxChange, _ history: History = .new
  ) throws(Failure) -> (row: [UInt8], status: ExitStatus) {
    guard let place = change.place else { return ([], .failure) }
    var change = try seen(change.made(from: copies))
    var waiting: OutboxItem?
    if history != .new {
      try file.look()
      waiting = file.fold.item(of: place)
      if waiting == nil {
        if history == .kept, let item = file.fold.closed.last(where: { $0.place == place }) {
          return answer(item)
        }
        if let row = earlier(place, change, history) { return (row, .success) }
        // What is there is to be looked at before anything is written.
        if failure != nil, case .put(let draft) = change.action {
          change = .put(place, draft, base: .any)
        }
      }
    }
    let kept =
      if let waiting { waiting } else {
        OutboxItem(try file.add { _ in [change.made(from: copies)] }[0])
      }
    if failure == nil {
      do throws(Failure) {
        if let item = try send(place) { return answer(item) }
        // Another process took it meanwhile.
        if let item = file.fold.closed.last(where: { $0.ids.contains(kept.id) }) {
          return answer(item)
        }
        return try taken(kept, place, change)
      } catch {
        diagnostics.say("\(error.message); kept in the outbox")
        // Others may be sent all the same.
        if error.status == .failure { return (kept.record(file.profile), error.status) }
        failure = error
      }
    }
    return (kept.record(file.profile), failure?.status ?? .temporary)
  }

  /// A deletion of what is there now, where nothing else says of what: who asks for it now means
  /// that, and what comes behind it is somebody else's.
  private func seen(_ change: OutboxChange) throws(Failure) -> OutboxChange {
    guard case .delete = change.action, change.base == .any, let place = change.place,
      place.owner == nil, failure == nil
    else { return change }
    try file.look()
    if file.fold.item(of: place) != nil { return change }
    do throws(Failure) {
      let there = try there(place)
      copies.note(place, there)
      return there.map { .delete(place, base: .cid($0.cid)) } ?? change
    } catch {
      diagnostics.say("\(error.message); kept in the outbox")
      failure = error
      return change
    }
  }

  enum History {
    case new
    case perhapsKept
    case kept
  }

  /// The row of a record that an earlier run wrote, and that was perhaps edited or deleted since;
  /// nil where none did, or nobody knows.
  private func earlier(
    _ place: RecordPlace, _ change: OutboxChange, _ history: History
  ) -> [UInt8]? {
    var copy = copies.record(place)
    do throws(Failure) {
      if copy == nil, history == .kept { return try row(place, change) }
      if copy == nil, failure == nil {
        copy = try there(place)
        if let copy { copies.note(place, copy) }
      }
    } catch {
      diagnostics.say(error.message)
      failure = error
    }
    return copy.map {
      RecordText().string("uri", $0.uri).string("cid", $0.cid.description).bytes
    }
  }

  /// What the server has there now.
  private func there(_ place: RecordPlace) throws(Failure) -> CopiedRecord? {
    let uri = ATURI(try records.repository(), place.collection, place.key)
    return try records.get(uri).flatMap { CopiedRecord(row: $0, time: .now()) }
  }

  private func send(_ place: RecordPlace) throws(Failure) -> OutboxItem? {
    let lock = try file.sendingLock(patience: patience)
    defer { lock.release() }
    try sender.settle()
    return try sender.send(place)
  }

  private func answer(_ item: OutboxItem) -> (row: [UInt8], status: ExitStatus) {
    guard let ack = item.answer?.ack, let row = ack.row, ack.state == .done else {
      let isMade = item.answer?.ack.isMade == true
      return (item.record(file.profile), isMade ? .success : .negative)
    }
    return (row, .success)
  }

  /// What came of a change that waits no more: another process sent it, or a person dropped it.
  private func taken(
    _ kept: OutboxItem, _ place: RecordPlace, _ change: OutboxChange
  ) throws(Failure) -> (row: [UInt8], status: ExitStatus) {
    let there = try there(place)
    var wanted: CID?
    if case .put(let draft) = change.action { wanted = draft.cid }
    if there?.cid == wanted { return (try row(place, change), .success) }
    var item = kept
    let reason = "another process took it, and it is not what is there"
    item.answer = (OutboxAck(.dropped, cid: there?.cid, reason: reason), .now())
    return (item.record(file.profile), .negative)
  }

  private func row(_ place: RecordPlace, _ change: OutboxChange) throws(Failure) -> [UInt8] {
    let uri = ATURI(try records.repository(), place.collection, place.key)
    let text = RecordText().string("uri", uri.description)
    guard case .put(let draft) = change.action else { return text.bytes }
    return text.string("cid", draft.cid.description).bytes
  }

  func finish() throws(Failure) { try file.compact() }

  // MARK: - Reading

  /// A record with the change that waits for it. Returns nil where there is none, or it is to be
  /// deleted.
  func get(_ place: RecordPlace) throws -> [UInt8]? {
    try file.look()
    let uri = ATURI(try records.repository(), place.collection, place.key)
    if let item = file.fold.item(of: place) { return RowOverlay.row(item, uri) }
    do throws(Failure) {
      if let failure { throw failure }
      let row = try records.get(uri)
      copies.note(place, row: row)
      return row.map { RowOverlay.marked($0, place, file.fold.closed) }
    } catch {
      guard error.status == .temporary, let copy = copies.record(place) else { throw error }
      away(error, copy.time)
      return RowOverlay.marked(Self.row(copy, uri), place, file.fold.closed)
    }
  }

  func list(
    _ collection: NSID, isReversed: Bool, count: Int, fault: (String) -> Void
  ) throws -> [[UInt8]] {
    try file.look()
    let waiting = file.fold.open.filter { $0.place?.collection == collection }
    let repository = try records.repository()
    var rows: [RowOverlay.Row] = []
    do {
      rows = try read(collection, isReversed, count, spare: waiting.count, fault)
    } catch let failure as Failure {
      let copy = copies.collection(collection)
      let isKnown = copy.time != nil || !copy.records.isEmpty || !waiting.isEmpty
      guard failure.status == .temporary, isKnown else { throw failure }
      away(failure, copy.time)
      rows = copy.records.compactMap { key, record in
        record.map { (key, Self.row($0, ATURI(repository, collection, key))) }
      }
      rows.sort { RowOverlay.isBelow($0.key, $1.key) == isReversed }
    }
    // Another process may have sent some of it meanwhile: then the rows have it.
    let all = RowOverlay.rows(rows, waiting, of: (repository, collection), isRising: isReversed)
    let closed = file.fold.closed
    return all.prefix(count).map {
      RowOverlay.marked($0.bytes, RecordPlace(collection, $0.key), closed)
    }
  }

  private func read(
    _ collection: NSID, _ isReversed: Bool, _ count: Int, spare: Int, _ fault: (String) -> Void
  ) throws -> [RowOverlay.Row] {
    var read = ListedCopies(.now())
    let (most, isEndless) = count.addingReportingOverflow(spare)
    var rows: [RowOverlay.Row] = []
    try records.list(
      collection, isReversed: isReversed, count: isEndless ? .max : most, fault: fault
    ) { bytes in
      guard let row = try? bytes.withUnsafeBytes({ try RecordRow($0) }) else { return }
      rows.append((row.key, bytes))
      read.receive(bytes)
    }
    read.keep(in: copies, of: collection, isWhole: isEndless || rows.count < most)
    return rows
  }

  private static func row(_ copy: CopiedRecord, _ uri: ATURI) -> [UInt8] {
    RecordText().string("uri", copy.uri.isEmpty ? uri.description : copy.uri)
      .string("cid", copy.cid.description).json("value", bytes: copy.value).bytes
  }

  /// Said once in a run.
  private func away(_ error: Failure, _ time: Timestamp?) {
    if failure != nil { return }
    failure = error
    let since = time.map { "what was there at \($0.rfc3339)" } ?? "what is known of it"
    diagnostics.say("\(error.message): this is \(since)")
  }
}
