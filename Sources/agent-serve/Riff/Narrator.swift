import Core

struct Narrator: Sendable {
  /// How long a text may take, seconds.
  private static let seconds = 60.0
  /// The most of sound, bytes.
  private static let mostOfSound = 16 << 20
  private static let (patience, interval) = (Duration.seconds(25), Duration.milliseconds(400))

  private let command: String
  private let folder: TranscriptFolder
  private let queue = CommandQueue(limit: 1, waitLimit: 8)
  private let isOver = Guarded(false)
  /// A text that is read to two is made into sound once.
  private let spoken = KeptAnswers<CommandMade<[UInt8]>>(bytes: 32 << 20) { made in
    if case .done(let sound) = made { sound.count } else { nil }
  }

  init(_ command: String, transcripts: String) {
    self.command = command
    folder = TranscriptFolder(transcripts)
  }

  /// Waits a while for a turn that ended later; not for a task that is cancelled. Returns the last
  /// one; nil when there is none.
  func turn(slug: String?, after: Int) async -> FinishedTurn? {
    let end = ContinuousClock.now + Self.patience
    while !isOver.withLock({ $0 }), !Task.isCancelled {
      if let turn = await folder.latest(slug: slug, after: after) { return turn }
      let left = end - .now
      if left <= .zero { break }
      try? await Poller.sleep(for: min(Self.interval, left))
    }
    return nil
  }

  func say(_ prose: String) async -> CommandMade<[UInt8]> {
    await spoken.answer(prose) {
      let made = await queue.run {
        CommandProcess(
          command, input: Array(prose.utf8), seconds: Self.seconds, limit: Self.mostOfSound)
      }
      if case .done(let sound) = made, sound.isEmpty { return .failed("no sound") }
      return made
    }
  }

  func stop() async {
    isOver.withLock { $0 = true }
    await queue.stop()
  }
}
