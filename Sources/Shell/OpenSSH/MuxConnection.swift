import CLibc
import Core

/// One session over a master: its control connection, which carries a command and
/// three descriptors there and its status back.
final class MuxConnection {
  /// How far it is.
  enum Phase: Equatable {
    /// The master has not said that the host runs the command.
    case asked
    case opened
    case exited(Int32)
    /// The master says no.
    case refused(String)
    /// The master hung up.
    case gone
  }

  private(set) var phase = Phase.asked
  /// Whether the host has run the command.
  private(set) var hasOpened = false
  /// The master's process; nil while it has not said.
  private(set) var master: pid_t?
  private var socket: Int32
  private var outgoing: [UInt8]
  private var descriptors: [Int32]
  private var incoming: [UInt8] = []

  /// Connects; nil when nobody takes calls there.
  ///
  /// - Parameters:
  ///   - command: nil only asks whether somebody is there.
  ///   - descriptors: three; closed here when they have gone over.
  init?(_ path: String, _ command: String? = nil, _ descriptors: [Int32] = []) {
    socket = clibc_connect_local(path)
    guard socket >= 0 else { return nil }
    outgoing = MuxMessage.hello + MuxMessage.check
    if let command { outgoing += MuxMessage.session(command) }
    self.descriptors = descriptors
    send()
  }

  deinit { close() }

  /// Whether somebody takes calls at a path.
  static func isTaken(_ path: String) -> Bool {
    let socket = clibc_connect_local(path)
    if socket >= 0 { CLibc.close(socket) }
    return socket >= 0
  }

  /// Asks for a command, where only the question went out before.
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
    let isOver = PipeEnd.drain(socket, into: &incoming)
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
