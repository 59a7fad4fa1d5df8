import Agent
import Core
import Web

/// What the command line of sse-tail asks for.
struct TailOptions {
  /// A URL, or `activity` or `voice`.
  var target = ""
  var dataOnly = false
  var events: [String] = []
  var follow = FollowOptions()
  var stateFile: String?
  var archive: String?
  var lastEventID: String?
  var method: String?
  var data: String?
  var headers: [String] = []
  var access = AccessOptions()

  static let table = OptionTable(
    program: "sse-tail",
    summary: "Follow a server-sent event stream, one JSON record per event.",
    synopsis: "[options] URL | activity | voice",
    operands: .words(["activity", "voice"]),
    options: [
      Option("d", "data-only", nil, "print the data alone"),
      Option("e", "event", "NAME", "only events of this type, a glob; repeatable"),
      FollowOptions.count,
      FollowOptions.receivedAt,
      Option("C", "comments", nil, "print comments as records"),
      FollowOptions.lifecycle,
      Option(nil, "flush-partial", nil, "print an unfinished event at the end of a connection"),
      Option("H", "header", "LINE", "add a request header; @FILE reads lines"),
      Option("X", "request", "METHOD", "the request method"),
      Option(nil, "data", "DATA", "the request body, POST; @FILE reads it"),
      Option(nil, "last-event-id", "ID", "resume after this event"),
      Option(nil, "state", "FILE", "keep the resume point in FILE", completion: .file),
      Option(nil, "archive", "FOLDER", "write one file per day (UTC) into FOLDER"),
    ] + FollowOptions.bounds + AccessOptions.table + FollowOptions.notes)

  /// Reads parsed options.
  ///
  /// - Throws: `UsageError` for a value that makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    var profiles = 0
    for item in parsed.items {
      if item.name == "profile" { profiles += 1 }
      if profiles > 1 {
        throw UsageError("one profile at a time: \(item.value); agent-tail follows several")
      }
      if access.take(item) { continue }
      if try follow.take(item) { continue }
      let value = item.value
      switch item.name {
      case "data-only": dataOnly = true
      case "event": events.append(value)
      case "comments": follow.comments = true
      case "flush-partial": follow.flushPartial = true
      case "header": headers.append(item.path)
      case "request": method = try Self.method(value)
      case "data": data = item.path
      case "last-event-id": lastEventID = try Self.eventID(value)
      case "state": stateFile = item.path
      case "archive": archive = item.path
      default: break
      }
    }
    if let archive {
      if archive.isEmpty { throw UsageError("--archive: no folder is named") }
      if dataOnly { throw UsageError("--archive keeps whole records: not with --data-only") }
      // The files say when each record came.
      follow.receivedAt = true
      stateFile = stateFile ?? Folders.join(archive, Archive.state)
    }
    let usual = archive == nil ? nil : "activity"
    guard let first = parsed.operands.first ?? usual else {
      throw UsageError("a URL, activity or voice is needed")
    }
    if parsed.operands.count > 1 {
      throw UsageError("one stream at a time: \(parsed.operands[1])")
    }
    target = first
  }

  private static func method(_ value: String) throws(UsageError) -> String {
    guard !value.isEmpty, Header(value, "") == Header(line: value + ":") else {
      throw UsageError("--request \(value): not a method")
    }
    return value
  }

  private static func eventID(_ value: String) throws(UsageError) -> String {
    if value.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
      throw UsageError("--last-event-id: holds a line end")
    }
    return value
  }
}
