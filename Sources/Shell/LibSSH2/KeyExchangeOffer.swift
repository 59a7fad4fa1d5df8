import CSSH2

/// The algorithms that one side offers when keys are exchanged (RFC 4253, 7.1), best
/// first.
struct KeyExchangeOffer: Equatable, Sendable {
  var exchange: [String] = []
  var hostKey: [String] = []
  /// Ciphers, to the host and from it.
  var cipher: [String] = []
  var cipherBack: [String] = []
  /// Message authentication, to the host and from it.
  var mac: [String] = []
  var macBack: [String] = []

  init() {}

  /// Reads the offer out of the bytes with which a host begins: perhaps lines of any
  /// kind, one that starts with `SSH-`, then the packet. All of it is in the clear.
  ///
  /// - Returns: nil when it is damaged, or not all there yet.
  init?(greeting: [UInt8]) {
    guard var rest = Self.behindVersion(greeting[...]) else { return nil }
    guard rest.count > 5 else { return nil }
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let padding = Int(rest[rest.startIndex + 4])
    guard length >= padding + 1, length <= rest.count - 4 else { return nil }
    rest = rest.dropFirst(5).prefix(length - 1 - padding)
    guard rest.first == 20, rest.count > 17 else { return nil }
    var reader = WireReader(rest.dropFirst(17))
    var lists: [[String]] = []
    while lists.count < 6, let list = reader.string() {
      lists.append(
        list.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) })
    }
    guard lists.count == 6 else { return nil }
    exchange = lists[0]
    hostKey = lists[1]
    cipher = lists[2]
    cipherBack = lists[3]
    mac = lists[4]
    macBack = lists[5]
  }

  /// What a client that makes this offer cannot agree on with a host's, in words with
  /// both lists; nil when they can agree.
  func mismatch(with host: KeyExchangeOffer) -> String? {
    let kinds: [(String, [String], [String])] = [
      ("key exchange", exchange, host.exchange),
      ("host key", hostKey, host.hostKey),
      ("cipher", cipher, host.cipher),
      ("cipher", cipherBack, host.cipherBack),
      ("MAC", mac, host.mac),
      ("MAC", macBack, host.macBack),
    ]
    var parts: [String] = []
    for (kind, ours, theirs) in kinds where !ours.contains(where: theirs.contains) {
      let part =
        "\(kind) (host: \(theirs.joined(separator: ",")); ours: \(ours.joined(separator: ",")))"
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
    func usable(_ names: [String], _ method: Int32) -> [String] {
      let supported = supported(method)
      return names.filter(supported.contains)
    }
    var offer = KeyExchangeOffer()
    offer.exchange = usable(exchange, LIBSSH2_METHOD_KEX)
    // The order of `known` counts, and no name may stand twice.
    let ordered = known.filter(hostKey.contains) + hostKey.filter { !known.contains($0) }
    offer.hostKey = usable(ordered, LIBSSH2_METHOD_HOSTKEY)
    offer.cipher = usable(cipher, LIBSSH2_METHOD_CRYPT_CS)
    offer.cipherBack = offer.cipher
    offer.mac = usable(mac, LIBSSH2_METHOD_MAC_CS)
    offer.macBack = offer.mac
    return offer
  }

  /// The offer as libssh2 takes it.
  static func methods(of offer: KeyExchangeOffer) -> [(Int32, [String])] {
    [
      (LIBSSH2_METHOD_KEX, offer.exchange), (LIBSSH2_METHOD_HOSTKEY, offer.hostKey),
      (LIBSSH2_METHOD_CRYPT_CS, offer.cipher), (LIBSSH2_METHOD_CRYPT_SC, offer.cipherBack),
      (LIBSSH2_METHOD_MAC_CS, offer.mac), (LIBSSH2_METHOD_MAC_SC, offer.macBack),
    ]
  }
}
