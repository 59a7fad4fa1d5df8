import Core
import Records
import Web

extension OperationCall {
  /// Asks for one answer after the other until everything is there, and writes what is certain.
  func actions() throws -> ExitStatus {
    let options = arguments
    var pages = ActionPages(
      kinds: options.kinds.isEmpty ? nil : options.kinds, guild: options.guild)
    var left = options.isQuiet ? 1 : options.count ?? .max
    var written = 0
    let limit = min(left, ActionPages.mostRows)
    let isOneAnswer = limit == left
    var isDone = false
    var isComplete = true
    while left > 0 && !isDone {
      switch pages.next() {
      case .done: isDone = true
      case .askGuilds:
        let guilds = try guilds()
        isComplete = isComplete && guilds != nil
        // Those that were seen are asked for in any case.
        pages.receive(guilds: guilds ?? [])
        continue
      case .ask(let query):
        let rows = try ask(query, limit: limit).map { ActionPages.Row($0) }
        let recent = rows.filter { options.since?.holds($0.time) ?? true }
        // Not full: rows of before the window, or more than were asked for.
        let isFull = !isOneAnswer && rows.count == limit && recent.count == rows.count
        pages.receive(recent.filter(isWanted), for: query, isFull: isFull)
      }
      let certain = pages.certain().prefix(left)
      left -= certain.count
      written += certain.count
      try output.list(Array(certain), .actions)
      try output.flush()
    }
    var doubts = doubts(pages, isAll: left > 0)
    if left > 0, pages.isOpen, let count = count(pages) {
      // A backend that counts knows better.
      isComplete = isComplete || count <= written
      if count <= written { doubts = [] }
      if count > written, doubts.isEmpty {
        doubts = ["\(count - written) cannot be reached"]
      }
    } else if left > 0, doubts.isEmpty {
      doubts = try unaccounted(pages).map(words)
    }
    for doubt in doubts { diagnostics.error("actions", doubt) }
    if !doubts.isEmpty || !isComplete { return .failure }
    if written > 0 || options.count == 0 { return .success }
    tellNone(of: .actions)
    return .negative
  }

  /// Whether a row is of the kinds asked for, should the backend not know how.
  private func isWanted(_ row: ActionPages.Row) -> Bool {
    arguments.kinds.isEmpty || arguments.kinds.contains(row.kind)
  }

  private func ask(_ query: ActionPages.Query, limit: Int) throws(Failure) -> [[UInt8]] {
    let path = query.path(limit: limit, sinceHours: arguments.since?.hours(now: .now()))
    return try Answer.list(try caller.call(path), nil, place: "actions")
  }

  private func guilds() throws(Failure) -> [String]? {
    do throws(Failure) {
      return try caller.guilds().map(\.id)
    } catch {
      if error.status != .failure { throw error }
      diagnostics.say(error.message)
      return nil
    }
  }

  /// How many of the actions asked for there are, without what came meanwhile; nil if not told.
  private func count(_ pages: ActionPages) -> Int? {
    var first: Timestamp?
    if case .time(let time) = arguments.since { first = time }
    let path = ClankyPath.actionCount(
      guild: arguments.guild, kinds: arguments.kinds.isEmpty ? nil : arguments.kinds,
      sinceHours: first == nil ? arguments.since?.hours(now: .now()) : nil, since: first?.rfc3339,
      upTo: pages.span?.upperBound)
    guard let reply = try? caller.answer(path), reply.head.status == 200,
      let count = JSONValue(reply.body)?["count"]?.integer
    else { return nil }
    return Int(count)
  }

  /// What ids show to be missing, of all that the backend keeps, behind the oldest row.
  private func unaccounted(_ pages: ActionPages) throws(Failure) -> [ActionPages.Unreached] {
    let missing = arguments.since == nil ? pages.unaccounted(now: .now()) : []
    if missing.isEmpty || arguments.kinds.isEmpty { return missing }
    // The smaller ids may be those of other kinds.
    var all = ActionPages(kinds: nil, guild: nil)
    while true {
      switch all.next() {
      case .done: return all.span?.lowerBound == 1 && all.missingIDs == 0 ? [] : missing
      case .askGuilds: all.receive(guilds: pages.guilds ?? [])
      case .ask(let query):
        let rows = try ask(query, limit: ActionPages.mostRows).map { ActionPages.Row($0) }
        all.receive(rows, for: query, isFull: rows.count == ActionPages.mostRows)
        // Their ids are all that is wanted.
        _ = all.certain()
      }
    }
  }

  private func words(_ gap: ActionPages.Unreached) -> String {
    let guild = gap.guild.map { $0.isEmpty ? " of no guild" : " of guild \($0)" } ?? ""
    let what = gap.kind.map { "\($0)\(guild) before" } ?? "what was before"
    return "\(what) \(gap.before.rfc3339) cannot be reached:"
      + " the backend gives the newest \(ActionPages.mostRows)"
  }

  /// `isAll`: everything was wanted. Ids follow time but roughly, so only then do holes tell.
  private func doubts(_ pages: ActionPages, isAll: Bool) -> [String] {
    var doubts = pages.unreached.map(words)
    guard isAll, let before = pages.blindBefore?.rfc3339 else { return doubts }
    if let missing = pages.missingIDs {
      if missing != 0 {
        doubts.append("\(missing) before \(before) may be missing: of unknown kinds, or removed")
      }
    } else {
      let guild = arguments.guild == nil ? "" : " in this guild"
      doubts.append("before \(before) those of unknown kinds\(guild) may be missing")
    }
    return doubts
  }
}

/// `--since` as the backend has it: a window of so many hours until now, by its own clock.
extension Moment {
  /// Seconds more for a time, as the backend reads its clock later than we read ours.
  private static let slack = 60.0

  /// The value of `sinceHours`: a decimal number of millionths, above zero.
  func hours(now: Timestamp) -> String {
    let seconds: Double
    switch self {
    case .ago(let duration): seconds = duration / .seconds(1)
    case .time(let time):
      // As doubles: to a microsecond exact, and no distance is too long.
      seconds =
        Double(now.seconds) - Double(time.seconds)
        + Double(now.nanoseconds - time.nanoseconds) / 1e9 + Self.slack
    }
    return ActionPages.hours(seconds)
  }

  /// Whether a row is in the window for sure; one without a time is.
  func holds(_ time: Timestamp?) -> Bool {
    guard case .time(let first) = self, let time else { return true }
    return time >= first
  }
}
