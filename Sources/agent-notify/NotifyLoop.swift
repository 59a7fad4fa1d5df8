import Agent
import CLibc
import Core
import Records
import Web

struct NotifyLoop {
  private let sources: [NoticeSource]
  private var reader: NoticeReader
  private var bundler: Bundler
  private let told: ToldFile
  private var channels: [Channel]
  private let client: WebClient?
  private let answers: Answers?
  private let outcome: Outcome
  private var faults: FaultLog
  /// Rows that are older were there before, and are nobody's news.
  private let started = Timestamp.now()
  /// Where the person was by the last record that was routed elsewhere.
  private var givenState: PersonState?
  private var lastSave = 0.0
  /// Whether what is read comes again until it is acknowledged, and is until it was told.
  private let isBus: Bool
  private var tellings: [Telling] = []
  /// What could not be told: at once, and when it was kept.
  private var untold: [Bundle], untoldKept: [Bundle] = []
  private var retryAt = Double.infinity
  private var backoff = Backoff(base: 60, cap: 300)
  private var isHeld = false
  /// Agents at a terminal that wait: what they ask is told in place of that, where it is held there.
  private var prompts: [(place: String, routed: RoutedNotice, due: Double)] = []
  private var asked: [String: Double] = [:]
  private var isAsking = false
  private let timeLimit: Double
  /// When all is to be over, after a signal or the time limit.
  private var deadline: Double?

  /// A turn's lines: whoever never pauses must not keep the clock and the ways waiting.
  private static let mostLines = 1000
  /// How long the ways have at the end, seconds.
  private static let grace = 5.0
  /// How often what changed is written down, seconds.
  private static let saving = 0.1
  /// How long what an agent asks may come before or behind that it waits, seconds.
  private static let askingTime = 2.0
  /// While so many are being told, no more of them are made.
  private static let mostTellings = 1000

  init(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws {
    timeLimit = options.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    outcome = Outcome(diagnostics)
    client = options.ntfy.isEmpty ? nil : try options.access.client(diagnostics.program)
    let topics = client == nil ? [] : try NtfyTopic.all(options)
    var topic: AnswerTopic?
    if let client, options.answers != nil {
      topic = try AnswerTopic(options, notices: topics, client, outcome)
    }
    let asksAtDesktop =
      !options.profiles.isEmpty && Self.usesDesktop(options) && DesktopWay.isThere
    answers =
      topic != nil || asksAtDesktop ? Answers(options, topic, isAtDesktop: asksAtDesktop) : nil
    channels = Self.channels(options, topics, answers, client, outcome)
    isBus = !options.subjects.isEmpty
    told = try ToldFile(
      options.state, profiles: options.profiles, isBus: isBus, now: Clock.monotonic)
    // A question is asked anew, with other codes, if it still waits.
    let answers = answers
    let waiting = told.waiting.filter { answers?.isQuestion($0.notice) != true }
    bundler = Bundler(
      options.limits, kept: told.kept.filter { answers?.isQuestion($0.notice) != true },
      others: told.others, waiting: waiting.filter(\.ways.isEmpty))
    untold = waiting.filter { !$0.ways.isEmpty }
    retryAt = untold.isEmpty ? .infinity : 0
    reader = NoticeReader(options.routes, diagnostics: diagnostics)
    faults = FaultLog(diagnostics)
    EndSignals.watch()
    sources =
      isBus
      ? [try .bus(options.subjects, filters: options.filters)]
      : try NoticeSource.all(
        following: options.profiles, filters: options.filters, maxTime: options.maxTime)
  }

  private static func channels(
    _ options: NotifyOptions, _ topics: [NtfyTopic], _ answers: Answers?,
    _ client: WebClient?, _ outcome: Outcome
  ) -> [Channel] {
    var ways = ways(options, answers, outcome)
    if let client {
      ways += topics.map { NtfyWay($0, click: options.click, answers, client, outcome) }
    }
    ways += options.commands.map { ProgramWay.command($0, outcome) }
    return ways.isEmpty ? [Channel(usual(answers, outcome))] : ways.map { Channel([$0]) }
  }

  /// Those of `--to`.
  static func ways(
    _ options: NotifyOptions, _ answers: Answers?, _ outcome: Outcome
  ) -> [Way] {
    options.ways.map { way in
      switch way {
      case .bell: BellWay()
      case .line: LineWay()
      case .notifySend: desktop(answers, outcome)
      case .osascript: ProgramWay.osascript(outcome)
      case .tmux: TmuxWay(outcome)
      }
    }
  }

  private static func usesDesktop(_ options: NotifyOptions) -> Bool {
    let isUsual = options.ways.isEmpty && options.ntfy.isEmpty && options.commands.isEmpty
    return options.ways.contains(.notifySend) || isUsual && hasDisplay
  }

  private static var hasDisplay: Bool {
    ["WAYLAND_DISPLAY", "DISPLAY"].contains { Process.environment($0) != nil }
  }

  private static func desktop(_ answers: Answers?, _ outcome: Outcome) -> Way {
    guard let answers, answers.isAtDesktop else { return ProgramWay.notifySend(outcome) }
    return DesktopWay(answers, outcome)
  }

  /// The best that there is, and what stands in for it.
  private static func usual(_ answers: Answers?, _ outcome: Outcome) -> [Way] {
    #if os(macOS)
      let desktop: [Way] = [ProgramWay.osascript(outcome)]
    #else
      let desktop: [Way] =
        hasDisplay && ProgramCall.isThere("notify-send") ? [desktop(answers, outcome)] : []
    #endif
    if Process.environment("TMUX") != nil, ProgramCall.isThere("tmux") {
      return desktop + [TmuxWay(outcome)]
    }
    return desktop + [LineWay(rings: isatty(1) != 0)]
  }

  mutating func run() throws -> ExitStatus {
    do {
      return try goOn()
    } catch let error as WriteFailure {
      // What could not be written to standard output waits, too.
      try? save(now: Clock.monotonic, isNow: true)
      throw error
    }
  }

  private mutating func goOn() throws -> ExitStatus {
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
      for prompt in prompts where isEnd || prompt.due <= now {
        take(prompt.routed, from: sources[0])
      }
      prompts.removeAll { isEnd || $0.due <= now }
      try tell(now: now, isEnd: isEnd)
      client?.perform()
      var next = prompts.reduce(try ask(now)) { min($0, $1.due) }
      for index in channels.indices { next = min(next, channels[index].work(now: now)) }
      if try hear(now: Clock.monotonic) || answers?.isDue == true { next = now }
      let isIdle = channels.allSatisfy(\.isIdle) && answers?.isIdle != false
      let isLate = now > deadline ?? .infinity
      let isOver = !isAsking && (tellings.isEmpty || isHeld) && isIdle || isLate
      if isEnd, isOver {
        if isLate, signal == nil { giveUp() }
        try save(now: now, isNow: true)
        if let signal {
          for source in sources { _ = source.end() }
          for channel in channels { channel.stop() }
          Process.die(by: signal)
        }
        return end()
      }
      if isIdle, channels.allSatisfy(\.isClosed) {
        try save(now: now, isNow: true)
        return end()
      }
      wait(until: hasMore ? now : next, now: now, isEnd: isEnd)
    }
  }

  /// Hears and gives what a phone answers. Returns when to be called again at the latest.
  private func ask(_ now: Double) throws -> Double {
    guard let answers else { return .infinity }
    let next = try answers.work(now: now)
    for delivery in answers.takeNews() {
      for index in channels.indices where !channels[index].isClosed {
        // What came of a question is seen at the desktop: the notice goes.
        let way = channels[index].way
        guard way is NtfyWay || way is DesktopWay && delivery.question != nil else { continue }
        try way.post(Telling(delivery, of: [], wasKept: false, by: [index]))
      }
    }
    return next
  }

  private func giveUp() {
    for channel in channels where !channel.isIdle {
      channel.stop()
      outcome.fail(channel.way.name, "not through at the end; see --max-time")
    }
  }

  private mutating func end() -> ExitStatus {
    faults.finish()
    for channel in channels { channel.stop() }
    if isHeld { outcome.fail(absentees, "what there is to tell waits for the next run") }
    let isTimeUp = Clock.monotonic >= timeLimit
    let followed = sources.map { $0.end(isTimeUp: isTimeUp) }[0]
    if outcome.status == .denied { return .denied }
    if followed != .success { return followed }
    return faults.hasFault ? .failure : outcome.status
  }

  /// Whether there may be more lines at once.
  private mutating func read(_ source: NoticeSource) throws -> Bool {
    for _ in 0..<Self.mostLines where mayRead {
      var found: NoticeReader.Line = ([], nil)
      var (number, place): (Int, (name: String, isPending: Bool)?) = (0, nil)
      let isThere = try source.next {
        if let profile = source.profile {
          answers?.read($0, of: profile)
          place = NoticeSource.place($0)
        }
        found = reader.read($0)
        number = $1
      }
      guard isThere else { return false }
      if let place {
        asked[place.name] = place.isPending ? Clock.monotonic : nil
        if place.isPending { prompts.removeAll { $0.place == place.name } }
      }
      for routed in found.routes { receive(routed, from: source) }
      if let fault = found.fault { faults.line("-", number, fault) }
    }
    return true
  }

  /// Of a bus no more is taken over than there are places for, also while it is being told: all
  /// of it is written down at each step, and what has no place is better kept on the bus.
  ///
  /// Of others, what is pressing has a place each, and more of it is not read before there is one.
  private var mayRead: Bool {
    if isBus {
      let count = tellings.reduce(bundler.waiting.count + untold.count) { $0 + $1.bundles.count }
      return count < Bundler.mostKinds
    }
    let isPressing = { (bundle: Bundle) in bundle.isPressing && bundle.ways.isEmpty }
    let waiting = bundler.waiting.count + tellings.count + untold.count
    if waiting < Bundler.mostPressing { return true }
    return bundler.waiting.count { $0.isPressing } + untold.count(where: isPressing)
      + tellings.count { $0.bundles.contains(where: isPressing) } < Bundler.mostPressing
  }

  private mutating func receive(_ routed: RoutedNotice, from source: NoticeSource) {
    guard let host = source.host, let name = routed.notice.about?.id,
      routed.notice.title == "\(name) waits"
    else { return take(routed, from: source) }
    let place = "\(host):\(name)"
    let now = Clock.monotonic
    if now < (asked[place] ?? -.infinity) + Self.askingTime { return }
    prompts.append((place, routed, now + Self.askingTime))
  }

  private mutating func take(_ routed: RoutedNotice, from source: NoticeSource) {
    givenState = routed.givenState
    guard let action = routed.action, action != .archive else { return }
    // A bus brings what nobody had yet, however old.
    if !isBus, routed.notice.isPast, routed.notice.time ?? started < started { return }
    let id = ToldFile.id(of: routed.notice)
    if let answers, answers.isQuestion(routed.notice) {
      // Once in each run, and as it is told by who takes the answer, while there is one.
      if source.profile == nil {
        let whose = routed.notice.profile
        let isTold = sources.contains {
          !$0.isEnded && $0.profile != nil && (whose == nil || whose == $0.profile)
        }
        guard !isTold, told.isNew(id) else { return }
      } else if !answers.tells(routed.notice) {
        return
      }
    } else {
      guard told.isNew(id) else { return }
    }
    bundler.receive(routed, id: id, isNow: action.isNow, now: Clock.monotonic)
    told.add(action.isNow ? [] : id.map { [$0] } ?? [])
  }

  private mutating func tell(now: Double, isEnd: Bool) throws {
    if now >= retryAt { tryAgain(now: now) }
    let wantsDigest =
      !bundler.kept.isEmpty && (isEnd || bundler.digestTime ?? .infinity <= now)
      && !(givenState ?? reader.state()).isBusy
    let isDue = wantsDigest || bundler.hasDue(now: now, isEnd: isEnd)
    let hasNew = tellings.contains { !$0.isPosted }
    if hasNew || isDue && tellings.count < Self.mostTellings, isSomebodyThere(now, isEnd: isEnd) {
      let all = Set(channels.indices)
      tellings += bundler.due(now: now, isEnd: isEnd).map { delivery, bundles in
        Telling(delivery, of: bundles, wasKept: false, by: all)
      }
      if wantsDigest {
        tellings += bundler.digest().map { Telling($0, of: $1, wasKept: true, by: all) }
      }
      // What cannot be written down is not told: it would be told again and again.
      try save(now: now, isNow: true)
      try post(now)
    }
    try save(now: now, isNow: isEnd)
    if isBus { sources[0].confirm() }
  }

  private func post(_ now: Double) throws {
    for telling in tellings where !telling.isPosted {
      telling.isPosted = true
      let there = telling.open.filter {
        !channels[$0].isClosed && channels[$0].isThere(now: now) != false
      }
      // Without any of its own it waits as what failed does.
      if there.isEmpty { telling.failed = telling.open }
      telling.open = there
      for index in there.sorted() { try channels[index].way.post(telling) }
    }
  }

  /// Takes note of what the ways have told, and what they could not tell. Returns whether something
  /// is to be told otherwise at once.
  private mutating func hear(now: Double) throws -> Bool {
    var passed = false
    for index in channels.indices {
      for (way, end) in channels[index].ended() {
        let isFirst = channels[index].way === way
        if let failure = end.failure, channels[index].passes(way, now: now) {
          if isFirst { outcome.note(way.name, "\(failure.reason); another way is taken") }
          for telling in end.tellings { telling.isPosted = false }
          passed = true
          continue
        }
        if let failure = end.failure { outcome.fail(way.name, failure.reason, failure.status) }
        for telling in end.tellings {
          telling.open.remove(index)
          if end.failure == nil { telling.wasTold = true }
          if end.failure != nil, !end.isFinal { telling.failed.insert(index) }
        }
      }
    }
    for telling in tellings where telling.isPosted && telling.open.isEmpty {
      close(telling, now: now)
    }
    let count = tellings.count
    tellings.removeAll { $0.isPosted && $0.open.isEmpty }
    if tellings.count < count { try save(now: now, isNow: true) }
    return passed
  }

  /// All ways are through with it: it was told, or it waits for another try.
  private mutating func close(_ telling: Telling, now: Double) {
    // In an earlier try other ways may have told it.
    let wasPartial = telling.bundles.contains { !$0.ways.isEmpty }
    if telling.wasTold, !wasPartial { told.add(telling.delivery) }
    if telling.failed.isEmpty {
      told.add(telling.wasKept ? [] : telling.bundles.flatMap(\.ids))
      backoff.reset()
      // The way is back, and what failed goes on.
      if retryAt != .infinity { retryAt = now }
      if untold.isEmpty, untoldKept.isEmpty { outcome.mend() }
      return
    }
    let isPartial = telling.wasTold || wasPartial
    let names = isPartial ? telling.failed.sorted().map { channels[$0].way.name } : []
    let bundles = telling.bundles.map { bundle in
      var bundle = bundle
      bundle.ways = names
      return bundle
    }
    told.add([])
    if telling.wasKept, !isPartial {
      Bundle.gather(bundles, into: &untoldKept, now: now)
    } else {
      Bundle.gather(bundles, into: &untold, now: now)
    }
    if retryAt == .infinity { retryAt = now + backoff.next(random: Double.random(in: 0..<1)) }
  }

  /// Has what failed told once more: by the ways that failed, if they are still there.
  private mutating func tryAgain(now: Double) {
    retryAt = .infinity
    bundler.takeBack(untold.filter(\.ways.isEmpty), wasKept: false)
    bundler.takeBack(untoldKept, wasKept: true)
    for bundle in untold where !bundle.ways.isEmpty {
      // Where no way has that name any more, it is told: others told it.
      let own = channels.indices.filter { bundle.ways.contains(channels[$0].way.name) }
      tellings.append(Telling(bundle.delivery, of: [bundle], wasKept: false, by: Set(own)))
    }
    (untold, untoldKept) = ([], [])
  }

  private mutating func isSomebodyThere(_ now: Double, isEnd: Bool) -> Bool {
    let answers = channels.map { $0.isThere(now: now) }
    isAsking = answers.contains(nil)
    if isAsking { return false }
    let wasHeld = isHeld
    isHeld = !answers.contains(true)
    if isHeld, !wasHeld {
      if !isEnd { outcome.note(absentees, "what there is to tell waits") }
    }
    return !isHeld
  }

  private var absentees: String {
    channels.map { "\($0.way.name): \($0.way.unsupportedReason)" }.joined(separator: ", ")
  }

  private mutating func save(now: Double, isNow: Bool) throws {
    guard isNow || isBus || now - lastSave >= Self.saving else { return }
    lastSave = now
    let kept = tellings.filter(\.wasKept).flatMap(\.bundles)
    let waiting = tellings.filter { !$0.wasKept }.flatMap(\.bundles)
    try told.save(
      kept: bundler.kept + kept + untoldKept, others: bundler.keptOthers,
      waiting: bundler.unsaid + waiting + untold)
  }

  private func wait(until next: Double, now: Double, isEnd: Bool) {
    var until = next
    if !isEnd {
      until = min(until, timeLimit)
      // Who waits for somebody to be there is called by the ways.
      if !isHeld, !isAsking { until = min(until, bundler.next(now: now) ?? .infinity) }
      // Somebody who is busy is not asked every moment whether they still are.
      if let digest = bundler.digestTime { until = min(until, max(digest, now + 5)) }
      if told.hasNews { until = min(until, lastSave + Self.saving) }
      if !isHeld, !isAsking { until = min(until, retryAt) }
    }
    if let deadline { until = min(until, deadline) }
    var seconds = min(max(until - now, 0), 60)
    var files = [EndSignals.descriptor] + (answers?.descriptors ?? [])
    files += channels.flatMap(\.descriptors)
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
