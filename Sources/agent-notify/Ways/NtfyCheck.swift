import Agent
import Core
import Records
import Web

/// Says who may read a topic and whether it may be written, and sends one notice.
struct NtfyCheck {
  private let client: WebClient
  private let diagnostics: Diagnostics
  private let click: String?
  private let writer = RecordWriter()

  static func run(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let topics = try NtfyTopic.all(options)
    if topics.isEmpty { return try WayCheck.run(options, diagnostics) }
    let check = NtfyCheck(
      client: try options.access.client(diagnostics.program), diagnostics: diagnostics,
      click: options.click)
    var worst = ExitStatus.success
    for topic in topics {
      do { try check.look(topic) } catch let error as Failure {
        diagnostics.error(topic.display, error.reason)
        worst = worst == .denied ? worst : error.status
      }
    }
    if let answers = options.answers, worst == .success {
      EndSignals.watch()
      try AnswerTopic(options, notices: topics, check.client, Outcome(diagnostics)).prove()
      try check.writer.write(
        "\(Visible.line(answers)): who gets the notices can answer, and is heard\n")
      try check.writer.flush()
    }
    if options.ways.isEmpty, options.commands.isEmpty { return worst }
    let other = try WayCheck.run(options, diagnostics)
    return worst == .success ? other : worst
  }

  private func look(_ topic: NtfyTopic) throws {
    let isOpen = try mayRead(topic, withToken: false)
    try say(topic, isOpen ? "anybody may read it" : "nobody may read it without a token")
    if topic.token?.isRefused == true {
      throw Failure("not tried with a token that was refused", .denied)
    }
    if topic.token != nil, !isOpen {
      let isReader = try mayRead(topic, withToken: true)
      try say(topic, "with the token it may \(isReader ? "" : "not ")be read")
    }
    let body = NtfyMessage.body(
      .check("This topic may be written."), topic: topic.topic, click: click)
    let (head, answer) = try ask(topic, topic.publishing(body))
    guard answer?["id"]?.string != nil, (200...299).contains(head.status) else {
      throw Failure("not the answer of an ntfy server", .failure)
    }
    try say(topic, "it may be written: one notice was sent")
  }

  private func mayRead(_ topic: NtfyTopic, withToken: Bool) throws(Failure) -> Bool {
    let request = try topic.asking(withToken: withToken)
    let (head, answer) = try ask(topic, request, isRefusalFine: true)
    if head.status == 403 { return false }
    guard answer?["success"]?.bool == true else {
      throw Failure("not the answer of an ntfy server", .failure)
    }
    return true
  }

  private func ask(
    _ topic: NtfyTopic, _ request: Request, isRefusalFine: Bool = false
  ) throws(Failure) -> (ResponseHead, JSONValue?) {
    let fetch = Fetch(client, request, now: Clock.monotonic, silence: 20, limit: 1 << 20)
    while fetch.end == nil {
      let now = Clock.monotonic
      client.wait(seconds: max(0, min(fetch.due(now) - now, 60)), reading: [])
      client.perform()
    }
    switch fetch.end {
    case .response(let head, let body):
      if (200...299).contains(head.status) || head.status == 403 && isRefusalFine {
        let answer = try? body.withUnsafeBytes { try JSONValue.parse($0) }
        return (head, answer)
      }
      let error = NtfyError(head, body)
      switch head.status {
      case 401:
        topic.token?.isRefused = true
        throw Failure("\(error.line): the token was refused", .denied)
      case 403: throw Failure("\(error.line): it may not be written", .denied)
      default: throw Failure(error.line, head.isTransient ? .temporary : .failure)
      }
    case .failed(let reason):
      throw Failure(reason, fetch.isMistrusted ? .failure : .temporary)
    case .unusable(let failure): throw failure
    case .late, nil: throw Failure("no answer", .temporary)
    }
  }

  private func say(_ topic: NtfyTopic, _ text: String) throws(WriteFailure) {
    try writer.write("\(topic.display): \(text)\n")
    try writer.flush()
  }
}
