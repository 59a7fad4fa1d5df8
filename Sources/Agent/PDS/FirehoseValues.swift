import Core
import Web

/// Fetches the records of one event, some at a time.
final class FirehoseValues {
  /// Why the records are not to be had now.
  struct Failure: Error {
    let reason: String
  }

  /// The most requests under way.
  private static let atOnce = 6
  /// The largest record, bytes, with what stands around it.
  private static let largest = 4 << 20

  private let client: WebClient
  private let server: PDSServer
  private let repository: DID
  private let onEnd: (Result<FirehoseEvent, Failure>) -> Void
  private var event: FirehoseEvent
  private var waiting: [Int]
  private var running: [Int: Fetch] = [:]
  private var isOver = false

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: drives the requests.
  ///   - server: who is asked.
  ///   - repository: whose records.
  ///   - event: with changes.
  ///   - onEnd: told the event with its records, once, not from within this call; one that is
  ///     not there any more, or changed since, is left out.
  init(
    _ client: WebClient, _ server: PDSServer, _ repository: DID, _ event: FirehoseEvent,
    onEnd: @escaping (Result<FirehoseEvent, Failure>) -> Void
  ) {
    self.client = client
    self.server = server
    self.repository = repository
    self.event = event
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
    while !isOver, running.count < Self.atOnce, let index = waiting.popLast() { fetch(index, now) }
    return running.values.map { $0.tick(now: now) }.min() ?? .infinity
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
    guard let request = try? server.request("com.atproto.repo.getRecord", query: query) else {
      return end(.failure(Failure(reason: "no url for a record")))
    }
    running[index] = Fetch(client, request, now: now, silence: 30, limit: Self.largest) {
      [unowned self] in
      take($0, index)
    }
  }

  private func take(_ fetched: FetchEnd, _ index: Int) {
    running[index] = nil
    switch fetched {
    case .failed(let reason), .unusable(let reason):
      return end(.failure(Failure(reason: "a record could not be fetched: \(reason)")))
    case .response(let head, let body) where (200...299).contains(head.status):
      if PDSRecords.isObject(body),
        PDSRecords.member("cid", of: body) == event.changes?[index].cid?.description
      {
        event.changes?[index].value = body.withUnsafeBytes { bytes in
          (try? ScanMembers.value(of: "value", in: bytes)).map { Array($0.bytes) }
        }
      }
    case .response(let head, let body):
      let error = XRPCError(head, body, now: Clock.unix)
      if !error.isAbsence {
        return end(.failure(Failure(reason: "a record could not be fetched: \(error.line)")))
      }
    }
    if isEmpty { end(.success(event)) }
  }

  private func end(_ result: Result<FirehoseEvent, Failure>) {
    if isOver { return }
    cancel()
    onEnd(result)
  }
}
