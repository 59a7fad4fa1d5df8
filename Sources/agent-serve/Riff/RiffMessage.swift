import Core

/// A message to the agent (Agent/Riff/CONTRACT.md 3).
struct RiffMessage: Equatable, Sendable {
  let conversation: Conversation
  /// Never blank.
  let text: String

  init(_ body: [UInt8]) throws(Failure) {
    guard let object = try? body.withUnsafeBytes({ try JSONValue.parse($0) }), object.isObject
    else { throw Failure("not a JSON object") }
    conversation = try Conversation(object["conversation_id"]?.string)
    guard let text = object["text"]?.string, !text.trimmingBlanks().isEmpty else {
      throw Failure("no text")
    }
    self.text = text
    if let device = object["device_id"], !device.isNull, device.string == nil {
      throw Failure("device_id is not a string")
    }
  }

  struct Conversation: Equatable, Sendable {
    private static let keyStart = "agent:\(SessionKey.agent):riff:"
    private static let longest = 64

    let id: String

    init(_ id: String?) throws(Failure) {
      guard let id, (1...Self.longest).contains(id.utf8.count), id.utf8.allSatisfy(Self.isPart)
      else { throw Failure("bad conversation_id") }
      self.id = id
    }

    init?(key: String) {
      guard key.hasPrefix(Self.keyStart) else { return nil }
      do throws(Failure) { try self.init(String(key.dropFirst(Self.keyStart.count))) } catch {
        return nil
      }
    }

    var key: String { Self.keyStart + id }

    private static func isPart(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
      default: false
      }
    }
  }
}
