import CLibc
import Core
import Records
import Shell

/// Follows transcripts of a host over one connection, and over a new one when that is lost:
/// the command's loop where there is a host. How far each file was read is known here alone,
/// so that nothing is lost or comes twice.
final class HostFollow {
  private let request: LinkRequest
  /// On the host; empty for the usual folder.
  private let path: String
  private let options: TranscriptOptions
  private var plan: FollowPlan
  private let output: TranscriptOutput
  private var set = PollSet()
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var visit: Visit?
  private var hasAnswered = false
  private var backoff = Backoff(base: 1, factor: 2, cap: 15, jitter: 0)
  private var downSince: Double?
  private var nextSave = Double.infinity
  private var isOver = false

  /// How much is asked for at once, bytes: the more, the better the line. What a cut
  /// leaves of a piece is lost, so a poor line gets on by small ones.
  private var most = leastAtOnce
  private static let leastAtOnce = 16 << 10
  private static let mostAtOnce = 1 << 20
  /// Seconds between two looks whether the reader is still there.
  private static let pulse = 1.0

  /// One connection, and the program that it runs.
  private struct Visit {
    let link: any Link
    let nonce: String
    var talk: HostTalk
    var channel: (any Channel)?
    /// When the answer must have come, or have gone on.
    var deadline = Double.infinity
    /// What is to be written yet.
    var request: ArraySlice<UInt8> = []
    var piece: FollowPlan.Piece?
    /// What the host said on standard error.
    var errors: [UInt8] = []
  }

  init(
    _ request: LinkRequest, path: String, _ plan: FollowPlan, _ output: TranscriptOutput,
    _ options: TranscriptOptions
  ) {
    (self.request, self.path, self.options) = (request, path, options)
    (self.plan, self.output) = (plan, output)
  }

  private var name: String { request.destination.name }

  /// Goes on until all is printed, with `--once`, or until a signal or a closed pipe, which
  /// end the process.
  func run() throws -> ExitStatus {
    do {
      while !isOver {
        do {
          try turn()
        } catch let failure as HostFailure {
          visit?.link.close()
          visit = nil
          most = Self.leastAtOnce
          try wait(failure)
        }
      }
      visit?.link.close()
      return output.finish(plan)
    } catch let end as TranscriptOutput.End {
      visit?.link.close()
      output.leave(end, plan)
    } catch let failure as WriteFailure {
      output.leave(.writing(failure), plan)
    } catch {
      visit?.link.close()
      let reason = (error as? HostFailure)?.reason ?? (error as? SettingsError)?.message
      try output.tell(RecordText(.end).string("reason", reason))
      _ = try output.settle(plan, isLast: true)
      throw error
    }
  }

  private func turn() throws {
    var visit = self.visit ?? begin()
    // The struct is moved out while it is changed.
    self.visit = nil
    defer { self.visit = visit }
    // One of this machine is ready at once.
    start(&visit)
    set.removeAll()
    visit.link.wants(&set)
    set.add(EndSignals.descriptor)
    let now = Clock.monotonic
    let until = [now + Self.pulse, visit.deadline, visit.link.deadline, nextSave].compactMap { $0 }
    set.wait(seconds: (until.min() ?? now) - now)
    try output.check()
    visit.link.advance(set, now: Clock.monotonic)
    start(&visit)
    try talk(&visit)
    if nextSave <= Clock.monotonic { nextSave = try output.settle(plan) }
  }

  private func begin() -> Visit {
    let nonce = String(UInt64.random(in: .min ... .max), radix: 36)
    return Visit(
      link: Connector.link(for: request, now: Clock.monotonic), nonce: nonce,
      talk: HostTalk(nonce: nonce))
  }

  private func start(_ visit: inout Visit) {
    guard visit.channel == nil, case .ready = visit.link.state else { return }
    visit.channel = visit.link.run(HostScript.command(path: path, nonce: visit.nonce))
    visit.deadline = Clock.monotonic + request.options.maxTime
  }

  // MARK: - The talk

  private func talk(_ visit: inout Visit) throws {
    guard let channel = visit.channel else {
      if case .ended(let failure) = visit.link.state { throw failure }
      return
    }
    while true {
      let count = channel.readError(&buffer, atMost: 4096)
      if count <= 0 { break }
      visit.errors = Array((visit.errors + buffer[..<count]).suffix(4096))
    }
    while !isOver {
      visit.request = visit.request.dropFirst(channel.write(visit.request))
      let count = channel.read(&buffer, atMost: buffer.count)
      if count <= 0 { break }
      visit.deadline = Clock.monotonic + request.options.maxTime
      if let answer = visit.talk.take(buffer[..<count]) { try heed(answer, &visit) }
    }
    if isOver { return }
    if let ending = channel.ending { throw failure(ending, visit) }
    if case .ended(let failure) = visit.link.state { throw failure }
    if Clock.monotonic >= visit.deadline {
      throw HostFailure.late(seconds: request.options.maxTime, part: [])
    }
  }

  private func heed(_ answer: HostTalk.Answer, _ visit: inout Visit) throws {
    switch answer {
    case .greeting: ask(.look, HostScript.look, &visit)
    case .files(let files, let denied):
      try back(over: visit.link)
      if files == nil, plan.isEmpty {
        throw SettingsError(path.isEmpty ? name : "\(name):\(path)", "no such file or folder")
      }
      for path in denied { output.fault(path, systemReason(EACCES)) }
      try output.tell(plan.look(files ?? []))
      try goOn(&visit)
    case .piece(let bytes, let number, let size, let isBad):
      guard let piece = visit.piece else { return }
      if isBad, number == piece.number { output.fault(piece.path, "cannot be read") }
      if isBad || number != piece.number || size < piece.offset + Int64(piece.count) {
        plan.pass()
      } else {
        most = min(most * 2, Self.mostAtOnce)
        try bytes.withUnsafeBytes { bytes in
          if output.isForeign(bytes, piece) { return plan.leaveForeign() }
          let losses = try plan.take(bytes, known: output.know) {
            line, file, begin, end throws(WriteFailure) in
            try output.print(line, of: file, from: begin, to: end)
          }
          try output.tell(losses)
        }
        try output.settleSome(plan)
      }
      try goOn(&visit)
    case .nonsense: throw HostFailure.unfit(why: "the host's answer makes no sense")
    }
  }

  /// Asks for what is to be read next, or whether there is anything new.
  private func goOn(_ visit: inout Visit) throws {
    visit.piece = plan.next(atMost: most)
    if let piece = visit.piece {
      return ask(.piece(count: piece.count), HostScript.read(piece), &visit)
    }
    nextSave = try output.settle(plan, isLast: options.once)
    isOver = options.once
    if !isOver { ask(.look, HostScript.look, &visit) }
  }

  private func ask(_ question: HostTalk.Question, _ request: [UInt8], _ visit: inout Visit) {
    visit.talk.expect(question)
    visit.request = request[...]
    visit.deadline = Clock.monotonic + self.request.options.maxTime + HostScript.patience
    visit.request = visit.request.dropFirst(visit.channel?.write(visit.request) ?? 0)
  }

  private func failure(_ ending: Ending, _ visit: Visit) -> HostFailure {
    if case .failed(let failure) = ending { return failure }
    let words = visit.errors.isEmpty ? visit.talk.greeted : visit.errors
    let lines = String(decoding: words, as: UTF8.self).split { $0.isNewline }
    let says = lines.last.map(String.init) ?? ending.reason
    if case .remoteExit = ending, visit.talk.awaitsGreeting, !says.holds("temporarily") {
      return .noShell(says: says)
    }
    return .cutShort(says: says, part: [])
  }

  // MARK: - The connection

  private func back(over link: any Link) throws {
    backoff.reset()
    let down = downSince.map { Clock.monotonic - $0 }
    downSince = nil
    let isFirst = !hasAnswered
    hasAnswered = true
    if isFirst {
      output.diagnostics.note("\(name): connected by \(link.transport.rawValue)")
      try output.tell(RecordText(.open).string("url", FileName.shown("\(name):\(path)")))
    } else if let down {
      if output.speaks {
        output.diagnostics.error(name, "link is back after \(Int(down.rounded())) s")
      }
      let seconds = (down * 10).rounded() / 10
      try output.tell(
        RecordText(.resumed).string("url", FileName.shown("\(name):\(path)")).number(
          "down", seconds))
    }
  }

  private func wait(_ failure: HostFailure) throws {
    guard failure.isWorthRetry(afterSuccess: hasAnswered), !options.once,
      options.maxRetries.map({ backoff.count < $0 }) ?? true
    else { throw failure }
    let seconds = backoff.next(random: 0)
    let until = Clock.monotonic + seconds
    downSince = downSince ?? Clock.monotonic
    if output.speaks {
      output.diagnostics.error(
        name, "link is down: \(failure.reason); next try in \(Int(seconds)) s")
    }
    try output.tell(
      RecordText(.lost).string("reason", failure.reason).number("retry_in", seconds))
    nextSave = try output.settle(plan)
    while Clock.monotonic < until {
      set.removeAll()
      set.add(EndSignals.descriptor)
      set.wait(seconds: min(Self.pulse, until - Clock.monotonic))
      try output.check()
    }
  }
}
