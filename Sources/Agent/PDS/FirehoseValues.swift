import Core
import Web

/// Fetches the records of one event, some at a time.
final class FirehoseValues {
  /// Why the records are not to be had.
  enum Failure: Error {
    /// A later try may be answered: not before so many seconds, where the server says that.
    case lost(String, after: Double?)
    /// Nobody is told who has not logged in; as a message says it, too.
    case denied(XRPCError, String)
  }

  /// How long all of it may take, seconds.
  private static let longest = 120.0
  /// The most requests under way.
  private static let atOnce = 6
  /// The largest record, bytes, with what stands around it.
  private static let largest = 4 << 20

  private let client: WebClient
  private let visit: PDSVisit
  private let repository: DID
  private let onFault: (String) -> Void
  private let onEnd: (Result<FirehoseEvent, Failure>) -> Void
  private var deadline: Double?
  private var event: FirehoseEvent
  private var waiting: [Int]
  private var running: [Int: Fetch] = [:]
  private var isOver = false

  /// Starts at once.
  init(
    _ client: WebClient, _ visit: PDSVisit, _ repository: DID, _ event: FirehoseEvent,
    onFault: @escaping (String) -> Void,
    onEnd: @escaping (Result<FirehoseEvent, Failure>) -> Void
  ) {
    self.client = client
    self.visit = visit
    self.repository = repository
    self.event = event
    self.onFault = onFault
    self.onEnd = onEnd
    let changes = event.changes ?? []
    waiting = changes.indices.reversed().filter {
      changes[$0].cid != nil && changes[$0].name != nil
    }
  }

  /// Whether there is nothing to fetch.
  var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

  /// Starts what may run, and notices silence.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    let limit = deadline ?? now + Self.longest
    deadline = limit
    if now >= limit {
      lose("no whole answer in \(Int(Self.longest)) s")
      return .infinity
    }
    while !isOver, running.count < Self.atOnce, let index = waiting.popLast() { fetch(index, now) }
    return running.values.map { $0.tick(now: now) }.min().map { min($0, limit) } ?? .infinity
  }

  /// Ends it; nothing more is told.
  func cancel() {
    isOver = true
    for fetch in running.values { fetch.cancel() }
    running = [:]
  }

  private func fetch(_ index: Int, _ now: Double) {
    guard let name = event.changes?[index].name else { return }
    let query: [(name: String, value: String?)] = [
      ("repo", repository.description), ("collection", name.collection.description),
      ("rkey", name.key.description),
    ]
    guard let request = try? visit.request("com.atproto.repo.getRecord", query) else {
      return lose("no url for it")
    }
    running[index] = Fetch(client, request, now: now, silence: 30, limit: Self.largest) {
      [unowned self] in
      take($0, index)
    }
  }

  private func take(_ fetched: FetchEnd, _ index: Int) {
    running[index] = nil
    switch fetched {
    case .failed(let reason), .unusable(let reason): return lose(reason)
    case .response(let head, let body) where (200...299).contains(head.status):
      guard PDSRecords.isObject(body) else {
        return lose("\(head.summary): the answer is not an object")
      }
      if PDSRecords.member("cid", of: body) == event.changes?[index].cid?.description {
        event.changes?[index].value = body.withUnsafeBytes { bytes in
          (try? ScanMembers.value(of: "value", in: bytes)).map { Array($0.bytes) }
        }
      }
    case .response(let head, let body):
      let error = XRPCError(head, body, now: Clock.unix)
      if error.isAbsence { break }
      // A page is from somebody on the way, who may be gone the next time.
      if error.isTransient || error.isPage { return lose(error.line, after: error.wait) }
      if error.isTokenRefused { return end(.failure(.denied(error, Self.words(error.line)))) }
      onFault("\(event.changes?[index].path.cut ?? ""): \(Self.words(error.line))")
    }
    if isEmpty { end(.success(event)) }
  }

  private static func words(_ reason: String) -> String {
    "a record could not be fetched: \(reason)"
  }

  private func lose(_ reason: String, after wait: Double? = nil) {
    end(.failure(.lost(Self.words(reason), after: wait)))
  }

  private func end(_ result: Result<FirehoseEvent, Failure>) {
    if isOver { return }
    cancel()
    onEnd(result)
  }
}
