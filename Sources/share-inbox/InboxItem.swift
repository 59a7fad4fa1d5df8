import Core
import Records
import Screen

/// A file in the inbox, or one that just left it.
struct InboxItem: Sendable {
  /// How far it is.
  enum State: String, Sendable { case queued, sending, delivered, failed }

  let name: ItemName
  /// The file's absolute path; empty for one that is on a bus.
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
    RecordText(.inboxItem).string("id", name.id).string("name", name.own)
      .string("path", path.isEmpty ? nil : FileName.shown(path)).number("size", size)
      .string("state", state.rawValue)
      .string("reason", reason)
      .string("session", session).string("remote_path", remotePath).time(time).bytes
  }
}

/// The records of items on standard output.
final class ItemOutput {
  private let rows: RowOutput

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
      .text("NAME", "name", gives: true),
      .status("STATE", "state"),
      Listing.Column("SIZE", isRight: true) { .bytes($0["size"]?.integer ?? 0) },
      .time("TIME", "time"),
      .text("SESSION", "session"),
      .text("REMOTE", "remote_path", gives: true),
      .text("REASON", "reason", gives: true),
    ],
    fields: ["id", "state", "size", "time", "session", "remote_path", "reason", "path", "name"])
}
