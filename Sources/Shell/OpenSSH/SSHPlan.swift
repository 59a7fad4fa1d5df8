import CLibc
import Core

/// How a host is reached by OpenSSH: its command line, and what its log is read with.
struct SSHPlan {
  let command: SSHCommand
  /// Where the host's keys are.
  let place: HostKeyPlace
  private let policy: HostKeyPolicy
  private let silence: Double

  /// - Throws: `SettingsError`, `denied`, for files of keys that cannot be believed.
  init(_ request: LinkRequest, _ settings: SSHSettings, program: String) throws(SettingsError) {
    let destination = request.destination
    place =
      settings.keyPlace ?? HostKeyPlace(host: destination.host, port: destination.port ?? 22)
    policy = try HostKeyPolicy(pins: request.pins, knownHosts: request.options.knownHosts)
    for note in policy.notes { request.note(note) }
    var command = SSHCommand(program: program, destination: destination, settings: settings)
    command.knownHosts = try policy.filesForOpenSSH(
      host: place.host, port: place.port, folder: request.stateFolder)
    command.identity = request.identity
    command.usesAgent = request.options.usesAgent
    let own = OwnKey.path(in: request.stateFolder)
    command.ownKey = access(own, R_OK) == 0 ? own : nil
    command.connectTimeout = request.connectTimeout
    command.keepalive = request.options.keepalive
    self.command = command
    silence = request.options.keepalive * 3
  }

  /// Why an ssh ended.
  func judge(_ log: SSHLog, _ child: ChildProcess, _ talk: [String]) -> Ending {
    let place = place
    let policy = policy
    let settings = command.settings
    let destination = command.destination
    var facts = SSHLog.Circumstances { type, fingerprint, isRevoked in
      var warning = policy.warning(
        host: place.host, port: place.port, type: type, fingerprint: fingerprint)
      warning.alias = destination
      if isRevoked, !warning.isRevoked {
        // By a file of OpenSSH's own.
        warning.isRevoked = true
        warning.known = []
      }
      return warning.ending
    }
    facts.status = child.exitStatus
    facts.signal = child.endSignal
    facts.talk = talk
    facts.hasProxy = settings.value("proxyjump") != nil || settings.value("proxycommand") != nil
    facts.silence = silence
    facts.ours = { settings.list($0) }
    return log.ending(facts)
  }
}
