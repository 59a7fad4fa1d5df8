import CLibc
import CSSH2
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

/// What ssh-agent is asked, and how it answers (the SSH agent protocol).
enum AgentMessage {
  /// A key that the agent can sign with.
  struct Key: Equatable, Sendable {
    var blob: [UInt8]
    /// What its owner called it: text from outside.
    var comment: String
  }

  /// The longest answer, bytes.
  static let limit = 256 << 10

  /// Asks for the keys.
  static let listRequest: [UInt8] = Wire.string([11])

  /// Asks for a signature.
  static func signRequest(_ blob: [UInt8], data: UnsafeRawBufferPointer) -> [UInt8] {
    Wire.string([13] + Wire.string(blob) + Wire.string(data) + Wire.word(0))
  }

  /// The length of the answer that begins with these bytes, itself included.
  ///
  /// - Returns: nil when there are too few to tell, 0 when no answer begins like this.
  static func length(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return 1...limit ~= length ? length + 4 : 0
  }

  /// The keys in an answer, nil when it does not list keys.
  static func keys(_ answer: [UInt8]) -> [Key]? {
    var reader = WireReader(answer.dropFirst(5))
    guard answer.count > 5, answer[4] == 12, let count = reader.word() else { return nil }
    var keys: [Key] = []
    while keys.count < count {
      guard let blob = reader.string(), let comment = reader.string() else { return nil }
      keys.append(Key(blob: Array(blob), comment: String(decoding: comment, as: UTF8.self)))
    }
    return keys
  }

  /// The signature in an answer, without the name of its kind; nil when the agent
  /// does not sign.
  static func signature(_ answer: [UInt8]) -> [UInt8]? {
    var reader = WireReader(answer.dropFirst(5))
    guard answer.count > 5, answer[4] == 14, let whole = reader.string() else { return nil }
    var parts = WireReader(whole)
    guard parts.text() != nil, let signature = parts.string() else { return nil }
    return Array(signature)
  }
}

/// Signs for one of the agent's keys.
///
/// libssh2 wants a signature within one call, and an agent may ask its owner first. So
/// when the answer does not come at once the try is given up, and made again when
/// the agent has signed: what is signed is the same then.
final class SSH2Signer {
  private let agent: SSH2Agent
  private let blob: [UInt8]
  private var data: [UInt8] = []
  private var signature: [UInt8]?
  /// The agent is at it.
  private(set) var isWaiting = false
  /// The agent does not want to.
  private(set) var hasRefused = false

  init(agent: SSH2Agent, blob: [UInt8]) {
    self.agent = agent
    self.blob = blob
  }

  /// Goes on with signing in: libssh2's number.
  func advance(_ session: SSH2Session, user: String) -> Int32 {
    if isWaiting {
      take(agent.advance())
      if isWaiting { return LIBSSH2_ERROR_EAGAIN }
    }
    let result = session.signIn(user, blob: blob) { [self] in sign($0) }
    return isWaiting && result != LIBSSH2_ERROR_EAGAIN ? LIBSSH2_ERROR_EAGAIN : result
  }

  private func sign(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    if let signature, data.elementsEqual(bytes) { return signature }
    guard !hasRefused else { return nil }
    data = Array(bytes)
    agent.ask(AgentMessage.signRequest(blob, data: bytes))
    isWaiting = true
    take(agent.advance(patience: 0.05))
    return signature
  }

  private func take(_ answer: SSH2Agent.Answer) {
    switch answer {
    case .waiting: return
    case .failed: signature = nil
    case .bytes(let bytes): signature = AgentMessage.signature(bytes)
    }
    isWaiting = false
    hasRefused = signature == nil
  }
}
