import Core
import TestSupport
import Testing

@testable import Shell

@Suite struct HostKeyPolicyTests {
  let box = KeyBox()
  let key = KeyBox.key(1)
  let other = KeyBox.key(2)

  private func policy(
    _ pins: String, _ known: String? = nil, host: String = "box", port: Int = 22
  ) throws -> HostKeyPolicy {
    box.write("pins", pins)
    return try HostKeyPolicy(
      HostKeyPlace(host: host, port: port), pins: box.file("pins"),
      knownHosts: known.map { box.write("known", $0) })
  }

  private enum Verdict: Equatable {
    case known, new
    case refused(HostFailure)
  }

  private func judge(
    _ key: HostKey, _ pins: String, _ known: String? = nil, port: Int = 22
  ) throws -> Verdict {
    let policy = try policy(pins, known, port: port)
    do throws(HostFailure) {
      return try policy.judge(key.blob) ? .new : .known
    } catch {
      return .refused(error)
    }
  }

  private func lines(_ verdict: Verdict) throws -> [String] {
    guard case .refused(.hostKeyChanged(let lines)) = verdict else {
      Issue.record("\(verdict)")
      return []
    }
    return lines
  }

  @Test func firstUseThenThePin() throws {
    #expect(try judge(key, "") == .new)
    let first = try policy("")
    try first.pin(key)
    func judged(_ host: String, _ port: Int) throws -> Bool {
      let place = HostKeyPlace(host: host, port: port)
      return try HostKeyPolicy(place, pins: box.file("pins"), knownHosts: nil).judge(key.blob)
    }
    #expect(try !judged("BOX", 22))
    #expect(try judged("box", 2222))
    #expect(throws: Failure.self) { try first.pin(other) }
  }

  @Test func aChangedKeyIsAWall() throws {
    let lines = try lines(judge(other, "# x\nbox \(key.text)\n"))
    #expect(lines.first?.hasPrefix("box: HOST KEY CHANGED") == true)
    let text = lines.joined(separator: "\n")
    for part in [
      other.fingerprint, key.fingerprint, "ED25519", "\(box.file("pins")):2",
      "tmux-attach --forget box", "nothing was sent",
    ] { #expect(text.holds(part), "\(part)") }
  }

  /// A host that shows a key of another type only is the same case: whoever sits
  /// between can leave the pinned type out.
  @Test func anotherTypeIsAWallToo() throws {
    let ecdsa = box.key("ecdsa")
    #expect(try lines(judge(ecdsa, "box \(key.text)\n")).count > 3)
    #expect(try lines(judge(ecdsa, "", "box \(key.text)\n")).count > 3)
    #expect(try judge(ecdsa, "box \(key.text)\nbox \(ecdsa.text)\n") == .known)
  }

  @Test func howTheFilesGoTogether() throws {
    #expect(try judge(key, "", "box \(key.text)\n") == .known)
    #expect(try judge(key, "", "*,!b* \(key.text)\n") == .new)
    #expect(try judge(key, "", "box \(key.text)\r\n") == .known)
    #expect(try judge(key, "", "garbage\n\u{0}\nb?x \(key.text)\n") == .known)
    #expect(try judge(key, "", "@cert-authority box \(other.text)\n") != .known)
    #expect(try judge(key, "", "@cert-authority box \(key.text)\n") != .known)
    // Beside a pin, nobody else is asked.
    let both = try lines(judge(other, "box \(key.text)\n", "box \(other.text)\n"))
    #expect(both.joined().holds(key.fingerprint))
    let theirs = try lines(judge(other, "", "box \(key.text)\n"))
    #expect(theirs.joined().holds("ssh-keygen -R 'box'"))
    #expect(!theirs.joined().holds("--forget"))
    // The key of another port, as OpenSSH has it, but not another key.
    #expect(try judge(key, "", "box \(key.text)\n", port: 2222) == .known)
    #expect(try judge(other, "", "box \(key.text)\n", port: 2222) != .known)
  }

  @Test func aRevokedKeyIsNeverBelieved() throws {
    for (pins, known) in [
      ("box \(key.text)\n", "@revoked * \(key.text)\n"),
      ("box \(key.text)\n@revoked box \(key.text)\n", ""),
      ("", "box \(key.text)\n@revoked [box]:22,box \(key.text)\r\n"),
      ("", "@revoked  b*\t\(key.text) gone\n"),
    ] {
      let text = try lines(judge(key, pins, known)).joined(separator: "\n")
      #expect(text.holds("REVOKED") && text.holds(key.fingerprint))
      #expect(try judge(other, "box \(other.text)\n", known.isEmpty ? nil : known) == .known)
    }
    #expect(try lines(judge(key, "", "@revoked box \(key.text)\n", port: 2222)).count > 1)
    #expect(try judge(key, "", "@revoked boxx \(key.text)\n") == .new)
  }

  @Test func aDamagedKeyIsNotTaken() throws {
    let policy = try policy("")
    #expect {
      try policy.judge([0])
    } throws: { error in
      if case .hostKeyUnknown = error as? HostFailure { true } else { false }
    }
  }

  @Test func pinnedTypesComeFirst() throws {
    let ecdsa = box.key("ecdsa")
    func types(_ host: String) throws -> [String] {
      try policy(
        "box \(ecdsa.text)\nother \(key.text)\n", "box \(key.text)\nbox \(ecdsa.text)\n", host: host
      ).preferredTypes
    }
    #expect(try types("Box") == ["ecdsa-sha2-nistp256", "ssh-ed25519"])
    #expect(try types("new") == [])
  }

  @Test func aKnownHostsFileThatIsMissingIsNoLicence() {
    #expect {
      try HostKeyPolicy(
        HostKeyPlace(host: "box", port: 22), pins: box.file("pins"), knownHosts: box.file("none"))
    } throws: { ($0 as? Failure)?.status == .denied }
  }

  @Test func garbageIsNoted() throws {
    let policy = try policy("", "box \(key.text)\nrubbish\n")
    #expect(policy.notes == ["\(box.file("known")):2: passed over: no key in the line"])
  }

  /// Any bytes are lines: some are entries, the others have a number and a reason.
  @Test func anythingCanBeRead() {
    var generator = SeededGenerator(seed: 3)
    let seed = Array("@revoked box,*.x,!y \(key.text) c\n|1|AAAA|BBBB \(key.text)\r\n\n# x\n".utf8)
    for _ in 0..<3000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...12, using: &generator) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(place...)
        case 2: bytes.insert(contentsOf: bytes[..<place].suffix(40), at: place)
        default: bytes.remove(at: place)
        }
      }
      let read = HostKeyLine.readAll(bytes)
      let count = HostKeyLine.split(bytes).count
      #expect(read.entries.allSatisfy { 1...max(1, count) ~= $0.number })
      #expect(read.entries.count + read.faults.count <= count)
      for entry in read.entries { _ = entry.hosts.matches("box") }
      #expect(Array(HostKeyLine.split(bytes).joined()) == bytes)
    }
  }

  @Test func whatOpenSSHMaySee() throws {
    func files(_ pins: String, _ known: String?) throws -> [String] {
      try policy(pins, known).filesForOpenSSH(folder: box.path)
        .map { String($0.dropFirst(box.path.count + 1)) }
    }
    #expect(try files("", nil) == ["pins"])
    #expect(try files("", "box \(key.text)\n") == ["pins", "known"])
    #expect(try files("box \(key.text)\n", "box \(key.text)\n") == ["pins", "known"])
    #expect(try files("box \(key.text)\n", "box \(other.text)\n") == ["pins"])
    let authority = "@cert-authority box \(other.text)\n"
    #expect(try files("", authority) == ["pins", "known"])
    #expect(try files("box \(key.text)\n", authority) == ["pins"])
    #expect(try policy("", authority, port: 2222).needsCertificate)
    #expect(try !policy("box \(key.text)\n", authority).needsCertificate)
    #expect(try !policy("", authority, host: "other").needsCertificate)
    let revoked = "@revoked * \(KeyBox.key(3).text)"
    #expect(
      try files("box \(key.text)\n", "box \(other.text)\n\(revoked)\r\n")
        == ["pins", "known_hosts.revoked"])
    #expect(box.read("known_hosts.revoked") == revoked + "\n")
  }

  @Test func aWarningNamesTheHostAsItIsTyped() throws {
    let hosts = try #require(HostNamePattern(Array("box".utf8)[...]))
    let known = HostKeyLine(marker: .trusted, hosts: hosts, key: key, number: 3)
    for (host, port, operand) in [
      ("box", 22, "box"), ("box", 2222, "box:2222"), ("::1", 22, "[::1]"),
      ("::1", 2222, "[::1]:2222"),
    ] {
      let lines = HostKeyWarning(
        place: HostKeyPlace(host: host, port: port), type: "ssh-rsa", fingerprint: "SHA256:b",
        known: [("/pins", known)], pins: "/pins", isRevoked: false
      ).lines
      #expect(lines.contains { $0.holds("--forget \(operand),") })
      #expect(lines.contains { $0.holds("ssh_host_rsa_key.pub") })
    }
  }
}
