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
