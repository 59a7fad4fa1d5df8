public import Core

/// Puts the frames of a file and its index behind them into a file that zstd(1) reads:
/// CONTRACT.md beside this says how.
public struct PackWriter: ~Copyable {
  /// So many bytes of whole lines are a frame; a line that is longer is one by itself.
  public static let frame = 1 << 20

  private let encoder: FrameEncoder
  private let output: RecordWriter
  private var whole = FrameNotes(limit: 1024)
  private var index = ByteBuffer()
  private var table = SeekTable()

  /// - Parameter level: of compression, see `FrameEncoder`.
  public init(level: Int32, to output: RecordWriter) {
    encoder = FrameEncoder(level: level, piece: Self.frame)
    self.output = output
  }

  /// Writes a frame.
  ///
  /// - Parameters:
  ///   - bytes: whole lines.
  ///   - notes: what they are; the sizes are filled in.
  public mutating func add(
    _ bytes: UnsafeRawBufferPointer, _ notes: FrameNotes
  ) throws(WriteFailure) {
    var notes = notes
    var size = 0
    let output = output
    try encoder.pack(bytes) { (frame) throws(WriteFailure) in
      size = frame.count
      try output.write(frame)
    }
    (notes.size, notes.length) = (size, bytes.count)
    notes.write(to: &index)
    whole.add(notes)
    table.add(size: size, length: bytes.count)
  }

  /// Writes the index. Without one where a frame is too large for the seek table: such a file
  /// can only be read from its first byte on.
  public mutating func finish() throws(WriteFailure) {
    if table.count == 0 {
      var empty = FrameNotes()
      empty.isPlain = false
      try add(UnsafeRawBufferPointer(start: nil, count: 0), empty)
    }
    var text = ByteBuffer()
    whole.write(version: PackIndex.version, to: &text)
    text.append(index.bytes)
    if table.isPossible {
      let output = output
      try encoder.pack(text.bytes) { (packed) throws(WriteFailure) in
        try output.write(SeekTable.head(PackIndex.magic, PackIndex.mark.count + packed.count))
        try output.write(PackIndex.mark)
        try output.write(packed)
      }
      try output.write(table.bytes)
    }
    try output.flush()
  }
}
