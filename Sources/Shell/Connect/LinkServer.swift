import CLibc
import Core

/// Serves a connection to other processes of the user: each command that one of them
/// sends to the control socket runs on a channel of its own. Nothing that a client does
/// holds up the owner's loop, and what it leaves lying about is bounded.
final class LinkServer {
  private let place: ControlPlace
  private let path: String
  private var listener: Int32 = -1
  /// The file that is ours, while the name is not another's.
  private var file: ino_t = 0
  private var clients: [ServedClient] = []
  private var looked: Double
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// Connections at once; more wait until their patience ends.
  private static let clientLimit = 32
  /// Commands at once: a host grants ten to a connection by default, the terminal's included.
  private static let callLimit = 8
  /// How often it is looked after the socket, seconds: whoever took its name may be gone.
  private static let lookInterval = 5.0

  /// Takes calls from now on; a name that another process has is taken over.
  init(_ request: LinkRequest, now: Double) throws(Failure) {
    clibc_signal_ignore(SIGPIPE)
    place = try ControlPlace(shared: request)
    path = place.socket
    looked = now
    place.sweep()
    try listen()
  }

  deinit { close() }

  var hasMore: Bool { clients.contains(where: \.hasMore) }

  func wants(_ set: inout PollSet) {
    if clients.count < Self.clientLimit { set.add(listener) }
    for client in clients { client.wants(&set) }
  }

  func advance(_ set: PollSet, _ link: SSH2Link, now: Double) {
    if set.isReadable(listener) { accept() }
    for client in clients {
      client.advance(set, &buffer) { command in
        guard link.ending == nil, count < Self.callLimit else { return nil }
        return link.start(command)
      }
    }
    clients.removeAll { $0.isOver }
    if now >= looked + Self.lookInterval {
      looked = now
      // Not our socket's end: calls that are under way go on.
      if access(path, F_OK) != 0 { try? listen() }
    }
  }

  func close() {
    for client in clients { client.close() }
    clients = []
    guard listener >= 0 else { return }
    if stat(at: path)?.st_ino == file { unlink(path) }
    CLibc.close(listener)
    listener = -1
  }

  private var count: Int { clients.count(where: \.isRunning) }

  /// Made aside first, so that a name in use is replaced in one step.
  private func listen() throws(Failure) {
    let aside = place.folder + "/" + place.ownName("m")
    let fresh = clibc_listen_local(aside)
    let made = fresh < 0 ? nil : stat(at: aside)?.st_ino
    guard let made, rename(aside, path) == 0 else {
      let failure = Failure(code: systemError, place: fresh < 0 ? aside : path)
      unlink(aside)
      if fresh >= 0 { CLibc.close(fresh) }
      throw failure
    }
    if listener >= 0 { CLibc.close(listener) }
    listener = fresh
    file = made
  }

  private func accept() {
    while clients.count < Self.clientLimit {
      let socket = clibc_accept_local(listener)
      if socket >= 0 {
        clients.append(ServedClient(socket))
      } else if systemError != EACCES && systemError != EINTR && systemError != ECONNABORTED {
        return
      }
    }
  }
}

/// One client of the control socket: its requests, and the command that runs for it: bytes
/// between a channel and the client's three pipes. What the client does not take stays at the host.
private final class ServedClient {
  private(set) var isOver = false
  private(set) var hasMore = false
  private let socket: Int32
  /// Whether it has only just connected: what it asks for is there as a rule.
  private var isNew = true
  private var incoming: [UInt8] = []
  private var outgoing: [UInt8] = []
  private var descriptors: [Int32] = []
  private var asked: (number: UInt32, command: String)?

  private var channel: (any Channel)?
  /// Of the request that started it.
  private var number: UInt32 = 0
  private var hasStarted = false
  private var isOpened = false
  private var input: Int32 = -1
  private var output = Pipe(-1)
  private var error = Pipe(-1)

  /// How many bytes of answers may wait for a client that does not read.
  private static let answerLimit = 4096
  /// Bytes that go out in one piece: keys of the terminal wait no longer than that.
  private static let piece = 32 << 10

  init(_ socket: Int32) { self.socket = socket }

  deinit { close() }

  var isRunning: Bool { channel != nil }

  func wants(_ set: inout PollSet) {
    guard !isOver else { return }
    set.add(socket, writing: !outgoing.isEmpty)
    if takesInput { set.add(input) }
    output.wants(&set)
    error.wants(&set)
  }

  /// `run`: starts a command; nil when there are too many.
  func advance(
    _ set: PollSet, _ buffer: inout [UInt8], run: (String) -> (any Channel)?
  ) {
    if isNew || set.isReadable(socket) { receive(&buffer) }
    isNew = false
    // What a client that has left asked for is not done any more.
    guard !isOver else { return }
    handleRequests(run)
    if let channel { move(channel, set, &buffer) }
    send()
    if outgoing.count > Self.answerLimit { close() }
  }

  func close() {
    guard !isOver else { return }
    isOver = true
    endCommand()
    closeDescriptors()
    CLibc.close(socket)
  }

  private func receive(_ buffer: inout [UInt8]) {
    var fresh: [Int32] = [-1, -1, -1]
    while !isOver, incoming.count <= MuxRequest.limit + 16 {
      var received = 0
      let count = clibc_receive_descriptors(
        socket, &buffer, min(buffer.count, 16 << 10), &fresh, fresh.count, &received)
      if count < 0 && systemError == EINTR { continue }
      if count < 0 && systemError == EAGAIN { return }
      descriptors += fresh[..<received]
      guard count > 0, descriptors.count <= 3 else { return close() }
      incoming += buffer[..<count]
    }
  }

  private func handleRequests(_ run: (String) -> (any Channel)?) {
    while !isOver {
      if let (number, command) = asked {
        // Each descriptor came with a byte.
        guard incoming.count >= 3 else { return }
        incoming.removeFirst(3)
        asked = nil
        start(number, command, run)
        continue
      }
      guard let request = MuxRequest.next(&incoming) else { return }
      switch request {
      case .hello: outgoing += MuxMessage.hello
      case .check(let number):
        outgoing += MuxMessage.alive(number, process: UInt32(getpid()))
      case .session(let number, let command):
        guard !hasStarted else { return close() }
        asked = (number, command)
      case .other(let number):
        outgoing += MuxMessage.refused(number, why: "not served here")
      case .broken: close()
      }
    }
  }

  private func start(_ number: UInt32, _ command: String, _ run: (String) -> (any Channel)?) {
    guard descriptors.count == 3, let channel = run(command) else {
      let why = descriptors.count == 3 ? "too many commands" : "not three pipes"
      outgoing += MuxMessage.refused(number, why: why)
      return closeDescriptors()
    }
    (self.number, self.channel, hasStarted) = (number, channel, true)
    (input, output, error) = (descriptors[0], Pipe(descriptors[1]), Pipe(descriptors[2]))
    descriptors = []
  }

  private func closeDescriptors() {
    for descriptor in descriptors { CLibc.close(descriptor) }
    descriptors = []
  }

  private func send() {
    while !isOver, !outgoing.isEmpty {
      let count = write(socket, outgoing, outgoing.count)
      if count < 0 && systemError == EINTR { continue }
      if count < 0 && systemError == EAGAIN { return }
      guard count > 0 else { return close() }
      outgoing.removeFirst(count)
    }
  }

  // MARK: - The command

  private func move(_ channel: any Channel, _ set: PollSet, _ buffer: inout [UInt8]) {
    if !isOpened, channel.isStarted {
      isOpened = true
      outgoing += MuxMessage.opened(number)
    }
    if takesInput, set.isReadable(input) { give(channel, &buffer) }
    for _ in 0..<4 {
      let moved =
        output.move(&buffer, channel.read) + error.move(&buffer, channel.readError)
      hasMore = moved > 0
      if moved == 0 { break }
    }
    guard let ending = channel.ending, output.isEmpty, error.isEmpty else { return }
    switch ending {
    case .remoteExit, .remoteSignal:
      outgoing += MuxMessage.exited(number, status: ending.exitStatus)
    // The host runs no more commands on this connection.
    case .failed(.connectFailed(let why)) where !isOpened:
      outgoing += MuxMessage.refused(number, why: why)
    default: return close()
    }
    endCommand()
  }

  private var takesInput: Bool {
    guard let channel else { return false }
    return input >= 0 && isOpened && channel.isDrained && channel.room > 0
  }

  private func give(_ channel: any Channel, _ buffer: inout [UInt8]) {
    let count = read(input, &buffer, min(Self.piece, channel.room, buffer.count))
    if count < 0 && (systemError == EAGAIN || systemError == EINTR) { return }
    guard count > 0 else {
      closeInput()
      channel.finishWriting()
      return
    }
    // There was room for it.
    _ = channel.write(buffer[..<count])
  }

  private func closeInput() {
    if input >= 0 { CLibc.close(input) }
    input = -1
  }

  /// A command that goes on gets a hang-up.
  private func endCommand() {
    channel?.close()
    channel = nil
    hasMore = false
    closeInput()
    output.close()
    error.close()
  }

  private struct Pipe {
    private var descriptor: Int32
    private var waiting: ArraySlice<UInt8> = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    var isEmpty: Bool { waiting.isEmpty }

    func wants(_ set: inout PollSet) {
      if !waiting.isEmpty { set.add(descriptor, reading: false, writing: true) }
    }

    /// Moves one piece on: how many bytes were taken from the channel.
    mutating func move(
      _ buffer: inout [UInt8], _ receive: (inout [UInt8], _ limit: Int) -> Int
    ) -> Int {
      if !waiting.isEmpty {
        // Nothing is left of it when nobody reads any more.
        let sent = push(waiting)
        waiting = waiting.dropFirst(sent)
        guard waiting.isEmpty else { return 0 }
      }
      let count = receive(&buffer, buffer.count)
      guard count > 0 else { return 0 }
      let sent = push(buffer[..<count])
      // A copy, and only of what waits.
      if sent < count { waiting = ArraySlice(Array(buffer[sent..<count])) }
      return count
    }

    /// How many bytes are done with: all of them when nobody reads any more.
    private mutating func push(_ bytes: ArraySlice<UInt8>) -> Int {
      guard descriptor >= 0 else { return bytes.count }
      let count = PipeEnd.write(descriptor, bytes)
      if count >= 0 { return count }
      if systemError == EAGAIN || systemError == EINTR { return 0 }
      close()
      return bytes.count
    }

    mutating func close() {
      if descriptor >= 0 { CLibc.close(descriptor) }
      descriptor = -1
      waiting = []
    }
  }
}
