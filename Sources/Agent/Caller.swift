public import Core
public import Web

/// Asks the backend, one request at a time, and waits for the whole answer.
public final class Caller: Waiter {
  /// A whole answer.
  public struct Reply {
    /// Status and fields.
    public var head: ResponseHead
    /// The whole body.
    public var body: [UInt8]
    /// From the start of the request to the end of its answer.
    public var seconds: Double
  }

  /// The seconds for a request when the user gives no time for everything.
  public static let requestTime = 30.0
  /// The longest wait for a connection, seconds.
  public static let connectTime = 10.0

  /// Who is asked.
  public let backend: AgentServer
  let diagnostics: Diagnostics
  let maxTime: Double?
  let deadline: Double

  /// - Parameters:
  ///   - maxTime: seconds for all requests; 0 for no limit, nil for the
  ///     default of each.
  ///   - start: when that time began, by the monotonic clock.
  public init(
    _ backend: AgentServer, client: WebClient, maxTime: Double?,
    since start: Double = Clock.monotonic, diagnostics: Diagnostics
  ) {
    (self.backend, self.diagnostics, self.maxTime) = (backend, diagnostics, maxTime)
    deadline = maxTime.map { $0 > 0 ? start + $0 : .infinity } ?? .infinity
    super.init(client)
  }

  /// Asks, and waits.
  ///
  /// - Parameters:
  ///   - path: behind the base, query included.
  ///   - body: JSON text; nil or empty for none.
  /// - Throws: `Failure` for anything but 2xx.
  public func call(
    _ path: String, method: String = "GET", body: [UInt8]? = nil,
    change: (inout Request) -> Void = { _ in }
  ) throws(Failure) -> Reply {
    let reply = try answer(path, method: method, body: body, change: change)
    if let problem = backend.problem(of: reply.head, reply.body, method: method) {
      throw Failure(place(path), problem.message, problem.status)
    }
    return reply
  }

  /// Asks, and waits for an answer of whatever status.
  ///
  /// - Throws: `Failure` when no whole answer comes.
  public func answer(
    _ path: String, method: String = "GET", body: [UInt8]? = nil,
    change: (inout Request) -> Void = { _ in }
  ) throws(Failure) -> Reply {
    // An empty body is not sent as JSON, but a POST of nothing has a length (RFC 9110, 8.6).
    let sent = body?.isEmpty == true ? nil : body
    var request = try backend.request(path, method: method, body: sent)
    if body?.isEmpty == true { request.headers.append(Header("Content-Length", "0")) }
    change(&request)
    let place = request.address.display
    diagnostics.note("\(method) \(place)")
    let start = Clock.monotonic
    var fetches = fetches([request])
    return try reply(try? fetches.next()?.end, place, since: start)
  }

  /// The address of a path, for messages: without its query.
  public func place(_ path: String) -> String {
    let address = try? backend.request(path).address
    return (address ?? backend.base).display
  }

  /// What is asked, in its own time or in that which the user gives for everything.
  private func fetches(_ requests: [Request]) -> Fetches {
    Fetches(
      self, requests, time: maxTime == nil ? Self.requestTime : .infinity, until: deadline)
  }

  /// How long something may take, seconds: what is left of the user's time, or the usual one.
  func timeLeft(usual: Double) -> Double {
    maxTime == nil ? usual : max(deadline - Clock.monotonic, 0)
  }

  func late(_ place: String) -> Failure {
    let given = maxTime ?? Self.requestTime
    return Failure(
      place, "no whole answer in \(Latency.seconds(given)) s; see --max-time", .temporary)
  }

  /// What a fetch brought.
  private func reply(
    _ end: FetchEnd?, _ place: String, since start: Double
  ) throws(Failure) -> Reply {
    switch end {
    case .response(let head, let body):
      let seconds = Clock.monotonic - start
      diagnostics.note("\(head.summary), \(body.count) bytes in \(Latency.text(seconds)) ms")
      return Reply(head: head, body: body, seconds: seconds)
    case .failed(let reason): throw Failure(place, reason, .temporary)
    case .unusable(let failure): throw Failure(place, failure)
    case .late, nil: throw late(place)
    }
  }

  /// Asks several things with GET, some at a time, and hands on each answer in
  /// the order of the questions.
  ///
  /// - Parameters:
  ///   - paths: behind the base, query included.
  ///   - receive: given the place among the paths and the answer; false ends it, and
  ///     what is under way is given up.
  /// - Throws: `Failure` for anything but 2xx.
  public func several(
    _ paths: [String], receive: (Int, Reply) throws(Failure) -> Bool
  ) throws(Failure) {
    var requests: [Request] = []
    for path in paths {
      requests.append(try backend.request(path))
      diagnostics.note("GET \(place(path))")
    }
    let start = Clock.monotonic
    var fetches = fetches(requests)
    var ends: [Int: FetchEnd] = [:]
    for index in paths.indices {
      let place = place(paths[index])
      while ends[index] == nil, let (end, other) = try? fetches.next() { ends[other] = end }
      let reply = try reply(ends.removeValue(forKey: index), place, since: start)
      if let problem = backend.problem(of: reply.head, reply.body) {
        throw Failure(place, problem.message, problem.status)
      }
      if !(try receive(index, reply)) { return }
    }
  }
}
