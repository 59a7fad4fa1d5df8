import Agent
import CLibc
import Core
import Records
import Web

final class ServerLoop {
  private let options: NarrateOptions
  private let diagnostics: Diagnostics
  private let agent: AgentAccess
  private let narration: RiffNarration
  private let narrator: Narrator
  private let folder: SavedAudio?
  private let writer = RecordWriter()
  private var isLost = false
  private var hasFault = false
  private var skipped = ""

  /// With `--latest`, the most tries.
  private static let tries = 3

  init(_ options: NarrateOptions, _ diagnostics: Diagnostics) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    agent = try AgentAccess(
      options.access, for: .narration, connectTimeout: 10, diagnostics: diagnostics)
    folder = try options.save.map { path throws(Failure) in try SavedAudio(path) }
    let now = Timestamp.now()
    // What ended before we came is old, unless it is asked for.
    let after = options.after?.timestamp(now: now) ?? (options.isLatest ? nil : now)
    narration = RiffNarration(
      agent, slug: try Self.slug(options),
      after: after.map { Double($0.seconds) + Double($0.nanoseconds) / 1e9 } ?? 0,
      diagnostics: diagnostics)
    narrator = try Narrator(options, newestWins: true, client: agent.client, diagnostics)
  }

  private static func slug(_ options: NarrateOptions) throws(Failure) -> String? {
    guard let directory = options.directory else { return options.slug }
    guard let path = realpath(directory) else {
      throw Failure(directory, systemReason(systemError))
    }
    return RiffNarration.slug(of: path)
  }

  /// Goes on until a signal; with `--latest` until one turn was heard.
  func run() throws -> ExitStatus {
    var failures = 0
    while true {
      agent.client.perform()
      let now = Clock.monotonic
      switch try narration.work(now: now) {
      case .piece(let piece):
        tell(nil)
        try receive(piece)
        if options.isLatest { return finish() }
      case .nothing:
        tell(nil)
        if options.isLatest { return hasFault || !skipped.isEmpty ? .failure : .negative }
      case .skipped(let reason):
        tell(nil)
        failures += 1
        if reason == skipped { diagnostics.note(reason) } else { diagnostics.say(reason) }
        skipped = reason
        if options.isLatest, failures == Self.tries { return .failure }
      case .trouble(let reason, let status):
        failures += 1
        if options.isLatest, failures == Self.tries {
          diagnostics.say(reason)
          return status
        }
        tell(reason)
      case nil: break
      }
      _ = narrator.turn(until: max(narration.wakeUp(now: now), now))
    }
  }

  /// Says that the server is away, and that it is back, once each.
  private func tell(_ trouble: String?) {
    if let trouble {
      if isLost { diagnostics.note(trouble) } else { diagnostics.say(trouble) }
    } else if isLost {
      diagnostics.say("the server answers again")
    }
    isLost = trouble != nil
  }

  private func receive(_ piece: RiffNarration.Piece) throws {
    let name = "turn of \(NumberText.of(piece.time))"
    if let folder, let file = save(piece, folder) {
      // It is a name that is used next.
      try writer.write(Visible.line(file) + "\n")
      try writer.flush()
    }
    narrator.speaker?.add(Speaker.Item(name: name, bytes: piece.audio))
  }

  private func save(_ piece: RiffNarration.Piece, _ folder: SavedAudio) -> String? {
    do throws(Failure) {
      return try folder.write(piece.time, piece.audio)
    } catch {
      hasFault = true
      diagnostics.say(error.message)
      return nil
    }
  }

  private func finish() -> ExitStatus {
    narration.stop()
    while !narrator.isIdle { _ = narrator.turn() }
    return hasFault ? .failure : narrator.status
  }
}

struct SavedAudio {
  private let folder: Int32
  private let path: String

  init(_ path: String) throws(Failure) {
    try Folders.make(path)
    folder = clibc_open_folder(path)
    guard folder >= 0 else { throw Failure(path, systemReason(systemError)) }
    self.path = path
  }

  /// Writes a file that only the user can read; one that is there is left alone. It has its
  /// name when all of it is written.
  func write(_ time: Double, _ audio: [UInt8]) throws(Failure) -> String {
    let name = NumberText.of(time) + ".mp3"
    let file = Folders.join(path, name)
    let code = FolderFile.create(name, in: folder, with: audio)
    guard code == 0 else { throw Failure(file, systemReason(code)) }
    return file
  }
}
