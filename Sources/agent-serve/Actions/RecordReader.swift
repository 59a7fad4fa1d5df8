import Core

/// Reads lines of records and finds the actions in them: bare or wrapped, in
/// both spellings, or as the rows of a snapshot or backfill, each action once.
struct RecordReader {
  /// An action as a line gave it.
  struct Item {
    /// The action.
    var action: LoggedAction
    /// `received_at` of the record, or nil.
    let receivedAt: Timestamp?
    /// Whether it was a row of a snapshot or backfill, not an event of its own.
    let isListed: Bool
  }

  private let decoder: ActionDecoder
  private var seen = SeenActions()

  /// - Parameter now: the time of actions that name none.
  init(now: Timestamp) { decoder = ActionDecoder(now: now) }

  /// The actions of one line.
  ///
  /// - Parameter line: one record, or only white space.
  /// - Returns: the actions, oldest first; empty for a record of another kind
  ///   (stats, voice state, what sse-tail says of its connection) and for
  ///   actions that were already given.
  /// - Throws: `ActionFault`.
  mutating func read(_ line: UnsafeRawBufferPointer) throws(ActionFault) -> [Item] {
    if line.allSatisfy({ $0 == 0x20 || (9...13).contains($0) }) { return [] }
    // Repaired as the Encoding standard says: a bad byte costs no more than itself.
    var text = String(decoding: line, as: UTF8.self)
    var result: Result<[Item], ActionFault> = .success([])
    text.withUTF8 { bytes in
      do throws(ActionFault) {
        result = .success(try items(of: UnsafeRawBufferPointer(bytes)))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  private mutating func items(of line: UnsafeRawBufferPointer) throws(ActionFault) -> [Item] {
    do throws(ScanFault) { try ScanValidator.validate(line) } catch {
      throw ActionFault(error.reason)
    }
    let record = try RecordMembers(line)
    if record.kind.isString { return try event(line, record, source: "") }
    if record.actions.isArray { return try rows(record.actions, record) }
    if record.data.isObject {
      let inner = try RecordMembers(record.data.bytes)
      if inner.kind.isString {
        return try event(record.data.bytes, record, source: record.event.string ?? "")
      }
      if inner.actions.isArray { return try rows(inner.actions, record) }
    }
    if !record.type.isAbsent || !(record.event.isAbsent || record.data.isAbsent) { return [] }
    throw ActionFault(record.kind.isNull ? "kind is missing" : "kind is not a text")
  }

  private mutating func event(
    _ bytes: UnsafeRawBufferPointer, _ record: RecordMembers, source: String
  ) throws(ActionFault) -> [Item] {
    let action = try decoder.decode(bytes)
    guard seen.isNew(action, row: nil, source: source) else { return [] }
    return [Item(action: action, receivedAt: record.receivedAt, isListed: false)]
  }

  /// Rows stand newest first.
  private mutating func rows(
    _ list: ScanValue, _ record: RecordMembers
  ) throws(ActionFault) -> [Item] {
    var rows: [ScanValue] = []
    do throws(ScanFault) {
      var elements = try ScanElements(list.bytes)
      while try elements.next() { rows.append(elements.value) }
    } catch {
      throw ActionFault(error.reason)
    }
    var items: [Item] = []
    for row in rows.reversed() where row.isObject {
      let id = try RecordMembers(row.bytes).id.string
      let action = try decoder.decode(row.bytes)
      if seen.isNew(action, row: id, source: "row") {
        items.append(Item(action: action, receivedAt: record.receivedAt, isListed: true))
      }
    }
    return items
  }
}

/// The members of a record that say what it is.
private struct RecordMembers {
  var kind = ScanValue.absent
  var id = ScanValue.absent
  var actions = ScanValue.absent
  var event = ScanValue.absent
  var data = ScanValue.absent
  var type = ScanValue.absent
  var received = ScanValue.absent

  /// - Parameter bytes: one valid JSON value.
  /// - Throws: `ActionFault` when it is no object.
  init(_ bytes: UnsafeRawBufferPointer) throws(ActionFault) {
    do throws(ScanFault) {
      var members = try ScanMembers(bytes)
      while try members.next() {
        switch members.keyText {
        case "kind": kind = members.value
        case "id": id = members.value
        case "actions": actions = members.value
        case "event": event = members.value
        case "data": data = members.value
        case "type": type = members.value
        case "received_at": received = members.value
        default: break
        }
      }
    } catch {
      throw ActionFault(error.reason)
    }
  }

  /// When sse-tail got the record, nil when it does not say.
  var receivedAt: Timestamp? { received.string.flatMap { Timestamp(rfc3339: $0) } }
}

extension ScanMembers {
  /// The current key, its escapes decoded.
  var keyText: String {
    let raw = key.bytes
    if raw.contains(0x5c) {
      return String(decoding: ScanScratch().text(of: raw), as: UTF8.self)
    }
    return String(decoding: raw, as: UTF8.self)
  }
}
