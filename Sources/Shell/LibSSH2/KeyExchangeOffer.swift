import CSSH2

/// The algorithms that one side offers when keys are exchanged (RFC 4253, 7.1): a list for each of
/// `kinds`, best first.
struct KeyExchangeOffer: Equatable, Sendable {
  var lists: [[String]]

  /// What is agreed on: to the host, and from it. The words, and libssh2's numbers.
  static let kinds: [(name: String, method: Int32)] = [
    ("key exchange", LIBSSH2_METHOD_KEX), ("host key", LIBSSH2_METHOD_HOSTKEY),
    ("cipher", LIBSSH2_METHOD_CRYPT_CS), ("cipher", LIBSSH2_METHOD_CRYPT_SC),
    ("MAC", LIBSSH2_METHOD_MAC_CS), ("MAC", LIBSSH2_METHOD_MAC_SC),
  ]

  init(_ lists: [[String]]) { self.lists = lists }

  /// Reads a host's greeting: lines, `SSH-`, the packet; nil when damaged or not all there yet.
  init?(greeting: [UInt8]) {
    guard var rest = Self.behindVersion(greeting[...]) else { return nil }
    guard rest.count > 5 else { return nil }
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let padding = Int(rest[rest.startIndex + 4])
    guard length >= padding + 1, length <= rest.count - 4 else { return nil }
    rest = rest.dropFirst(5).prefix(length - 1 - padding)
    guard rest.first == 20, rest.count > 17 else { return nil }
    var reader = WireReader(rest.dropFirst(17))
    lists = []
    while lists.count < Self.kinds.count, let list = reader.string() {
      lists.append(
        list.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) })
    }
    guard lists.count == Self.kinds.count else { return nil }
  }

  /// What a client that makes this offer cannot agree on with a host's, in words with
  /// both lists; nil when they can agree.
  func mismatch(with host: KeyExchangeOffer) -> String? {
    var parts: [String] = []
    for (index, kind) in Self.kinds.enumerated() {
      let (ours, theirs) = (lists[index], host.lists[index])
      if ours.contains(where: theirs.contains) { continue }
      let part =
        "\(kind.name) (host: \(theirs.joined(separator: ",")); ours: \(ours.joined(separator: ",")))"
      if parts.last != part { parts.append(part) }
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// The first line that a host sent, when none of its lines is a version of SSH; for
  /// the message. Not escaped.
  static func strangeLine(_ greeting: [UInt8]) -> String? {
    guard !greeting.isEmpty, behindVersion(greeting[...]) == nil, !greeting.starts(with: marker)
    else { return nil }
    let line = greeting.prefix { $0 != 10 && $0 != 13 }.prefix(80)
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static let marker = Array("SSH-".utf8)

  private static func behindVersion(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = bytes
    while let end = rest.firstIndex(of: 10) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.starts(with: marker) { return rest }
    }
    return nil
  }
}

/// What libssh2 may use: it would also offer arcfour, 3DES, MD5 and 1024-bit groups.
enum SSH2Algorithms {
  static let exchange = ["curve25519-sha256", "curve25519-sha256@libssh.org"]
  static let hostKey = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
  ]
  static let cipher = ["aes256-ctr", "aes128-ctr"]
  static let mac = ["hmac-sha2-256", "hmac-sha2-512"]

  /// The types of keys that a user can sign in with: RSA would be signed with SHA-1.
  static let userKeys = hostKey

  /// What is offered: of the above what libssh2 has, host keys that are known first.
  static func offer(
    knownHostKeyTypes known: [String], supported: (Int32) -> [String]
  ) -> KeyExchangeOffer {
    // The order of `known` counts, and no name may stand twice.
    let ordered = known.filter(hostKey.contains) + hostKey.filter { !known.contains($0) }
    let wanted = [exchange, ordered, cipher, cipher, mac, mac]
    return KeyExchangeOffer(
      zip(wanted, KeyExchangeOffer.kinds).map { names, kind in
        let supported = supported(kind.method)
        return names.filter(supported.contains)
      })
  }
}
