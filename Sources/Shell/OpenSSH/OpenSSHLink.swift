import CLibc
public import Core

/// A link by the user's own OpenSSH client. Each terminal is an ssh of its own; all
/// other commands go over a master that several links, also of other commands, share.
///
/// For a terminal it is `ready` when the command line is known; else when there is a
/// master.
public final class OpenSSHLink: Link {
  public private(set) var state = LinkState.opening
  public var transport: TransportName { .ssh }

  let request: LinkRequest
  let program: String
  var place: ControlPlace?
  var plan: SSHPlan?
  var question: SSHQuestion?
  var master: SSHMaster?
  /// To a master that was found; the first call goes over it.
  var contact: MuxConnection?
  var terminals: [SSHTerminal] = []
  var calls: [MuxChannel] = []
  /// Whether a master was made because the one before grants no session.
  var hasOwnMaster = false
  private var hasTold = false

  /// Begins.
  ///
  /// - Parameter settings: what `ssh -G` said, when it has been asked already.
  public init(_ request: LinkRequest, settings: SSHSettings? = nil, now: Double) {
    self.request = request
    program = Self.program
    // What is written to an ssh that has ended must not end us.
    clibc_signal_ignore(SIGPIPE)
    do throws(SettingsError) {
      try PinFile.check(request.pins)
    } catch {
      end(.hostKeyUnknown(why: error.message))
      return
    }
    do throws(SettingsError) {
      place = try ControlPlace(request, program: program)
    } catch {
      end(.local(why: error.message))
      return
    }
    if let settings { take(settings, now) }
    if case .ended = state { return }
    if !request.isForTerminal, !request.isFresh {
      contact = place.flatMap { MuxConnection($0.socket) }
    }
    if contact != nil {
      request.note("ssh: a connection is up already")
      state = .ready
    } else {
      bring(now)
    }
  }

  deinit { close() }

  /// `$AGENTUTILS_SSH`, by default `ssh`.
  static var program: String { Process.environment("AGENTUTILS_SSH") ?? "ssh" }

  /// One word of a command line has 128 KB on Linux, here and there.
  private static let longestCommand = 128_000

  public var deadline: Double? {
    if case .ended = state { return nil }
    let all =
      [question?.deadline, master?.deadline] + terminals.map(\.deadline) + calls.map(\.deadline)
    return all.compactMap { $0 }.min()
  }

  public func wants(_ set: inout PollSet) {
    question?.wants(&set)
    master?.wants(&set)
    for terminal in terminals { terminal.wants(&set) }
    for call in calls { call.wants(&set) }
  }

  public func advance(_ set: PollSet, now: Double) {
    if case .ended = state { return }
    advanceQuestion(now)
    advanceMaster(now)
    for terminal in terminals {
      terminal.advance(set, now: now)
      tellPin(terminal.log)
    }
    for call in calls { advance(call, set, now) }
    calls.removeAll { $0.ending != nil }
    for terminal in terminals { heed(terminal.ending) }
    terminals.removeAll { $0.ending != nil }
  }

  public func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    let now = Clock.monotonic
    guard case .ready = state, let plan, let place else {
      return SSHTerminal(failing: .local(why: "ssh: not ready"))
    }
    guard command.utf8.count <= Self.longestCommand else { return SSHTerminal(failing: .tooLong) }
    do throws(SettingsError) {
      let pipe = try SSHLogPipe(in: place.folder, name: place.ownName("log"))
      let child: ChildProcess
      do throws(Failure) {
        child = try ChildProcess(
          plan.command.terminal(command, log: pipe.path), environment: ["TERM": term],
          terminal: size, pipesOutput: true)
      } catch {
        return SSHTerminal(failing: .local(why: error.words))
      }
      let terminal = SSHTerminal(
        child, pipe, patience: request.connectTimeout + 2, now: now, judge: plan.judge)
      terminals.append(terminal)
      return terminal
    } catch {
      return SSHTerminal(failing: .local(why: error.message))
    }
  }

  public func run(_ command: String) -> any Channel {
    guard case .ready = state else {
      return MuxChannel(failing: .local(why: "ssh: not ready"))
    }
    guard command.utf8.count <= Self.longestCommand else { return MuxChannel(failing: .tooLong) }
    let call = MuxChannel(command)
    call.waiting = 2
    calls.append(call)
    send(call, Clock.monotonic)
    return call
  }

  public func close() { end(.closed) }

  /// Everything is over, for one reason.
  func end(_ failure: HostFailure) {
    if case .ended = state { return }
    state = .ended(failure)
    for terminal in terminals { terminal.close() }
    for call in calls { call.end(.failed(failure)) }
    (terminals, calls) = ([], [])
    (question, master, contact) = (nil, nil, nil)
  }

  /// What ended a terminal may have ended the link.
  private func heed(_ ending: Ending?) {
    switch ending {
    case nil, .remoteExit, .remoteSignal, .failed(.closed): return
    case .failed(let failure):
      // The master's connection is as dead; whoever comes next gets a new one.
      if case .silent = failure, let place { unlink(place.socket) }
      end(failure)
    }
  }

  /// A key that was pinned just now is told, as it stands in the pins.
  func tellPin(_ log: SSHLog) {
    guard log.pinned != nil, !hasTold, let plan else { return }
    hasTold = true
    do throws(SettingsError) {
      let keys = try PinFile(path: request.pins).keys(host: plan.place.host, port: plan.place.port)
      for key in keys {
        request.tell(
          "\(plan.place.name): new host, pinned its \(key.kind) key \(key.fingerprint)")
      }
    } catch {
      end(.hostKeyUnknown(why: error.message))
    }
  }

  func becomeReady() {
    if case .opening = state { state = .ready }
  }
}

extension OpenSSHLink {
  /// Whether a master takes calls.
  var hasLiveMaster: Bool { place.map { MuxConnection.isTaken($0.socket) } ?? false }

  /// Takes the next step towards what the link is for.
  func bring(_ now: Double) {
    guard let plan, let place else {
      if question == nil {
        question = SSHQuestion(SSHCommand.question(program: program, request.destination), now: now)
      }
      return
    }
    if request.isForTerminal, case .opening = state {
      becomeReady()
      return
    }
    if case .starting = master?.state { return }
    let hasPerson = Self.hasPerson
    place.sweep()
    let socket = place.folder + "/" + place.ownName("m")
    do throws(SettingsError) {
      let pipe = try SSHLogPipe(in: place.folder, name: place.ownName("log"))
      do throws(Failure) {
        master = try SSHMaster(
          plan.command.master(socket: socket, log: pipe.path, isAlone: !hasPerson), pipe,
          socket: socket, shared: { place.socket }, patience: request.connectTimeout,
          hasPerson: hasPerson, now: now)
      } catch {
        failCalls(.local(why: error.words))
      }
    } catch {
      failCalls(.local(why: error.message))
    }
  }

  func advanceQuestion(_ now: Double) {
    guard let question else { return }
    question.advance(now: now)
    switch question.answer {
    case .none: return
    case .missing: end(.local(why: "\(program): not installed"))
    case .failed(let why): end(.local(why: why))
    case .settings(let settings):
      self.question = nil
      take(settings, now)
      if case .ended = state { return }
      bring(now)
    }
  }

  func take(_ settings: SSHSettings, _ now: Double) {
    do throws(SettingsError) {
      plan = try SSHPlan(request, settings, program: program)
    } catch {
      end(
        error.status == .denied ? .hostKeyUnknown(why: error.message) : .local(why: error.message))
    }
  }

  func advanceMaster(_ now: Double) {
    guard let master, let plan else { return }
    let wasUp = if case .up = master.state { true } else { false }
    master.advance(now: now, judge: plan.judge)
    tellPin(master.log)
    switch master.state {
    case .starting: break
    case .up where wasUp: break
    case .up:
      becomeReady()
      for call in calls where call.isWaitingForMaster { send(call, now) }
    case .failed(let failure):
      self.master = nil
      failCalls(failure)
    }
  }

  /// Sends a call over the master, or has one made.
  func send(_ call: MuxChannel, _ now: Double) {
    guard let place, call.attempts < 3 else {
      call.end(.failed(.linkLost(why: "no master takes calls")))
      return
    }
    // A master of ours has ssh's own watch over its connection; one that is found may
    // sit on a dead one.
    let keepalive = request.options.keepalive
    let patience = master == nil ? keepalive : keepalive * 3 + 1
    if case .starting = master?.state { return }
    let isStarted = call.start(place.socket, over: contact, patience: patience, now: now)
    contact = nil
    if !isStarted { bring(now) }
  }

  func advance(_ call: MuxChannel, _ set: PollSet, _ now: Double) {
    if let next = call.nextTry {
      if now >= next { send(call, now) }
      return
    }
    switch call.advance(set, now: now) {
    case .nothing: break
    case .master: resend(call, now)
    case .session where hasOwnMaster:
      call.end(.failed(.unfit(why: "the host grants no session (MaxSessions of its sshd)")))
    case .session:
      // Others have those that it grants: they keep that connection.
      hasOwnMaster = true
      master = nil
      if let place { unlink(place.socket) }
      send(call, now)
    case .kill(let process):
      request.note("ssh: its connection does not answer: a new one")
      _ = CLibc.kill(process, SIGKILL)
      if let place { unlink(place.socket) }
      resend(call, now)
    }
    if call.isCut { cut(call, now) }
  }

  /// Once more over another master, when the host has heard nothing of it.
  private func resend(_ call: MuxChannel, _ now: Double) {
    let failure = lossOfMaster(call, now)
    if master != nil {
      // It was ours, and ssh has had its time.
      end(failure)
    } else if call.abandon() {
      send(call, now)
    } else {
      call.end(.failed(failure))
    }
  }

  /// Its control connection ended without a status: a signal, or the master is gone.
  private func cut(_ call: MuxChannel, _ now: Double) {
    if hasLiveMaster {
      call.end(.remoteSignal(name: "unknown"))
    } else {
      failCalls(lossOfMaster(call, now))
    }
  }

  private func lossOfMaster(_ call: MuxChannel, _ now: Double) -> HostFailure {
    let keepalive = request.options.keepalive
    if master?.log.silence != nil || call.silence(now) >= keepalive * 2 {
      return .silent(seconds: max(call.silence(now), keepalive))
    }
    return .linkLost(why: master?.log.loss.map(SSHLog.plain) ?? "the connection is gone")
  }

  /// The way of the calls is blocked: the link's end, unless a terminal lives on.
  private func failCalls(_ failure: HostFailure) {
    guard !terminals.isEmpty else {
      end(failure)
      return
    }
    master = nil
    for call in calls { call.end(.failed(failure)) }
  }

  /// Whether somebody can be asked: there is a controlling terminal, and it is ours now.
  private static var hasPerson: Bool {
    let descriptor = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { return false }
    defer { CLibc.close(descriptor) }
    return tcgetpgrp(descriptor) == getpgrp()
  }
}
