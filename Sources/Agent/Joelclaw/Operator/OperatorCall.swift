import CLibc
import Core
import Records
import Web

/// A word of a joelclaw system that is asked for, and how its parts are asked for it, within
/// one time for all.
struct OperatorCall {
  let call: OperationCall
  private let profile: Settings.Profile?
  private let settings: Settings
  /// For all questions, seconds of `Clock.monotonic`.
  private let limit: Double
  private let partTime: Double

  /// How long a part has, seconds.
  static let usualTime = 10.0
  private static let usualCount = 50
  private static let day: Int64 = 86_400
  static let most = 1000

  init(
    _ call: OperationCall, time: Double = usualTime, partTime: Double? = nil
  ) throws(Failure) {
    self.call = call
    limit = Clock.monotonic + call.caller.timeLeft(usual: time)
    self.partTime = call.caller.maxTime == nil ? partTime ?? time : .infinity
    settings = try Settings()
    profile = call.caller.backend.profile
  }

  var isLate: Bool { Clock.monotonic >= limit }

  var origin: RecordOrigin {
    RecordOrigin(.joelclaw, profile: call.caller.backend.profile?.name)
  }

  var count: Int { min(call.arguments.count ?? Self.usualCount, Self.most) }

  var since: Timestamp {
    let now = Timestamp.now()
    return call.arguments.since?.timestamp(now: now) ?? now.adding(.seconds(-Self.day))
  }

  /// Says that a list is as long as one is asked for, and shorter than was wished.
  func tellMore(_ count: Int) {
    if count == Self.most, call.arguments.count ?? 0 > Self.most {
      call.diagnostics.error(
        place(.inngest), "there may be more than these \(count): no more are asked for")
    }
  }

  // MARK: - One part

  func inngest(_ query: String) throws(Failure) -> [UInt8] {
    let (data, fault) = try answer(query)
    if let fault { throw Failure(place(.inngest), fault, .failure) }
    guard let data else { throw Failure(place(.inngest), "the answer has no data", .failure) }
    return data
  }

  /// For where an answer is of use beside its errors.
  func answer(_ query: String) throws(Failure) -> (data: [UInt8]?, fault: String?) {
    let request = try server(.inngest).request(
      InngestText.path, method: "POST", body: InngestText.body(query))
    let outcome = ask(.inngest, .http(request))
    // Errors are told in the body, whatever the status.
    if case .response(_, let body) = outcome, let answer = try? JSONValue.parse(body),
      let fault = InngestText.fault(answer)
    {
      return (Self.member("data", body), fault)
    }
    return (Self.member("data", try body(outcome, .inngest)), nil)
  }

  func redis(_ commands: [String]) throws(Failure) -> JSONValue {
    let outcome = ask(.redis, try program(commands))
    let place = place(.redis)
    guard case .output(let output, let error, _) = outcome else { throw failure(outcome, place) }
    switch RedisText.replies(output, to: commands.count)?.last {
    case .value(let value): return value
    case .error(let reason):
      throw Failure(place, reason, RedisText.isRefusal(reason) ? .denied : .failure)
    case nil: throw Failure(place, error.isEmpty ? "no reply" : error, .temporary)
    }
  }

  func worker() throws(Failure) -> [UInt8] {
    try body(ask(.worker, try question(.worker)), .worker)
  }

  private func ask(_ source: OperatorSource, _ question: OperatorQuestion) -> OperatorOutcome {
    call.diagnostics.note("\(source.rawValue) at \(place(source))")
    let time = min(max(limit - Clock.monotonic, 0), partTime)
    return OperatorQuestion.ask([question], call.caller.client, time: time)[0].0
  }

  private func body(
    _ outcome: OperatorOutcome, _ source: OperatorSource
  ) throws(Failure) -> [UInt8] {
    let place = place(source)
    guard case .response(let head, let body) = outcome else { throw failure(outcome, place) }
    if head.status == 401 || head.status == 403 {
      throw Failure(place, "\(head.summary): \(source.rawValue) gets no token", .denied)
    }
    if let problem = try? server(source).problem(of: head, body) {
      throw Failure(place, problem.message, problem.status)
    }
    guard body.withUnsafeBytes({ ScanValidator.isValue($0) }) else {
      throw Failure(place, "the answer is not JSON", .failure)
    }
    return body
  }

  private func failure(_ outcome: OperatorOutcome, _ place: String) -> Failure {
    switch outcome {
    case .failed(let reason): Failure(place, reason, .temporary)
    default: Failure(place, "no whole answer in time; see --max-time", .temporary)
    }
  }

  // MARK: - Where the parts are

  /// Those that are named, in the order of the table; the gateway always is.
  var named: [OperatorSource] {
    OperatorSource.allCases.filter { $0 == .gateway || profile?.own[$0.key] != nil }
  }

  /// Nothing of the URL that may be a secret; empty for one that cannot be read.
  func place(_ source: OperatorSource) -> String {
    if source == .gateway { return call.caller.backend.base.socketDisplay }
    let value = profile?.own[source.key] ?? ""
    switch source {
    case .kubernetes: return value
    case .redis: return (try? RedisPlace(value))?.display ?? ""
    default:
      let display = (try? WebAddress(value))?.display ?? ""
      return display.hasSuffix("/") && !value.hasSuffix("/") ? String(display.dropLast()) : display
    }
  }

  func question(_ source: OperatorSource) throws(Failure) -> OperatorQuestion {
    switch source {
    case .redis: try program(RedisText.health)
    case .kubernetes:
      .program(
        ["kubectl", "--context=" + (try value(source)), "get", "pods", "-A", "-o", "json"],
        input: [])
    default: .http(try server(source).request(source.path))
    }
  }

  func server(_ source: OperatorSource) throws(Failure) -> AgentServer {
    if source == .gateway { return call.caller.backend }
    let url = try value(source)
    let base = try Failure.at(source.key, WebAddress(url))
    if base.user != nil || base.password != nil {
      throw Failure(source.key, "names a user: no part but the gateway gets a credential")
    }
    return try AgentServer(
      base: base, settings: settings, profile: nil, tokenFile: nil, allowPlaintext: false)
  }

  private func program(_ commands: [String]) throws(Failure) -> OperatorQuestion {
    let place = try RedisPlace(try value(.redis))
    var words = ["redis-cli", "--json", "-h", place.name, "-p", String(place.port)]
    if place.isSecure { words.append("--tls") }
    // The option of the program says nothing of a number that there is not.
    var lines = place.number == 0 ? commands : ["SELECT \(place.number)"] + commands
    if let file = profile?.own["redis-password-file"] {
      let may = Credentials.mayTravel(
        scheme: place.isSecure ? "https" : "http", host: place.host, allowPlaintext: false)
      if !may {
        throw Failure(place.display, "the password would travel in clear text; use rediss")
      }
      // A word of a command or a value of the environment is seen by others.
      let secret = try settings.credentials.secret(inFile: settings.folders.expand(file))
      lines.insert("AUTH " + RedisText.quoted(secret.reveal()), at: 0)
    }
    return .program(words, input: Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  private func value(_ source: OperatorSource) throws(Failure) -> String {
    guard let value = profile?.own[source.key] else {
      throw Failure(
        profile?.name ?? "AGENT_URL", "no \(source.key) is set; see agentutils.conf(5)")
    }
    return value
  }

  // MARK: - JSON

  static func member(_ name: String, _ object: [UInt8]) -> [UInt8]? {
    ScanMembers.copy(of: name, in: object).flatMap { $0.elementsEqual("null".utf8) ? nil : $0 }
  }

  func elements(_ object: [UInt8], _ path: [String]) throws(Failure) -> [[UInt8]] {
    let list = path.reduce(Optional(object)) { value, name in
      value.flatMap { Self.member(name, $0) }
    }
    guard let rows = list.flatMap({ Answer.elements($0) }) else { throw missing(call.name) }
    return rows
  }

  func missing(_ what: String) -> Failure {
    Failure(place(.inngest), "the answer has no \(what)", .failure)
  }
}

/// A part of a joelclaw system, where the profile names it (CONTRACT.md 5).
enum OperatorSource: String, CaseIterable {
  case gateway, inngest, worker, redis, qdrant, kubernetes

  var key: String {
    switch self {
    case .gateway: "url"
    case .kubernetes: "kubectl-context"
    default: rawValue + "-url"
    }
  }

  var path: String {
    switch self {
    case .gateway, .inngest: "health"
    case .qdrant: "collections"
    default: ""
    }
  }
}

enum OperatorQuestion {
  case http(Request)
  case program([String], input: [UInt8])

  /// The most that is taken of what a program prints, bytes.
  private static let largest = 64 << 20
  /// How often a program that has printed all is looked at until it ends, seconds.
  private static let lookEvery = 0.02

  /// Asks all at once, so many seconds at most. From the first program on INT, TERM, HUP and QUIT are
  /// watched: each has its own process group.
  ///
  /// - Returns: for each what came of it, and after how many seconds.
  static func ask(
    _ questions: [OperatorQuestion], _ client: WebClient, time: Double
  ) -> [(OperatorOutcome, Double)] {
    let start = Clock.monotonic
    var answers: [Int: (OperatorOutcome, Double)] = [:]
    // What does not end by itself is killed when it is let go.
    var (fetches, programs): ([Int: Fetch], [Int: ProgramCall]) = ([:], [:])
    for (index, question) in questions.enumerated() {
      switch question {
      case .http(let request):
        fetches[index] = Fetch(client, request, now: start, silence: .infinity)
      case .program(let words, let input):
        EndSignals.watch(withQuit: true)
        do throws(Failure) {
          programs[index] = try ProgramCall(words, input: input, isOurs: false, most: largest)
        } catch {
          answers[index] = (.failed(error.message), 0)
        }
      }
    }
    while Clock.monotonic < start + time {
      client.perform()
      for (index, fetch) in fetches {
        guard let end = fetch.end else { continue }
        fetches[index] = nil
        answers[index] = (OperatorOutcome(end), Clock.monotonic - start)
      }
      for (index, program) in programs {
        let hasEnded = program.look()
        guard hasEnded || program.output.count >= largest else { continue }
        programs[index] = nil
        answers[index] = (OperatorOutcome(program, hasEnded), Clock.monotonic - start)
      }
      if answers.count == questions.count { break }
      let isSilent = programs.values.contains { !$0.isTalking }
      client.wait(
        seconds: max(min(start + time - Clock.monotonic, isSilent ? lookEvery : 60), 0),
        reading: (programs.isEmpty ? [] : [EndSignals.descriptor])
          + programs.values.flatMap(\.reading),
        writing: programs.values.map(\.child.input).filter { $0 >= 0 })
      if !programs.isEmpty, let signal = EndSignals.next() {
        for program in programs.values { program.child.kill(signal) }
        Process.die(by: signal)
      }
    }
    return questions.indices.map { answers[$0] ?? (.late, time) }
  }
}

enum OperatorOutcome {
  case response(ResponseHead, [UInt8])
  case output([UInt8], error: String, status: Int32?)
  /// Nobody is there; one line.
  case failed(String)
  case late

  init(_ end: FetchEnd) {
    switch end {
    case .response(let head, let body): self = .response(head, body)
    case .failed(let reason): self = .failed(reason)
    case .unusable(let failure): self = .failed(failure.reason)
    case .late: self = .late
    }
  }

  fileprivate init(_ program: ProgramCall, _ hasEnded: Bool) {
    let words = String(decoding: program.error, as: UTF8.self)
    let last = words.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    self =
      hasEnded
      ? .output(program.output, error: last, status: program.child.exitStatus)
      : .failed("it printed too much")
  }
}
