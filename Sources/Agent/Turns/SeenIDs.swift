/// The ids of events that came, by hashes of 64 bits with a key of this process: what one
/// cannot aim at does not collide among a few thousand.
package struct SeenIDs {
  private var hashes: Set<Int> = []

  package init() {}

  /// The ids that are remembered.
  var count: Int { hashes.count }

  /// Remembers an id.
  ///
  /// - Returns: whether it is new.
  package mutating func insert(_ id: String) -> Bool { hashes.insert(id.hashValue).inserted }

  mutating func forgetAll(but id: String) { hashes = [id.hashValue] }
}

/// The last one asked for is asked for again, as a rule.
struct TextPlaces {
  private var messages: [String: FoldedMessage] = [:]
  private var last: (key: String, message: FoldedMessage)?

  subscript(key: String) -> FoldedMessage? {
    mutating get {
      if let last, last.key == key { return last.message }
      guard let message = messages[key] else { return nil }
      last = (key, message)
      return message
    }
    set {
      last = nil
      messages[key] = newValue
    }
  }
}
