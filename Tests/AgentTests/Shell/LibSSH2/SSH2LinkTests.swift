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

  /// Makes a link: why that failed, and after how many waits.
  private func connect(
    _ request: LinkRequest, _ step: @escaping () -> Void = {}
  ) -> (ending: HostFailure?, turns: Int) {
    var turns = 0
    do throws(HostFailure) {
      _ = try SSH2Link(request) { set, until throws(HostFailure) in
        turns += 1
        set.wait(seconds: min(until.map { $0 - Clock.monotonic } ?? 1, 0.1))
        step()
      }
    } catch {
      return (error, turns)
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
    var hasSpoken = false
    let ending = connect(try request(stage.port, timeout: timeout)) {
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
    let ending = connect(try request(port, timeout: 3)).ending
    #expect(why(ending) == "connection refused (127.0.0.1 port \(port))")
  }

  @Test func aNameThatIsNone() throws {
    let ending = connect(try request(22, timeout: 5, host: "no-such-name.invalid")).ending
    #expect(why(ending).first?.isLowercase == true)
  }

  @Test func aServerThatSaysNothing() throws {
    let stage = Stage()
    let start = Clock.monotonic
    let (ending, turns) = connect(try request(stage.port, timeout: 0.4))
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
    let (ending, turns) = connect(try request(stage.port, timeout: 1))
    guard case .hostKeyUnknown = ending else {
      Issue.record("\(String(describing: ending))")
      return
    }
    #expect(turns == 0 && !stage.answer())
  }

  @Test func whoeverWaitsMayGiveUp() throws {
    let stage = Stage()
    let start = Clock.monotonic
    #expect(throws: HostFailure.closed) {
      _ = try SSH2Link(try request(stage.port, timeout: 30)) { _, _ throws(HostFailure) in
        throw .closed
      }
    }
    #expect(Clock.monotonic - start < 0.1)
  }
}
