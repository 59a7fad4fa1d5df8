import CLibc
import CZstd
public import Core

extension Failure {
  /// What zstd says of what it returned; nil when that is no error.
  init?(zstd code: Int) {
    guard ZSTD_isError(code) != 0 else { return nil }
    let words = ZSTD_getErrorName(code).map { String(cString: $0) } ?? "unknown error"
    self.init(words.lowercasedFirst)
  }
}

/// Packs bytes into frames of zstd (RFC 8878), each with its size and a checksum.
public final class FrameEncoder {
  private let context: OpaquePointer
  private let room: UnsafeMutableRawPointer
  private let capacity: Int

  /// - Parameters:
  ///   - level: as zstd(1) knows them; what is out of its range is brought into it.
  ///   - piece: how many bytes are packed at a time at most.
  public init(level: Int32, piece: Int) {
    guard let context = ZSTD_createCCtx() else { Diagnostics.outOfMemory() }
    self.context = context
    capacity = ZSTD_compressBound(piece)
    room = .allocate(byteCount: capacity, alignment: 16)
    let bounds = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel)
    let level = max(bounds.lowerBound, min(bounds.upperBound, level))
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
  }

  deinit {
    ZSTD_freeCCtx(context)
    room.deallocate()
  }

  /// How large a frame of so many bytes can be, with its checksum.
  static func bound(_ length: Int) -> Int { ZSTD_compressBound(length) + 32 }

  /// The level that zstd(1) would take.
  ///
  /// - Parameter word: the value of `ZSTD_CLEVEL`, if there is any.
  public static func level(_ word: String?) -> Int32 { word.flatMap { Int32($0) } ?? 3 }

  /// One frame of all these bytes.
  ///
  /// - Parameter receive: given the frame, which is valid until it returns.
  public func pack<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer,
    to receive: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    // A line that is longer than a piece gets memory for itself.
    let isLarge = ZSTD_compressBound(bytes.count) > capacity
    let size = isLarge ? ZSTD_compressBound(bytes.count) : capacity
    let out = isLarge ? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16) : room
    defer { if isLarge { out.deallocate() } }
    let count = ZSTD_compress2(context, out, size, bytes.baseAddress, bytes.count)
    // With room for all, it can only be memory that is missing.
    if ZSTD_isError(count) != 0 { Diagnostics.outOfMemory() }
    try receive(UnsafeRawBufferPointer(start: out, count: count))
  }
}

/// Unpacks frames of zstd, one at a time.
public final class FrameDecoder {
  private let context: OpaquePointer

  /// Ready for the first frame.
  public init() {
    guard let context = ZSTD_createDCtx() else { Diagnostics.outOfMemory() }
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  /// Unpacks one frame, whose size is known.
  ///
  /// - Parameters:
  ///   - frame: all of it.
  ///   - out: room for what is in it, neither more nor less.
  /// - Throws: `Failure` when it is damaged, or holds more or less than that.
  public func unpack(
    _ frame: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer
  ) throws(Failure) {
    let count = ZSTD_decompressDCtx(
      context, out.baseAddress, out.count, frame.baseAddress, frame.count)
    if let fault = Failure(zstd: count) { throw fault }
    guard count == out.count else { throw Self.otherLength }
  }

  /// Checks how much a frame says that it holds.
  static func check(_ frame: UnsafeRawBufferPointer, is length: Int) throws(Failure) {
    let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
    // ZSTD_CONTENTSIZE_ERROR; one that is not known is the largest number.
    if size == UInt64.max - 1 { throw Failure("not a frame of zstd") }
    guard size == length else { throw Self.otherLength }
  }

  private static let otherLength = Failure("not as long as it was")

  /// How many bytes a frame holds, as it says itself. Returns nil when it does not say so, or has
  /// no checksum.
  static func size(of frame: UnsafeRawBufferPointer) -> Int? {
    guard frame.count > 5, frame[4] & 4 != 0 else { return nil }
    let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
    // Two values below the largest mean an error and that it is not known.
    return size > UInt64(Int.max) ? nil : Int(size)
  }
}
