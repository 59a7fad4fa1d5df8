import CLibc
import Core

struct Transcriber: Sendable {
  static let seconds = 120.0
  /// More is no speech, bytes.
  private static let mostOfText = 1 << 20

  private let command: String
  private let queue = CommandQueue(limit: 2, waitLimit: 8)

  init(_ command: String) { self.command = command }

  /// What was said, as one line; empty for nothing.
  func hear(_ clip: [UInt8], format: String?) async -> CommandMade<String> {
    let scratch = ScratchClip(format: format)
    let made = await queue.run(
      tidy: { scratch.remove() },
      { () throws(Failure) in
        CommandProcess(
          command, arguments: [try scratch.write(clip)], seconds: Self.seconds,
          limit: Self.mostOfText)
      })
    switch made {
    case .done(let output):
      // A recogniser breaks lines where it likes; a person said one thing.
      let words = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      return .done(words.joined(separator: " "))
    case .failed(let reason): return .failed(reason)
    case .busy: return .busy
    }
  }

  func stop() async { await queue.stop() }
}

/// A clip in a file that nobody else can read, for a command that takes files.
private final class ScratchClip: @unchecked Sendable {
  private let name: String
  /// Written and read in its turn alone.
  private var folder: String?

  init(format: String?) {
    let word = (format ?? "").lowercased()
    let isWord =
      (1...8).contains(word.utf8.count)
      && word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
    name = isWord ? "clip.\(word)" : "clip"
  }

  func write(_ clip: [UInt8]) throws(Failure) -> String {
    let parent = Process.environment("TMPDIR") ?? "/tmp"
    guard let made = temporaryFolder(beside: "\(parent)/clip") else {
      throw Failure(parent, systemReason(systemError))
    }
    folder = made
    let path = "\(made)/\(name)"
    let place = clibc_open_folder(made)
    defer { close(place) }
    let file = clibc_create_in(place, name)
    guard file >= 0 else { throw Failure(path, systemReason(systemError)) }
    defer { close(file) }
    try RecordWriter.write(clip, to: file, of: path)
    return path
  }

  func remove() {
    guard let folder else { return }
    unlink("\(folder)/\(name)")
    rmdir(folder)
  }
}

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
