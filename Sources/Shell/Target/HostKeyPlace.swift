import Core

/// The name under which a host's keys are kept.
public struct HostKeyPlace: Equatable, Sendable {
  /// A name or address.
  public var host: String
  /// 1 to 65535; OpenSSH's HostKeyAlias has none, which is 22.
  public var port: Int
  /// As it stands in the file: `box`, `[box]:2222`.
  public var name: String { Destination.pinName(host: host, port: port) }
}

extension LinkRequest {
  /// Where the host's keys are: with OpenSSH, its configuration may know the host by
  /// another name.
  ///
  /// - Throws: `SettingsError` when OpenSSH is asked for and does not say.
  public func hostKeyPlace() throws(SettingsError) -> HostKeyPlace {
    let plain = HostKeyPlace(host: destination.host, port: destination.port ?? 22)
    guard options.transport != .libssh2 else { return plain }
    let question = SSHQuestion(
      SSHCommand.question(program: OpenSSHLink.program, destination), now: Clock.monotonic)
    var set = PollSet()
    while case .none = question.answer {
      set.removeAll()
      question.wants(&set)
      set.wait(seconds: question.deadline - Clock.monotonic)
      question.advance(now: Clock.monotonic)
    }
    switch question.answer {
    case .settings(let settings): return settings.keyPlace ?? plain
    case .missing where options.transport == .auto: return plain
    case .failed(let why): throw SettingsError("ssh", why)
    case .missing, .none: throw SettingsError(OpenSSHLink.program, "not installed")
    }
  }
}
