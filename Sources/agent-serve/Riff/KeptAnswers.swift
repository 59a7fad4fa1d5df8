/// The answers that were given, so that what comes twice is worked on once.
///
/// A client sends again what it has lost the answer of, and so does whoever overheard it.
actor KeptAnswers<Answer: Sendable> {
  private let time = Duration.seconds(600)
  private let most = 100
  private let mostBytes: Int

  /// The oldest first.
  private var entries: [(key: String, answer: Answer, end: ContinuousClock.Instant)] = []
  private var underWay: [String: Task<Answer, Never>] = [:]
  private let size: @Sendable (Answer) -> Int?

  init(bytes: Int = 4 << 20, _ size: @escaping @Sendable (Answer) -> Int?) {
    mostBytes = bytes
    self.size = size
  }

  func answer(
    _ key: String, keeps: Bool = true, now: ContinuousClock.Instant = .now,
    _ make: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    entries.removeAll { $0.end <= now }
    if let known = entries.first(where: { $0.key == key }) { return known.answer }
    if let task = underWay[key] { return await task.value }
    // Whoever asked may go; the work goes on, and is there when it is asked for again.
    let task = Task { await make() }
    underWay[key] = task
    let answer = await task.value
    underWay[key] = nil
    if keeps, size(answer) != nil {
      entries.append((key, answer, .now + time))
      while entries.count > most || bytes > mostBytes { entries.removeFirst() }
    }
    return answer
  }

  private var bytes: Int { entries.reduce(0) { $0 + (size($1.answer) ?? 0) } }
}
