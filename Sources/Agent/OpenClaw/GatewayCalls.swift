import Core
import Records

enum GatewayReply {
  /// The payload, valid until the next call of `Gateway.receive`.
  case answer(ScanValue)
  case refused(GatewayError)
  case late

  var object: JSONValue? {
    guard case .answer(let payload) = self, !payload.isAbsent else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}

/// The requests that wait for their answers, by number (Agent/OpenClaw/CONTRACT.md 1): answers come
/// in any order, between events, and what is answered twice is settled by the first.
struct GatewayCalls {
  private struct Call {
    let number: Int
    /// The id of the frame that went last.
    var id: String
    let method: String
    let params: RecordText
    let until: Double
    /// When it is sent once more, because the gateway was only starting.
    var again = Double.infinity
  }

  private var waiting: [Call] = []
  private var lastID = 0

  /// How long an answer may take, seconds.
  static let usualTime = 30.0

  /// An id that was not used on this link.
  mutating func newID() -> String {
    lastID += 1
    return String(lastID)
  }

  static func frame(_ id: String, _ method: String, _ params: RecordText) -> [UInt8] {
    RecordText().string("type", "req").string("id", id).string("method", method)
      .json("params", params.text).bytes
  }

  /// Notes a request.
  mutating func add(
    _ method: String, _ params: RecordText, until: Double
  ) -> (number: Int, frame: [UInt8]) {
    let id = newID()
    waiting.append(Call(number: lastID, id: id, method: method, params: params, until: until))
    return (lastID, Self.frame(id, method, params))
  }

  var next: Double { waiting.reduce(.infinity) { min($0, $1.until, $1.again) } }

  /// What an answer means for who asked; nil where nobody has, or it is asked again.
  mutating func settle(_ id: String, _ answer: GatewayAnswer) -> (Int, GatewayReply)? {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
    switch answer {
    case .failure(let error) where error.isStarting:
      // The same request again, as the gateway asks for, in a frame of its own.
      waiting[index].again = Clock.monotonic + max(error.retryAfter ?? 1, 0.05)
      return nil
    case .failure(let error): return (waiting.remove(at: index).number, .refused(error))
    case .success(let payload): return (waiting.remove(at: index).number, .answer(payload))
    }
  }

  /// Forgets one.
  mutating func remove(_ number: Int) { waiting.removeAll { $0.number == number } }

  /// One that has waited too long.
  mutating func expired(now: Double) -> Int? {
    waiting.firstIndex { $0.until <= now }.map { waiting.remove(at: $0).number }
  }

  /// What is to be sent once more.
  mutating func repeats(now: Double) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for index in waiting.indices where waiting[index].again <= now {
      waiting[index].again = .infinity
      waiting[index].id = newID()
      frames.append(
        Self.frame(waiting[index].id, waiting[index].method, waiting[index].params))
    }
    return frames
  }
}
