import Core

/// A message to the agent (Agent/Riff/CONTRACT.md 3).
struct RiffMessage: Equatable, Sendable {
  let conversation: Conversation
  /// Never blank.
  let text: String

  init(_ body: [UInt8]) throws(Refusal) {
    guard let object = try? body.withUnsafeBytes({ try JSONValue.parse($0) }), object.isObject
    else { throw Refusal(bad: "not a JSON object") }
    conversation = try Conversation(object["conversation_id"]?.string)
    guard let text = object["text"]?.string, !text.trimmingBlanks().isEmpty else {
      throw Refusal(bad: "no text")
    }
    self.text = text
    if let device = object["device_id"], !device.isNull, device.string == nil {
      throw Refusal(bad: "device_id is not a string")
    }
  }

  struct Conversation: Equatable, Sendable {
    private static let keyStart = "agent:\(SessionKey.agent):riff:"
    private static let longest = 64

    let id: String

    init(_ id: String?) throws(Refusal) {
      guard let id, isPlainWord(id, atMost: Self.longest) else {
        throw Refusal(bad: "bad conversation_id")
      }
      self.id = id
    }

    init?(key: String) {
      guard key.hasPrefix(Self.keyStart),
        let own = try? Self(String(key.dropFirst(Self.keyStart.count)))
      else { return nil }
      self = own
    }

    var key: String { Self.keyStart + id }
  }
}
