import CLibc
import Core
import Records
import Screen
import Shell

extension HostVisit {
  /// 1 when there are none: a true zero.
  func list() throws -> ExitStatus {
    let sessions = try tmux.everything()
    if let form = options.summary {
      try output.text(form.line(sessions))
      if form.isBar { return .success }
    } else {
      try output.list(sessions.map(\.record), .sessions)
    }
    if !options.quiet {
      if sessions.isEmpty {
        diagnostics.tellPerson("no sessions: tmux-attach begins one, -N without attaching")
      }
      if isatty(2) == 1 { try tellOthers() }
    }
    return sessions.isEmpty ? .negative : .success
  }

  /// They are an addition: what hinders them is no fault of the list.
  private func tellOthers() throws {
    try output.flush()
    for other in (try? tmux.others()) ?? [] {
      let sessions = other.count == 1 ? "1 session" : "\(other.count) sessions"
      diagnostics.say("\(sessions) in the server \(other.label): --label \(other.label)")
    }
  }

  func new() throws {
    let session =
      if let name = options.session { try tmux.new(options.start(name, in: request)) } else {
        try newWithFreeName()
      }
    try output.list([session.record], .sessions)
    remember { $0.made(session.name) }
  }

  /// The host alone decides: a name that another took meanwhile is a reason to try the next.
  private func newWithFreeName() throws -> TmuxSession {
    // Wrong options are told before the host is asked.
    _ = try options.start(base, in: request)
    var taken = Set(try tmux.sessions().map(\.name))
    taken.formUnion(try SessionMemory.load(memoryPath).known)
    let tries = 100
    for _ in 0..<tries {
      let name = SessionMemory.freeName(taken: taken)
      do {
        return try tmux.new(options.start(name, in: request))
      } catch HostFailure.duplicate {
        diagnostics.note("\(name) was taken meanwhile")
        taken.insert(name)
      }
    }
    throw HostFailure.refused("\(tries) names in a row were taken")
  }

  func close(_ name: String) throws {
    for line in try tmux.close(name) where !options.quiet { diagnostics.say(line) }
    remember { $0.closed(name) }
  }

  /// What the host has done is done, also where nothing can be written here: it is said.
  private func remember(_ change: (inout SessionMemory) -> Void) {
    do throws(Failure) {
      try SessionMemory.update(memoryPath, change)
    } catch {
      diagnostics.say(error.message)
    }
  }

  /// Holds what is known here against the host's list; a record for each session.
  func reconcile() throws {
    let sessions = try tmux.sessions()
    let changes = try SessionMemory.update(memoryPath) { [base] in
      $0.reconcile(with: sessions.map(\.name), base: base)
    }
    let now = Timestamp.now()
    let records = changes.map { kind, name in
      SessionChange(
        kind: kind, name: name, session: sessions.first { $0.name == name }, time: now
      ).record
    }
    try output.list(records, .sessionChanges)
  }

  /// `--watch`: one record for each change of the list, those that are there at the start first; or
  /// its summary, whenever that is another. Goes on until a signal, a closed pipe or a link that
  /// cannot be kept.
  func watch() throws {
    var shown: String?
    func show(_ line: String) throws {
      if line == shown { return }
      shown = line
      try output.text(line)
      try output.flush()
    }
    if let form = options.summary {
      // A reader that has gone is met by the next line.
      lost = { try? show(form.trouble($0)) }
    }
    var last: SessionLook?
    while true {
      let look = try ask(try tmux.sessions(after: last))
      if let form = options.summary {
        try show(form.line(look.sessions))
      } else {
        let changes = SessionChange.between(
          last?.sessions ?? [], look.sessions, time: Timestamp.now())
        try output.list(changes.map(\.record), .sessionChanges)
        try output.flush()
      }
      last = look
      // There is nothing to wait for.
      if look.isFleeting { try idle(seconds: 1) }
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }
}

/// What became of a session: agentutils-records(5), `session_change`.
struct SessionChange {
  /// `added`, `dropped`, `changed` or `kept`.
  let kind: String
  let name: String
  /// What is to be told of it; nil when there is nothing but its name.
  let session: TmuxSession?
  let time: Timestamp

  var record: [UInt8] {
    let change = RecordText(.sessionChange).string("change", kind)
    return (session?.add(to: change) ?? change.string("name", name)).time(time).bytes
  }

  /// What differs between two lists: what is gone first, then what is there.
  ///
  /// A session that was closed and made again under its name is two changes.
  static func between(
    _ old: [TmuxSession], _ new: [TmuxSession], time: Timestamp
  ) -> [SessionChange] {
    func isSame(_ one: TmuxSession, _ other: TmuxSession) -> Bool {
      one.name == other.name && one.id == other.id && one.created == other.created
        && one.place == other.place
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

extension Listing {
  /// `type` `session`, for people and for `-o tsv`.
  static let sessions = Listing(columns: columns, fields: ["name"] + fields)

  /// `type` `session_change`.
  static let sessionChanges = Listing(
    columns: [.time("TIME", "time"), .text("CHANGE", "change")] + columns,
    fields: ["time", "change", "name"] + fields)

  private static let fields = [
    "windows", "attached", "created", "activity", "directory", "command", "state", "since",
    "reason",
  ]

  private static let columns: [Column] = [
    .text("NAME", "name", gives: true),
    Column("STATE") { .row([.text($0["state"])], mood($0["state"]?.string)) },
    .time("SINCE", "since"),
    .text("REASON", "reason", gives: true),
    .number("WINDOWS", "windows"),
    .number("ATTACHED", "attached"),
    .time("ACTIVITY", "activity"),
    .text("COMMAND", "command", gives: true),
    .text("DIRECTORY", "directory", gives: true),
  ]

  private static func mood(_ state: String?) -> Cell.Mood {
    switch state {
    case "waiting": .odd
    case "working": .good
    case "unknown": .faint
    default: .plain
    }
  }
}
