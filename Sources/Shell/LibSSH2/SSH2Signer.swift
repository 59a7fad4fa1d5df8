import CLibc
import CSSH2
import Core

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
  private let context: UnsafeMutablePointer<UnsafeMutableRawPointer?>

  init(agent: SSH2Agent, blob: [UInt8]) {
    self.agent = agent
    self.blob = blob
    context = .allocate(capacity: 1)
    context.initialize(to: nil)
  }

  deinit { context.deallocate() }

  /// Goes on with signing in: libssh2's number.
  func advance(_ session: SSH2Session, user: String) -> Int32 {
    if isWaiting {
      take(agent.advance())
      if isWaiting { return LIBSSH2_ERROR_EAGAIN }
    }
    context.pointee = Unmanaged.passUnretained(self).toOpaque()
    let sign: SignFunction = { _, signature, count, data, length, abstract in
      guard let signature, let count, let data, let signer = abstract?.pointee else { return -1 }
      let answer = Unmanaged<SSH2Signer>.fromOpaque(signer).takeUnretainedValue().sign(
        UnsafeRawBufferPointer(start: data, count: length))
      // libssh2 frees it.
      guard let answer, let copy = malloc(max(1, answer.count)) else { return -1 }
      answer.withUnsafeBytes { _ = memcpy(copy, $0.baseAddress!, $0.count) }
      signature.pointee = copy.assumingMemoryBound(to: UInt8.self)
      count.pointee = answer.count
      return 0
    }
    let (handle, blob, context) = (session.handle, blob, context)
    let result = session.ask {
      libssh2_userauth_publickey(handle, user, blob, blob.count, sign, context)
    }
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

private typealias SignFunction =
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, UnsafeMutablePointer<Int>?,
    UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> Int32
