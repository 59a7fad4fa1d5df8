import Core
import Testing

@testable import Shell

@Suite struct HostKeyTests {
  let box = KeyBox()

  @Test(arguments: [
    "ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 1024", "rsa -b 2048",
  ])
  func aFingerprintIsWhatSshKeygenShows(kind: String) throws {
    let key = box.key(kind)
    let shown = try #require(box.run("ssh-keygen -lf key.pub")).split(separator: " ")
    #expect(shown[0] == "\(key.bits)")
    #expect(shown[1] == key.fingerprint)
    #expect(shown.last == "(\(key.kind))\n")
  }

  @Test(arguments: ["ed25519", "ecdsa", "rsa -b 1024"])
  func aKeyThatLacksOrHasTooMuchIsNone(kind: String) {
    let key = box.key(kind)
    #expect(HostKey(blob: key.blob) == key)
    for count in 0..<key.blob.count { #expect(HostKey(blob: Array(key.blob[..<count])) == nil) }
    #expect(HostKey(blob: key.blob + [0]) == nil)
    // A length that reaches further, or less far.
    for index in 0..<4 {
      for bit in 0..<8 as Range<UInt8> {
        var blob = key.blob
        blob[index] ^= 1 << bit
        #expect(HostKey(blob: blob) == nil)
      }
    }
  }

  @Test func onlyItsOwnTypeAndProperBase64() {
    let key = KeyBox.key(7)
    let base64 = Array(Base64.text(key.blob).utf8)
    #expect(HostKey(type: "ssh-ed25519", base64: base64[...]) == key)
    for type in ["ssh-rsa", "", "SSH-ED25519", "ecdsa-sha2-nistp256"] {
      #expect(HostKey(type: type, base64: base64[...]) == nil)
    }
    for index in base64.indices {
      for byte in [0x20, 0x3d, 0x2d, 0x0a, 0xc3, 0x5f] as [UInt8] {
        var damaged = base64
        damaged[index] = byte
        #expect(HostKey(type: "ssh-ed25519", base64: damaged[...]) == nil)
      }
    }
    #expect(HostKey(type: "ssh-ed25519", base64: base64.dropLast()) == nil)
  }
}
