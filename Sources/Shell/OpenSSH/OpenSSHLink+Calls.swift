import CLibc
import Core

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
      do throws(ChildProcess.Failure) {
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
