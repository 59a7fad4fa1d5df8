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
  /// When all is to be over, after a signal.
  private var deadline: Double?

  /// Reads no more than this many lines in a turn: whoever never pauses must not keep the
  /// clock and the ways waiting.
  private static let mostLines = 1000

  init(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws {
    outcome = Outcome(diagnostics)
    client = options.ntfy == nil ? nil : try options.access.client(diagnostics.program)
    ways = try Self.ways(options, client, outcome)
    told = try ToldFile(options.state, profiles: options.profiles, now: Clock.monotonic)
    bundler = Bundler(options.limits)
    bundler.restore(told.kept, others: told.others)
    reader = NoticeReader(options.routes, diagnostics: diagnostics)
    faults = FaultLog(diagnostics)
    EndSignals.watch()
    only = options.profiles.count == 1 ? options.profiles[0] : nil
    sources = try NoticeSource.all(following: options.profiles, filters: options.filters)
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
      case .tmux: Programs.tmux(outcome)
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
        return [Programs.tmux(outcome)]
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
        deadline = now + 5
      }
      var hasMore = false
      if signal == nil, !sources[0].isEnded {
        for source in sources where !source.isEnded { hasMore = try read(source) || hasMore }
      }
      let isEnd = sources[0].isEnded || signal != nil
      now = Clock.monotonic
      try tell(now: now, isEnd: isEnd)
      client?.perform()
      let next = ways.map { $0.work(now: now) }.min() ?? .infinity
      let isOver = ways.allSatisfy(\.isIdle) || now > deadline ?? .infinity
      if isEnd, isOver {
        if let signal {
          for source in sources { _ = source.end() }
          for way in ways { way.stop() }
          Process.die(by: signal)
        }
        return end()
      }
      if outcome.status == .denied { return end() }
      wait(until: hasMore ? now : next, now: now, isEnd: isEnd)
    }
  }

  private mutating func end() -> ExitStatus {
    faults.finish()
    let followed = sources.map { $0.end() }[0]
    if outcome.status == .denied { return .denied }
    if followed != .success { return followed }
    return faults.hasFault ? .failure : outcome.status
  }

  /// - Returns: whether there may be more lines at once.
  private mutating func read(_ source: NoticeSource) throws -> Bool {
    for _ in 0..<Self.mostLines {
      var found = NoticeReader.Line.routes([])
      var number = 0
      let isThere = try source.next {
        found = reader.read($0)
        number = $1
      }
      guard isThere else { return false }
      switch found {
      case .routes(let routes): for routed in routes { take(routed) }
      case .bad(let reason): faults.line("-", number, reason)
      }
    }
    return true
  }

  private mutating func take(_ routed: RoutedNotice) {
    var routed = routed
    if routed.notice.profile == only { routed.notice.profile = nil }
    givenState = routed.givenState
    guard let action = routed.action, action != .archive else { return }
    if routed.notice.isPast, routed.notice.time ?? started < started { return }
    let id = ToldFile.id(of: routed.notice)
    guard told.isNew(id) else { return }
    bundler.take(routed, id: id, isNow: action.isNow, now: Clock.monotonic)
    if !action.isNow { told.add(id.map { [$0] } ?? []) }
  }

  private mutating func tell(now: Double, isEnd: Bool) throws {
    var deliveries: [Delivery] = []
    for (delivery, ids) in bundler.due(now: now, isEnd: isEnd) {
      deliveries.append(delivery)
      told.add(ids)
    }
    if !bundler.kept.isEmpty, isEnd || bundler.digestTime ?? .infinity <= now,
      !(givenState ?? reader.state()).isBusy, let digest = bundler.digest()
    {
      deliveries.append(digest)
      told.add([])
    }
    // What is only kept may wait a moment, so that a burst is not written line by line.
    if !deliveries.isEmpty || isEnd || now - lastSave >= 1 {
      try told.save(kept: bundler.kept, others: bundler.othersKept)
      lastSave = now
    }
    for delivery in deliveries {
      for way in ways { try way.post(delivery) }
    }
  }

  private func wait(until next: Double, now: Double, isEnd: Bool) {
    var until = next
    if !isEnd {
      until = min(until, bundler.next(now: now) ?? .infinity)
      // Somebody who is busy is not asked every moment whether they still are.
      if let digest = bundler.digestTime { until = min(until, max(digest, now + 5)) }
      if told.hasNews { until = min(until, lastSave + 1) }
    }
    if let deadline { until = min(until, deadline) }
    let seconds = min(max(until - now, 0), 60)
    var files = [EndSignals.descriptor]
    if !isEnd { files += sources.filter { !$0.isEnded }.map(\.descriptor) }
    if let client { return client.wait(seconds: seconds, reading: files) }
    var entries = files.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
  }
}
