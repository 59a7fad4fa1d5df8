import Core
import Shell

/// What became of a session: agentutils-records(5), `session_change`.
struct SessionChange {
  /// `added`, `dropped`, `changed` or `kept`.
  let kind: String
  let name: String
  /// What is to be told of it; nil when there is nothing but its name.
  let session: TmuxSession?
  let time: Timestamp

  var record: [UInt8] {
    let rest = session?.members ?? "\"name\":\(JSONQuote.string(name))"
    return Array(
      #"{"type":"session_change","change":"\#(kind)",\#(rest),"time":"\#(time.rfc3339)"}"#.utf8)
  }

  /// What differs between two lists: what is gone first, then what is there.
  ///
  /// A session that was closed and made again under its name is two changes.
  static func between(
    _ old: [TmuxSession], _ new: [TmuxSession], time: Timestamp
  ) -> [SessionChange] {
    func isSame(_ one: TmuxSession, _ other: TmuxSession) -> Bool {
      one.name == other.name && one.id == other.id && one.created == other.created
    }
    var changes: [SessionChange] = []
    for session in old where !new.contains(where: { isSame($0, session) }) {
      changes.append(
        SessionChange(kind: "dropped", name: session.name, session: session, time: time))
    }
    for session in new {
      let before = old.first { isSame($0, session) }
      if before.map({ $0.looks(like: session) }) == true { continue }
      changes.append(
        SessionChange(
          kind: before == nil ? "added" : "changed", name: session.name, session: session,
          time: time))
    }
    return changes
  }
}
