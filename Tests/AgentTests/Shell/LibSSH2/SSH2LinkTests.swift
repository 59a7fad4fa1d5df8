import CLibc
import Core
import Testing

@testable import Shell

/// A server that speaks when it is spoken to, on the loopback.
private final class Stage {
  let listener: Int32
  private(set) var port = 0
  private(set) var connection: Int32 = -1

  init() {
    listener = socket(AF_INET, Stage.stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(listener, pointer, length)
        _ = listen(listener, 5)
        _ = getsockname(listener, pointer, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit {
    hangUp()
    if listener >= 0 { close(listener) }
  }

  #if os(Linux)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif

  /// Whether somebody has come.
  func answer() -> Bool {
    var set = PollSet()
    set.add(listener)
    set.wait(seconds: 0)
    if set.isReadable(listener) { connection = accept(listener, nil, nil) }
    return connection >= 0
  }
  func say(_ bytes: [UInt8]) { _ = clibc_send(connection, bytes, bytes.count) }
  func hangUp() {
    if connection >= 0 { close(connection) }
    connection = -1
  }
}

@Suite struct SSH2LinkTests {
  let box = KeyBox()

  private func request(_ port: Int, timeout: Double, host: String = "127.0.0.1") throws
    -> LinkRequest
  {
    var destination = try Destination(host)
    destination.port = port
    var request = LinkRequest(
      destination: destination, options: ConnectOptions(), identity: box.file("id"),
      pins: box.file("pins"), stateFolder: box.path)
    request.connectTimeout = timeout
    return request
  }

  /// Drives a link until it has ended: for what reason, and after how many turns.
  private func drive(
    _ link: SSH2Link, seconds: Double = 5, _ step: () -> Void = {}
  ) -> (ending: HostFailure?, turns: Int) {
    var set = PollSet()
    var turns = 0
    let end = Clock.monotonic + seconds
    while Clock.monotonic < end {
      if case .ended(let ending) = link.state { return (ending, turns) }
      turns += 1
      set.removeAll()
      link.wants(&set)
      let wait = min(link.deadline.map { $0 - Clock.monotonic } ?? 1, 0.1)
      set.wait(seconds: wait)
      step()
      link.advance(set, now: Clock.monotonic)
    }
    return (nil, turns)
  }

  private func why(_ ending: HostFailure?) -> String {
    if case .connectFailed(let why) = ending { return why }
    Issue.record("\(String(describing: ending))")
    return ""
  }

  /// What a server says, and what the user is told of it.
  private func outcome(_ bytes: String, hangsUp: Bool, timeout: Double = 3) throws -> String {
    let stage = Stage()
    let link = SSH2Link(try request(stage.port, timeout: timeout), now: Clock.monotonic)
    var hasSpoken = false
    let ending = drive(link) {
      guard !hasSpoken, stage.answer() else { return }
      hasSpoken = true
      stage.say(Array(bytes.utf8))
      if hangsUp { stage.hangUp() }
    }.ending
    return why(ending)
  }

  @Test func nobodyListens() throws {
    var port = 0
    do { port = Stage().port }
    let link = SSH2Link(try request(port, timeout: 3), now: Clock.monotonic)
    #expect(why(drive(link).ending) == "connection refused (127.0.0.1 port \(port))")
  }

  @Test func aNameThatIsNone() throws {
    let link = SSH2Link(
      try request(22, timeout: 5, host: "no-such-name.invalid"), now: Clock.monotonic)
    #expect(why(drive(link).ending).first?.isLowercase == true)
  }

  @Test func aServerThatSaysNothing() throws {
    let stage = Stage()
    let start = Clock.monotonic
    let link = SSH2Link(try request(stage.port, timeout: 0.4), now: start)
    let (ending, turns) = drive(link)
    #expect(why(ending) == "no answer in time")
    let seconds = Clock.monotonic - start
    #expect(0.4...2 ~= seconds)
    #expect(turns < 12, "it waits, and does not spin")
  }

  @Test func aServerThatCloses() throws {
    #expect(try outcome("", hangsUp: true) == "closed by the host")
    #expect(try outcome("SSH-2.0-x\r\n", hangsUp: true) == "closed by the host")
  }

  @Test func whatIsNoSSHServer() throws {
    let words = try outcome("HTTP/1.1 400 Bad\u{1b}[31m\r\n\r\n", hangsUp: true)
    #expect(words == "not an SSH server, it says: HTTP/1.1 400 Bad\u{1b}[31m")
    #expect(
      try outcome("Exceeded MaxStartups\r\n", hangsUp: true)
        == "not an SSH server, it says: Exceeded MaxStartups")
  }

  @Test func aServerThatNeverComesToThePoint() throws {
    let lines = String(repeating: "still there?\r\n", count: 500)
    #expect(!(try outcome(lines, hangsUp: false, timeout: 0.5)).isEmpty)
    let garbage = "SSH-2.0-x\r\n" + String(repeating: "\u{7f}garbage", count: 5000)
    #expect(!(try outcome(garbage, hangsUp: false, timeout: 0.5)).isEmpty)
  }

  /// A pin file that cannot be read ends it before a connection is made.
  @Test func aDamagedPinFile() throws {
    box.write("pins", "box ssh-ed25519 rubbish\n")
    let stage = Stage()
    let link = SSH2Link(try request(stage.port, timeout: 1), now: Clock.monotonic)
    guard case .ended(.hostKeyUnknown) = link.state else {
      Issue.record("\(link.state)")
      return
    }
    #expect(link.deadline == 0)
    link.advance(PollSet(), now: Clock.monotonic)
    #expect(link.deadline == nil)
    // Channels of a link that is over are over, too.
    let channel = link.run("true")
    #expect(channel.ending == drive(link).ending.map(Ending.failed) && channel.room == 0)
  }

  @Test func closingTakesNoTime() throws {
    let stage = Stage()
    let link = SSH2Link(try request(stage.port, timeout: 30), now: Clock.monotonic)
    _ = drive(link, seconds: 0.1)
    let channel = link.run("true")
    let start = Clock.monotonic
    link.close()
    #expect(Clock.monotonic - start < 0.1)
    #expect(link.state == .ended(.closed) && channel.ending == .failed(.closed))
  }
}
