import Core
import Records

/// The answer to one question of the OpenResponses endpoint, event by event
/// (Agent/OpenClaw/CONTRACT.md 10). No network, no clock.
struct ResponsesReply {
  private struct Place: Hashable, Comparable {
    let item: Int64
    let part: Int64
    var name: String { "\(item)/\(part)" }

    static func < (one: Place, other: Place) -> Bool {
      (one.item, one.part) < (other.item, other.part)
    }
  }

  private(set) var id: String?
  private(set) var end: ChatEnd?
  private(set) var usage: TurnRecord.Usage?
  private var parts: [Place: String] = [:]
  private var split = SplitText()
  private(set) var bytes = 0
  private var isFull = false

  private static let mostParts = 10_000

  var text: String {
    if parts.count == 1, let only = parts.first { return only.value }
    return parts.sorted { $0.key < $1.key }.map(\.value).joined()
  }

  mutating func receive(_ event: JSONValue) -> Bool {
    guard end == nil, let type = event["type"]?.string else { return false }
    if let response = event["response"], let id = response["id"]?.string { self.id = id }
    switch type {
    case "response.output_text.delta":
      guard let piece = event["delta"]?.piece else { return false }
      let place = place(event)
      let delta = split.next(piece, of: place.name)
      guard !delta.isEmpty, makeRoom(delta.utf8.count) else { return false }
      parts[place, default: ""] += delta
      return true
    case "response.output_text.done":
      guard let text = event["text"]?.string else { return false }
      let place = place(event)
      let before = parts[place]
      guard before != text, makeRoom(text.utf8.count - (before?.utf8.count ?? 0)) else {
        return false
      }
      parts[place] = text
      return true
    case "response.failed":
      end = .failed(Self.reason(event["response"]))
      return true
    case "response.completed", "response.incomplete", "response.cancelled":
      return event["response"].map { receive(response: $0) } ?? false
    case "error":
      end = .failed(Self.reason(event))
      return true
    default: return false
    }
  }

  /// Takes the whole response, at the end of a stream or without one: whether it has ended.
  mutating func receive(response: JSONValue) -> Bool {
    if let id = response["id"]?.string { self.id = id }
    if let usage = response["usage"] {
      self.usage = TurnRecord.Usage(
        inputTokens: usage["input_tokens"]?.integer.map(Int.init(clamping:)),
        outputTokens: usage["output_tokens"]?.integer.map(Int.init(clamping:)))
    }
    if parts.isEmpty { takeOutput(response) }
    switch response["status"]?.string {
    case "completed": end = isFull ? .failed("the answer is too long") : .answered
    case "failed": end = .failed(Self.reason(response))
    case "cancelled": end = .aborted(nil)
    case "incomplete": end = .failed("the answer is incomplete")
    default: return false
    }
    return true
  }

  private mutating func takeOutput(_ response: JSONValue) {
    for (index, item) in (response["output"]?.elements ?? []).enumerated()
    where item["type"]?.string == "message" {
      for (number, part) in (item["content"]?.elements ?? []).enumerated() {
        guard let text = part["text"]?.string else { continue }
        parts[Place(item: Int64(index), part: Int64(number))] = text
      }
    }
  }

  /// Takes so many bytes more, if they are not too many.
  private mutating func makeRoom(_ more: Int) -> Bool {
    isFull = isFull || bytes + more > GatewayTurn.mostBytes || parts.count >= Self.mostParts
    if !isFull { bytes += more }
    return !isFull
  }

  private func place(_ event: JSONValue) -> Place {
    Place(
      item: event["output_index"]?.integer ?? 0, part: event["content_index"]?.integer ?? 0)
  }

  /// `api_error: internal error`.
  static func reason(_ response: JSONValue?) -> String {
    let error = response?["error"] ?? response
    let words = [error?["code"]?.string, error?["message"]?.string].compactMap(\.self)
    return words.isEmpty ? "the run failed" : words.joined(separator: ": ")
  }
}
