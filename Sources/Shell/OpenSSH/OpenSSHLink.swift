import CLibc
import Core

/// A link by the user's own OpenSSH client, for calls: they go over a master that several links,
/// also of other commands, share.
final class OpenSSHLink: Link {
  let transport = TransportName.ssh
  private let request: LinkRequest
  private let place: ControlPlace
  private var plan: SSHPlan?
  /// One that was made here.
  private var master: SSHMaster?
  /// To a master that was found; the first call goes over it.
  private var contact: MuxConnection?
  /// Whether a master was made because the one before grants no session.
  private var hasOwnMaster = false

  /// Finds a master, or makes one.
  ///
  /// - Parameter settings: what `ssh -G` said, when it has been asked already.
  init(
    _ request: LinkRequest, _ settings: SSHSettings?, _ wait: @escaping HostWait
  ) throws(HostFailure) {
    self.request = request
    place = try SSHPlan.place(request)
    if let settings { plan = try SSHPlan(request, settings, wait) }
    if !request.isFresh { contact = MuxConnection(place.socket) }
    if contact != nil {
      request.note("ssh: a connection is up already")
    } else {
      try makeMaster(wait)
    }
  }

  /// `$AGENTUTILS_SSH`, by default `ssh`.
  static var program: String { Process.environment("AGENTUTILS_SSH") ?? "ssh" }

  /// One word of a command line has 128 KB on Linux, here and there.
  static let longestCommand = 128_000

  /// Whether a master takes calls that a request would use.
  static func hasMaster(_ request: LinkRequest) -> Bool {
    (try? ControlPlace(request, program: program)).map { MuxConnection.isTaken($0.socket) } ?? false
  }

  func wants(_ set: inout PollSet) { master?.pipe.wants(&set) }

  func advance(_ set: PollSet, now: Double) { master?.pipe.pump() }

  func close() { (master, contact) = (nil, nil) }

  /// A call over the master; over another one where the host has heard nothing of it.
  func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel {
    guard command.utf8.count <= Self.longestCommand else { throw .tooLong }
    let keepalive = request.options.keepalive
    var attempts = 0
    // How long it waits where the host grants no session: it frees one of its MaxSessions only a
    // moment after the command has ended.
    var lastTry: Double?
    while attempts < 3 {
      // A master of ours has ssh's own watch over its connection; one that is found may
      // sit on a dead one.
      let patience = master == nil ? keepalive : keepalive * 3 + 1
      let contact = contact
      self.contact = nil
      let asked = Clock.monotonic
      let channel = try MuxChannel.start(
        command, place.socket, over: contact, patience: patience, wait
      ) { [master, place] silence in
        MuxConnection.isTaken(place.socket)
          ? .remoteSignal(name: "unknown") : .failed(Self.loss(of: master, silence, keepalive))
      }
      guard let channel, let connection = channel.connection else {
        try makeMaster(wait)
        continue
      }
      if connection.hasOpened { return channel }
      attempts += 1
      switch connection.phase {
      case .refused(let why) where why.holds("refused by peer"):
        attempts = 0
        let last = lastTry ?? Clock.monotonic + 2
        lastTry = last
        if Clock.monotonic < last {
          var set = PollSet()
          try wait(&set, Clock.monotonic + 0.05)
          continue
        }
        if hasOwnMaster {
          throw .unfit(why: "the host grants no session (MaxSessions of its sshd)")
        }
        // Others have those that it grants: they keep that connection.
        hasOwnMaster = true
        lastTry = nil
        master = nil
        unlink(place.socket)
      case .refused(let why): throw .linkLost(why: "the master says: \(why)")
      case .gone:
        // It was ours, and ssh has had its time.
        if master != nil { throw Self.loss(of: master, Clock.monotonic - asked, keepalive) }
      default:
        if let process = connection.master {
          request.note("ssh: its connection does not answer: a new one")
          _ = kill(process, SIGKILL)
          unlink(place.socket)
        }
        // Whether the host never heard of a command whose master has been killed, so that it may go
        // over another one: the end of the master's last words is the proof.
        try connection.wait(atMost: 1, wait) { false }
        let isUnheard = connection.phase == .gone && !connection.hasOpened
        if master != nil || !isUnheard {
          throw Self.loss(of: master, Clock.monotonic - asked, keepalive)
        }
      }
    }
    throw .linkLost(why: "no master takes calls")
  }

  private static func loss(
    of master: SSHMaster?, _ silence: Double, _ keepalive: Double
  ) -> HostFailure {
    master?.pipe.pump()
    let log = master?.pipe.log
    if log?.silence != nil || silence >= keepalive * 2 {
      return .silent(seconds: max(silence, keepalive))
    }
    return .linkLost(why: log?.loss.map(SSHLog.plain) ?? "the connection is gone")
  }

  private func makeMaster(_ wait: @escaping HostWait) throws(HostFailure) {
    let plan = if let plan { plan } else { try SSHPlan(request, nil, wait) }
    self.plan = plan
    master = nil
    master = try SSHMaster(plan, place, wait)
  }
}

/// An ssh that makes a connection and then, in the background, takes calls over it. It
/// outlives us for a minute, so that the next command finds it.
final class SSHMaster {
  /// What it says.
  let pipe: SSHLogPipe
  private let child: ChildProcess

  /// The time it has to put the terminal in order, seconds.
  private static let leaving = 0.2
  /// The time a person has for a passphrase, seconds: as long as sshd(8) waits.
  private static let thinking = 120.0

  /// Makes one, and waits until it takes calls.
  init(_ plan: SSHPlan, _ place: ControlPlace, _ wait: HostWait) throws(HostFailure) {
    // With a person, ssh asks on the controlling terminal.
    let hasPerson = Self.hasPerson
    let terminal = hasPerson ? TerminalModes() : nil
    place.sweep()
    // Known by its lasting name only when it is whole.
    let socket = place.folder + "/" + place.ownName("m")
    pipe = try Failure.rethrowing(
      try SSHLogPipe(in: place.folder, name: place.ownName("log"))
    ) { HostFailure.local(why: $0.message) }
    child = try Failure.rethrowing(
      try ChildProcess(
        plan.master(socket: socket, log: pipe.path, isAlone: !hasPerson), output: .nothing,
        error: hasPerson ? .ours : .pipe)
    ) { HostFailure.local(why: $0.message) }
    // In the background it may hold this open for long.
    defer { child.closeEnds() }
    do throws(HostFailure) {
      try begin(plan, hasPerson, wait) { rename(socket, place.socket) == 0 }
    } catch {
      // A question that nobody has answered leaves the terminal as it was.
      child.end(within: Self.leaving)
      terminal?.restore()
      unlink(socket)
      throw error
    }
  }

  private func begin(
    _ plan: SSHPlan, _ hasPerson: Bool, _ wait: HostWait, settle: () -> Bool
  ) throws(HostFailure) {
    var errors: [UInt8] = []
    var progress = Clock.monotonic
    while true {
      // Its last words may come behind its end.
      let hasEnded = child.reap()
      if pipe.pump() { progress = Clock.monotonic }
      try plan.tellPin(pipe.log)
      if !ChildProcess.drain(child.error, into: &errors, most: 16384) { child.closeEnds() }
      if pipe.log.cannotPin {
        throw .hostKeyUnknown(why: "the host's key is new and cannot be pinned")
      }
      if pipe.log.takesCalls || hasEnded && child.exitStatus == 0, settle() { return }
      if hasEnded {
        let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
        switch plan.judge(pipe.log, child, lines.map(String.init)) {
        case .failed(let failure): throw failure
        case let ending: throw .connectFailed(why: ending.reason)
        }
      }
      let patience = plan.request.connectTimeout
      let limit =
        hasPerson && pipe.log.hasAuthenticationBegun ? max(patience, Self.thinking) : patience
      if Clock.monotonic >= progress + limit {
        let why = "no answer for \(Int(limit.rounded())) s"
        throw pipe.log.isSignedIn ? .linkLost(why: why) : .connectFailed(why: why)
      }
      var set = PollSet(child.error)
      pipe.wants(&set)
      // Its socket is there in a moment. Its end alone makes no descriptor readable: it is looked
      // for, at once behind the end of what it says.
      let look = pipe.log.takesCalls ? 0.002 : child.error < 0 && !hasPerson ? 0.005 : 0.25
      try wait(&set, min(progress + limit, Clock.monotonic + look))
    }
  }

  /// Whether somebody can be asked: there is a controlling terminal, and it is ours now.
  private static var hasPerson: Bool { withTerminal { tcgetpgrp($0) == getpgrp() } ?? false }
}

/// Does something with the controlling terminal; nil where there is none.
private func withTerminal<Result>(_ body: (Int32) -> Result) -> Result? {
  let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
  guard terminal >= 0 else { return nil }
  defer { close(terminal) }
  return body(terminal)
}

/// How the controlling terminal is set, before a program asks for a secret on it.
private struct TerminalModes {
  private var found = termios()

  init?() {
    guard withTerminal({ tcgetattr($0, &found) }) == 0 else { return nil }
  }

  func restore() {
    var modes = found
    _ = withTerminal { if tcgetpgrp($0) == getpgrp() { tcsetattr($0, TCSANOW, &modes) } }
  }
}
