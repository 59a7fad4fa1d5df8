import Core
import Testing

@testable import Shell

@Suite struct PrivateKeyFileTests {
  let box = KeyBox()

  private func file(_ options: String) throws -> PrivateKeyFile {
    _ = box.run("rm -f private private.pub; ssh-keygen -q -f private \(options)")
    return try PrivateKeyFile(path: box.file("private"))
  }

  @Test func whatCanBeToldOfAKey() throws {
    let plain = try file("-t ed25519 -N ''")
    #expect(!plain.isEncrypted && plain.publicKey?.type == "ssh-ed25519")
    let locked = try file("-t ecdsa -N secret")
    #expect(locked.isEncrypted && locked.publicKey?.type == "ecdsa-sha2-nistp256")
    let shown = try #require(box.run("ssh-keygen -lf private.pub"))
    #expect(shown.split(separator: " ")[1] == locked.publicKey?.fingerprint ?? "")
    #expect(try file("-t rsa -b 1024 -N ''").publicKey?.type == "ssh-rsa")
  }

  @Test func theOlderForm() throws {
    let plain = try file("-t ecdsa -m PEM -N ''")
    #expect(!plain.isEncrypted && plain.publicKey == nil)
    let locked = try file("-t ecdsa -m PEM -N secret")
    #expect(locked.isEncrypted && locked.publicKey == nil)
    #expect(try file("-t ecdsa -m PKCS8 -N secret").isEncrypted)
    #expect(try !file("-t ecdsa -m PKCS8 -N ''").isEncrypted)
  }

  @Test func whatIsNoKey() throws {
    for content in [
      "", "hello\n", "-----BEGIN CERTIFICATE-----\nAAAA\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n",
      "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
    ] {
      var bytes = Array(content.utf8)
      #expect(throws: Failure.self, "\(content)") {
        try PrivateKeyFile(path: "x", bytes: &bytes)
      }
    }
    #expect(throws: Failure.self) { try PrivateKeyFile(path: box.file("none")) }
    #expect(throws: Failure.self) { try PrivateKeyFile(path: "/dev/null") }
  }

  @Test func aKeyForAllEyesIsRefused() throws {
    _ = try file("-t ed25519 -N ''")
    _ = box.run("chmod 644 private")
    do throws(Failure) {
      _ = try PrivateKeyFile(path: box.file("private"))
      Issue.record("taken")
    } catch {
      #expect(error.status == .denied)
    }
  }

  /// What is read of it is overwritten where it was read to.
  @Test func nothingIsLeftBehind() throws {
    _ = try file("-t ed25519 -N ''")
    let text = try #require(box.run("cat private"))
    var bytes = Array(text.utf8)
    let read = try PrivateKeyFile(path: "x", bytes: &bytes)
    #expect(bytes.isEmpty)
    #expect(Array(read.content.bytes) == Array(text.utf8))
    read.content.wipe()
    #expect(read.content.bytes.allSatisfy { $0 == 0 })
  }
}

extension SecretBytes {
  fileprivate var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text, count: count)
  }
}
