import Archive
import CLibc
import Core
import Records

/// A file of zstd without an index, which can only be unpacked from its first byte on: one
/// thread at a time does that, and filters what it has while another one goes on.
final class StreamSource: PieceSource {
  private let path: String
  private let file: Int32
  private let stream: PackedStream
  private let size: Int
  private var rest = ByteBuffer()
  private var isFirst = true
  private var isAtEnd = false
  /// Why there is no more, told when the lines before it were handed over.
  private var failure: Failure?

  /// Opens a file. Returns nil when it is no regular file of zstd, or cannot be read.
  init?(
    _ place: String, named path: String, writtenTo target: FileIdentity?,
    size: Int = PieceSize.usual
  ) {
    guard let identity = FileIdentity(path: place), identity != target else { return nil }
    let file = place == "-" ? 0 : clibc_open(place, O_RDONLY)
    guard file >= 0 else { return nil }
    guard FileIdentity(descriptor: file) == identity, Self.isPacked(file) else {
      if file > 0 { close(file) }
      return nil
    }
    (self.path, self.file, self.size) = (path, file, size)
    stream = PackedStream(descriptor: file)
  }

  deinit { if file > 0 { close(file) } }

  private static func isPacked(_ file: Int32) -> Bool {
    let place = lseek(file, 0, SEEK_CUR)
    return withUnsafeTemporaryAllocation(byteCount: Compression.magicSize, alignment: 1) { bytes in
      guard pread(file, bytes.baseAddress, bytes.count, place) == bytes.count else { return false }
      return Compression(start: UnsafeRawBufferPointer(bytes)) == .zstd
    }
  }

  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece? {
    if let failure {
      self.failure = nil
      throw failure
    }
    if isAtEnd { return nil }
    put(rest.bytes, into: buffer)
    rest.removeAll(keepingAtMost: 2 * size)
    var piece = Piece(path: path)
    if isFirst { piece.firstLine = 1 }
    isFirst = false
    while true {
      var failure: Failure?
      do throws(Failure) { try fill(buffer) } catch { failure = error }
      if let newline = clibc_memrchr(buffer.base, 10, buffer.count) {
        let end = newline - UnsafeRawPointer(buffer.base) + 1
        buffer.lines = 0..<end
        // Half a line of a damaged file is no line.
        if failure == nil {
          rest.append(UnsafeRawBufferPointer(start: buffer.base + end, count: buffer.count - end))
        }
      }
      if let failure {
        isAtEnd = true
        if buffer.lines.isEmpty { throw failure }
        self.failure = failure
        return piece
      }
      if isAtEnd {
        buffer.lines = 0..<buffer.count
        return buffer.count > 0 ? piece : nil
      }
      if !buffer.lines.isEmpty { return piece }
      // A line that is longer than that.
      buffer.reserve(2 * buffer.capacity)
    }
  }

  private func put(_ bytes: UnsafeRawBufferPointer, into buffer: PieceBuffer) {
    buffer.reserve(bytes.count + size)
    if let start = bytes.baseAddress { memcpy(buffer.base, start, bytes.count) }
    buffer.count = bytes.count
  }

  private func fill(_ buffer: PieceBuffer) throws(Failure) {
    while buffer.count < buffer.capacity {
      let room = UnsafeMutableRawBufferPointer(
        start: buffer.base + buffer.count, count: buffer.capacity - buffer.count)
      let count = try stream.read(into: room)
      if count == 0 {
        isAtEnd = true
        return
      }
      buffer.count += count
    }
  }
}
