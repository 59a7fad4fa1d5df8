import Bus
import Core

struct GetOptions {
  private(set) var bus = BusOptions()
  private(set) var plan = BusConsumerPlan()
  private(set) var state: String?
  private(set) var archive: String?
  /// `--last`: how many of those that are there come first.
  private(set) var newest: Int?
  private(set) var count: Int?
  private(set) var endsThere = false
  /// `--idle`, seconds.
  private(set) var idle: Double?
  private(set) var isWrapped = false
  /// Whether what is no record is printed, too, as a string.
  private(set) var isRaw = false
  private(set) var command: String?
  /// `--confirm`: whether standard input acknowledges what was printed.
  private(set) var confirms = false
  private var starts: [String] = []

  static let table = OptionTable<GetOptions>(
    program: "bus-get",
    summary: "Print the records of a stream on a bus, a line each.",
    synopsis: "[options] [SUBJECT ...]",
    operands: .none, guesses: ["--json": "it prints JSON anyway"],
    options: BusOptions.options.at(\.bus) + [
      Option(
        "d", "durable", "NAME", "share the records with all readers that give NAME", .busName
      ) { $0.plan.durable = $1 },
      Option(nil, "state", "FILE", "remember the place in FILE, and go on there next time", .path) {
        $0.state = $1
      },
      Option(nil, "archive", "FOLDER", "write one file per day (UTC) into FOLDER", .path) {
        $0.archive = $1
      },
      Option("S", "since", "TIME", "begin at a time: 15m, 2h, today, RFC 3339", .moment) {
        $0.plan.start = .time($1.timestamp(now: .now()))
        $0.starts.append("since")
      },
      Option(nil, "since-seq", "NUMBER", "begin with this record", .wholeNumber(in: 1...Int.max)) {
        $0.plan.start = .sequence($1)
        $0.starts.append("since-seq")
      }.rare,
      Option(nil, "all", "begin with the oldest record") {
        $0.plan.start = .all
        $0.starts.append("all")
      },
      Option(
        nil, "last", "COUNT", "begin with the newest COUNT records", .wholeNumber(in: 1...Int.max)
      ) {
        $0.newest = $1
        $0.starts.append("last")
      },
      Option("n", "count", "COUNT", "end after this many records", .wholeNumber()) {
        $0.count = $1
      },
      Option("e", "end", "end after the record that is now the last") { $0.endsThere = true },
      Option(nil, "idle", "SECONDS", "end after this time without a record", .seconds) {
        $0.idle = $1
      },
      Option("m", "meta", "print the place and time of each record with it") {
        $0.isWrapped = true
      },
      Option(nil, "raw", "print what is not a record, too, as a string") { $0.isRaw = true }.rare,
      Option(
        nil, "ack-wait", "SECONDS", "with -d: give again what is not acknowledged (default: 30)",
        .seconds
      ) { $0.plan.ackWait = $1 }.rare,
      Option(
        "x", "exec", "COMMAND", "give each record to a command, which acknowledges it", .word
      ) { $0.command = $1 },
      Option(nil, "confirm", "with -d: read from standard input what becomes of each record") {
        $0.confirms = true
      }.rare,
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    plan.subjects = words.operands
    for subject in plan.subjects {
      if let fault = BusSubject.fault(ofFilter: subject) {
        throw UsageError("\(subject): \(fault)")
      }
    }
    if plan.durable != nil, state != nil {
      throw UsageError("--durable keeps the place on the server: not with --state")
    }
    if let archive {
      if archive.isEmpty { throw UsageError("--archive: no folder is named") }
      if plan.durable != nil || state != nil {
        let other = state == nil ? "durable" : "state"
        throw UsageError("--archive keeps a place of its own: not with --\(other)")
      }
      if starts.isEmpty { plan.start = .all }
    }
    if state?.isEmpty == true { throw UsageError("--state: no file is named") }
    if Set(starts).count > 1 { throw UsageError("--\(starts[0]) and --\(starts[1]): one of them") }
    if newest != nil, plan.durable != nil { throw UsageError("--last is not for --durable") }
    if command != nil, plan.durable == nil { throw UsageError("--exec is for --durable") }
    if confirms, plan.durable == nil { throw UsageError("--confirm is for --durable") }
    if confirms, command != nil { throw UsageError("--confirm and --exec: one of them") }
    if words.names.contains("ack-wait"), plan.durable == nil {
      throw UsageError("--ack-wait is for --durable")
    }
    if !(1...BusStreamPlan.longest ~= plan.ackWait) {
      throw UsageError("--ack-wait: a second at least, 280 years at most")
    }
  }
}
