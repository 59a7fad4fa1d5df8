import CLibc
public import Core
public import Web

/// What a loop looks after beside its streams: lines to be sent, for one.
public protocol LoopInput: AnyObject {
  /// The file to wait for; nil while nothing is wanted of it.
  var descriptor: Int32? { get }
  /// Does what can be done without waiting. Called in each round, after the streams had
  /// their turn.
  func turn()
}

/// The loop of a command that follows streams: drives each of them, prints what they
/// tell, and ends for the right reason. None waits for another.
public final class FollowLoop {
  enum End {
    case counted
    case signal(Int32)
    case writing(WriteFailure, String?)
  }

  let options: FollowOptions
  /// Drives all transfers.
  public let client: WebClient
  let output: EventOutput
  /// Whether a person is told that a stream is down and back.
  let speaks: Bool
  private let diagnostics: Diagnostics
  private var followers: [Follower] = []
  /// What is read beside the streams; nil for nothing.
  public var input: (any LoopInput)?
  private var printed = 0
  private var worst = ExitStatus.success
  /// A signal cut a write short: the states must not run ahead of the output.
  private var lostOutput = false
  /// Why all ends; nil while a stream may go on.
  private(set) var end: End?

  /// All that a command does which follows streams.
  ///
  /// - Parameters:
  ///   - diagnostics: for words.
  ///   - setUp: makes the loop with its streams.
  /// - Returns: how to leave; a signal or a closed pipe ends the process itself, and so
  ///   does what `setUp` throws.
  public static func run(
    _ diagnostics: Diagnostics, setUp: () throws(SettingsError) -> FollowLoop
  ) -> ExitStatus {
    do throws(SettingsError) {
      let loop = try setUp()
      EndSignals.watch()
      return loop.run()
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  /// - Parameters:
  ///   - options: how all streams are followed.
  ///   - access: whose certificates are trusted.
  ///   - output: takes the records.
  ///   - diagnostics: for words.
  /// - Throws: `SettingsError` when the file of authorities cannot be read.
  public init(
    _ options: FollowOptions, _ access: AccessOptions, output: EventOutput,
    diagnostics: Diagnostics
  ) throws(SettingsError) {
    self.options = options
    client = try access.client(diagnostics.program)
    self.output = output
    self.diagnostics = diagnostics
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    output.onFailure = { [unowned self] in fail($0, $1) }
  }

  /// Adds a stream.
  public func follow(_ stream: FollowedStream) {
    followers.append(Follower(stream, loop: self, diagnostics: diagnostics))
  }

  /// Counts a stream that could not be followed at all.
  public func add(_ status: ExitStatus) { worst = worst.worse(status) }

  /// Follows until all have ended, or nothing more is wanted.
  private func run() -> ExitStatus {
    let deadline = options.reconnect.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    if options.count == 0 { end = .counted }
    while !isOver {
      client.perform()
      let now = Clock.monotonic
      var next = live.reduce(deadline) { min($0, $1.tick(now: now)) }
      input?.turn()
      output.flush()
      settle(now: now)
      next = min(next, now + output.patience)
      if isOver { break }
      if now >= deadline { for follower in live { follower.timeIsUp() } }
      for follower in followers where !follower.isClosed {
        next = min(next, follower.saveState(now: now))
      }
      if isOver { break }
      for follower in followers where follower.end != nil && !follower.isClosed {
        follower.close()
      }
      client.wait(
        seconds: next - Clock.monotonic,
        reading: [EndSignals.descriptor] + (input?.descriptor.map { [$0] } ?? []), closing: [1])
      if let signal = EndSignals.next() { end = .signal(signal) }
      if OutputEnd.isClosed { end = .writing(WriteFailure(code: EPIPE), nil) }
    }
    return leave()
  }

  private var live: [Follower] { followers.filter { $0.end == nil } }

  private var isOver: Bool { end != nil || followers.allSatisfy { $0.end != nil } }

  /// Whether as many events were printed as are wanted.
  var hasCounted: Bool { options.count.map { printed >= $0 } ?? false }

  /// Counts an event.
  func count(_ isPrinted: Bool) {
    guard isPrinted else { return }
    printed += 1
    if end == nil, hasCounted { end = .counted }
  }

  /// Ends the archive's day; who is told of a file may compress it, and the resume
  /// point in it is then known from the state alone.
  private func settle(now: Double) {
    output.turn()
    guard output.hasFinished, !isOver else { return }
    for follower in live { _ = follower.saveState(now: now, force: true) }
    if !isOver { output.tellFinished() }
  }

  private func fail(_ failure: WriteFailure, _ file: String?) {
    if failure.code == EINTR, let signal = EndSignals.next() {
      lostOutput = true
      end = .signal(signal)
    } else {
      end = .writing(failure, file)
    }
  }

  private func leave() -> ExitStatus {
    let reason =
      switch end {
      case .counted: "count"
      case .signal(let number): "signal \(number)"
      case .writing, nil: ""
      }
    failIfUnwritten()
    let outcome = end
    end = nil
    let open = followers.filter { !$0.isClosed }
    for follower in open { follower.tellEnd(reason) }
    // A signal does not wait for a slow reader.
    var waits = true
    if case .signal = outcome, !output.isArchive {
      waits = !lostOutput && OutputEnd.isWritable
    }
    if waits { output.flush() }
    failIfUnwritten()
    if !lostOutput {
      for follower in open { _ = follower.saveState(now: Clock.monotonic, force: true) }
    }
    // A WebSocket is told that nobody listens any more.
    for follower in open { follower.stop() }
    if case .signal(let number) = outcome { Process.die(by: number) }
    let status = followers.reduce(worst) { $0.worse($1.status(usual: .success)) }
    return status == .success && end != nil ? .failure : status
  }

  private func failIfUnwritten() {
    guard case .writing(let failure, let file) = end else { return }
    // A disk that is full is so for a while.
    if let file { diagnostics.fail("\(file): \(failure.reason)", .temporary) }
    diagnostics.fail(writing: failure)
  }
}

extension ExitStatus {
  /// The worse of two: what no later try can mend is worse than what one may.
  public func worse(_ other: ExitStatus) -> ExitStatus {
    let order: [ExitStatus] = [.success, .negative, .temporary, .failure, .denied]
    let ranks = [self, other].map { order.firstIndex(of: $0) ?? 0 }
    return ranks[1] > ranks[0] ? other : self
  }
}
