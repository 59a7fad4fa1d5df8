import CLibc
import Core

/// One session over a master: its control connection, which carries a command and
/// three descriptors there and its status back.
final class MuxConnection {
  enum Phase: Equatable {
    /// There is no answer yet.
    case asked
    case opened
    case exited(Int32)
    /// The other process says no; nothing has reached the host.
    case refused(String)
    /// The other process hung up.
    case gone
  }

  private(set) var phase = Phase.asked
  /// Whether the host has run the command.
  private(set) var hasOpened = false
  private(set) var master: pid_t?
  private var socket: Int32
  private var outgoing: [UInt8]
  private var descriptors: [Int32]
  private var incoming: [UInt8] = []

  /// Nil when nobody takes calls; a nil command only asks. Closes the three descriptors later.
  init?(_ path: String, _ command: String? = nil, _ descriptors: [Int32] = []) {
    socket = clibc_connect_local(path)
    guard socket >= 0 else { return nil }
    outgoing = MuxMessage.hello + MuxMessage.check
    if let command { outgoing += MuxMessage.session(command) }
    self.descriptors = descriptors
    send()
  }

  deinit { close() }

  static func isTaken(_ path: String) -> Bool {
    let socket = clibc_connect_local(path)
    if socket >= 0 { CLibc.close(socket) }
    return socket >= 0
  }

  func ask(_ command: String, _ descriptors: [Int32]) {
    outgoing += MuxMessage.session(command)
    self.descriptors = descriptors
    send()
  }

  func wants(_ set: inout PollSet) {
    set.add(socket, writing: !outgoing.isEmpty || !descriptors.isEmpty)
  }

  /// Sends what is left to send, and takes what has come.
  func update() {
    guard socket >= 0 else { return }
    send()
    receive()
  }

  /// Waits for an answer, or what else is enough, at most for so many seconds.
  func wait(
    atMost patience: Double, _ wait: HostWait, until isEnough: () -> Bool
  ) throws(HostFailure) {
    let limit = Clock.monotonic + patience
    update()
    while phase == .asked, !isEnough(), Clock.monotonic < limit {
      var set = PollSet()
      wants(&set)
      try wait(&set, limit)
      update()
    }
  }

  func close() {
    if socket >= 0 { CLibc.close(socket) }
    socket = -1
    for descriptor in descriptors { CLibc.close(descriptor) }
    descriptors = []
  }

  private func send() {
    while !outgoing.isEmpty {
      let count = write(socket, outgoing, outgoing.count)
      if count < 0 && systemError == EINTR { continue }
      guard count > 0 else { return }
      outgoing.removeFirst(count)
    }
    while let descriptor = descriptors.first {
      let count = clibc_send_descriptor(socket, descriptor)
      if count < 0 && systemError == EINTR { continue }
      guard count > 0 else { return }
      CLibc.close(descriptor)
      descriptors.removeFirst()
    }
  }

  private func receive() {
    let isOver = !ChildProcess.drain(socket, into: &incoming)
    handleAnswers()
    guard isOver else { return }
    if phase == .asked || phase == .opened { phase = .gone }
    close()
  }

  private func handleAnswers() {
    while let answer = MuxMessage.next(&incoming) {
      switch answer {
      case .hello(let version):
        if version != 4 { phase = .refused("a master of another kind (version \(version))") }
      case .alive(let process): master = pid_t(truncatingIfNeeded: process)
      case .opened:
        if phase == .asked { (phase, hasOpened) = (.opened, true) }
      case .exited(let status): (phase, hasOpened) = (.exited(status), true)
      case .refused(let why): if phase == .asked { phase = .refused(why) }
      case .other: break
      }
    }
  }
}
