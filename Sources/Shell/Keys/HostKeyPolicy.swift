import CLibc
import Core

/// What is to be done with a key that a host shows: the one place where trust is
/// decided for the libssh2 transport. The same files are given to OpenSSH.
struct HostKeyPolicy: Sendable {
  private let place: HostKeyPlace
  private let pins: PinFile
  private let knownHosts: KnownHostsFile?

  /// Reads both files.
  ///
  /// - Parameters:
  ///   - pins: our file, which need not exist.
  ///   - knownHosts: OpenSSH's, which must; nil for none.
  /// - Throws: `Failure`, `denied`: see `PinFile`, `KnownHostsFile`.
  init(_ place: HostKeyPlace, pins: String, knownHosts: String?) throws(Failure) {
    self.place = place
    self.pins = try PinFile(path: pins)
    self.knownHosts =
      if let knownHosts { try KnownHostsFile(path: knownHosts) } else { nil }
  }

  /// What `-v` tells about the files: lines that were passed over.
  var notes: [String] { knownHosts?.notes ?? [] }

  /// The types of the keys that are known for a host, the pinned ones first: a host
  /// that is asked for another one would seem to have changed.
  var preferredTypes: [String] {
    trusted.map(\.entry.key.type).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Whether a host that has no pin is to show a certificate, or a key that is known
  /// already: an authority signs keys of its name. Nothing is pinned at first sight then.
  var needsCertificate: Bool {
    guard pins.pins(of: place).isEmpty else { return false }
    return (pins.entries + (knownHosts?.entries ?? [])).contains { entry in
      entry.marker == .authority && place.names.contains(where: entry.hosts.matches)
    }
  }

  /// Decides about a key in its wire form: one that is pinned, or that OpenSSH's file vouches for,
  /// is good, and so is any where the host has no pin yet.
  ///
  /// - Returns: whether it is new: `pin` it, and tell its fingerprint.
  /// - Throws: why nothing more may be sent: it is another one than the pinned one, or revoked.
  func judge(_ key: [UInt8]) throws(HostFailure) -> Bool {
    guard let key = HostKey(blob: key) else {
      throw .hostKeyUnknown(why: "\(place.key): shows a damaged host key")
    }
    let wall = warning(type: key.type, fingerprint: key.fingerprint)
    if wall.isRevoked { throw wall.failure }
    let pinned = pins.pins(of: place)
    if pinned.contains(where: { $0.key == key }) { return false }
    let known = trusted
    if pinned.isEmpty {
      if known.contains(where: { $0.entry.key == key }) { return false }
      if needsCertificate {
        throw .hostKeyUnknown(
          why: "\(place.key): its key is not known, and libssh2 reads no certificates of hosts"
            + " (@cert-authority): take --transport ssh")
      }
      if known.isEmpty {
        // OpenSSH takes the key of another port, too.
        let isKnown = knownHosts?.entries.contains {
          $0.marker == .trusted && $0.key == key && $0.hosts.matches(place.names[1])
        }
        return isKnown != true
      }
    }
    throw wall.failure
  }

  /// Pins a key that is `new`, before anything is sent to the host.
  ///
  /// - Throws: `Failure`, `denied` when another command pinned another key in
  ///   the meantime.
  func pin(_ key: HostKey) throws(Failure) {
    try PinFile.add(key, of: place, to: pins.path)
  }

  /// What the user is told when a host shows another key than the known ones, or one
  /// that is revoked.
  ///
  /// - Parameters:
  ///   - type: of the key that the host shows, `ssh-ed25519`.
  ///   - fingerprint: of it, `SHA256:...`.
  func warning(type: String, fingerprint: String) -> HostKeyWarning {
    let revoked = revocation(fingerprint)
    return HostKeyWarning(
      place: place, type: type, fingerprint: fingerprint, known: revoked.map { [$0] } ?? trusted,
      pins: pins.path, isRevoked: revoked != nil)
  }

  /// The files for OpenSSH's UserKnownHostsFile. It takes a key that any of them knows,
  /// or signed, so that beside a pin only what the other file revokes may be in its sight.
  ///
  /// - Parameter folder: the state folder, for the file of revoked keys.
  /// - Throws: `Failure`.
  func filesForOpenSSH(folder: String) throws(Failure) -> [String] {
    try PinFile.make(pins.path)
    guard let knownHosts else { return [pins.path] }
    let pinned = pins.keys(of: place)
    let others = trusted.map(\.entry.key)
    let hasAuthority = knownHosts.entries.contains { $0.marker == .authority }
    if pinned.isEmpty || !hasAuthority && others.allSatisfy(pinned.contains) {
      return [pins.path, knownHosts.path]
    }
    guard !knownHosts.revocations.isEmpty else { return [pins.path] }
    let file = StateFile(path: folder + "/known_hosts.revoked")
    if try file.read(limit: 16 << 20) != knownHosts.revocations {
      try file.replace(with: knownHosts.revocations)
    }
    return [pins.path, file.path]
  }

  /// What both files say of a host, ours first.
  private var trusted: [(file: String, entry: HostKeyLine)] {
    let known = knownHosts?.entries.filter { $0.isPin(of: place) } ?? []
    return pins.pins(of: place).map { (pins.path, $0) } + known.map { (knownHosts?.path ?? "", $0) }
  }

  /// A key that was stolen is not to be believed at another port, either.
  private func revocation(_ fingerprint: String) -> (file: String, entry: HostKeyLine)? {
    let files = [(pins.path, pins.entries)] + (knownHosts.map { [($0.path, $0.entries)] } ?? [])
    for (path, entries) in files {
      let entry = entries.first { entry in
        entry.marker == .revoked && place.names.contains(where: entry.hosts.matches)
          && entry.key.fingerprint == fingerprint
      }
      if let entry { return (path, entry) }
    }
    return nil
  }
}

/// The wall before a host whose key is not the known one: what the user reads.
struct HostKeyWarning {
  /// The host, as it is connected to.
  var place: HostKeyPlace
  /// The host as the user names it, where that is something else.
  var alias: Destination?
  /// The type of the key that it shows.
  var type: String
  /// The fingerprint of it.
  var fingerprint: String
  /// What the files hold; of a revoked key, the line that revokes it.
  var known: [(file: String, entry: HostKeyLine)]
  /// Our own file, of which `--forget` drops a key.
  var pins: String
  /// Whether the key is one that must never be believed.
  var isRevoked: Bool

  /// The reason for which everything ends here.
  var failure: HostFailure { .hostKeyChanged(explanation: lines) }

  /// One line each, the first of which says it all. Nothing in them is of the host's
  /// making but the type of its key.
  var lines: [String] {
    let name = place.name
    if isRevoked {
      return [
        "\(name): HOST KEY REVOKED: this may be a man in the middle",
        "the host shows:  \(describe(type, fingerprint))",
      ]
        + known.map { "which is revoked by \($0.file):\($0.entry.number)" }
        + ["nothing was sent to it; connect when it has got a new key"]
    }
    var lines = [
      "\(name): HOST KEY CHANGED: this may be a man in the middle, reading along",
      "the host shows:  \(describe(type, fingerprint))",
    ]
    for (file, entry) in known {
      lines.append(
        (file == pins ? "pinned is:       " : "known is:        ")
          + "\(describe(entry.key.type, entry.key.fingerprint)) (\(file):\(entry.number))")
    }
    lines.append("nothing was sent to it, no key of yours either")
    lines.append(
      "ask its keeper, or look there: ssh-keygen -lf /etc/ssh/ssh_host_"
        + "\(HostKey.kind(of: type).lowercased())_key.pub")
    lines.append(
      known.contains { $0.file == pins }
        ? "if the new key is right: tmux-attach --forget \(operand), and connect again"
        : "if the new key is right: ssh-keygen -R '\(name)' -f \(known.first?.file ?? "FILE")")
    return lines
  }

  private var operand: String {
    let port = place.port == 22 ? nil : place.port
    let (host, shown) = alias.map { ($0.name, $0.port) } ?? (place.host, port)
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return shown.map { "\(name):\($0)" } ?? name
  }

  private func describe(_ type: String, _ fingerprint: String) -> String {
    "\(HostKey.kind(of: type)) \(fingerprint)"
  }
}
