import CLibc
import CWslay
import Core

/// What a frame reader finds, in the order of the wire.
protocol FrameTaker: AnyObject {
  /// A whole message.
  func frames(message: SocketMessage)
  /// A message is dropped: it is over the limit, as far as its bytes are known.
  func frames(oversize bytes: Int)
  /// A ping with its payload.
  func frames(ping payload: UnsafeRawBufferPointer)
  /// The other side closes. The reader is to be stopped.
  func frames(close: CloseFrame)
}

/// Reads frames and makes messages of them (RFC 6455, sections 5 and 8.1).
///
/// wslay reads the headers. It takes the bytes in pieces of 4 KB into a buffer of its
/// own, from which the payload is not used: it lies, still in one piece, in the memory
/// that was supplied, so that a message that came whole is handed over where it is. The
/// rules on messages (fragments, UTF-8, sizes) are kept here.
final class FrameReader {
  /// What a run came to.
  enum Outcome: Equatable {
    /// All that was supplied is used up.
    case drained
    /// `stop` was called.
    case stopped
    /// The other side broke the protocol.
    case failed(FrameFault)
  }

  /// What wslay has not yet taken.
  private struct Supply {
    var next: UnsafeRawPointer?
    var count = 0
  }

  private let supplied = UnsafeMutablePointer<Supply>.allocate(capacity: 1)
  private let context: wslay_frame_context_ptr
  private let limit: Int?
  private unowned let taker: (any FrameTaker)

  private var region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Where in the region wslay is; negative while it holds bytes of the last one.
  private var place = 0
  /// Where the payload begins that is not yet held.
  private var start = 0
  private var frame = wslay_frame_iocb()
  /// The bytes that the frame still lacks; nil between frames.
  private var missing: UInt64?
  private var control: [UInt8] = []

  /// The message that has begun; nil between messages.
  private var message: (isText: Bool, size: Int, isDropped: Bool)?
  /// Of it, what does not lie in the region, or not in one piece.
  private var held = ByteBuffer()
  private var text = UTF8Pieces()
  private var isStopped = false

  /// More is given back to the system between messages, bytes.
  private static let keeps = 1 << 20

  /// - Parameters:
  ///   - limit: the largest message, bytes; nil for `SocketOptions.largest`, which none
  ///     may pass.
  ///   - taker: not retained, and outlives the reader.
  init(limit: Int?, taker: (any FrameTaker)) {
    self.limit = limit
    self.taker = taker
    supplied.initialize(to: Supply())
    var callbacks = wslay_frame_callbacks()
    callbacks.recv_callback = { buffer, room, _, source in
      guard let supply = source?.assumingMemoryBound(to: Supply.self),
        let next = supply.pointee.next, let buffer
      else { return -1 }
      let count = min(room, supply.pointee.count)
      memcpy(buffer, next, count)
      supply.pointee = Supply(next: next + count, count: supply.pointee.count - count)
      return count
    }
    var made: wslay_frame_context_ptr?
    guard wslay_frame_context_init(&made, &callbacks, supplied) == 0, let made else {
      Diagnostics.outOfMemory()
    }
    context = made
  }

  deinit {
    wslay_frame_context_free(context)
    supplied.deallocate()
  }

  /// Hands over bytes that came; those before must be used up.
  ///
  /// - Parameter bytes: must stay where they are until `run` says `drained`.
  func supply(_ bytes: UnsafeMutableRawBufferPointer) {
    place -= region.count
    start = 0
    region = bytes
    supplied.pointee = Supply(next: UnsafeRawPointer(bytes.baseAddress), count: bytes.count)
  }

  /// Makes a run end before the next message; a later one goes on there.
  func stop() { isStopped = true }

  /// Reads on.
  func run() -> Outcome {
    isStopped = false
    // Held for the whole run: for each message it would cost more.
    let taker = taker
    do throws(FrameFault) {
      while !isStopped {
        let count = wslay_frame_recv(context, &frame)
        guard count >= 0 else {
          guard count == Int(WSLAY_ERR_WANT_READ.rawValue) else {
            throw FrameFault(.protocolError, "a bad length, or a control frame in parts")
          }
          try hold()
          return .drained
        }
        if missing == nil { try begin() }
        place += count
        let left = (missing ?? 0) - UInt64(count)
        missing = left > 0 ? left : nil
        if isControl {
          control += UnsafeRawBufferPointer(start: frame.data, count: count)
          if left == 0 { try endControl(taker) }
        } else if left == 0 {
          try endFrame(taker)
        }
      }
      return .stopped
    } catch {
      return .failed(error)
    }
  }

  private var isControl: Bool { frame.opcode & 8 != 0 }

  /// Checks the header of a frame.
  private func begin() throws(FrameFault) {
    let size = frame.payload_length
    place += (size < 126 ? 2 : size < 1 << 16 ? 4 : 10) + (frame.mask != 0 ? 4 : 0)
    start = place
    missing = size
    if frame.rsv != 0 { throw FrameFault(.protocolError, "reserved bits are set") }
    if frame.mask != 0 { throw FrameFault(.protocolError, "a masked frame") }
    switch frame.opcode {
    case 0 where message == nil:
      throw FrameFault(.protocolError, "a continuation of nothing")
    case 0: break
    case 1, 2:
      if message != nil { throw FrameFault(.protocolError, "a message within a message") }
      message = (frame.opcode == 1, 0, false)
    case 8, 9, 10:
      control.removeAll(keepingCapacity: true)
      return
    default: throw FrameFault(.protocolError, "reserved opcode \(frame.opcode)")
    }
    try grow(size)
  }

  /// Counts a frame to its message.
  private func grow(_ size: UInt64) throws(FrameFault) {
    guard let known = message?.size, size <= UInt64(SocketOptions.largest - known) else {
      throw FrameFault(.tooLarge, "a message of more than \(SocketOptions.largest) bytes")
    }
    let total = known + Int(size)
    message?.size = total
    if let limit, total > limit, message?.isDropped == false {
      message?.isDropped = true
      held.removeAll(keepingAtMost: Self.keeps)
      taker.frames(oversize: total)
    }
  }

  /// The payload of the frame that lies in the region and is not yet held.
  private var fresh: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: region[start..<place])
  }

  /// Keeps what lies in the region of a message that goes on behind it.
  private func hold() throws(FrameFault) {
    guard missing != nil, !isControl else { return }
    try keep()
  }

  private func keep() throws(FrameFault) {
    guard let message, !message.isDropped else { return }
    let bytes = fresh
    if message.isText && !text.take(bytes) { throw Self.notText }
    held.append(bytes)
    start = place
  }

  private static let notText = FrameFault(.invalidText, "a text that is not UTF-8")

  private func endFrame(_ taker: any FrameTaker) throws(FrameFault) {
    guard let message else { return }
    if frame.fin == 0 { return try keep() }
    self.message = nil
    if message.isDropped {
      text.restart()
      return
    }
    if message.size == fresh.count {
      if message.isText && !UTF8Text.isValid(fresh) {
        throw Self.notText
      }
      taker.frames(message: SocketMessage(isText: message.isText, bytes: fresh))
      return
    }
    self.message = message
    try keep()
    self.message = nil
    if message.isText && !text.isWhole { throw Self.notText }
    taker.frames(message: SocketMessage(isText: message.isText, bytes: held.bytes))
    held.removeAll(keepingAtMost: Self.keeps)
  }

  private func endControl(_ taker: any FrameTaker) throws(FrameFault) {
    switch frame.opcode {
    case 8: taker.frames(close: try CloseFrame(control))
    case 9: control.withUnsafeBytes { taker.frames(ping: $0) }
    default: break
    }
  }
}
