import CSSH2

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
  ///
  /// - Parameters:
  ///   - known: types of the keys that are known for the host.
  ///   - supported: names that libssh2 has for one of its `LIBSSH2_METHOD_...`.
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
