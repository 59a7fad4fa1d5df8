import Core
import Records
import Web

/// A word of a joelclaw system that is asked for, and how its parts are asked for it, within
/// one time for all.
struct OperatorCall {
  let call: OperationCall
  let places: OperatorPlaces
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
    places = try OperatorPlaces(call.caller)
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
        places.place(.inngest), "there may be more than these \(count): no more are asked for")
    }
  }

  // MARK: - One part

  func inngest(_ query: String) throws(Failure) -> [UInt8] {
    let (data, fault) = try answer(query)
    if let fault { throw Failure(places.place(.inngest), fault, .failure) }
    guard let data else {
      throw Failure(places.place(.inngest), "the answer has no data", .failure)
    }
    return data
  }

  /// For where an answer is of use beside its errors.
  func answer(_ query: String) throws(Failure) -> (data: [UInt8]?, fault: String?) {
    let outcome = try ask(.inngest) { places throws(Failure) in
      let (server, body) = (try places.server(.inngest), InngestText.body(query))
      return .http(try server.request(InngestText.path, method: "POST", body: body))
    }
    // Errors are told in the body, whatever the status.
    if case .response(_, let body) = outcome, let answer = Self.parsed(body),
      let fault = InngestText.fault(answer)
    {
      return (Self.member("data", body), fault)
    }
    return (Self.member("data", try body(outcome, .inngest)), nil)
  }

  func redis(_ commands: [String]) throws(Failure) -> JSONValue {
    let outcome = try ask(.redis) { places throws(Failure) in try places.redis(commands) }
    let place = places.place(.redis)
    guard case .output(let output, let error, _) = outcome else {
      throw failure(outcome, place)
    }
    switch RedisText.replies(output, to: commands.count)?.last {
    case .value(let value): return value
    case .error(let reason):
      throw Failure(place, reason, RedisText.isRefusal(reason) ? .denied : .failure)
    case nil: throw Failure(place, error.isEmpty ? "no reply" : error, .temporary)
    }
  }

  func worker() throws(Failure) -> [UInt8] {
    let outcome = try ask(.worker) { places throws(Failure) in try places.question(.worker) }
    return try body(outcome, .worker)
  }

  private func ask(
    _ source: OperatorSource, _ question: (OperatorPlaces) throws(Failure) -> OperatorQuestion
  ) throws(Failure) -> OperatorOutcome {
    let asked: OperatorQuestion
    asked = try question(places)
    call.diagnostics.note("\(source.rawValue) at \(places.place(source))")
    let time = min(max(limit - Clock.monotonic, 0), partTime)
    return OperatorRound(call.caller.client).ask([asked], time: time)[0].0
  }

  private func body(
    _ outcome: OperatorOutcome, _ source: OperatorSource
  ) throws(Failure) -> [UInt8] {
    let place = places.place(source)
    guard case .response(let head, let body) = outcome else { throw failure(outcome, place) }
    if head.status == 401 || head.status == 403 {
      throw Failure(place, "\(head.summary): \(source.rawValue) gets no token", .denied)
    }
    if let problem = try? places.server(source).problem(of: head, body) {
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

  // MARK: - JSON

  static func parsed(_ bytes: [UInt8]) -> JSONValue? {
    bytes.withUnsafeBytes { try? JSONValue.parse($0) }
  }

  static func member(_ name: String, _ object: [UInt8]) -> [UInt8]? {
    object.withUnsafeBytes { bytes in
      guard let value = try? ScanMembers.value(of: name, in: bytes), !value.isNull else {
        return nil
      }
      return Array(value.bytes)
    }
  }

  func elements(_ object: [UInt8], _ path: [String]) throws(Failure) -> [[UInt8]] {
    let list = path.reduce(Optional(object)) { value, name in
      value.flatMap { Self.member(name, $0) }
    }
    guard let rows = list.flatMap({ Answer.elements($0) }) else { throw missing(call.name) }
    return rows
  }

  func missing(_ what: String) -> Failure {
    Failure(places.place(.inngest), "the answer has no \(what)", .failure)
  }
}
