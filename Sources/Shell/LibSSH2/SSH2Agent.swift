import CLibc
import CSSH2
import Core

/// A conversation with ssh-agent: one question at a time.
final class SSH2Agent {
  private let descriptor: Int32

  /// Nil when nobody listens there.
  init?(path: String) {
    descriptor = clibc_connect_local(path)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Asks, and waits for the answer, at most until a time; nil when there is none, or the agent
  /// talks nonsense.
  func ask(
    _ request: [UInt8], until: Double, _ wait: HostWait
  ) throws(HostFailure) -> [UInt8]? {
    var outgoing = request[...]
    var incoming: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      if let length = AgentMessage.length(incoming) {
        guard length > 0 else { return nil }
        if incoming.count >= length { return Array(incoming[..<length]) }
      }
      let count =
        outgoing.isEmpty
        ? clibc_receive(descriptor, &piece, piece.count)
        : outgoing.withUnsafeBytes { clibc_send(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        if outgoing.isEmpty { incoming += piece[..<count] }
        outgoing = outgoing.dropFirst(count)
        continue
      }
      guard count < 0, [EAGAIN, EWOULDBLOCK, EINTR].contains(systemError),
        Clock.monotonic < until
      else { return nil }
      var set = PollSet()
      set.add(descriptor, writing: !outgoing.isEmpty)
      try wait(&set, until)
    }
  }
}

enum AgentMessage {
  struct Key: Equatable, Sendable {
    var blob: [UInt8]
    /// What its owner called it: text from outside.
    var comment: String
  }

  /// The longest answer, bytes.
  static let limit = 256 << 10

  static let listRequest: [UInt8] = Wire.string([11])

  static func signRequest(_ blob: [UInt8], data: UnsafeRawBufferPointer) -> [UInt8] {
    Wire.string([13] + Wire.string(blob) + Wire.string(data) + Wire.word(0))
  }

  /// The answer's length, itself included; nil for too few bytes, 0 when it is no answer.
  static func length(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return 1...limit ~= length ? length + 4 : 0
  }

  static func keys(_ answer: [UInt8]) -> [Key]? {
    var reader = WireReader(answer.dropFirst(5))
    guard answer.count > 5, answer[4] == 12, let count = reader.word() else { return nil }
    var keys: [Key] = []
    while keys.count < count {
      guard let blob = reader.string(), let comment = reader.string() else { return nil }
      keys.append(Key(blob: Array(blob), comment: String(decoding: comment, as: UTF8.self)))
    }
    return keys
  }

  /// Without the name of its kind; nil when the agent does not sign.
  static func signature(_ answer: [UInt8]) -> [UInt8]? {
    var reader = WireReader(answer.dropFirst(5))
    guard answer.count > 5, answer[4] == 14, let whole = reader.string() else { return nil }
    var parts = WireReader(whole)
    guard parts.text() != nil, let signature = parts.string() else { return nil }
    return Array(signature)
  }
}
