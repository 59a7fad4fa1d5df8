import Core
import Records

/// One message of a server's stream of events (Agent/PDS/CONTRACT.md 6).
enum FirehoseFrame: Equatable {
  /// The name, the body without its blocks, and those (a CAR file).
  case event(String, CBORValue, blocks: [UInt8])
  case error(String, String)

  /// Reads a message: two values, one behind the other.
  init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    var reader = CBORReader(bytes)
    let header = try reader.next()
    let body = try reader.next(leavingOut: "blocks")
    guard reader.isAtEnd else { throw Failure("more than a header and a body") }
    switch header["op"]?.integer {
    case 1:
      guard let name = header["t"]?.text, case .map = body else {
        throw Failure("an event without a name")
      }
      self = .event(name, body, blocks: Array(reader.leftOut))
    case -1: self = .error(body["error"]?.text ?? "", body["message"]?.text ?? "")
    default: throw Failure("neither an event nor an error")
    }
  }
}

struct FirehoseChange {
  /// `NSID/KEY`.
  let path: String
  let cid: CID?
  /// As it came, without a value.
  let change: CBORValue
  /// The record, one JSON object; nil where it was not to be had as it was.
  var value: [UInt8]?

  init?(_ change: CBORValue) {
    guard let path = change["path"]?.text else { return nil }
    self.path = path
    cid = change["cid"]?.link
    // That name is for the record.
    guard case .map(let members) = change else { return nil }
    self.change = .map(members.filter { $0.name != "value" })
  }

  var name: (collection: NSID, key: RecordKey)? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let collection = NSID(parts[0]), let key = RecordKey(parts[1]) else {
      return nil
    }
    return (collection, key)
  }

  var hasRecord: Bool { cid != nil && name != nil }

  fileprivate var text: RecordText {
    let json = Array(change.json.utf8)
    return RecordText().members(Array(json.dropFirst().dropLast())).json("value", bytes: value)
  }
}

struct FirehoseEvent {
  let name: String
  let number: Int64?
  /// When it happened, by the server's clock; nil where that is not told.
  let time: Timestamp?
  private let body: CBORValue
  private let isPolled: Bool
  var changes: [FirehoseChange]?

  init(_ name: String, _ body: CBORValue, collections: [NSID], isPolled: Bool = false) {
    (self.name, self.body, self.isPolled) = (name, body, isPolled)
    number = body["seq"]?.integer
    // As exact as a state keeps it.
    time = body["time"]?.text.flatMap { Timestamp(rfc3339: $0)?.rfc3339 }
      .flatMap { Timestamp(rfc3339: $0) }
    guard name == "#commit" else { return }
    changes = (body["ops"]?.elements ?? []).compactMap(FirehoseChange.init).filter { change in
      collections.isEmpty
        || collections.contains { change.path.hasPrefix($0.description + "/") }
    }
  }

  var isTooBig: Bool { name == "#commit" && body["tooBig"] == .bool(true) }

  /// Whether the records of some changes are to be asked for yet.
  var lacksRecords: Bool { changes?.contains { $0.hasRecord && $0.value == nil } == true }

  /// The commit, and the one before it; nil where that is not told.
  var revision: String? { body["rev"]?.text }
  var since: String? { body["since"]?.text }

  /// Takes the records from the commit's own blocks, as far as they are there and can be read.
  mutating func takeRecords(from blocks: [UInt8]) {
    guard let changes, !blocks.isEmpty else { return }
    var wanted: [[UInt8]: [Int]] = [:]
    for (index, change) in changes.enumerated() where change.hasRecord {
      if let cid = change.cid?.bytes { wanted[cid, default: []].append(index) }
    }
    // What is damaged is asked for.
    blocks.withUnsafeBytes { bytes in
      guard !wanted.isEmpty, var car = try? CARBlocks(bytes) else { return }
      while let (cid, content) = (try? car.next()) ?? nil {
        guard let places = wanted[cid], CID(of: content).bytes == cid else { continue }
        var reader = CBORReader(content)
        guard let record = try? reader.next(), reader.isAtEnd else { continue }
        for place in places { self.changes?[place].value = Array(record.recordJSON.utf8) }
      }
    }
  }

  var owner: String? { body["repo"]?.text ?? body["did"]?.text }

  var data: [UInt8] {
    var text = RecordText().number("op", 1).string("t", name).string(
      "by", isPolled ? "poll" : "push")
    guard case .map(let members) = body else { return text.bytes }
    for member in members where !["op", "t", "by"].contains(member.name) {
      if member.name == "ops", let changes {
        text = text.objects("ops", changes.map(\.text))
      } else {
        // A name needs no escapes, except one that nobody gives.
        let name = Array(JSONQuote.string(member.name).utf8.dropFirst().dropLast())
        text = text.json(String(decoding: name, as: UTF8.self), member.value.json)
      }
    }
    return text.bytes
  }
}
