import CLibc
import Core

/// One client of the control socket: its requests, and the command that runs for it.
final class ServedClient {
  /// Whether it is done with.
  private(set) var isOver = false
  private(set) var call: ServedCall?
  private let socket: Int32
  /// Whether it has only just connected: what it asks for is there as a rule.
  private var isNew = true
  private var incoming: [UInt8] = []
  private var outgoing: [UInt8] = []
  private var descriptors: [Int32] = []
  private var asked: (number: UInt32, command: String)?

  /// How many bytes of answers may wait for a client that does not read.
  private static let answerLimit = 4096

  init(_ socket: Int32) { self.socket = socket }

  deinit { close() }

  func wants(_ set: inout PollSet) {
    guard !isOver else { return }
    set.add(socket, writing: !outgoing.isEmpty)
    call?.wants(&set)
  }

  /// Goes on as far as it can, within bounds.
  ///
  /// - Parameter run: starts a command; nil when there are too many.
  func advance(
    _ set: PollSet, _ buffer: inout [UInt8], run: (String) -> (any Channel)?
  ) {
    if isNew || set.isReadable(socket) { receive(&buffer) }
    isNew = false
    // What a client that has left asked for is not done any more.
    guard !isOver else { return }
    heed(run)
    for news in call?.advance(set, &buffer) ?? [] { tell(news) }
    send()
    if outgoing.count > Self.answerLimit { close() }
  }

  /// Hangs up; its command gets a hang-up too.
  func close() {
    guard !isOver else { return }
    isOver = true
    call?.close()
    for descriptor in descriptors { CLibc.close(descriptor) }
    descriptors = []
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

  private func heed(_ run: (String) -> (any Channel)?) {
    while !isOver {
      if let asked {
        // Each descriptor came with a byte.
        guard incoming.count >= 3 else { return }
        incoming.removeFirst(3)
        self.asked = nil
        start(asked.number, asked.command, run)
        continue
      }
      guard let request = MuxRequest.take(&incoming) else { return }
      switch request {
      case .hello: outgoing += MuxMessage.hello
      case .check(let number):
        outgoing += MuxMessage.alive(number, process: UInt32(getpid()))
      case .session(let number, let command):
        guard call == nil else { return close() }
        asked = (number, command)
      case .other(let number):
        outgoing += MuxMessage.refused(number, why: "not served here")
      case .broken: close()
      }
    }
  }

  private func start(_ number: UInt32, _ command: String, _ run: (String) -> (any Channel)?) {
    guard descriptors.count == 3 else {
      outgoing += MuxMessage.refused(number, why: "not three pipes")
      for descriptor in descriptors { CLibc.close(descriptor) }
      descriptors = []
      return
    }
    let pipes = descriptors
    descriptors = []
    guard let channel = run(command) else {
      outgoing += MuxMessage.refused(number, why: "too many commands")
      for descriptor in pipes { CLibc.close(descriptor) }
      return
    }
    call = ServedCall(number, channel, pipes)
  }

  private func tell(_ news: ServedCall.News) {
    guard let call else { return }
    switch news {
    case .opened: outgoing += MuxMessage.opened(call.number)
    case .refused(let why): outgoing += MuxMessage.refused(call.number, why: why)
    case .exited(let status): outgoing += MuxMessage.exited(call.number, status: status)
    case .lost: close()
    }
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
}
