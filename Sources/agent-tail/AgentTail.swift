import Agent
import CLibc
import Core
import Records
import Web

/// agent-tail(1): follows one agent or several, and never loses an event.
public func agentTailMain() {
  AgentTailOptions.table.run(AgentTailOptions(), verbose: \.follow.isVerbose) {
    options, diagnostics in
    var (options, settings) = (options, try options.settings())
    options.choose(settings, diagnostics)
    if options.isSeveral || options.host(in: settings) != nil {
      return try Supervisor(options, settings, diagnostics).run()
    }
    settings.limitToken(options.follow.reconnect.maxTime)
    let follow = try follow(options, settings, diagnostics)
    if options.tellsPerson { diagnostics.tellPerson("\(follow.place): waits for events") }
    return follow.run()
  }
}

/// What follows one profile.
private func follow(
  _ options: AgentTailOptions, _ settings: Settings, _ diagnostics: Diagnostics
) throws(Failure) -> Follow {
  let parent = options.follow.parent
  let client = try options.access.client(diagnostics.program)
  let name = options.profiles.first
  var access = options.access
  access.profile = name
  let profile = try settings.profile(name)
  try profile.require(.follow, for: diagnostics.program)
  let stream: FollowedStream
  do throws(Failure) {
    let agent = try AgentAccess(access, profile, settings: settings, client: client)
    var wishes = options.wishes
    wishes.state = try options.state(of: profile.name)
    stream = try profile.kind.backend.events(of: agent, wishes)
  } catch {
    guard let parent else { throw error }
    throw Failure(parent.profile, error.message, error.status)
  }
  // A fault of a profile in use is an error, told once; others are warnings.
  if parent == nil { settings.configuration.report(to: diagnostics) }
  let output = EventOutput(
    receivedAt: options.follow.receivedAt, isTerminal: parent?.isTerminal ?? (isatty(1) == 1))
  return Follow(options.follow, client, stream, output: output, diagnostics)
}

/// Follows several profiles: a process for each prints its events to here, and their lines are
/// printed as they come. What was printed is known here alone, so that their states are kept here.
final class Supervisor {
  /// How much of one is printed before the others get their turn, bytes.
  private static let share = 1 << 20
  /// How long they have to end, seconds.
  private static let patience = 5.0
  /// The shortest time between two saves of a state, seconds.
  private static let interval = 1.0

  private final class Child {
    let name: String
    let process: ChildProcess
    var lines = ByteQueue()
    /// Whether it follows transcripts: each line is an event.
    let isOfHost: Bool
    /// What of a host is followed, where that is one session; of the program that watches it, too.
    let session: SessionLines?
    /// Whether it tells how that session stands, and prints nothing.
    let isWatch: Bool
    let file: StateFile?
    /// The state of what was printed, and what of it is in the file.
    var (state, saved): ([UInt8], [UInt8]) = ([], [])
    var savedAt = -Double.infinity

    init(
      _ name: String, _ process: ChildProcess, _ file: StateFile?, isOfHost: Bool = false,
      session: SessionLines? = nil, isWatch: Bool = false
    ) {
      (self.name, self.process, self.file, self.isOfHost) = (name, process, file, isOfHost)
      (self.session, self.isWatch) = (session, isWatch)
    }
  }

  private let options: AgentTailOptions
  private let diagnostics: Diagnostics
  private var children: [Child] = []
  private let writer = RecordWriter(capacity: 64 << 10, interrupted: { EndSignals.hasPending })
  private var printed = 0
  private var worst = ExitStatus.success
  private var failure: WriteFailure?
  private var signal: Int32?
  /// When transcripts, which have no end of their own, are to end, seconds of `Clock.monotonic`.
  private let deadline: Double

  init(
    _ options: AgentTailOptions, _ settings: Settings, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    deadline = options.follow.reconnect.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    EndSignals.watch()
    let isTerminal = isatty(1) == 1
    var isWhole = true
    for name in options.profiles.isEmpty
      ? [options.host(in: settings)?.name ?? ""] : options.profiles
    {
      if (try? settings.profile(name)) == nil { isWhole = false }
      if let host = options.host(name, in: settings) {
        do throws(Failure) { children += try transcripts(of: host) } catch {
          // It does not hold up the others.
          guard options.isSeveral else { throw error }
          diagnostics.say(error.message)
          worst = worst.worse(error.status)
        }
        continue
      }
      let file = try options.state(of: name).map { StateFile(path: $0.path) }
      do throws(Failure) {
        let process = try ChildProcess(
          CommandLine.arguments,
          environment: AgentTailOptions.environment(profile: name, isTerminal: isTerminal),
          input: .ours)
        children.append(Child(name, process, file))
      } catch {
        throw Failure(name, error.message)
      }
    }
    if options.tellsPerson {
      let names = options.profiles.isEmpty ? [children[0].name] : options.profiles
      for name in names {
        guard let host = options.host(name, in: settings) else { continue }
        let words = (try? host.place.sessions()).map(host.place.waits)
        if let words { diagnostics.about(host.name).tellPerson(words) }
      }
    }
    // A fault of a profile in use is an error, which its process tells; others are warnings.
    if isWhole { settings.configuration.report(to: diagnostics) }
  }

  /// What follows the transcripts of a host; of one session also what watches which one it has.
  private func transcripts(of host: (name: String, place: HostPlace)) throws(Failure) -> [Child] {
    for (name, isGiven) in options.ofServers where isGiven {
      throw Failure("--\(name)", "of no use for the transcripts of \(host.name)")
    }
    let words =
      ["transcript-tail", "--new"] + (options.follow.lifecycle ? ["-L"] : [])
      + (options.follow.isVerbose ? ["-v"] : options.follow.isQuiet ? ["-q"] : [])
    do throws(Failure) {
      let session = try host.place.found().map { SessionLines($0) }
      let tail = try ChildProcess(words + host.place.transcripts, input: .ours)
      let child = Child(host.name, tail, nil, isOfHost: true, session: session)
      guard let session else { return [child] }
      let watch = try ChildProcess(["tmux-attach", "-q", "-w", "-o", "json", host.place.host])
      return [child, Child(host.name, watch, nil, session: session, isWatch: true)]
    } catch {
      throw Failure(host.name, error.message, error.status)
    }
  }

  private var isCounted: Bool { options.follow.count.map { printed >= $0 } ?? false }

  /// Prints what they tell, until all have ended, or nothing more is wanted. Returns how to leave;
  /// a signal or a closed pipe ends the process itself.
  func run() -> ExitStatus {
    while !children.isEmpty, !isCounted, failure == nil, signal == nil {
      let isTimeUp = Clock.monotonic >= deadline
      for child in children where isTimeUp && (child.isOfHost || child.isWatch) {
        child.process.kill(SIGKILL)
        children.removeAll { $0 === child }
      }
      if children.isEmpty { break }
      wait(until: min(saveStates(force: false), isTimeUp ? .infinity : deadline))
      for child in children where !isCounted { pass(child) }
      flush()
      if OutputEnd.isClosed { failure = WriteFailure(code: EPIPE) }
      signal = signal ?? EndSignals.next()
    }
    if signal != nil, OutputEnd.isWritable { end() } else { tellEnd() }
    for child in children {
      child.process.closeEnds()
      child.process.kill(SIGTERM)
    }
    if failure?.code != EINTR { _ = saveStates(force: true) }
    if let signal { Process.die(by: signal) }
    if let failure { diagnostics.fail(writing: failure) }
    return worst
  }

  private func wait(until: Double) {
    var entries = [
      pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: 1, events: 0, revents: 0),
    ]
    entries += children.map { pollfd(fd: $0.process.output, events: Int16(POLLIN), revents: 0) }
    let seconds = min(max(until - Clock.monotonic, 0), 60)
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
  }

  private func pass(_ child: Child) {
    var share = Self.share
    while share > 0, !isCounted, failure == nil {
      let room = child.lines.room(64 << 10)
      let count = read(child.process.output, room.baseAddress, room.count)
      if count < 0 { return systemError == EAGAIN || systemError == EINTR ? () : remove(child) }
      if count == 0 { return remove(child) }
      child.lines.put(count)
      share -= count
      passLines(child)
    }
  }

  private func passLines(_ child: Child) {
    while !isCounted, let start = child.lines.bytes.baseAddress,
      let end = memchr(start, 10, child.lines.count)
    {
      let line = UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(end) - start + 1)
      if line.starts(with: FollowParent.eventMark.utf8) {
        printed += 1
        note(line, child)
      } else if line.starts(with: FollowParent.stateMark.utf8) {
        note(line, child)
      } else {
        pass(line, of: child)
      }
      child.lines.drop(line.count)
    }
  }

  private func pass(_ line: UnsafeRawBufferPointer, of child: Child) {
    if child.isWatch {
      for line in child.session?.watch(line) ?? [] where !isCounted {
        line.withUnsafeBytes { print($0, of: child) }
      }
    } else if child.session?.holds(line) != false {
      print(line, of: child)
    }
  }

  /// Prints a line of what follows a profile. That of a host does not know that it is one of several.
  private func print(_ line: UnsafeRawBufferPointer, of child: Child) {
    let isEvent = line.starts(with: #"{"event":"#.utf8)
    if child.isOfHost || child.isWatch, isEvent { printed += 1 }
    let next = isEvent ? #","data":"# : ","
    guard child.isOfHost || child.isWatch, options.isSeveral, let place = line.place(of: next)
    else { return write(line) }
    write(UnsafeRawBufferPointer(rebasing: line[..<place]))
    Array(",\"profile\":\(JSONQuote.string(child.name))".utf8).withUnsafeBytes(write)
    write(UnsafeRawBufferPointer(rebasing: line[place...]))
  }

  private func note(_ mark: UnsafeRawBufferPointer, _ child: Child) {
    let state = mark.dropFirst(FollowParent.eventMark.utf8.count)
    if state.count > 1 { child.state = Array(state) }
  }

  private func remove(_ child: Child) {
    children.removeAll { $0 === child }
    // Neither of the two that follow a session is of use without the other.
    if let session = child.session {
      for other in children where other.session === session { other.process.kill(SIGTERM) }
      children.removeAll { $0.session === session }
    }
    _ = child.process.waitForEnd()
    if let number = child.process.endSignal {
      // The terminal's goes to all, and who is to end ends them.
      signal = signal ?? EndSignals.next()
      if signal == nil { diagnostics.about(child.name).say("ended by signal \(number)") }
      worst = worst.worse(.failure)
    }
    worst = worst.worse(child.process.exitStatus.flatMap(ExitStatus.init) ?? .success)
    flush()
    save(child, force: true)
  }

  // MARK: - The output

  private func write(_ line: UnsafeRawBufferPointer) {
    if failure != nil { return }
    do throws(WriteFailure) { try writer.write(line) } catch { fail(error) }
  }

  private func flush() {
    if failure != nil { return }
    do throws(WriteFailure) { try writer.flush() } catch { fail(error) }
  }

  private func fail(_ error: WriteFailure) {
    failure = error
    if error.code == EINTR { signal = EndSignals.next() }
  }

  // MARK: - The states

  /// When to be called again at the latest.
  private func saveStates(force: Bool) -> Double {
    children.map { save($0, force: force) }.min() ?? .infinity
  }

  /// Saves a state, never ahead of what was printed.
  @discardableResult
  private func save(_ child: Child, force: Bool) -> Double {
    guard let file = child.file, failure?.code != EINTR, child.state != child.saved else {
      return .infinity
    }
    let now = Clock.monotonic
    if !force, now < child.savedAt + Self.interval { return child.savedAt + Self.interval }
    child.saved = child.state
    child.savedAt = now
    do throws(Failure) { try file.replace(with: child.state) } catch {
      diagnostics.about(child.name).say(error.message)
      worst = worst.worse(.failure)
      // Who relies on it is not to be told what is told again the next time.
      child.process.kill(SIGTERM)
    }
    return .infinity
  }

  // MARK: - The end

  private func end() {
    for child in children { child.process.kill(SIGTERM) }
    let until = Clock.monotonic + Self.patience
    while !children.isEmpty, failure == nil, Clock.monotonic < until {
      wait(until: until)
      for child in children { pass(child) }
      flush()
    }
  }

  private func tellEnd() {
    guard options.follow.lifecycle, failure == nil, isCounted else { return }
    for child in children where !child.isWatch {
      let record = RecordText(.end).string("profile", child.name).string("reason", "count")
      record.time(.now()).line.withUnsafeBytes(write)
    }
    flush()
  }
}

/// The lines of one session of a host, which may begin another conversation, with a transcript of its
/// own, at any time.
final class SessionLines {
  private var session: HostSession
  /// Lines of other conversations, and when they came: one of them may be the session's next, of which
  /// its file tells before it does.
  private var held: [(conversation: [UInt8], line: [UInt8], time: Double)] = []
  private var size = 0

  /// So much is held for so long, bytes and seconds.
  private static let (most, patience) = (1 << 20, 10.0)

  init(_ session: HostSession) { self.session = session }

  /// Whether a line of a transcript is the session's, or of no transcript.
  func holds(_ line: UnsafeRawBufferPointer) -> Bool {
    // The event's name cannot hold that, being quoted.
    let begin = #","id":""#
    guard line.starts(with: #"{"event":"#.utf8), let place = line.place(of: begin)
    else { return true }
    let conversation = line[(place + begin.utf8.count)...].prefix { $0 != UInt8(ascii: "/") }
    if let own = session.conversation, conversation.elementsEqual(own.utf8) { return true }
    held.append((Array(conversation), Array(line), Clock.monotonic))
    size += line.count
    while let first = held.first,
      size > Self.most || Clock.monotonic - first.time > Self.patience
    {
      size -= first.line.count
      held.removeFirst()
    }
    return false
  }

  /// Reads a change of the host's sessions. Returns the lines of the conversation that this one has
  /// begun.
  func watch(_ line: UnsafeRawBufferPointer) -> [[UInt8]] {
    guard let change = HostSession.change(Array(line)), change.session.isSame(as: session),
      let begun = change.session.conversation, begun != session.conversation
    else { return [] }
    session = change.session
    let own = held.filter {
      $0.conversation.elementsEqual(begun.utf8) && Clock.monotonic - $0.time <= Self.patience
    }
    (held, size) = ([], 0)
    return own.map(\.line)
  }
}

extension UnsafeRawBufferPointer {
  /// Where a text begins in it for the first time.
  fileprivate func place(of text: String) -> Int? {
    guard let begin = baseAddress else { return nil }
    var text = text
    return text.withUTF8 { clibc_memmem(begin, count, $0.baseAddress, $0.count).map { $0 - begin } }
  }
}
