import CLibc
import Core
import Records
import Shell
import Turns

/// transcript-tail(1): follows a coding agent's own transcripts.
public func transcriptTailMain() {
  TranscriptOptions.table.run(TranscriptOptions(), verbose: \.isVerbose) { options, diagnostics in
    try run(options, diagnostics)
  }
}

private func run(_ options: TranscriptOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  switch try TranscriptPlace(options.place, home: Folders().home) {
  case .here(let path):
    if let name = options.ofHost { throw UsageError("--\(name) is for a host") }
    if let hint = hint(path) { throw Failure(path, systemReason(ENOENT) + hint) }
    // Of what is added from now on, the first may be the first of all.
    let isAwaited = options.place == nil && options.wishes.new
    if options.place == nil, stat(following: path) == nil, systemError == ENOENT {
      guard isAwaited else {
        throw Failure(path, systemReason(ENOENT) + ": name a file, a folder or HOST:")
      }
      if !options.isQuiet { diagnostics.tellPerson("\(path): not there yet: waits for it") }
    }
    let place = absolute(path)
    if let status = stat(following: place) {
      guard status.isFolder || status.isRegular else {
        throw Failure(place, "not a file or folder")
      }
    } else if !isAwaited || systemError != ENOENT {
      throw Failure(place, systemReason(systemError))
    }
    return try withState(options, source: place, diagnostics) { plan, output in
      try LocalFollow(place, plan, output, once: options.once).run()
    }
  case .host(let name, let path):
    if ShellWord.holdsControls(path) {
      throw Failure("\(name):\(path)", "a path on a host cannot hold control characters")
    }
    var request = try LinkRequest.make(
      host: name, options: options.connect, settings: Settings(diagnostics: diagnostics),
      diagnostics: diagnostics)
    request.connectTimeout = options.connect.maxTime
    return try withState(options, source: "\(name):\(path)", diagnostics) {
      [request] plan, output in
      do {
        return try HostFollow(request, path: path, plan, output, options).run()
      } catch let failure as HostFailure {
        for line in failure.lines(of: request.destination.name) { diagnostics.say(line) }
        return ExitStatus(rawValue: failure.exitStatus) ?? .failure
      }
    }
  }
}

/// What may have been meant: a host, whose colon was forgotten. Nil for a file that is there.
private func hint(_ name: String) -> String? {
  if name.contains("/") || stat(following: name) != nil { return nil }
  return NearestWord.hint(for: name, among: CompletionNames.hostNames().map { $0 + ":" })
}

/// Does something with the state of the place, which is nobody else's meanwhile.
private func withState(
  _ options: TranscriptOptions, source: String, _ diagnostics: Diagnostics,
  _ follow: (FollowPlan, TranscriptOutput) throws -> ExitStatus
) throws -> ExitStatus {
  EndSignals.watch()
  guard let path = options.state else {
    return try follow(
      FollowPlan(options.wishes), TranscriptOutput(options, state: nil, diagnostics))
  }
  return try FileLock.hold(beside: path, seconds: 0) { () throws(Failure) in
    let state = try TranscriptState(path: path, source: source)
    let plan = FollowPlan(options.wishes, resuming: state.marks)
    let output = TranscriptOutput(options, state: state, diagnostics)
    return Result { try follow(plan, output) }
  }.get()
}

/// A path as one that means the same wherever we are, without slashes at its end.
private func absolute(_ path: String) -> String {
  var path = path
  while path.hasSuffix("/"), path != "/" { path.removeLast() }
  guard !path.hasPrefix("/"), let folder = currentFolder() else { return path }
  return path == "." ? folder : Folders.join(folder, path)
}

/// Follows transcripts of a host over one connection, and over a new one when that is lost:
/// the command's loop where there is a host. How far each file was read is known here alone,
/// so that nothing is lost or comes twice.
final class HostFollow {
  private let request: LinkRequest
  /// On the host; empty for the usual folder.
  private let path: String
  private let options: TranscriptOptions
  private let plan: FollowPlan
  private let output: TranscriptOutput
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var reconnect: Reconnect
  private var nextSave = Double.infinity
  /// Why the state could not be saved.
  private var trouble: (any Error)?
  /// Hangs up.
  private var hangUp: () -> Void = {}

  /// How much is asked for at once, bytes: the more, the better the line. What a cut
  /// leaves of a piece is lost, so a poor line gets on by small ones.
  private static let leastAtOnce = 16 << 10
  private static let mostAtOnce = 1 << 20
  /// Seconds between two looks whether the reader is still there.
  private static let pulse = 1.0

  private struct Visit {
    let link: any Link
    let channel: any Channel
    var talk: HostTalk
    /// When the answer must have come, or have gone on.
    var deadline: Double
    var request: ArraySlice<UInt8> = []
    var errors: [UInt8] = []
  }

  init(
    _ request: LinkRequest, path: String, _ plan: FollowPlan, _ output: TranscriptOutput,
    _ options: TranscriptOptions
  ) {
    (self.request, self.path, self.options) = (request, path, options)
    (self.plan, self.output) = (plan, output)
    plan.most = Self.leastAtOnce
    reconnect = Reconnect(maxRetries: options.once ? 0 : options.maxRetries)
  }

  private var name: String { request.destination.name }
  private var maxTime: Double { request.options.maxTime }

  /// With `--once` until all is printed, else until a signal or a closed pipe.
  func run() throws -> ExitStatus {
    do {
      while true {
        do {
          try follow()
          return output.finish(plan)
        } catch let failure as HostFailure {
          if let trouble { throw trouble }
          plan.most = Self.leastAtOnce
          try pause(failure)
        }
      }
    } catch let failure as WriteFailure {
      output.leave(failure)
    } catch {
      let reason = (error as? HostFailure)?.reason ?? (error as? Failure)?.message
      try output.tell(RecordText(.end).string("reason", reason))
      _ = try output.settle(plan, isLast: true)
      throw error
    }
  }

  /// Over one connection.
  private func follow() throws {
    let link = try request.link { [self] set, until throws(HostFailure) in
      try wait(&set, until: until)
    }
    hangUp = link.close
    defer { hangUp() }
    let nonce = HostCalls.nonce()
    let (maxTime, limit) = (maxTime, Clock.monotonic + maxTime)
    let command = HostScript.command(path: path, nonce: nonce)
    let channel = try link.run(command) { [self] set, until throws(HostFailure) in
      if Clock.monotonic >= limit { throw .late(seconds: maxTime, part: []) }
      try wait(&set, until: min(until ?? limit, limit))
    }
    hangUp = {
      channel.close()
      link.close()
    }
    var visit = Visit(link: link, channel: channel, talk: HostTalk(nonce: nonce), deadline: limit)
    _ = try receive(&visit) { $0.begin() }
    func readWhole(_ path: String) throws -> [UInt8]? { try self.readWhole(path, &visit) }
    while true {
      try look(&visit)
      try plan.read(to: output, whole: readWhole) { piece, bytes in
        try read(piece, &visit, bytes)
      }
      nextSave = try output.settle(plan, isLast: options.once)
      if options.once { return }
    }
  }

  private func look(_ visit: inout Visit) throws {
    let found = try ask(HostScript.look, &visit) { $0.files() }
    try back(over: visit.link)
    // Of what is added from now on, the first may be the first of all.
    if found.files == nil, plan.isEmpty, !(path.isEmpty && options.wishes.new) {
      throw Failure(path.isEmpty ? name : "\(name):\(path)", "no such file or folder")
    }
    for path in found.denied { output.fault(path, systemReason(EACCES)) }
    try output.tell(plan.look(found.files ?? []))
  }

  private func read(
    _ piece: FollowPlan.Piece, _ visit: inout Visit,
    _ bytes: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let found = try ask(HostScript.read(piece), &visit) { talk throws(HostFailure) in
      try talk.piece(piece.count)
    }
    if found.isBad, found.number == piece.number { output.fault(piece.path, "cannot be read") }
    if found.isBad || found.number != piece.number
      || found.size < piece.offset + Int64(piece.count)
    {
      return
    }
    plan.most = min(plan.most * 2, Self.mostAtOnce)
    try found.bytes.withUnsafeBytes(bytes)
  }

  private func readWhole(_ path: String, _ visit: inout Visit) throws -> [UInt8]? {
    let count = ClaudeTranscripts.originLimit
    let piece = FollowPlan.Piece(path: path, number: 0, offset: 0, count: count)
    let found = try ask(HostScript.read(piece), &visit) { talk throws(HostFailure) in
      try talk.piece(count)
    }
    return found.isBad || found.size > count ? nil : Array(found.bytes.prefix(Int(found.size)))
  }

  // MARK: - The talk

  private func ask<Answer>(
    _ request: [UInt8], _ visit: inout Visit,
    _ answer: (inout HostTalk) throws(HostFailure) -> Answer?
  ) throws -> Answer {
    visit.request = request[...]
    visit.deadline = Clock.monotonic + maxTime + HostScript.patience
    return try receive(&visit, answer)
  }

  /// Waits for an answer.
  private func receive<Answer>(
    _ visit: inout Visit, _ answer: (inout HostTalk) throws(HostFailure) -> Answer?
  ) throws -> Answer {
    let channel = visit.channel
    while true {
      while case let count = channel.readError(&buffer, atMost: 4096), count > 0 {
        visit.errors = Array((visit.errors + buffer[..<count]).suffix(4096))
      }
      while true {
        if !visit.request.isEmpty {
          visit.request = visit.request.dropFirst(channel.write(visit.request))
        }
        if let answer = try answer(&visit.talk) { return answer }
        let count = channel.read(&buffer, atMost: buffer.count)
        if count <= 0 { break }
        visit.deadline = Clock.monotonic + maxTime
        try visit.talk.append(buffer[..<count])
      }
      if let ending = channel.ending {
        if case .failed(let failure) = ending { throw failure }
        let talk = visit.talk.hasBegun ? nil : visit.talk.greeted
        throw HostCalls.failure(ending, visit.errors, talk: talk, most: .max)
      }
      if let failure = visit.link.ending { throw failure }
      if Clock.monotonic >= visit.deadline { throw HostFailure.late(seconds: maxTime, part: []) }
      var set = PollSet()
      visit.link.wants(&set)
      channel.wants(&set)
      let due = [visit.deadline, visit.link.deadline, channel.deadline].compactMap { $0 }.min()
      try wait(&set, until: due)
      visit.link.advance(set, now: Clock.monotonic)
    }
  }

  /// The one place where it waits. A signal and a closed pipe end the process here.
  private func wait(_ set: inout PollSet, until: Double?) throws(HostFailure) {
    set.add(EndSignals.descriptor)
    let now = Clock.monotonic
    set.wait(seconds: min(until ?? .infinity, nextSave, now + Self.pulse) - now)
    if EndSignals.hasPending || OutputEnd.isClosed { hangUp() }
    output.check(plan)
    guard nextSave <= Clock.monotonic else { return }
    do { nextSave = try output.settle(plan) } catch {
      trouble = error
      throw .closed
    }
  }

  // MARK: - The connection

  private func back(over link: any Link) throws {
    let isFirst = !reconnect.hasAnswered
    let down = reconnect.answered()
    let place = FileName.shown("\(name):\(path)")
    if isFirst {
      output.diagnostics.note("\(name): connected by \(link.transport.rawValue)")
      try output.tell(RecordText(.open).string("url", place))
    } else if let down {
      if output.speaks {
        output.diagnostics.error(name, "link is back after \(Int(down.rounded())) s")
      }
      let seconds = (down * 10).rounded() / 10
      try output.tell(RecordText(.resumed).string("url", place).number("down", seconds))
    }
  }

  /// Waits until the next try, if there is to be one.
  private func pause(_ failure: HostFailure) throws {
    let seconds = try reconnect.lost(failure)
    let until = Clock.monotonic + seconds
    if output.speaks {
      output.diagnostics.error(
        name, "link is down: \(failure.reason); next try in \(Int(seconds)) s")
    }
    try output.tell(RecordText(.lost).string("reason", failure.reason).number("retry_in", seconds))
    nextSave = try output.settle(plan)
    while Clock.monotonic < until {
      var set = PollSet()
      try wait(&set, until: until)
    }
  }
}
