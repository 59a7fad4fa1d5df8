import Core
import Records
import Screen

struct InboxItem: Sendable {
  enum State: String, Sendable { case queued, sending, delivered, failed }

  let name: ItemName
  /// The file's absolute path; empty for one that is on a bus.
  var path: String
  /// Bytes.
  var size: Int64
  var state = State.queued
  var reason: String?
  var session: String?
  var remotePath: String?
  var time: Timestamp

  /// The record of agentutils-records(5), without the line feed.
  var record: [UInt8] {
    RecordText(.inboxItem).string("id", name.id).string("name", name.own)
      .string("path", path.isEmpty ? nil : FileName.shown(path)).number("size", size)
      .string("state", state.rawValue)
      .string("reason", reason)
      .string("session", session).string("remote_path", remotePath).time(time).bytes
  }
}

extension Listing {
  static let inboxItems = Listing(
    columns: [
      .text("NAME", "name", gives: true),
      .status("STATE", "state"),
      Column("SIZE", isRight: true) { .bytes($0["size"]?.integer ?? 0) },
      .time("TIME", "time"),
      .text("SESSION", "session"),
      .text("REMOTE", "remote_path", gives: true),
      .text("REASON", "reason", gives: true),
      .text("ID", "id", gives: true),
    ],
    fields: ["id", "state", "size", "time", "session", "remote_path", "reason", "path", "name"])
}

/// The name of an item in the inbox, `<epoch>-<uuid>-<stem>.<suffix>`: what share-inbox(1)
/// calls an id, and what the file was called before, or nothing of that. Nothing else in
/// the folder is ever touched.
struct ItemName: Equatable, Sendable {
  /// Seconds since 1970 at which it was dropped.
  let epoch: Int64
  /// As written, `8-4-4-4-12` hexadecimal digits.
  let uuid: String
  /// What `isStem` takes; empty for a file that had no name.
  let stem: String
  /// As written, 1 to 8 letters and digits.
  let suffix: String

  /// The most characters of a stem: the whole name fits into the header of a tar(1)
  /// archive, with a folder of one letter before it.
  static let longestStem = 38

  /// A new name. The UUID begins with the time (version 7 of RFC 9562, section
  /// 5.7), so that names sort as the files came.
  init(time: Timestamp, random: [UInt8], stem: String, suffix: String) {
    var bytes = random
    let milliseconds = time.seconds * 1000 + Int64(time.nanoseconds / 1_000_000)
    for index in 0..<6 {
      bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index))
    }
    // The rest of the millisecond, in 4096ths.
    let fraction = Int64(time.nanoseconds % 1_000_000) * 4096 / 1_000_000
    bytes[6] = 0x70 | UInt8(fraction >> 8)
    bytes[7] = UInt8(truncatingIfNeeded: fraction)
    bytes[8] = bytes[8] & 0x3f | 0x80
    epoch = time.seconds
    uuid = bytes.uuid
    (self.stem, self.suffix) = (stem, suffix)
  }

  /// Reads a name. Returns nil when it is not of this form, to the byte.
  init?(_ name: [UInt8]) {
    guard let dash = name.firstIndex(of: UInt8(ascii: "-")), 1...12 ~= dash,
      name[..<dash].allSatisfy(Self.isDigit)
    else { return nil }
    let uuid = name[(dash + 1)...].prefix(36)
    for (index, byte) in uuid.enumerated() {
      let isDash = index == 8 || index == 13 || index == 18 || index == 23
      guard isDash ? byte == UInt8(ascii: "-") : Self.isHexadecimal(byte) else { return nil }
    }
    let rest = name.dropFirst(dash + 1 + 36)
    guard uuid.count == 36, let dot = rest.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let stem = rest[..<dot]
    let suffix = rest[(dot + 1)...]
    guard stem.isEmpty || stem.first == UInt8(ascii: "-") && Self.isStem(stem.dropFirst()),
      Self.isSuffix(Array(suffix)),
      let epoch = Int64(String(decoding: name[..<dash], as: UTF8.self))
    else { return nil }
    self.epoch = epoch
    self.uuid = String(decoding: uuid, as: UTF8.self)
    self.stem = String(decoding: stem.dropFirst(), as: UTF8.self)
    self.suffix = String(decoding: suffix, as: UTF8.self)
    guard Array(text.utf8) == name else { return nil }
  }

  var text: String { own.map { "\(id)-\($0)" } ?? "\(id).\(suffix)" }

  /// What the user calls it: it needs no quoting anywhere.
  var id: String { "\(epoch)-\(uuid)" }

  /// As far as that needs no quoting anywhere; nil when nothing is known of it.
  var own: String? { stem.isEmpty ? nil : "\(stem).\(suffix)" }

  var shown: String { own ?? text }

  /// What is kept of a file's own name: letters, digits, `.`, `_` and `-` of ASCII. A
  /// dash stands for all others, for as many as there are together. It begins as no
  /// option and no hidden file does.
  static func stem(of name: some Sequence<UInt8>) -> String {
    var kept: [UInt8] = []
    for byte in name {
      let byte = isPlain(byte) ? byte : dash
      if byte != dash || kept.last != dash { kept.append(byte) }
    }
    let start = kept.drop { $0 == dash || $0 == dot }.prefix(longestStem)
    let end = start.lastIndex { $0 != dash && $0 != dot }
    return end.map { String(decoding: start[...$0], as: UTF8.self) } ?? ""
  }

  private static func isStem(_ bytes: ArraySlice<UInt8>) -> Bool {
    1...longestStem ~= bytes.count && bytes.allSatisfy(isPlain)
  }

  /// Whether a suffix is one: 1 to 8 letters and digits of ASCII.
  static func isSuffix(_ bytes: [UInt8]) -> Bool {
    1...8 ~= bytes.count && bytes.allSatisfy(\.isAlphanumeric)
  }

  private static let dash = UInt8(ascii: "-")
  private static let dot = UInt8(ascii: ".")

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || byte == dash || byte == dot || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")) ~= byte | 0x20
  }
}
