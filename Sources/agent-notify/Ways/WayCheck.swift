import CLibc
import Core
import Records

/// Sends one notice by each way that is no topic, and says whether it went.
struct WayCheck {
  private let diagnostics: Diagnostics
  private let writer = RecordWriter()

  static func run(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
    EndSignals.watch()
    let check = WayCheck(diagnostics: diagnostics)
    var worst = ExitStatus.success
    let outcome = Outcome(diagnostics)
    let commands = options.commands.map { Programs.command($0, outcome) as any Way }
    for way in NotifyLoop.ways(options, nil, outcome) + commands {
      if let failure = try check.failure(of: way) {
        diagnostics.error(way.name, failure.reason)
        worst = failure.status
      } else {
        try check.writer.write("\(Visible.line(way.name)): one notice was sent\n")
        try check.writer.flush()
      }
    }
    return worst
  }

  private func failure(of way: any Way) throws -> WayFailure? {
    while way.isThere(now: Clock.monotonic) == nil { wait(for: way) }
    if way.isThere(now: Clock.monotonic) == false {
      return WayFailure(reason: way.unsupportedReason)
    }
    try way.post(Telling(.check("One notice, to try the way."), of: [], wasKept: false, by: [0]))
    while way.ended.isEmpty { wait(for: way) }
    return way.ended.first?.failure
  }

  private func wait(for way: any Way) {
    let due = way.work(now: Clock.monotonic)
    guard way.ended.isEmpty else { return }
    var file = pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&file, 1, Int32(max(0, min(due - Clock.monotonic, 1)) * 1000))
    if let signal = EndSignals.next() {
      way.stop()
      Process.die(by: signal)
    }
  }
}

extension Delivery {
  /// A notice of `--check`.
  static func check(_ text: String) -> Delivery {
    let (title, sequence) = ("agent-notify --check", Bundle.newSequence())
    let record = RecordText(.notification).string("id", sequence).string("urgency", "attention")
      .string("category", "check").string("title", title).string("text", text)
      .time(Timestamp.now())
    return Delivery(
      title: title, body: text, urgency: .attention, hasSound: false, category: "check",
      sequence: sequence, record: record.line)
  }
}
