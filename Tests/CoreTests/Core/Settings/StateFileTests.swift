import CLibc
import Testing

@testable import Core

@Suite struct StateFileTests {
  let scratch = Scratch()

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func whatIsPutInComesOut() throws {
    let file = StateFile(path: scratch.file("state"))
    #expect(try file.read() == nil)
    for content in [Array("17\n".utf8), [], [UInt8](0...255)] {
      try file.replace(with: content)
      #expect(try file.read() == content)
    }
    #expect(mode(file.path) == 0o600)
  }

  @Test func nothingElseIsLeftInTheFolder() throws {
    let file = StateFile(path: scratch.file("state"))
    for round in 0..<20 { try file.replace(with: Array("\(round)".utf8)) }
    #expect(Scratch.run("test \"$(ls -A '\(scratch.path)')\" = state") == 0)
  }

  @Test func aReaderSeesTheOldOrTheNewContentAndNoPart() throws {
    let file = StateFile(path: scratch.file("state"))
    let (one, other) = ([UInt8](repeating: 1, count: 100_000), [UInt8](repeating: 2, count: 90_000))
    try file.replace(with: one)
    // A reader that opened the old file keeps it.
    let descriptor = clibc_open(file.path, O_RDONLY)
    defer { close(descriptor) }
    try file.replace(with: other)
    #expect(try BoundedFile.bytes(of: descriptor, limit: 1 << 20) == one)
    #expect(try file.read() == other)
  }

  @Test func aLinkStaysALink() throws {
    scratch.write("real/state", "old")
    symlink(scratch.file("real/state"), scratch.file("link"))
    try StateFile(path: scratch.file("link")).replace(with: Array("new".utf8))
    #expect(try StateFile(path: scratch.file("real/state")).read() == Array("new".utf8))
    #expect(Scratch.run("test -L '\(scratch.file("link"))'") == 0)
  }

  @Test func aLinkThatLeadsNowhereYetIsFollowed() throws {
    mkdir(scratch.file("real"), 0o700)
    symlink("real/state", scratch.file("link"))
    try StateFile(path: scratch.file("link")).replace(with: [1])
    #expect(try StateFile(path: scratch.file("real/state")).read() == [1])
  }

  @Test func aLinkThatOthersCouldHaveMadeIsNotFollowed() throws {
    let victim = scratch.write("victim", "mine")
    let shared = scratch.file("shared")
    mkdir(shared, 0o700)
    let link = shared + "/state"
    symlink(victim, link)
    symlink(scratch.file("nowhere"), shared + "/new")
    chmod(shared, 0o770)
    let reason = "a symbolic link that others could have made: not followed"
    for path in [link, shared + "/new"] {
      #expect(throws: Failure(path, reason)) { try StateFile(path: path).replace(with: [1]) }
      #expect(throws: Failure(path, reason)) { try JournalFile(path: path).append([1]) }
      #expect(throws: Failure(path, reason)) { try OwnPath.append(path) }
    }
    #expect(try StateFile(path: victim).read() == Array("mine".utf8))
    #expect(access(scratch.file("nowhere"), F_OK) != 0)
    // One more link, of our own, makes that no better.
    symlink(link, scratch.file("first"))
    #expect(throws: Failure(scratch.file("first"), reason)) {
      try StateFile(path: scratch.file("first")).replace(with: [1])
    }
    // Nobody can rename another's link here, as in /tmp.
    chmod(shared, 0o1777)
    try StateFile(path: link).replace(with: [1])
    #expect(try StateFile(path: victim).read() == [1])
  }

  @Test func linksThatGoRoundEnd() {
    symlink("two", scratch.file("one"))
    symlink("one", scratch.file("two"))
    let path = scratch.file("one")
    #expect(throws: Failure(path, systemReason(ELOOP))) {
      try StateFile(path: path).replace(with: [1])
    }
  }

  @Test func aFileOfAFolderIsReplacedAndNoLinkOfItsNameFollowed() throws {
    let victim = scratch.write("victim", "mine")
    symlink(victim, scratch.file("note"))
    let folder = clibc_open_folder(scratch.path)
    defer { close(folder) }
    #expect(FolderFile.read("note", in: folder, limit: 100) == nil)
    #expect(FolderFile.replace("note", in: folder, with: [1]) == 0)
    #expect(FolderFile.read("note", in: folder, limit: 100) == [1])
    #expect(try StateFile(path: victim).read() == Array("mine".utf8))
  }

  @Test func aFailureLeavesTheOldContentAndNoOtherFile() throws {
    let folder = scratch.file("folder")
    mkdir(folder, 0o700)
    let file = StateFile(path: folder + "/none/state")
    #expect(throws: Failure(file.path, "no such file or directory")) {
      try file.replace(with: [1])
    }
    #expect(Scratch.run("rmdir '\(folder)'") == 0)
  }

  @Test func whatIsNoFileIsNeitherReadNorReplaced() {
    mkfifo(scratch.file("fifo"), 0o600)
    mkdir(scratch.file("folder"), 0o700)
    // Only files of the test's own: a fault here would replace them.
    for path in [scratch.file("fifo"), scratch.file("folder")] {
      let refused = Failure(path, "not a regular file")
      #expect(throws: refused) { try StateFile(path: path).replace(with: [1]) }
      #expect(throws: refused) { try StateFile(path: path).read() }
    }
    #expect(Scratch.run("test -p '\(scratch.file("fifo"))'") == 0)
    #expect(throws: Failure("/dev/null", "not a regular file")) {
      try StateFile(path: "/dev/null").read()
    }
  }

  @Test func aLongFileIsRefused() {
    let path = scratch.write("state", "12345")
    #expect(throws: Failure(path, "larger than 4 bytes")) {
      try StateFile(path: path).read(limit: 4)
    }
  }
}
