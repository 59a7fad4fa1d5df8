/// The answers that were given, so that a request that comes twice is worked on once.
///
/// A client sends again what it has lost the answer of, and so does whoever overheard it.
actor KeptAnswers {
  /// How long they are kept.
  static let time = Duration.seconds(600)
  private static let (most, mostBytes) = (100, 4 << 20)

  private struct Entry {
    let key: String
    let answer: WholeAnswer
    let end: ContinuousClock.Instant
  }

  /// The oldest first.
  private var entries: [Entry] = []
  private var underWay: [String: Task<WholeAnswer, Never>] = [:]

  /// The answer to a request.
  ///
  /// - Parameters:
  ///   - key: what makes it the same as another.
  ///   - keeps: whether an answer that is good is given again later; otherwise only to who
  ///     asks before it is there.
  ///   - make: makes it.
  func answer(
    _ key: String, keeps: Bool = true, now: ContinuousClock.Instant = .now,
    _ make: @escaping @Sendable () async -> WholeAnswer
  ) async -> WholeAnswer {
    entries.removeAll { $0.end <= now }
    if let known = entries.first(where: { $0.key == key }) { return known.answer }
    if let task = underWay[key] { return await task.value }
    // Whoever asked may go; the work goes on, and is there when it is asked for again.
    let task = Task { await make() }
    underWay[key] = task
    let answer = await task.value
    underWay[key] = nil
    if keeps, answer.status == 200 {
      entries.append(Entry(key: key, answer: answer, end: .now + Self.time))
      while entries.count > Self.most || bytes > Self.mostBytes { entries.removeFirst() }
    }
    return answer
  }

  private var bytes: Int { entries.reduce(0) { $0 + $1.answer.body.count } }
}
