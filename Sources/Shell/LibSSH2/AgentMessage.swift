/// What ssh-agent is asked, and how it answers (the SSH agent protocol).
enum AgentMessage {
  /// A key that the agent can sign with.
  struct Key: Equatable, Sendable {
    var blob: [UInt8]
    /// What its owner called it: text from outside.
    var comment: String
  }

  /// Answers longer than this are none.
  static let limit = 256 << 10

  /// Asks for the keys.
  static let listRequest: [UInt8] = framed([11])

  /// Asks for a signature.
  static func signRequest(_ blob: [UInt8], data: UnsafeRawBufferPointer) -> [UInt8] {
    framed([13] + word(blob.count) + blob + word(data.count) + data + word(0))
  }

  /// The length of the answer that begins with these bytes, itself included.
  ///
  /// - Returns: nil when there are too few to tell, 0 for an answer that is none.
  static func length(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return 1...limit ~= length ? length + 4 : 0
  }

  /// The keys in an answer, nil when it is none.
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

  /// The signature in an answer, without the name of its kind; nil when the agent
  /// does not sign.
  static func signature(_ answer: [UInt8]) -> [UInt8]? {
    var reader = WireReader(answer.dropFirst(5))
    guard answer.count > 5, answer[4] == 14, let whole = reader.string() else { return nil }
    var parts = WireReader(whole)
    guard parts.text() != nil, let signature = parts.string() else { return nil }
    return Array(signature)
  }

  private static func framed(_ body: [UInt8]) -> [UInt8] { word(body.count) + body }

  private static func word(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
