import CLibc
import Core

/// A command of the user's that runs: a message goes in, text or sound comes out.
///
/// It is watched by a thread of its own, which waits in poll(2).
final class CommandProcess: Sendable {
  enum Event: Sendable {
    case output([UInt8])
    /// What it says of its work, on its descriptor 3.
    case notes([NoteLines.Line])
    case ended(Ending)
  }

  enum Ending: Equatable, Sendable {
    /// With this status, and the last line that it wrote on standard error.
    case exited(Int32, complaint: String)
    case killed(Int32)
    case failed(String)
    case stopped
    case late
    /// It wrote more than so many bytes.
    case tooLong(Int)
  }

  /// The longest reply, bytes.
  static let replyLimit = 256 * 1024
  /// How long a program has between being asked to end and being killed, seconds.
  private static let grace = 2.0
  private static let complaintLimit = 4096

  let events: AsyncStream<Event>
  private let words: [String]
  private let environment: [String: String?]
  private let outputLimit: Int
  private let takesNotes: Bool
  private let wake: (read: Int32, write: Int32)

  /// Starts a command.
  init(
    _ command: String, arguments: [String] = [], environment: [String: String] = [:],
    input: [UInt8] = [], seconds: Double, limit: Int, takesNotes: Bool = false
  ) {
    words = ["/bin/sh", "-c", command] + (arguments.isEmpty ? [] : ["sh"] + arguments)
    self.environment = environment.mapValues { $0 }
    outputLimit = limit
    self.takesNotes = takesNotes
    var ends: [Int32] = [-1, -1]
    // Without descriptors the command cannot be started either.
    _ = clibc_pipe(&ends, 0)
    wake = (ends[0], ends[1])
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    self.events = events
    let failure = OwnThread.start { [self] in
      continuation.yield(.ended(watch(input, until: Clock.monotonic + seconds, continuation)))
      continuation.finish()
    }
    if let failure {
      continuation.yield(.ended(.failed(failure)))
      continuation.finish()
    }
  }

  deinit { for end in [wake.read, wake.write] where end >= 0 { close(end) } }

  func stop() { _ = write(wake.write, "x", 1) }

  private func watch(
    _ input: [UInt8], until deadline: Double, _ events: AsyncStream<Event>.Continuation
  ) -> Ending {
    let child: ChildProcess
    do throws(Failure) {
      child = try ChildProcess(
        words, environment: environment, input: .pipe, output: .pipe, error: .pipe,
        leadsGroup: true, notes: takesNotes)
    } catch {
      return .failed(error.message)
    }
    var rest = input[...]
    if input.isEmpty { child.closeInput() }
    var (output, count, errors): ([UInt8], Int, [UInt8]) = ([], 0, [])
    var noteLines = NoteLines()
    var (isOutputOpen, isErrorOpen, areNotesOpen) = (true, true, true)
    var ending: Ending?
    var killAt = Double.infinity
    var goneSince: Double?
    func end(_ reason: Ending) {
      if ending != nil { return }
      ending = reason
      child.kill(SIGTERM)
      killAt = Clock.monotonic + Self.grace
    }
    func readErrors() {
      isErrorOpen = ChildProcess.drain(child.error, into: &errors)
      errors = errors.suffix(Self.complaintLimit)
    }
    func readNotes(isLast: Bool = false) {
      var bytes: [UInt8] = []
      if areNotesOpen { areNotesOpen = ChildProcess.drain(child.notes, into: &bytes) }
      let lines = noteLines.add(bytes) + (isLast ? noteLines.finish() : [])
      if ending == nil, !lines.isEmpty { events.yield(.notes(lines)) }
    }
    while true {
      var entries = [
        pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isOutputOpen ? child.output : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isErrorOpen ? child.error : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: areNotesOpen ? child.notes : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&entries, nfds_t(entries.count), 200) > 0 {
        if entries[4].revents != 0 {
          var byte: UInt8 = 0
          if read(wake.read, &byte, 1) == 1 { end(.stopped) }
        }
        if entries[0].revents != 0 { child.feed(&rest) }
        if entries[1].revents != 0 {
          isOutputOpen = ChildProcess.drain(child.output, into: &output)
        }
        if entries[2].revents != 0 { readErrors() }
        if entries[3].revents != 0 { readNotes() }
      }
      count += output.count
      if ending == nil, !output.isEmpty { events.yield(.output(output)) }
      output = []
      if count > outputLimit { end(.tooLong(outputLimit)) }
      let now = Clock.monotonic
      if now >= deadline { end(.late) }
      if now >= killAt { child.kill(SIGKILL) }
      guard child.hasEnded else { continue }
      if !isOutputOpen { break }
      // What it started in the background may hold its output open.
      let since = goneSince ?? now
      goneSince = since
      if now - since >= 1 { break }
    }
    // Its last words may stand in a pipe that something else of it holds open.
    if isErrorOpen { readErrors() }
    readNotes(isLast: true)
    // Not yet reaped, so the group is still its own.
    if ending != nil || isOutputOpen { child.kill(SIGKILL) }
    let status = child.waitForEnd()
    if let ending { return ending }
    if let signal = child.endSignal { return .killed(signal) }
    return .exited(child.exitStatus ?? status, complaint: Self.lastLine(errors))
  }

  /// The last line that it wrote on standard error, not too long and safe to show.
  private static func lastLine(_ errors: [UInt8]) -> String {
    let text = String(decoding: errors, as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).last { !$0.trimmingBlanks().isEmpty } ?? ""
    return Visible.line(String(line.prefix(300)))
  }
}

extension CommandProcess.Ending {
  var complaint: String? {
    switch self {
    case .exited(0, _), .stopped: nil
    case .exited(let status, let line): "exit status \(status)" + (line.isEmpty ? "" : ": \(line)")
    case .killed(let signal): "ended by signal \(signal)"
    case .failed(let reason): reason
    case .late: "it took too long"
    case .tooLong(let limit): "its output is longer than \(limit) bytes"
    }
  }
}

/// What a command made.
enum CommandMade<Product: Sendable>: Sendable {
  case done(Product)
  case failed(String)
  /// Too many wait, or the server stops.
  case busy
}

/// Runs commands of one kind, a few at a time; the others wait, as long as they are few.
actor CommandQueue {
  private let limit: Int
  private let waitLimit: Int
  private var active = 0
  private var running: [CommandProcess] = []
  private var waiting: [CheckedContinuation<Bool, Never>] = []
  private var isOver = false

  init(limit: Int, waitLimit: Int) { (self.limit, self.waitLimit) = (limit, waitLimit) }

  /// Runs a command when its turn has come.
  func run(
    tidy: @Sendable () -> Void = {}, _ start: @Sendable () throws(Failure) -> CommandProcess
  ) async -> CommandMade<[UInt8]> {
    guard await enter() else { return .busy }
    defer { leave() }
    defer { tidy() }
    if isOver { return .busy }
    let process: CommandProcess
    do throws(Failure) { process = try start() } catch { return .failed(error.message) }
    running.append(process)
    defer { running.removeAll { $0 === process } }
    var output: [UInt8] = []
    for await event in process.events {
      switch event {
      case .output(let bytes): output += bytes
      case .notes: break
      case .ended(.stopped): return .busy
      case .ended(let ending): return ending.complaint.map { .failed($0) } ?? .done(output)
      }
    }
    return .busy
  }

  /// Ends what runs, and lets nothing begin. Returns when nothing is left of it, whoever waits
  /// for that or not; after three seconds in any case.
  func stop() async {
    isOver = true
    for process in running { process.stop() }
    for turn in waiting { turn.resume(returning: false) }
    waiting = []
    // A command that does not end by itself is killed by then.
    for _ in 0..<300 where active > 0 { try? await Poller.sleep(for: .milliseconds(10)) }
  }

  private func enter() async -> Bool {
    if isOver { return false }
    if active < limit {
      active += 1
      return true
    }
    guard waiting.count < waitLimit else { return false }
    return await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    // The place goes to the next one, as it is.
    if waiting.isEmpty { active -= 1 } else { waiting.removeFirst().resume(returning: true) }
  }
}

/// What a reply command writes on its descriptor 3, line by line. It is read to its end
/// whatever it is, so that the command never waits.
struct NoteLines {
  enum Line: Equatable, Sendable {
    /// Without the line feed.
    case text([UInt8])
    case tooLong
    /// It would be more than is taken of a reply; nothing follows.
    case tooMuch
  }

  /// The longest line, and the most of a reply, bytes.
  static let (longest, most) = (256 << 10, 4 << 20)

  private var rest: [UInt8] = []
  private var isTooLong = false
  private var count = 0

  mutating func add(_ bytes: [UInt8]) -> [Line] {
    if count > Self.most { return [] }
    count += bytes.count
    if count > Self.most {
      rest = []
      return [.tooMuch]
    }
    var lines: [Line] = []
    var pieces = bytes.split(separator: 10, omittingEmptySubsequences: false)
    let last = pieces.removeLast()
    for piece in pieces {
      keep(piece)
      lines.append(isTooLong ? .tooLong : .text(rest))
      (rest, isTooLong) = ([], false)
    }
    keep(last)
    return lines
  }

  mutating func finish() -> [Line] { rest.isEmpty && !isTooLong ? [] : add([10]) }

  private mutating func keep(_ piece: ArraySlice<UInt8>) {
    if rest.count + piece.count > Self.longest { (rest, isTooLong) = ([], true) }
    if !isTooLong { rest += piece }
  }
}
