import CLibc
public import Core

/// An open file whose frames can be read one by one, because it has an index.
public final class PackedFile {
  /// What it says of its records.
  public let index: PackIndex
  /// Its frames in their order.
  public let frames: [PackedFrame]
  /// What the user called it.
  public let path: String
  /// Bytes of the file.
  public let size: Int
  private let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: of a file; `-` has no index.
  ///   - target: where records are written; that is not read.
  ///   - isWanted: asked once with what the whole file holds; false leaves `frames` empty.
  /// - Returns: nil when it is to be read in another way, or cannot be read.
  public init?(_ path: String, writtenTo target: FileIdentity?, isWanted: (FrameSummary) -> Bool) {
    guard path != "-", let status = stat(following: path), status.isRegular else { return nil }
    let descriptor = clibc_open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    guard let now = stat(of: descriptor), now.isRegular,
      target == nil || FileIdentity(descriptor: descriptor) != target,
      let index = PackIndex(of: descriptor, fileSize: Int(now.st_size)),
      let frames = isWanted(index.summary) ? index.frames() : []
    else {
      close(descriptor)
      return nil
    }
    (self.index, self.frames, self.path, self.descriptor) = (index, frames, path, descriptor)
    size = Int(now.st_size)
  }

  deinit { close(descriptor) }

  /// Reads a frame.
  ///
  /// - Parameters:
  ///   - room: memory for it as it stands in the file.
  ///   - out: asked once, when the frame itself says that so many bytes are in it, for memory
  ///     for them; what an index claims costs none.
  /// - Throws: `Failure`, which names the frame.
  public func read(
    _ frame: PackedFrame, through room: inout [UInt8], with decoder: FrameDecoder,
    into out: (Int) -> UnsafeMutableRawBufferPointer
  ) throws(Failure) {
    let size = frame.summary.size
    if room.count < size { room = [UInt8](repeating: 0, count: size) }
    let fault = room.withUnsafeMutableBytes { room -> String? in
      let packed = UnsafeMutableRawBufferPointer(rebasing: room[..<size])
      let code = readAll(from: descriptor, at: frame.offset, into: packed)
      if code != 0 { return code < 0 ? "the file became shorter" : systemReason(code) }
      do throws(Failure) {
        let packed = UnsafeRawBufferPointer(packed)
        try FrameDecoder.check(packed, is: frame.summary.length)
        try decoder.unpack(packed, into: out(frame.summary.length))
      } catch {
        return error.reason
      }
      return nil
    }
    if let fault {
      throw Failure(
        "frame \(frame.number), bytes \(frame.offset) to \(frame.offset + size - 1), "
          + "not read: \(fault)")
    }
  }
}
