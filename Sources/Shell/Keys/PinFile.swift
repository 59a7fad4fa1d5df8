import CLibc
public import Core

/// Our own file of host keys: each host's are taken on trust once and pinned. It has
/// OpenSSH's format, so that both transports share it, but nothing in it is passed
/// over: a line that cannot be understood may have been anybody's pin.
public struct PinFile: Sendable {
  /// Where it is.
  public let path: String
  let entries: [HostKeyLine]
  private let bytes: [UInt8]

  private static let sizeLimit = 16 << 20

  /// Reads the file; one that is not there has no pins.
  ///
  /// - Throws: `Failure`, `denied`, when it cannot be read or a line of it is
  ///   damaged: the message names both.
  public init(path: String) throws(Failure) {
    self.path = path
    bytes =
      try Failure.rethrowing(try StateFile(path: path).read(limit: Self.sizeLimit), as: \.asDenied)
      ?? []
    // Without a folder for it nothing can be pinned, and OpenSSH would go on without.
    if bytes.isEmpty, access(path, F_OK) != 0, systemError == ENOTDIR {
      throw Failure(path, systemReason(ENOTDIR), .denied)
    }
    let (entries, faults) = HostKeyLine.readAll(bytes)
    if let fault = faults.first {
      throw Failure(
        "\(path):\(fault.number)", "\(fault.reason); no host is trusted until it is fixed",
        .denied)
    }
    self.entries = entries
  }

  /// Makes the file if it is missing: OpenSSH would make it for everybody to read. One
  /// that can only be read is good, too.
  static func make(_ path: String) throws(Failure) {
    let place = try Failure.rethrowing(try OwnPath.resolve(path), as: \.asDenied)
    let descriptor = clibc_append(place)
    if descriptor >= 0 {
      close(descriptor)
    } else if access(place, R_OK) != 0 {
      throw Failure(path, systemReason(systemError), .denied)
    }
  }

  /// Reads the file and forgets it: for those that leave its use to OpenSSH, which
  /// passes over damaged lines.
  ///
  /// - Throws: as `init`.
  public static func check(_ path: String) throws(Failure) { _ = try PinFile(path: path) }

  /// The keys that are pinned for a host.
  public func keys(of place: HostKeyPlace) -> [HostKey] { pins(of: place).map(\.key) }

  func pins(of place: HostKeyPlace) -> [HostKeyLine] { entries.filter { $0.isPin(of: place) } }

  /// Pins a key, unless it is already. Others who pin at the same time wait for
  /// each other.
  ///
  /// - Throws: `Failure`, `denied` when the host has got another key of this
  ///   type meanwhile.
  public static func add(
    _ key: HostKey, of place: HostKeyPlace, to path: String
  ) throws(Failure) {
    try FileLock.hold(beside: path) { () throws(Failure) in
      let file = try PinFile(path: path)
      let pins = file.keys(of: place)
      if pins.contains(key) { return }
      if let other = pins.first(where: { $0.type == key.type }) {
        throw Failure(
          place.key, "pinned by another command just now, with the key \(other.fingerprint)",
          .denied)
      }
      let gap = file.bytes.isEmpty || file.bytes.last == 10 ? "" : "\n"
      try append(Array("\(gap)\(place.key) \(key.text)\n".utf8), to: path)
    }
  }

  /// Adds a line in one go. OpenSSH, which knows no lock, may add one at the same time: a
  /// file that were replaced would lose it.
  private static func append(_ line: [UInt8], to path: String) throws(Failure) {
    let descriptor = try Failure.rethrowing(try OwnPath.append(path), as: \.asDenied)
    defer { close(descriptor) }
    fchmod(descriptor, 0o600)
    let end = lseek(descriptor, 0, SEEK_END)
    let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count == line.count, fsync(descriptor) == 0 { return }
    let code = count < 0 || count == line.count ? systemError : ENOSPC
    // Part of a line would be a damaged file.
    if count > 0, count < line.count { _ = ftruncate(descriptor, end) }
    throw Failure(path, systemReason(code), .denied)
  }

  /// Drops the pins of a host at this port; every other byte of the file stays.
  /// What a pattern says of many hosts, or a marker, is not a pin of this one.
  ///
  /// - Returns: the keys that were dropped.
  public static func forget(
    _ place: HostKeyPlace, in path: String
  ) throws(Failure) -> [HostKey] {
    guard access(path, F_OK) == 0 else { return [] }
    return try FileLock.hold(beside: path) { () throws(Failure) in
      let file = try PinFile(path: path)
      var dropped: [HostKey] = []
      var lines = HostKeyLine.split(file.bytes)
      for entry in file.entries where entry.marker == .trusted {
        let text = entry.hosts.text
        let rest = entry.hosts.without(place.key)
        if rest == text { continue }
        dropped.append(entry.key)
        let line = lines[entry.number - 1]
        lines[entry.number - 1] =
          rest.map { Array(line[..<text.startIndex] + $0 + line[text.endIndex...])[...] } ?? []
      }
      if !dropped.isEmpty { try StateFile(path: path).replace(with: Array(lines.joined())) }
      return dropped
    }
  }
}

/// OpenSSH's own file of host keys, which we honour and never write. As OpenSSH does,
/// lines that make no sense are passed over.
struct KnownHostsFile: Sendable {
  let path: String
  let entries: [HostKeyLine]
  /// The lines that were passed over: `FILE:LINE: why`.
  let notes: [String]
  let revocations: [UInt8]

  private static let sizeLimit = 16 << 20

  init(path: String) throws(Failure) {
    self.path = path
    let bytes = try Failure.rethrowing(
      try StateFile(path: path).read(limit: Self.sizeLimit), as: \.asDenied)
    guard let bytes else { throw Failure(path, "no such file or directory", .denied) }
    let (entries, faults) = HostKeyLine.readAll(bytes)
    self.entries = entries
    let lines = HostKeyLine.split(bytes)
    revocations = entries.filter { $0.marker == .revoked }.flatMap { entry in
      lines[entry.number - 1].prefix { $0 != 10 && $0 != 13 } + [10]
    }
    notes = faults.prefix(10).map { "\(path):\($0.number): passed over: \($0.reason)" }
  }
}
