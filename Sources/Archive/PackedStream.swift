import CLibc
import CZstd
public import Core

/// Unpacks a file of zstd from its first byte to its last: frames one after the other, and
/// skippable ones between them.
public final class PackedStream {
  private let context: OpaquePointer
  private let descriptor: Int32
  private let room: UnsafeMutableRawPointer
  private var input = ZSTD_inBuffer()
  private var isInside = false
  /// Whether what was unpacked last filled the room, so that there may be more of it.
  private var isFull = false

  private static let capacity = 256 * 1024
  /// So much is unpacked at once: of a call that fails, nothing that it unpacked is given out.
  private static let step = 16 * 1024

  /// - Parameter descriptor: an open file, which stays the caller's.
  public init(descriptor: Int32) {
    guard let context = ZSTD_createDStream() else { Diagnostics.outOfMemory() }
    (self.context, self.descriptor) = (context, descriptor)
    room = .allocate(byteCount: Self.capacity, alignment: 4096)
    input.src = UnsafeRawPointer(room)
  }

  deinit {
    ZSTD_freeDStream(context)
    room.deallocate()
  }

  /// Unpacks what fits.
  ///
  /// - Parameter out: room for at least one byte.
  /// - Returns: how many bytes there are now; 0 at the end of the file.
  /// - Throws: `Failure` when the file cannot be read, is cut short or damaged, or asks
  ///   for a window of more than 128 MB.
  public func read(into out: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
    var output = ZSTD_outBuffer(dst: out.baseAddress, size: min(out.count, Self.step), pos: 0)
    while output.pos == 0 {
      if input.pos == input.size, !isFull {
        if try !fill() {
          if isInside { throw Self.failure("unexpected end") }
          return 0
        }
      }
      let left = ZSTD_decompressStream(context, &output, &input)
      if let fault = Failure(zstd: left) { throw Self.failure(fault.reason) }
      isInside = left != 0
      isFull = isInside && output.pos == output.size
    }
    return output.pos
  }

  private static func failure(_ reason: String) -> Failure {
    Failure("cut short or damaged: zstd: \(reason)")
  }

  private func fill() throws(Failure) -> Bool {
    while true {
      let count = CLibc.read(descriptor, room, Self.capacity)
      if count < 0 {
        if systemError == EINTR { continue }
        throw Failure(code: systemError)
      }
      (input.pos, input.size) = (0, count)
      return count > 0
    }
  }
}
