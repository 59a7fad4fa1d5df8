import Core
import Records

/// What came of a request.
enum GatewayReply {
  /// The payload, valid during the call.
  case answer(ScanValue)
  /// The gateway's no.
  case refused(GatewayError)
  /// No answer came in time.
  case late
  /// The connection went before an answer came: it may have been done, or not.
  case lost

  /// The payload, parsed; nil when there is none.
  var object: JSONValue? {
    guard case .answer(let payload) = self, !payload.isAbsent else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}

/// The requests that wait for their answers, by id (Agent/OpenClaw/CONTRACT.md 1): answers come
/// in any order, between events, and what is answered twice is settled by the first.
final class GatewayCalls {
  private struct Call {
    var id: String
    let method: String
    let params: RecordText
    let until: Double
    /// When it is sent once more, because the gateway was only starting.
    var again = Double.infinity
    let then: (GatewayReply) -> Void
  }

  private var waiting: [Call] = []
  private var lastID = 0

  /// How long an answer may take, seconds.
  static let usualTime = 30.0

  /// An id that was not used on this link.
  func newID() -> String {
    lastID += 1
    return String(lastID)
  }

  /// The frame of a request.
  static func frame(_ id: String, _ method: String, _ params: RecordText) -> [UInt8] {
    RecordText().string("type", "req").string("id", id).string("method", method)
      .json("params", params.text).bytes
  }

  /// Notes a request.
  func add(
    _ method: String, _ params: RecordText, until: Double,
    then: @escaping (GatewayReply) -> Void
  ) -> [UInt8] {
    let id = newID()
    let frame = Self.frame(id, method, params)
    waiting.append(Call(id: id, method: method, params: params, until: until, then: then))
    return frame
  }

  /// When something is due.
  var next: Double { waiting.reduce(.infinity) { min($0, $1.until, $1.again) } }

  /// Tells an answer to who asked.
  func settle(_ id: String, _ answer: GatewayAnswer) {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
    if case .failure(let error) = answer, error.isStarting {
      // The same request again, as the gateway asks for, in a frame of its own.
      waiting[index].again = Clock.monotonic + max(error.retryAfter ?? 1, 0.05)
      return
    }
    let call = waiting.remove(at: index)
    switch answer {
    case .success(let payload): call.then(.answer(payload))
    case .failure(let error): call.then(.refused(error))
    }
  }

  /// Tells the newest request something without asking anybody.
  func settleLast(_ reply: GatewayReply) {
    if let call = waiting.popLast() { call.then(reply) }
  }

  /// Ends what has waited too long.
  func expire(now: Double) {
    let late = waiting.filter { $0.until <= now }
    if late.isEmpty { return }
    waiting.removeAll { $0.until <= now }
    for call in late { call.then(.late) }
  }

  /// What is to be sent once more.
  func takeDue(now: Double) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for index in waiting.indices where waiting[index].again <= now {
      waiting[index].again = .infinity
      waiting[index].id = newID()
      frames.append(
        Self.frame(waiting[index].id, waiting[index].method, waiting[index].params))
    }
    return frames
  }

  /// Tells all that the connection is gone.
  func loseAll() {
    let calls = waiting
    waiting = []
    for call in calls { call.then(.lost) }
  }

  /// Forgets all.
  func removeAll() { waiting = [] }
}
