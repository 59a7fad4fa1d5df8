import CLibc
import Core
import Testing

@testable import Shell

@Suite struct OwnKeyTests {
  let box = KeyBox()

  @Test func itIsMadeOnce() throws {
    let path = try OwnKey.ensure(in: box.path)
    #expect(path == OwnKey.path(in: box.path))
    let line = try OwnKey.publicLine(of: path)
    #expect(line.hasPrefix("ssh-ed25519 AAAA") && line.holds(" agentutils@"))
    #expect(box.read("id_ed25519.pub") == line + "\n")
    #expect(box.run("ssh-keygen -y -P '' -f id_ed25519") == line + "\n")
    var status = stat()
    stat(path, &status)
    #expect(status.st_mode & 0o777 == 0o600)
    let before = box.read("id_ed25519")
    #expect(try OwnKey.ensure(in: box.path) == path)
    #expect(box.read("id_ed25519") == before)
    // Nothing else is left.
    #expect(box.run("ls") == "id_ed25519\nid_ed25519.lock\nid_ed25519.pub\nrun.err\nrun.out\n")
  }

  @Test func twoAtOnceHaveTheSame() async throws {
    let folder = box.path
    let lines = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          (try? OwnKey.ensure(in: folder)).flatMap { try? OwnKey.publicLine(of: $0) }
        }
      }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(lines.count == 1 && lines.first != .some(nil))
  }

  @Test func oneThatOthersCanReadIsRefused() throws {
    let path = try OwnKey.ensure(in: box.path)
    for mode in [0o640, 0o604, 0o622] as [mode_t] {
      chmod(path, mode)
      #expect {
        try OwnKey.ensure(in: box.path)
      } throws: { ($0 as? Failure)?.status == .denied }
    }
    #expect(throws: Failure.self) { try OwnKey.check(box.path) }
    #expect(throws: Failure.self) { try OwnKey.check(box.file("none")) }
  }

  @Test func thePublicHalfIsFoundOrMade() throws {
    let key = box.key("ecdsa")
    let line = try OwnKey.publicLine(of: box.file("key"))
    #expect(line.hasPrefix(key.text))
    #expect(try OwnKey.publicLine(of: box.file("key.pub")) == line)
    unlink(box.file("key.pub"))
    #expect(try OwnKey.publicLine(of: box.file("key")).hasPrefix(key.text))
    // What a shell would not take as it stands is left out.
    box.write("key.pub", "\(key.text) it's\u{1b}[m; rm\n")
    #expect(try OwnKey.publicLine(of: box.file("key")) == key.text)
    box.write("key.pub", "rubbish\n")
    #expect(throws: Failure.self) { try OwnKey.publicLine(of: box.file("key")) }
  }
}
