import CLibc
import Core
import TestSupport
import Testing

@testable import Shell

@Suite struct PinFileTests {
  let box = KeyBox()
  let key = KeyBox.key(1)

  @Test func nothingIsNoPin() throws {
    #expect(try PinFile(path: box.file("none")).keys(of: HostKeyPlace(host: "box", port: 22)) == [])
    for text in ["", "\n", "\r\n", "# comment\n\n  # another\r\n\t\n", "#"] {
      box.write("pins", text)
      #expect(try PinFile(path: box.file("pins")).entries.isEmpty)
    }
  }

  @Test func allFormsOfOpenSSH() throws {
    let rsa = box.key("rsa -b 1024")
    box.write(
      "pins",
      """
      # ours
      box \(key.text)\r
      \tbox,[box]:2222   \(rsa.text)   a comment, of any words
      * sk-ssh-ed25519@openssh.com \(Base64.text(sk))
      @revoked * \(KeyBox.key(9).text)
      @cert-authority *.example \(key.text)
      [box]:22022 \(key.text)
      """)
    let file = try PinFile(path: box.file("pins"))
    #expect(file.entries.map(\.number) == [2, 3, 4, 5, 6, 7])
    #expect(file.keys(of: HostKeyPlace(host: "BOX", port: 22)).prefix(2) == [key, rsa])
    #expect(file.keys(of: HostKeyPlace(host: "box", port: 2222)).first == rsa)
    #expect(file.keys(of: HostKeyPlace(host: "box", port: 22022)).last == key)
  }

  private var sk: [UInt8] {
    let type = Array("sk-ssh-ed25519@openssh.com".utf8)
    return [0, 0, 0, UInt8(type.count)] + type + [0, 0, 0, 32] + [UInt8](repeating: 3, count: 32)
      + [0, 0, 0, 4] + Array("ssh:".utf8)
  }

  @Test func anyDamagedLineIsAnError() {
    let good = "box \(key.text)\n"
    let other = key.text.split(separator: " ")[1]
    for line in [
      "box", "box ", "box ssh-ed25519", "box ssh-ed25519 ", "box ssh-ed25519 AAAA",
      "box ssh-ed25519 \(other.dropLast())", "box ssh-ed25519 \(other)=", "box ssh-rsa \(other)",
      "box ssh-ed25519 \(other.dropFirst(4))", "ssh-ed25519 \(other)", "box, \(key.text)",
      "|1|AAAA|BBBB \(key.text)", "@revoke box \(key.text)", "@revoked", "@revoked \(key.text)",
      "box 1024 35 1234567", "box \(key.text)\u{0}", "box\u{1b}[31m \(key.text)", "\u{7f}",
      "<<<<<<< HEAD", "{\"host\": \"box\"}", "box \(key.text) \u{1}",
      "box \(key.text) " + String(repeating: "x", count: HostKeyLine.limit),
      "# " + String(repeating: "x", count: HostKeyLine.limit), "\u{feff}# comment",
    ] {
      box.write("pins", good + line + "\n" + good)
      let path = box.file("pins")
      #expect {
        try PinFile.check(path)
      } throws: { error in
        let error = error as? Failure
        return error?.status == .denied && error?.message.hasPrefix("\(path):2: ") == true
      }
    }
  }

  @Test func whatCannotBeReadIsAnError() {
    _ = box.run("mkdir folder; mkfifo pipe; ln -s loop loop; truncate -s 17M large")
    for name in ["folder", "pipe", "loop", "large"] {
      #expect {
        try PinFile.check(box.file(name))
      } throws: {
        ($0 as? Failure)?.status == .denied
      }
    }
  }

  /// No pins are there, and none can be: nobody is trusted.
  @Test func inWhatIsNoFolder() {
    box.write("key", "x")
    #expect(throws: Failure.self) {
      try PinFile.add(key, of: HostKeyPlace(host: "box", port: 22), to: box.file("key/pins"))
    }
  }

  /// Whatever a broken disk or editor makes of a pin: the host's key is not taken on
  /// trust again, and no other key passes.
  @Test func noDamageMakesAHostNew() throws {
    var generator = SeededGenerator(seed: 5)
    let text = "[box]:2222 \(key.text)\n"
    let bytes = Array(text.utf8)
    // Behind the name: the damage of a name does not show.
    let field = text.utf8.firstIndex(of: 0x20)?.utf16Offset(in: text) ?? 0
    func check(_ damaged: [UInt8]) throws {
      box.write("pins", damaged)
      let place = HostKeyPlace(host: "box", port: 2222)
      guard let policy = try? HostKeyPolicy(place, pins: box.file("pins"), knownHosts: nil) else {
        return
      }
      let text = String(decoding: damaged, as: UTF8.self)
      let isNew = try? policy.judge(key.blob)
      #expect(isNew != true, "new: \(text)")
      #expect(throws: HostFailure.self, "not refused: \(text)") {
        try policy.judge(KeyBox.key(2).blob)
      }
    }
    for count in 1..<bytes.count { try check(Array(bytes[..<count])) }
    for _ in 0..<600 {
      var damaged = bytes
      let place = Int.random(in: (field + 1)..<bytes.count, using: &generator)
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: damaged.remove(at: place)
      default: damaged.insert(UInt8.random(in: 0...255, using: &generator), at: place)
      }
      try check(damaged)
    }
  }

  @Test func aPinIsAddedBehindWhatIsThere() throws {
    let path = box.file("pins")
    box.write("pins", "# mine\r\nother \(key.text)")
    try PinFile.add(key, of: HostKeyPlace(host: "Box", port: 2222), to: path)
    #expect(box.read("pins") == "# mine\r\nother \(key.text)\n[box]:2222 \(key.text)\n")
    try PinFile.add(key, of: HostKeyPlace(host: "box", port: 2222), to: path)
    try PinFile.add(key, of: HostKeyPlace(host: "box", port: 22), to: path)
    #expect(box.read("pins").hasSuffix("[box]:2222 \(key.text)\nbox \(key.text)\n"))
    let ecdsa = box.key("ecdsa")
    try PinFile.add(ecdsa, of: HostKeyPlace(host: "box", port: 22), to: path)
    #expect(try PinFile(path: path).keys(of: HostKeyPlace(host: "box", port: 22)) == [key, ecdsa])
    #expect(throws: Failure.self) {
      try PinFile.add(KeyBox.key(2), of: HostKeyPlace(host: "box", port: 22), to: path)
    }
    var status = stat()
    stat(path, &status)
    #expect(status.st_mode & 0o777 == 0o600)
    // ssh-keygen reads it.
    #expect(box.run("ssh-keygen -F '[box]:2222' -f pins") != nil)
  }

  @Test func manyAtOnceLoseNothing() async throws {
    let path = box.file("pins")
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<16 as Range<UInt8> {
        group.addTask {
          try? PinFile.add(
            KeyBox.key(number), of: HostKeyPlace(host: "h\(number)", port: 22), to: path)
        }
        // OpenSSH takes no lock.
        group.addTask {
          let line = Array("h\(number + 16) \(KeyBox.key(number + 16).text)\n".utf8)
          let descriptor = clibc_append(path)
          _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
          close(descriptor)
        }
      }
    }
    let file = try PinFile(path: path)
    for number in 0..<32 as Range<UInt8> {
      #expect(file.keys(of: HostKeyPlace(host: "h\(number)", port: 22)) == [KeyBox.key(number)])
    }
  }

  @Test func ofDifferentKeysAtOnceOneWins() async throws {
    let path = box.file("pins")
    let winners = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 as Range<UInt8> {
        group.addTask {
          do {
            try PinFile.add(KeyBox.key(number), of: HostKeyPlace(host: "box", port: 22), to: path)
            return true
          } catch {
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
    #expect(try PinFile(path: path).entries.count == 1)
  }

  @Test func forgettingLeavesTheRestAsItIs() throws {
    let path = box.file("pins")
    let ecdsa = box.key("ecdsa")
    _ = box.write("pins", "box \(key.text)\n")
    _ = box.run("ssh-keygen -q -H -f pins")
    let hashed = box.read("pins")
    let kept = [
      "# comment\r\n", "\n", "boxx \(key.text)\n", "[box]:2222 \(key.text) # box\r\n",
      "@revoked box \(KeyBox.key(3).text)\n", "*ox \(ecdsa.text)\n",
    ]
    box.write(
      "pins",
      kept[0] + "box \(key.text)\r\n" + kept[1] + kept[2] + "  a,BOX,b   \(ecdsa.text)  c\r\n"
        + hashed + kept[3] + kept[4] + kept[5] + "box,!x \(key.text)")
    let dropped = try PinFile.forget(HostKeyPlace(host: "Box", port: 22), in: path)
    #expect(dropped == [key, ecdsa, key, key])
    #expect(
      box.read("pins")
        == kept[0] + kept[1] + kept[2] + "  a,b   \(ecdsa.text)  c\r\n" + kept[3] + kept[4]
        + kept[5])
    #expect(try PinFile.forget(HostKeyPlace(host: "box", port: 22), in: path) == [])
    #expect(try PinFile.forget(HostKeyPlace(host: "box", port: 22), in: box.file("none")) == [])
    #expect(access(box.file("none.lock"), F_OK) != 0)
  }
}
