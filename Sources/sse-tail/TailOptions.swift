import Agent
import Core
import Web

struct TailOptions {
  /// A URL, or `activity` or `voice`.
  var target = ""
  var dataOnly = false
  var events: [String] = []
  var follow = FollowOptions()
  /// `--state`, or `--resume`, which another command keeps.
  var state: ResumeFile?
  var archive: String?
  var lastEventID: String?
  var method: String?
  var data: String?
  var headers: [String] = []
  var access = AccessOptions()

  static let table = OptionTable<TailOptions>(
    program: "sse-tail",
    summary: """
      Follow a server-sent event stream, one JSON record per event.
      activity and voice are the two streams of an agent's dashboard.
      """,
    synopsis: "[options] URL | activity | voice",
    operands: .words(["activity", "voice"]),
    guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option("d", "data-only", "print only the data of each event", \.dataOnly),
      Option("e", "event", "NAME", "only events of this type, a glob; repeatable", .text, \.events),
      RequestArguments.header.at(\.headers),
      Option(
        nil, "last-event-id", "ID", "resume after this event", Reading(eventID), \.lastEventID),
      Option(nil, "state", "FILE", "remember the place in FILE, and go on there next time", .path) {
        $0.state = ResumeFile($1)
      },
      Option(
        nil, "archive", "FOLDER", "write one file per day (UTC) into FOLDER", .path, \.archive),
    ] + FollowOptions.options.at(\.follow) + AccessOptions.options.at(\.access),
    rare: [
      Option("C", "comments", "print comments as records", \.follow.comments),
      Option(
        nil, "flush-partial", "print an unfinished event at the end of a connection",
        \.follow.flushPartial),
      Option(
        "X", "request", "METHOD", "the request method", RequestArguments.token("a method"), \.method
      ),
      Option(
        nil, "data", "DATA", "the body of a POST request; @FILE: what FILE has",
        .path.offering(.none), \.data),
      Option(nil, "resume", "FILE", "resume where bus-put --state FILE left off", .path) {
        $0.state = ResumeFile($1, isFixed: true)
      },
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if dataOnly, follow.receivedAt {
      throw UsageError("--data-only leaves no room for the time of --received-at")
    }
    for other in ["state", "archive"]
    where words.names.contains("resume") && words.names.contains(other) {
      throw UsageError("--resume is not for --\(other)")
    }
    if let archive {
      if archive.isEmpty { throw UsageError("--archive: no folder is named") }
      if dataOnly { throw UsageError("--archive keeps whole records: not with --data-only") }
      // The files say when each record came.
      follow.receivedAt = true
      state = state ?? ResumeFile(DayFolder.state(in: archive))
    }
    let operands = words.operands
    let usual = archive == nil ? nil : "activity"
    guard let first = operands.first ?? usual else {
      throw UsageError("a URL, activity or voice is needed")
    }
    if operands.count > 1 { throw UsageError("one stream at a time: \(operands[1])") }
    target = first
  }

  @Sendable private static func eventID(_ argument: OptionArgument) throws(UsageError) -> String {
    if argument.value.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
      throw UsageError("--last-event-id: holds a line end")
    }
    return argument.value
  }
}
