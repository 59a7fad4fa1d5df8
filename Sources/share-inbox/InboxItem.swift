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
