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
    HostKeyPlace(host: destination.host, port: destination.port ?? 22)
  }
}
