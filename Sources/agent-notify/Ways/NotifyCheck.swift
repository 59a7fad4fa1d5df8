import Agent
import CLibc
import Core
import Records
import Web

/// `--check`: says who may read a topic and whether it may be written, and sends one notice by each
/// way.
struct NotifyCheck {
  let options: NotifyOptions
  let diagnostics: Diagnostics

  func run() throws -> ExitStatus {
    let worst = options.ntfy.isEmpty ? .success : try lookAtTopics()
    if options.ways.isEmpty, options.commands.isEmpty { return worst }
    let other = try tryWays()
    return worst == .success ? other : worst
  }

  private func say(_ place: String, _ text: String) throws(WriteFailure) {
    try RecordWriter.print("\(place): \(text)\n")
  }

  // MARK: - Topics

  private func lookAtTopics() throws -> ExitStatus {
    let topics = try NtfyTopic.all(options)
    let client = try options.access.client(diagnostics.program)
    var worst = ExitStatus.success
    for topic in topics {
      do { try look(topic, client) } catch let error as Failure {
        diagnostics.error(topic.display, error.reason)
        worst = worst == .denied ? worst : error.status
      }
    }
    if let answers = options.answers, worst == .success {
      EndSignals.watch()
      try AnswerTopic(options, notices: topics, client, Outcome(diagnostics)).prove()
      try say(Visible.line(answers), "who gets the notices can answer, and is heard")
    }
    return worst
  }

  private func look(_ topic: NtfyTopic, _ client: WebClient) throws {
    let isOpen = try mayRead(topic, client, withToken: false)
    try say(topic.display, isOpen ? "anybody may read it" : "nobody may read it without a token")
    if topic.token?.isRefused == true {
      throw Failure("not tried with a token that was refused", .denied)
    }
    if topic.token != nil, !isOpen {
      let isReader = try mayRead(topic, client, withToken: true)
      try say(topic.display, "with the token it may \(isReader ? "" : "not ")be read")
    }
    let body = NtfyMessage.body(
      .check("This topic may be written."), topic: topic.topic, click: options.click)
    guard try ask(topic, topic.publishing(body), client)?["id"]?.string != nil else {
      throw Failure("not the answer of an ntfy server", .failure)
    }
    try say(topic.display, "it may be written: one notice was sent")
  }

  private func mayRead(
    _ topic: NtfyTopic, _ client: WebClient, withToken: Bool
  ) throws(Failure) -> Bool {
    let request = try topic.asking(withToken: withToken)
    guard let answer = try ask(topic, request, client, isRefusalFine: true) else { return false }
    guard answer["success"]?.bool == true else {
      throw Failure("not the answer of an ntfy server", .failure)
    }
    return true
  }

  /// The answer; nil where that is refused, which may be fine.
  private func ask(
    _ topic: NtfyTopic, _ request: Request, _ client: WebClient, isRefusalFine: Bool = false
  ) throws(Failure) -> JSONValue? {
    let fetch = Fetch(client, request, now: Clock.monotonic, silence: 20, limit: 1 << 20)
    while fetch.end == nil {
      let now = Clock.monotonic
      client.wait(seconds: max(0, min(fetch.due(now) - now, 60)), reading: [])
      client.perform()
    }
    switch NtfyAnswer(fetch, fetch.end ?? .late) {
    case .done(let answer?): return answer
    case .done(nil): throw Failure("not the answer of an ntfy server", .failure)
    case .forbidden where isRefusalFine: return nil
    case .forbidden(let error): throw Failure("\(error.line): it may not be written", .denied)
    case .refused(let error):
      topic.token?.isRefused = true
      throw Failure("\(error.line): the token was refused", .denied)
    case .later(let error): throw Failure(error.line, .temporary)
    case .failed(_, let failure): throw failure
    }
  }

  // MARK: - Ways

  private func tryWays() throws -> ExitStatus {
    EndSignals.watch()
    var worst = ExitStatus.success
    let outcome = Outcome(diagnostics)
    let commands = options.commands.map { ProgramWay.command($0, outcome) }
    for way in NotifyLoop.ways(options, nil, outcome) + commands {
      if let failure = try failure(of: way) {
        diagnostics.error(way.name, failure.reason)
        worst = failure.status
      } else {
        try say(Visible.line(way.name), "one notice was sent")
      }
    }
    return worst
  }

  private func failure(of way: Way) throws -> Failure? {
    while way.isThere(now: Clock.monotonic) == nil { wait(for: way) }
    if way.isThere(now: Clock.monotonic) == false {
      return Failure(way.unsupportedReason, .temporary)
    }
    try way.post(Telling(.check("One notice, to try the way."), of: [], wasKept: false, by: [0]))
    while way.ended.isEmpty { wait(for: way) }
    return way.ended.first?.failure
  }

  private func wait(for way: Way) {
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
