import CSSH2
import Testing

@testable import Shell

extension KeyExchangeOffer {
  fileprivate var exchange: [String] { lists[0] }
  fileprivate var hostKey: [String] { lists[1] }
  fileprivate var cipher: [String] { lists[2] }
  fileprivate var cipherBack: [String] { lists[3] }
  fileprivate var mac: [String] { lists[4] }
  fileprivate var macBack: [String] { lists[5] }
}

@Suite struct KeyExchangeOfferTests {
  private static let lists = [
    "curve25519-sha256,ecdh-sha2-nistp256", "ssh-ed25519", "aes128-ctr,aes256-ctr", "aes256-ctr",
    "hmac-sha2-256", "hmac-sha2-512", "none", "none", "", "",
  ]

  /// A host's first bytes.
  private static func greeting(
    _ before: String = "SSH-2.0-OpenSSH_9.2\r\n", lists: [String] = lists
  ) -> [UInt8] {
    var payload: [UInt8] = [20] + [UInt8](repeating: 7, count: 16)
    for list in lists { payload += [0, 0, 0, UInt8(list.utf8.count)] + Array(list.utf8) }
    payload += [0, 0, 0, 0, 0]
    let length = payload.count + 1 + 4
    let packet = [0, 0, UInt8(length >> 8), UInt8(length & 255), 4] + payload + [0, 0, 0, 0]
    return Array(before.utf8) + packet
  }

  @Test func readsAHostsOffer() throws {
    let offer = try #require(KeyExchangeOffer(greeting: Self.greeting()))
    #expect(offer.exchange == ["curve25519-sha256", "ecdh-sha2-nistp256"])
    #expect(offer.hostKey == ["ssh-ed25519"])
    #expect(offer.cipher == ["aes128-ctr", "aes256-ctr"])
    #expect(offer.cipherBack == ["aes256-ctr"])
    #expect(offer.mac == ["hmac-sha2-256"])
    #expect(offer.macBack == ["hmac-sha2-512"])
  }

  @Test func linesMayComeBeforeTheVersion() {
    let lines = "Welcome\r\nto SSH\nSSH-2.0-x\n"
    #expect(KeyExchangeOffer(greeting: Self.greeting(lines)) != nil)
    #expect(KeyExchangeOffer(greeting: Self.greeting("SSH-2.0-x\r\n") + [1, 2, 3]) != nil)
  }

  @Test func whatIsCutOffIsNone() {
    let whole = Self.greeting()
    for count in 0..<whole.count {
      #expect(KeyExchangeOffer(greeting: Array(whole[..<count])) == nil, "\(count) bytes")
    }
  }

  @Test func whatIsDamagedIsNone() {
    let whole = Self.greeting()
    // Nothing that a host sends may end the process.
    for index in whole.indices {
      for value: UInt8 in [0, 1, 0x7f, 0xff] {
        var damaged = whole
        damaged[index] = value
        _ = KeyExchangeOffer(greeting: damaged)
        _ = KeyExchangeOffer.strangeLine(damaged)
      }
    }
    #expect(KeyExchangeOffer(greeting: Self.greeting(lists: [])) == nil)
  }

  @Test func namesWhatDoesNotFit() throws {
    let ours = SSH2Algorithms.offer(knownHostKeyTypes: []) { _ in SSH2AlgorithmsTests.all }
    let theirs = try #require(KeyExchangeOffer(greeting: Self.greeting()))
    #expect(ours.mismatch(with: theirs) == nil)
    var hardened = theirs
    hardened.lists[4] = ["hmac-sha2-256-etm@openssh.com"]
    hardened.lists[5] = hardened.mac
    #expect(
      ours.mismatch(with: hardened)
        == "MAC (host: hmac-sha2-256-etm@openssh.com; ours: hmac-sha2-256,hmac-sha2-512)")
    hardened.lists[0] = ["sntrup761x25519-sha512@openssh.com"]
    let words = try #require(ours.mismatch(with: hardened))
    #expect(words.hasPrefix("key exchange (host: sntrup761x25519-sha512@openssh.com; ours: curve"))
    #expect(
      words.hasSuffix(
        "; MAC (host: hmac-sha2-256-etm@openssh.com; ours: hmac-sha2-256,hmac-sha2-512)"))
  }

  @Test func whatIsNoSSHServer() {
    let answer = Array("HTTP/1.1 400 Bad Request\r\nServer: x\r\n".utf8)
    #expect(KeyExchangeOffer.strangeLine(answer) == "HTTP/1.1 400 Bad Request")
    #expect(KeyExchangeOffer.strangeLine([]) == nil)
    #expect(KeyExchangeOffer.strangeLine(Array("SSH-2.0-Op".utf8)) == nil)
    #expect(KeyExchangeOffer.strangeLine(Self.greeting("Hello\r\nSSH-2.0-x\r\n")) == nil)
  }
}

@Suite struct SSH2AlgorithmsTests {
  /// More than any libssh2 has.
  static let all = [
    "curve25519-sha256", "curve25519-sha256@libssh.org", "diffie-hellman-group1-sha1",
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
    "aes256-ctr", "aes128-ctr", "arcfour", "3des-cbc", "hmac-sha2-256", "hmac-sha2-512", "hmac-md5",
  ]

  @Test func nothingOldIsOffered() {
    let offer = SSH2Algorithms.offer(knownHostKeyTypes: ["ssh-rsa"]) { _ in Self.all }
    #expect(offer.exchange == ["curve25519-sha256", "curve25519-sha256@libssh.org"])
    #expect(offer.hostKey.first == "ssh-ed25519" && offer.hostKey.count == 4)
    #expect(offer.cipher == ["aes256-ctr", "aes128-ctr"] && offer.cipherBack == offer.cipher)
    #expect(offer.mac == ["hmac-sha2-256", "hmac-sha2-512"] && offer.macBack == offer.mac)
  }

  /// A host with an ECDSA pin must not seem changed because it has another key, too.
  @Test func pinnedTypesComeFirst() {
    let offer = SSH2Algorithms.offer(
      knownHostKeyTypes: ["ecdsa-sha2-nistp384", "ssh-rsa", "ssh-ed25519"]
    ) { _ in Self.all }
    #expect(
      offer.hostKey == [
        "ecdsa-sha2-nistp384", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521",
      ])
  }

  @Test func whatTheLibraryLacksIsLeftOut() {
    let offer = SSH2Algorithms.offer(knownHostKeyTypes: []) { method in
      method == LIBSSH2_METHOD_CRYPT_CS ? ["aes128-ctr"] : Self.all
    }
    #expect(offer.cipher == ["aes128-ctr"])
  }
}
