import CLibc
import Core
import Records
import Screen
import Shell

struct SessionJobs {
  private static let mostTries = 100

  private let visit: HostVisit
  private let output: RowOutput
  private var tmux: RemoteTmux { visit.tmux }

  init(_ visit: HostVisit, _ output: RowOutput) {
    self.visit = visit
    self.output = output
  }

  /// 1 when there are none: a true zero.
  func list() throws -> Int32 {
    let sessions = try tmux.everything()
    if let form = visit.options.form, form.rows == nil {
      try SummaryOutput(form, output).show(SessionSummary(form).line(sessions))
      if form.isBar { return ExitStatus.success.rawValue }
    } else {
      try output.list(sessions.map(\.record), .sessions)
    }
    if sessions.isEmpty, !visit.options.quiet {
      visit.diagnostics.tellPerson("no sessions: tmux-attach begins one, -N without attaching")
    }
    if !visit.options.quiet, isatty(2) == 1 {
      try output.flush()
      // They are an addition: what hinders them is no fault of the list.
      for other in (try? tmux.others()) ?? [] {
        let sessions = other.count == 1 ? "1 session" : "\(other.count) sessions"
        visit.diagnostics.say("\(sessions) in the server \(other.label): --label \(other.label)")
      }
    }
    return (sessions.isEmpty ? ExitStatus.negative : .success).rawValue
  }

  func new() throws -> Int32 {
    let session: TmuxSession
    if let name = visit.options.session {
      session = try tmux.new(start(name))
    } else {
      session = try newWithFreeName()
    }
    try output.list([session.record], .sessions)
    remember { $0.made(session.name) }
    return ExitStatus.success.rawValue
  }

  /// The host alone decides: a name that another took meanwhile is a reason to try the next.
  private func newWithFreeName() throws -> TmuxSession {
    // Wrong options are told before the host is asked.
    _ = try start(visit.base)
    var taken = Set(try tmux.sessions().map(\.name))
    taken.formUnion(try SessionMemory.load(visit.memoryPath).known)
    for _ in 0..<Self.mostTries {
      let name = SessionMemory.freeName(taken: taken)
      let start = try start(name)
      if let session = try newUnlessTaken(start) { return session }
      visit.diagnostics.note("\(name) was taken meanwhile")
      taken.insert(name)
    }
    throw HostFailure.refused("\(Self.mostTries) names in a row were taken")
  }

  private func newUnlessTaken(_ start: SessionStart) throws(HostFailure) -> TmuxSession? {
    do throws(HostFailure) {
      return try tmux.new(start)
    } catch {
      if case .duplicate = error { return nil }
      throw error
    }
  }

  func close(_ name: String) throws -> Int32 {
    for line in try tmux.close(name) where !visit.options.quiet { visit.diagnostics.say(line) }
    remember { $0.closed(name) }
    return ExitStatus.success.rawValue
  }

  /// What the host has done is done, also where nothing can be written here: it is said.
  private func remember(_ change: (inout SessionMemory) -> Void) {
    do throws(Failure) {
      try SessionMemory.update(visit.memoryPath, change)
    } catch {
      visit.diagnostics.say(error.message)
    }
  }

  /// Holds what is known here against the host's list; a record for each session.
  func reconcile() throws -> Int32 {
    let sessions = try tmux.sessions()
    let changes = try SessionMemory.update(visit.memoryPath) { [base = visit.base] in
      $0.reconcile(with: sessions.map(\.name), base: base)
    }
    let now = Timestamp.now()
    let records = changes.map { change in
      SessionChange(
        kind: change.kind.rawValue, name: change.name,
        session: sessions.first { $0.name == change.name }, time: now
      ).record
    }
    try output.list(records, .sessionChanges)
    return ExitStatus.success.rawValue
  }

  private func start(_ name: String) throws -> SessionStart {
    let options = visit.options
    let section = visit.request.destination.section
    return try SessionStart(
      name: name, directory: options.directory ?? section?.directory,
      harness: options.harness ?? section?.harness, usesWorktree: options.usesWorktree)
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
  static let sessions = Listing(
    columns: columns,
    fields: ["name"] + fields)

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
