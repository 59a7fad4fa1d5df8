import CWslay
import Core

/// Makes frames and keeps them until the network takes them.
///
/// Each frame of a client has a mask of its own, from the system's source of randomness,
/// so that nobody who gets us to send something chooses the bytes on the wire (RFC 6455,
/// section 10.3). A call of the system for each frame is little beside the sending.
package final class FrameWriter {
  /// What a frame is (RFC 6455, section 5.2).
  package enum Opcode: UInt8 {
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  private let queued = UnsafeMutablePointer<ByteQueue>.allocate(capacity: 1)
  private let context: wslay_frame_context_ptr
  /// TLS wants what is offered to stay in its place until it is taken, and the queue moves.
  private lazy var offered: UnsafeMutableRawBufferPointer = {
    hasOffered = true
    return .allocate(byteCount: 1 << 16, alignment: 16)
  }()
  private var hasOffered = false
  private var offer = 0..<0
  private let masks: Bool

  /// - Parameter masks: whether the frames are a client's; a server's have no mask.
  package init(masks: Bool = true) {
    self.masks = masks
    queued.initialize(to: ByteQueue())
    var callbacks = wslay_frame_callbacks()
    callbacks.send_callback = { bytes, count, _, queue in
      guard let queue = queue?.assumingMemoryBound(to: ByteQueue.self) else { return -1 }
      queue.pointee.append(UnsafeRawBufferPointer(start: bytes, count: count))
      return count
    }
    callbacks.genmask_callback = { mask, count, _ in
      var generator = SystemRandomNumberGenerator()
      var word: UInt64 = 0
      for index in 0..<count {
        if index % 8 == 0 { word = generator.next() }
        mask?[index] = UInt8(truncatingIfNeeded: word)
        word >>= 8
      }
      return 0
    }
    var made: wslay_frame_context_ptr?
    guard wslay_frame_context_init(&made, &callbacks, queued) == 0, let made else {
      Diagnostics.outOfMemory()
    }
    context = made
  }

  deinit {
    wslay_frame_context_free(context)
    queued.deinitialize(count: 1)
    queued.deallocate()
    if hasOffered { offered.deallocate() }
  }

  /// The bytes that the network has not yet taken.
  package var unsent: Int { queued.pointee.count + offer.count }

  /// Puts in bytes that are no frame: the request before all frames.
  package func add(raw bytes: [UInt8]) { bytes.withUnsafeBytes { queued.pointee.append($0) } }

  /// Puts in a frame that is a whole message, or a control frame.
  ///
  /// - Parameter payload: at most 125 bytes in a control frame.
  package func add(_ opcode: Opcode, _ payload: [UInt8]) {
    payload.withUnsafeBytes { bytes in
      var frame = wslay_frame_iocb()
      frame.fin = 1
      frame.opcode = opcode.rawValue
      frame.payload_length = UInt64(bytes.count)
      frame.mask = masks ? 1 : 0
      frame.data = bytes.bindMemory(to: UInt8.self).baseAddress
      frame.data_length = bytes.count
      // All the room at once: wslay hands on 4 KB at a time.
      _ = queued.pointee.room(bytes.count + 14)
      wslay_frame_send(context, &frame)
    }
  }

  /// Takes out all that waits, for a caller that writes it itself and never calls `flush`.
  package func take() -> [UInt8] {
    defer { queued.pointee.removeAll() }
    return Array(queued.pointee.bytes)
  }

  /// Gives the network what it takes.
  ///
  /// - Parameter write: how many bytes the network took; nil when it is broken.
  /// - Returns: false when it is broken.
  package func flush(_ write: (UnsafeRawBufferPointer) -> Int?) -> Bool {
    while true {
      if offer.isEmpty { offer = 0..<queued.pointee.take(into: offered) }
      if offer.isEmpty { return true }
      let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(offered)[offer])
      guard let count = write(rest) else { return false }
      if count == 0 { return true }
      offer = offer.lowerBound + count..<offer.upperBound
    }
  }
}
