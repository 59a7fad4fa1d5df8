import Core

/// OpenSSH's own file of host keys, which we honour and never write. As OpenSSH does,
/// lines that make no sense are passed over.
struct KnownHostsFile: Sendable {
  let path: String
  let entries: [HostKeyLine]
  /// The lines that were passed over: `FILE:LINE: why`.
  let notes: [String]
  /// The lines that revoke keys, as they stand.
  let revocations: [UInt8]

  private static let sizeLimit = 16 << 20

  /// - Throws: `SettingsError`, `denied`, when it is not there or cannot be read: what
  ///   it revokes would be believed.
  init(path: String) throws(SettingsError) {
    self.path = path
    let bytes: [UInt8]?
    do throws(SettingsError) {
      bytes = try StateFile(path: path).read(limit: Self.sizeLimit)
    } catch {
      throw error.asDenied
    }
    guard let bytes else { throw SettingsError(path, "no such file or directory", .denied) }
    let (entries, faults) = HostKeyLine.readAll(bytes)
    self.entries = entries
    let lines = HostKeyLine.split(bytes)
    revocations = entries.filter { $0.marker == .revoked }.flatMap { entry in
      lines[entry.number - 1].prefix { $0 != 10 && $0 != 13 } + [10]
    }
    notes = faults.prefix(10).map { "\(path):\($0.number): passed over: \($0.reason)" }
  }
}
