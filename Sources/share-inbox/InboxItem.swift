import Core
import Records
import Screen

/// A file in the inbox, or one that just left it.
struct InboxItem: Sendable {
  /// How far it is.
  enum State: String, Sendable { case queued, sending, delivered, failed }

  let name: ItemName
  /// The file's absolute path.
  var path: String
  /// Bytes.
  var size: Int64
  var state = State.queued
  /// Why it is still here, nil when there is nothing to say.
  var reason: String?
  /// The tmux session that it was typed into.
  var session: String?
  /// The file's path at the other end.
  var remotePath: String?
  /// When it came to that state.
  var time: Timestamp

  /// The record of agentutils-records(5), without the line feed.
  var record: [UInt8] {
    RecordText(.inboxItem).string("id", name.id).string("path", FileName.shown(path))
      .number("size", size).string("state", state.rawValue).string("reason", reason)
      .string("session", session).string("remote_path", remotePath).time(time).bytes
  }
}

/// The name of an item in the inbox, `<epoch>-<uuid>.<ext>`: what share-inbox(1) calls an
/// id, and a suffix. Nothing else in the folder is ever touched.
struct ItemName: Equatable, Sendable {
  /// Seconds since 1970 at which it was dropped.
  let epoch: Int64
  /// As written, `8-4-4-4-12` hexadecimal digits.
  let uuid: String
  /// As written, 1 to 8 letters and digits.
  let suffix: String

  /// A new name. The UUID begins with the time (version 7 of RFC 9562, section
  /// 5.7), so that names sort as the files came.
  ///
  /// - Parameters:
  ///   - time: of the deposit.
  ///   - random: 16 bytes of chance.
  ///   - suffix: what `isSuffix` takes.
  init(time: Timestamp, random: [UInt8], suffix: String) {
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
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text += "-" }
      text += byte < 16 ? "0" : ""
      text += String(byte, radix: 16)
    }
    epoch = time.seconds
    uuid = text
    self.suffix = suffix
  }

  /// Reads a name.
  ///
  /// - Returns: nil when it is not of this form, to the byte.
  init?(_ name: [UInt8]) {
    guard let dash = name.firstIndex(of: UInt8(ascii: "-")), 1...12 ~= dash,
      name[..<dash].allSatisfy(Self.isDigit)
    else { return nil }
    let rest = name[(dash + 1)...]
    guard rest.count > 37, rest[rest.startIndex + 36] == UInt8(ascii: ".") else { return nil }
    let uuid = rest.prefix(36)
    let suffix = rest.dropFirst(37)
    for (index, byte) in uuid.enumerated() {
      let isDash = index == 8 || index == 13 || index == 18 || index == 23
      guard isDash ? byte == UInt8(ascii: "-") : Self.isHexadecimal(byte) else { return nil }
    }
    guard Self.isSuffix(Array(suffix)),
      let epoch = Int64(String(decoding: name[..<dash], as: UTF8.self))
    else { return nil }
    self.epoch = epoch
    self.uuid = String(decoding: uuid, as: UTF8.self)
    self.suffix = String(decoding: suffix, as: UTF8.self)
    guard Array(text.utf8) == name else { return nil }
  }

  /// The file's name.
  var text: String { "\(id).\(suffix)" }

  /// What the user calls it, and what marks it as typed at the other end: it
  /// needs no quoting anywhere.
  var id: String { "\(epoch)-\(uuid)" }

  /// Whether a suffix is one: 1 to 8 letters and digits of ASCII.
  static func isSuffix(_ bytes: [UInt8]) -> Bool {
    1...8 ~= bytes.count
      && bytes.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")) ~= $0 | 0x20 }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")) ~= byte | 0x20
  }
}

/// The records of items on standard output.
final class ItemOutput {
  private let rows: RowOutput

  /// - Parameter options: the form, the colour, whether there is any.
  init(_ options: InboxOptions) {
    rows = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
  }

  /// Writes items; a table grows by them.
  func write(_ items: [InboxItem]) throws(WriteFailure) {
    try rows.list(items.map(\.record), Self.listing)
  }

  /// Writes everything that waits.
  func flush() throws(WriteFailure) { try rows.flush() }

  private static let listing = Listing(
    columns: [
      .text("ID", "id"),
      .status("STATE", "state"),
      Listing.Column("SIZE", isRight: true) { .bytes($0["size"]?.integer ?? 0) },
      .time("TIME", "time"),
      .text("SESSION", "session"),
      .text("REMOTE", "remote_path", gives: true),
      .text("REASON", "reason", gives: true),
    ],
    fields: ["id", "state", "size", "time", "session", "remote_path", "reason", "path"])
}
