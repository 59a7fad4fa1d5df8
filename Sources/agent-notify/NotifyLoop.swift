import Agent
import CLibc
import Core
import Notices
import Records
import Web

/// The command's loop: reads, makes few deliveries of many notifications, tells them.
struct NotifyLoop {
  private let sources: [NoticeSource]
  /// The one that is followed, where it is one alone: nobody needs to be told its name.
  private let only: String?
  private var reader: NoticeReader
  private var bundler: Bundler
  private let told: ToldFile
  private let ways: [any Way]
  private let client: WebClient?
  private let outcome: Outcome
  private var faults: FaultLog
  /// Rows that are older were there before, and are nobody's news.
  private let started = Timestamp.now()
  /// Where the person was by the last record that was routed elsewhere.
  private var givenState: PersonState?
  private var lastSave = 0.0
  /// Whether what is read comes again until it is acknowledged, and is until it was told.
  private let isBus: Bool
  /// What is told of a bus, the first of them now. It is what waited, or what was kept.
  private var telling: [(delivery: Delivery, of: [Bundle], wasKept: Bool)] = []
  private var isTelling = false
  /// Whether what is to be told waits for somebody to be there.
  private var isHeld = false
  /// Whether it is still asked who is there.
  private var isAsking = false
  /// Whether what waits is written down, too: it may wait for long.
  private var keepsWaiting: Bool
  /// When nothing more is read.
  private let timeLimit: Double
  /// When all is to be over, after a signal or the time limit.
  private var deadline: Double?

  /// Reads no more than this many lines in a turn: whoever never pauses must not keep the
  /// clock and the ways waiting.
  private static let mostLines = 1000
  /// How long the ways have at the end, seconds.
  private static let grace = 5.0

  init(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws {
    timeLimit = options.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    outcome = Outcome(diagnostics)
    client = options.ntfy == nil ? nil : try options.access.client(diagnostics.program)
    ways = try Self.ways(options, client, outcome)
    isBus = !options.subjects.isEmpty
    told = try ToldFile(
      options.state, profiles: options.profiles, isBus: isBus, now: Clock.monotonic)
    bundler = Bundler(options.limits)
    keepsWaiting = isBus || !told.waiting.isEmpty
    bundler.restore(told.kept, others: told.others, waiting: told.waiting)
    reader = NoticeReader(options.routes, diagnostics: diagnostics)
    faults = FaultLog(diagnostics)
    EndSignals.watch()
    only = options.profiles.count == 1 ? options.profiles[0] : nil
    sources =
      isBus
      ? [try .bus(options.subjects, filters: options.filters)]
      : try NoticeSource.all(
        following: options.profiles, filters: options.filters, maxTime: options.maxTime)
  }

  private static func ways(
    _ options: NotifyOptions, _ client: WebClient?, _ outcome: Outcome
  ) throws(SettingsError) -> [any Way] {
    var ways: [any Way] = options.ways.map { way in
      switch way {
      case .bell: BellWay(outcome)
      case .line: LineWay()
      case .notifySend: Programs.notifySend(outcome)
      case .osascript: Programs.osascript(outcome)
      case .tmux: TmuxWay(outcome)
      }
    }
    if let url = options.ntfy, let client {
      ways.append(
        try NtfyWay(
          url, tokenFile: options.token, allowPlaintext: options.access.allowPlaintext, client,
          outcome))
    }
    ways += options.commands.map { Programs.command($0, outcome) as any Way }
    return ways.isEmpty ? usual(outcome) : ways
  }

  /// The best that there is.
  private static func usual(_ outcome: Outcome) -> [any Way] {
    #if os(macOS)
      return [Programs.osascript(outcome)]
    #else
      let displays = ["WAYLAND_DISPLAY", "DISPLAY"]
      if displays.contains(where: { Process.environment($0) != nil }), Programs.has("notify-send") {
        return [Programs.notifySend(outcome)]
      }
      if Process.environment("TMUX") != nil, Programs.has("tmux") {
        return [TmuxWay(outcome)]
      }
      return isatty(1) != 0 ? [LineWay(), BellWay(outcome)] : [LineWay()]
    #endif
  }

  /// Goes on until there is nothing more to read and to tell, or a signal comes.
  mutating func run() throws -> ExitStatus {
    var signal: Int32?
    while true {
      var now = Clock.monotonic
      if signal == nil, let number = EndSignals.next() {
        signal = number
        deadline = now + Self.grace
      }
      let isStopped = signal != nil || now >= timeLimit
      if isStopped, deadline == nil { deadline = now + Self.grace }
      var hasMore = false
      if !isStopped, !sources[0].isEnded {
        for source in sources where !source.isEnded { hasMore = try read(source) || hasMore }
      }
      let isEnd = sources[0].isEnded || isStopped
      now = Clock.monotonic
      isAsking = false
      try tell(now: now, isEnd: isEnd)
      client?.perform()
      try tellNext(now: now, isEnd: isEnd)
      var next = ways.map { $0.work(now: now) }.min() ?? .infinity
      let isIdle = ways.allSatisfy(\.isIdle)
      if isTelling, isIdle { next = now }
      let isLate = now > deadline ?? .infinity
      let isOver = !isAsking && (telling.isEmpty || isHeld) && isIdle || isLate
      if isEnd, isOver {
        if let signal {
          for source in sources { _ = source.end() }
          for way in ways { way.stop() }
          Process.die(by: signal)
        }
        if isLate { giveUp() }
        return end()
      }
      if outcome.status == .denied { return end() }
      wait(until: hasMore ? now : next, now: now, isEnd: isEnd)
    }
  }

  /// Ends the ways that are not through when the time is over.
  private func giveUp() {
    for way in ways where !way.isIdle {
      way.stop()
      outcome.fail(way.name, "not through at the end; see --max-time")
    }
  }

  private mutating func end() -> ExitStatus {
    faults.finish()
    if isHeld {
      outcome.fail(absentees, "what there is to tell waits for the next run")
    }
    let isTimeUp = Clock.monotonic >= timeLimit
    let followed = sources.map { $0.end(isTimeUp: isTimeUp) }[0]
    if outcome.status == .denied { return .denied }
    if followed != .success { return followed }
    return faults.hasFault ? .failure : outcome.status
  }

  /// - Returns: whether there may be more lines at once.
  private mutating func read(_ source: NoticeSource) throws -> Bool {
    for _ in 0..<Self.mostLines where mayRead {
      var found = NoticeReader.Line.routes([])
      var number = 0
      let isThere = try source.next {
        found = reader.read($0)
        number = $1
      }
      guard isThere else { return false }
      switch found {
      case .routes(let routes): for routed in routes { take(routed) }
      case .torn(let routes, let reason):
        for routed in routes { take(routed) }
        faults.line("-", number, reason)
      case .bad(let reason): faults.line("-", number, reason)
      }
    }
    return true
  }

  /// Of a bus no more is taken over than there are places for, also while it is being told: all
  /// of it is written down at each step, and what has no place is better kept on the bus.
  private var mayRead: Bool {
    guard isBus else { return true }
    let count = telling.reduce(bundler.waiting.count) { $0 + $1.of.count }
    return count < Bundler.mostKinds
  }

  private mutating func take(_ routed: RoutedNotice) {
    var routed = routed
    if routed.notice.profile == only { routed.notice.profile = nil }
    givenState = routed.givenState
    guard let action = routed.action, action != .archive else { return }
    // A bus brings what nobody had yet, however old.
    if !isBus, routed.notice.isPast, routed.notice.time ?? started < started { return }
    let id = ToldFile.id(of: routed.notice)
    guard told.isNew(id) else { return }
    bundler.take(routed, id: id, isNow: action.isNow, now: Clock.monotonic)
    if !action.isNow || keepsWaiting { told.add(action.isNow ? [] : id.map { [$0] } ?? []) }
  }

  private mutating func tell(now: Double, isEnd: Bool) throws {
    let wantsDigest =
      !bundler.kept.isEmpty && (isEnd || bundler.digestTime ?? .infinity <= now)
      && !(givenState ?? reader.state()).isBusy
    // What comes from a bus is asked for when its turn comes.
    let isDue = !isBus && (wantsDigest || bundler.hasDue(now: now, isEnd: isEnd))
    var deliveries: [Delivery] = []
    if isBus || isDue && isSomebodyThere(now, isEnd: isEnd) {
      for (delivery, bundles) in bundler.due(now: now, isEnd: isEnd) {
        if isBus {
          telling.append((delivery, bundles, false))
        } else {
          deliveries.append(delivery)
          told.add(bundles.flatMap(\.ids))
        }
      }
      let kept = bundler.kept
      if wantsDigest, let digest = bundler.digest() {
        if isBus { telling.append((digest, kept, true)) } else { deliveries.append(digest) }
        told.add([])
      }
      if bundler.isEmpty { keepsWaiting = isBus }
    }
    for delivery in deliveries { told.add(delivery) }
    // What is only kept may wait a moment, so that a burst is not written line by line.
    if !deliveries.isEmpty || isEnd || isBus || now - lastSave >= 1 {
      try save()
      lastSave = now
    }
    if isBus { sources[0].confirm() }
    for delivery in deliveries { try post(delivery, now) }
  }

  /// Tells what comes from a bus, one after the other: what the ways are through with is told.
  private mutating func tellNext(now: Double, isEnd: Bool) throws {
    guard !telling.isEmpty, ways.allSatisfy(\.isIdle) else { return }
    if isTelling {
      let (delivery, bundles, wasKept) = telling.removeFirst()
      told.add(wasKept ? [] : bundles.flatMap(\.ids))
      told.add(delivery)
      try save()
    }
    isTelling = false
    guard let next = telling.first, isSomebodyThere(now, isEnd: isEnd) else { return }
    isTelling = true
    try post(next.delivery, now)
  }

  private func post(_ delivery: Delivery, _ now: Double) throws {
    for way in ways where way.isThere(now: now) != false { try way.post(delivery) }
  }

  /// Whether somebody can be told, as far as is known.
  private mutating func isSomebodyThere(_ now: Double, isEnd: Bool) -> Bool {
    let answers = ways.map { $0.isThere(now: now) }
    isAsking = answers.contains(nil)
    if isAsking { return false }
    let wasHeld = isHeld
    isHeld = !answers.contains(true)
    if isHeld, !wasHeld {
      keepsWaiting = true
      told.add([])
      if !isEnd { outcome.note(absentees, "what there is to tell waits") }
    }
    return !isHeld
  }

  /// The ways in which nobody can be told, and why.
  private var absentees: String {
    ways.map { "\($0.name): \($0.absence)" }.joined(separator: ", ")
  }

  private func save() throws {
    let kept = telling.filter(\.wasKept).flatMap(\.of)
    let waiting = telling.filter { !$0.wasKept }.flatMap(\.of)
    try told.save(
      kept: bundler.kept + kept, others: bundler.othersKept,
      waiting: keepsWaiting ? bundler.unsaid + waiting : [])
  }

  private func wait(until next: Double, now: Double, isEnd: Bool) {
    var until = next
    if !isEnd {
      until = min(until, timeLimit)
      // Who waits for somebody to be there is called by the ways.
      if !isHeld, !isAsking { until = min(until, bundler.next(now: now) ?? .infinity) }
      // Somebody who is busy is not asked every moment whether they still are.
      if let digest = bundler.digestTime { until = min(until, max(digest, now + 5)) }
      if told.hasNews { until = min(until, lastSave + 1) }
    }
    if let deadline { until = min(until, deadline) }
    var seconds = min(max(until - now, 0), 60)
    var files = [EndSignals.descriptor]
    if !isEnd, mayRead {
      for source in sources where !source.isEnded {
        if let more = source.descriptors { files += more } else { seconds = min(seconds, 0.02) }
      }
    }
    if let client { return client.wait(seconds: seconds, reading: files) }
    var entries = files.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
  }
}
