import Core

extension Diagnostics {
  private static let pause = Duration.seconds(60)
  private static let said = Guarded<[String: (next: ContinuousClock.Instant, unsaid: Int)]>([:])

  /// Tells of an error, once a minute for each reason.
  func errorRarely(_ subject: String, _ reason: String) {
    if let more = Self.turn(reason) { error(subject, reason + more) }
  }

  /// With -v: says something, once a minute.
  func noteRarely(_ words: String) {
    if let more = Self.turn(words) { note(words + more) }
  }

  /// Whether something is said now. Returns nil when it was said less than a minute ago; else what
  /// is added: how often that was so.
  private static func turn(_ words: String) -> String? {
    let now = ContinuousClock.now
    return said.withLock { said in
      if let known = said[words], now < known.next {
        said[words]?.unsaid += 1
        return nil
      }
      let unsaid = said[words]?.unsaid ?? 0
      // What was held back is still to be told.
      if said.count > 256 { said = said.filter { $0.value.next > now || $0.value.unsaid > 0 } }
      said[words] = (now + pause, 0)
      return unsaid > 0 ? " (as \(unsaid) before it)" : ""
    }
  }
}
