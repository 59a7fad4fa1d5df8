/// The token that requests must carry.
struct AccessToken: Sendable {
  private let bytes: [UInt8]

  /// - Parameter text: the token; never empty.
  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether a header's value is the token, in a time that tells nothing of the
  /// place where they differ.
  func matches(_ given: String?) -> Bool {
    let given = Array((given ?? "").utf8)
    var difference = given.count ^ bytes.count
    for index in bytes.indices {
      difference |= Int(bytes[index] ^ (index < given.count ? given[index] : ~bytes[index]))
    }
    return difference == 0
  }
}
