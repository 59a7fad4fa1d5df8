import CLibc
import CWslay
import Core

/// Reads frames and makes messages of them (RFC 6455, sections 5 and 8.1).
///
/// wslay reads the headers. It takes the bytes in pieces of 4 KB into a buffer of its
/// own. A server's payload is not used from there: it lies, still in one piece, in the
/// memory that was supplied, so that a message that came whole is handed over where it is.
/// A client's is unmasked there, and copied back to where it came from. The rules on
/// messages (fragments, UTF-8, sizes) are kept here.
package final class FrameReader {
  /// Whose frames are read. A client masks each, a server none (RFC 6455, section 5.1).
  package enum Sender { case client, server }

  /// What was read. Pongs are passed over.
  package enum Item {
    /// A whole message. Its bytes are valid until the reader is called again.
    case message(SocketMessage)
    /// A message is dropped: it is over the limit, as far as its bytes are known. Told with
    /// the header of the frame that is too much; what follows of the message is passed over.
    case oversize(Int)
    /// A ping with its payload, of at most 125 bytes.
    case ping([UInt8])
    /// The other side closes. Nothing counts behind it.
    case close(CloseFrame)
  }

  private struct Supply {
    var next: UnsafeRawPointer?
    var count = 0
  }

  /// The largest message, bytes; nil for `largest`, which none may pass. A
  /// change counts from the next frame on.
  package var limit: Int?

  private let supplied = UnsafeMutablePointer<Supply>.allocate(capacity: 1)
  private let context: wslay_frame_context_ptr
  private let sender: Sender
  private let mostFrames: Int
  private var frames = 0

  private var region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Where in the region wslay is; negative while it holds bytes of the last one.
  private var place = 0
  private var start = 0
  /// The frame that wslay is in. Were it no pointer, Swift would check at each call that
  /// nobody else changes it, which takes longer than to read a small frame.
  private let frame = UnsafeMutablePointer<wslay_frame_iocb>.allocate(capacity: 1)
  /// The bytes of a header that has begun, and up to where they were taken from the region.
  private var header: [UInt8] = []
  private var noted = 0
  private var isAnnounced = false
  /// The bytes that the frame still lacks; nil between frames.
  private var missing: UInt64?
  private var control: [UInt8] = []

  private var message: (isText: Bool, size: Int, isDropped: Bool)?
  /// Of it, what does not lie in the region, or not in one piece.
  private var held = ByteBuffer()
  private var text = UTF8Pieces()

  /// The largest message that is taken, bytes. One that claims to be larger fails the
  /// connection before it is read: 2^63 bytes can be claimed in a header of ten.
  package static let largest = 1 << 30
  /// More is given back to the system between messages, bytes.
  private static let keeps = 1 << 20

  /// - Parameters:
  ///   - limit: the largest message, bytes; nil for `largest`.
  ///   - mostFrames: how many frames a message may come in.
  package init(from sender: Sender, limit: Int?, mostFrames: Int = .max) {
    (self.sender, self.mostFrames, self.limit) = (sender, mostFrames, limit)
    supplied.initialize(to: Supply())
    frame.initialize(to: wslay_frame_iocb())
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
    frame.deallocate()
  }

  /// How much is kept of a message that is not whole, bytes.
  package var heldBytes: Int { held.count }

  /// Hands over bytes that came; those before must be used up.
  ///
  /// - Parameter bytes: must stay where they are until `next` gives nil. A client's are
  ///   unmasked in place.
  package func supply(_ bytes: UnsafeMutableRawBufferPointer) {
    place -= region.count
    start = 0
    noted = 0
    region = bytes
    supplied.pointee = Supply(next: UnsafeRawPointer(bytes.baseAddress), count: bytes.count)
  }

  /// Reads on. Not to be called behind a fault or a close.
  ///
  /// - Returns: nil when all that was supplied is used up.
  /// - Throws: `FrameFault` when the other side breaks the protocol.
  package func next() throws(FrameFault) -> Item? {
    if message == nil, !held.isEmpty { held.removeAll(keepingAtMost: Self.keeps) }
    while true {
      let count = wslay_frame_recv(context, frame)
      guard count >= 0 else {
        guard count == Int(WSLAY_ERR_WANT_READ.rawValue) else {
          throw FrameFault(.protocolError, "a bad length, or a control frame in parts")
        }
        if missing == nil { return try announced().map { .oversize($0) } }
        if !isControl { try hold() }
        return nil
      }
      let oversize = missing == nil ? try begin() : nil
      if frame.pointee.mask != 0 { memcpy(region.baseAddress! + place, frame.pointee.data, count) }
      place += count
      let left = (missing ?? 0) - UInt64(count)
      missing = left > 0 ? left : nil
      if isControl { control += UnsafeRawBufferPointer(start: frame.pointee.data, count: count) }
      let ended = left == 0 ? try end() : nil
      if let oversize { return .oversize(oversize) }
      if let ended { return ended }
    }
  }

  private var isControl: Bool { frame.pointee.opcode & 8 != 0 }

  private func begin() throws(FrameFault) -> Int? {
    let size = frame.pointee.payload_length
    let isMasked = frame.pointee.mask != 0
    place += (size < 126 ? 2 : size < 1 << 16 ? 4 : 10) + (isMasked ? 4 : 0)
    start = place
    missing = size
    header.removeAll(keepingCapacity: true)
    let opcode = frame.pointee.opcode
    try check(opcode, reserved: frame.pointee.rsv, isMasked: isMasked)
    if isControl {
      control.removeAll(keepingCapacity: true)
      return nil
    }
    if opcode != 0 {
      message = (opcode == 1, 0, false)
      frames = 0
    }
    frames += 1
    return try grow(size)
  }

  private func check(
    _ opcode: UInt8, reserved: UInt8, isMasked: Bool
  ) throws(FrameFault) {
    if reserved != 0 { throw FrameFault(.protocolError, "reserved bits are set") }
    if isMasked != (sender == .client) {
      throw FrameFault(.protocolError, isMasked ? "a masked frame" : "an unmasked frame")
    }
    switch opcode {
    case 0 where message == nil:
      throw FrameFault(.protocolError, "a continuation of nothing")
    case 0 where frames >= mostFrames:
      throw FrameFault(.protocolError, "a message in too many frames")
    case 1, 2:
      if message != nil { throw FrameFault(.protocolError, "a message within a message") }
    case 0, 8, 9, 10: break
    default: throw FrameFault(.protocolError, "reserved opcode \(opcode)")
    }
  }

  private func grow(_ size: UInt64) throws(FrameFault) -> Int? {
    guard let known = message?.size, size <= UInt64(Self.largest - known) else {
      throw FrameFault(.tooLarge, "a message of more than \(Self.largest) bytes")
    }
    let total = known + Int(size)
    message?.size = total
    guard let limit, total > limit, message?.isDropped == false else { return nil }
    message?.isDropped = true
    held.removeAll(keepingAtMost: Self.keeps)
    text.restart()
    defer { isAnnounced = false }
    return isAnnounced ? nil : total
  }

  /// Looks at a header of which wslay tells only with the first byte of the payload: who sends
  /// a length that is too much may never send that byte.
  private func announced() throws(FrameFault) -> Int? {
    let from = max(place, noted, 0)
    if from < region.count { header += region[from...] }
    noted = region.count
    guard header.count >= 2, header[0] & 8 == 0, !isAnnounced, message?.isDropped != true else {
      return nil
    }
    let digits = header[1] & 127 == 126 ? 2 : header[1] & 127 == 127 ? 8 : 0
    guard header.count >= 2 + digits else { return nil }
    let size = header[2..<2 + digits].reduce(0) { $0 << 8 | UInt64($1) }
    let known = message?.size ?? 0
    let isTooMuch = limit.map { size > UInt64(max(0, $0 - known)) } ?? false
    guard isTooMuch || size > UInt64(Self.largest - known) else { return nil }
    try check(header[0] & 15, reserved: header[0] >> 4 & 7, isMasked: header[1] & 128 != 0)
    guard size <= UInt64(Self.largest - known) else {
      throw FrameFault(.tooLarge, "a message of more than \(Self.largest) bytes")
    }
    isAnnounced = true
    return known + Int(size)
  }

  /// The payload of the frame that lies in the region and is not yet held.
  private var fresh: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: region[start..<place])
  }

  private func hold() throws(FrameFault) {
    guard let message, !message.isDropped else { return }
    if message.isText && !text.receive(fresh) { throw Self.notText }
    held.append(fresh)
    start = place
  }

  private static let notText = FrameFault(.invalidText, "a text that is not UTF-8")

  private func end() throws(FrameFault) -> Item? {
    switch frame.pointee.opcode {
    case 8: return .close(try CloseFrame(control))
    case 9: return .ping(control)
    case 10: return nil
    default: break
    }
    guard frame.pointee.fin != 0 else {
      try hold()
      return nil
    }
    guard let message, !message.isDropped else {
      self.message = nil
      return nil
    }
    let isWhole = held.isEmpty
    if !isWhole { try hold() }
    let isValid = !message.isText || (isWhole ? UTF8Text.isValid(fresh) : text.isWhole)
    guard isValid else { throw Self.notText }
    self.message = nil
    return .message(
      SocketMessage(isText: message.isText, bytes: isWhole ? fresh : held.bytes))
  }
}
