import Core

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
    var text = #"{"type":"inbox_item","id":\#(JSONQuote.string(name.id))"#
    text += #","path":\#(JSONQuote.string(FileName.shown(path))),"size":\#(size)"#
    text += #","state":"\#(state.rawValue)""#
    for (key, value) in [("reason", reason), ("session", session), ("remote_path", remotePath)] {
      if let value { text += #","\#(key)":\#(JSONQuote.string(value))"# }
    }
    text += #","time":"\#(time.rfc3339)"}"#
    return Array(text.utf8)
  }
}
