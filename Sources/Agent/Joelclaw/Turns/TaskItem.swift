public import Core
public import Records

/// A task on a personal data server, or an item of a family's list, as a list of records has it
/// (Agent/Joelclaw/CONTRACT.md 6).
public struct TaskItem: Sendable {
  /// What everybody calls it.
  public let record: TaskRecord
  /// When it is to be done.
  public let due: DueTime?
  private let row: [UInt8]
  private let value: [UInt8]
  private let isFamily: Bool

  /// The key of the record: the last part of its id.
  public var key: String { Self.key(of: record.id) }

  /// The last part of an address.
  public static func key(of uri: String) -> String {
    String(uri.split(separator: "/").last ?? "")
  }

  /// Reads a row. Members that are missing or of another type are passed over.
  ///
  /// - Parameter line: an object with `uri` and `value`.
  public init(row line: UnsafeRawBufferPointer, profile: String?) throws(Failure) {
    let (uri, object): (String, RecordFields?)
    do throws(RecordFields.Fault) {
      let row = try RecordFields(line)
      uri = try row.required("uri")
      object = try row.object("value")
      value = row.json("value") ?? []
    } catch {
      throw Failure(error.reason)
    }
    guard let fields = object else { throw Failure("has no value") }
    guard uri.utf8.starts(with: "at://".utf8) else { throw Failure("its uri is no AT URI") }
    row = Array(line)
    let word = fields.lenient { try $0.string("status") }
    let isDone = fields.lenient { try $0.bool("done") ?? $0.bool("completed") }
    let list = fields.lenient { try $0.string("list") }
    isFamily = word == nil && fields["title"] == nil && fields["text"] != nil
    let title = fields.lenient { try $0.string("title") }
    let state = word.map(Self.state)
    let changed = fields.lenient { try $0.time("updatedAt") }
    var record = TaskRecord(
      RecordOrigin(.joelclaw, profile: profile), id: uri,
      title: title ?? fields.lenient { try $0.string("text") } ?? "",
      state: state ?? (isDone == true ? .done : .open), kind: .task,
      time: changed ?? fields.lenient { try $0.time("createdAt") })
    record.priority = fields.lenient { try $0.integer("priority") }.flatMap {
      (1...4).contains($0) ? $0 : nil
    }
    record.project = fields.lenient { try $0.string("project") } ?? list
    due = fields.lenient { try $0.string("due") }.flatMap { DueTime($0) }
    record.due = due?.text
    record.assignee = fields.lenient { try $0.string("assignee") }
    record.labels = fields.lenient { try $0.strings("labels") }
    record.notes = fields.lenient { try $0.string("notes") } ?? Self.notes(fields)
    self.record = record
  }

  private static func state(_ word: String) -> TaskRecord.State {
    switch word.lowercased() {
    case "done", "complete", "completed", "finished", "closed", "resolved": .done
    case "cancelled", "canceled": .cancelled
    default: TaskRecord.State(rawValue: word.lowercased()) ?? .open
    }
  }

  private static func notes(_ fields: RecordFields) -> String? {
    let count = fields["qty"].flatMap { $0.isString || $0.isNumber ? $0.string : nil }
    let words = [count.map { "quantity \($0)" }, fields.lenient { try $0.string("place") }]
    let text = words.compactMap { $0 }.joined(separator: ", ")
    return text.isEmpty ? nil : text
  }

  /// The row with the task done; all other members stay as they are.
  public func done(at now: Timestamp) -> [UInt8] {
    var changes: [(name: String, value: String)] =
      isFamily
      ? [("done", "true")]
      : [("status", #""done""#), ("completedAt", JSONQuote.string(now.rfc3339))]
    let who = record.id.split(separator: "/").dropFirst().first ?? ""
    if isFamily, who.hasPrefix("did:") {
      changes.append(("doneBy", JSONQuote.string(String(who))))
    }
    changes.append(("updatedAt", JSONQuote.string(now.rfc3339)))
    let done = Self.exchanging(changes.map { ($0.name, Array($0.value.utf8)) }, in: value)
    return Self.exchanging([("value", done)], in: row)
  }

  /// Of members that are there twice one is left, as readers differ in which one counts.
  private static func exchanging(
    _ changes: [(name: String, value: [UInt8])], in object: [UInt8]
  ) -> [UInt8] {
    object.withUnsafeBytes { bytes in
      var left = changes
      var text = RecordText()
      guard var members = try? ScanMembers(bytes) else { return object }
      while (try? members.next()) == true {
        let name = members.key.unescaped
        let change = left.firstIndex { $0.name == name }.map { left.remove(at: $0) }
        if change == nil, changes.contains(where: { $0.name == name }) { continue }
        // The name goes with its own escapes.
        let key = String(decoding: members.key.bytes, as: UTF8.self)
        text = text.json(key, bytes: change?.value ?? Array(members.value.bytes))
      }
      for change in left { text = text.json(change.name, bytes: change.value) }
      return text.bytes
    }
  }
}

/// A task that is not on a server yet.
public struct TaskDraft: Equatable, Sendable {
  /// What is to be done, in a line.
  public var title: String
  /// 1, the most urgent, to 4.
  public var priority: Int?
  /// What it belongs to.
  public var project: String?
  /// When it is to be done.
  public var due: DueTime?
  /// The same in the words that were said.
  public var dueText: String?
  /// The DID or handle of who is to do it.
  public var assignee: String?
  /// Words that people sort by.
  public var labels: [String] = []

  /// A task of which no more is known; the rest is set afterwards.
  public init(title: String) { self.title = title }

  /// The record without its type and the time, which are added where it is written.
  public var bytes: [UInt8] {
    RecordText().string("title", title).string("status", "open").number("priority", priority)
      .string("project", project).string("due", due?.text).string("dueText", dueText)
      .string("assignee", assignee).strings("labels", labels.isEmpty ? nil : labels).bytes
  }

  /// The same as an item of a family's list.
  ///
  /// - Parameter list: the AT URI of the list.
  public func item(of list: String) -> [UInt8] {
    RecordText().string("list", list).string("text", title).bool("done", false).bytes
  }
}

extension RecordFields {
  fileprivate func lenient<Value>(
    _ read: (RecordFields) throws -> Value?
  ) -> Value? { (try? read(self)) ?? nil }
}
