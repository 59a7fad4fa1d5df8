import CLibc
import Core

/// A conversation with ssh-agent that does not block: one question at a time.
final class SSH2Agent {
  /// What became of a question.
  enum Answer {
    case waiting
    case bytes([UInt8])
    /// The agent has gone, or talks nonsense.
    case failed
  }

  private let descriptor: Int32
  private var outgoing: ArraySlice<UInt8> = []
  private var incoming: [UInt8] = []

  /// - Parameter path: the agent's socket.
  /// - Returns: nil when nobody listens there.
  init?(path: String) {
    descriptor = clibc_connect_local(path)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Begins a question.
  func ask(_ request: [UInt8]) {
    outgoing = request[...]
    incoming = []
  }

  /// Adds the descriptor that it waits for.
  func wants(_ set: inout PollSet) { set.add(descriptor, writing: !outgoing.isEmpty) }

  /// Goes on with the question.
  ///
  /// - Parameter patience: seconds that it may wait for the agent; most answer at once.
  func advance(patience: Double = 0) -> Answer {
    while true {
      let answer = step()
      guard case .waiting = answer, patience > 0 else { return answer }
      var set = PollSet()
      wants(&set)
      set.wait(seconds: patience)
      guard set.isReadable(descriptor) || (!outgoing.isEmpty && set.isWritable(descriptor)) else {
        return .waiting
      }
    }
  }

  private func step() -> Answer {
    while !outgoing.isEmpty {
      let sent = outgoing.withUnsafeBytes { clibc_send(descriptor, $0.baseAddress, $0.count) }
      guard sent >= 0 else { return isPatient ? .waiting : .failed }
      outgoing = outgoing.dropFirst(sent)
    }
    while true {
      if let length = AgentMessage.length(incoming) {
        guard length > 0 else { return .failed }
        if incoming.count >= length { return .bytes(Array(incoming[..<length])) }
      }
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = clibc_receive(descriptor, &piece, piece.count)
      guard count > 0 else { return count < 0 && isPatient ? .waiting : .failed }
      incoming += piece[..<count]
    }
  }

  private var isPatient: Bool {
    systemError == EAGAIN || systemError == EWOULDBLOCK || systemError == EINTR
  }
}
