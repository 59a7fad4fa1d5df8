import Core

/// The seek table of the seekable format of zstd: the sizes of all frames, in a skippable frame
/// at the end of the file.
///
/// Source: contrib/seekable_format/zstd_seekable_compression_format.md in facebook/zstd.
struct SeekTable {
  /// Of the skippable frame, and of its last four bytes.
  static let magic: UInt32 = 0x184d_2a5e
  static let lastMagic: UInt32 = 0x8f92_eab1
  /// In front: magic and size. Behind: how many frames, flags, magic.
  static let headSize = 8
  static let footSize = 9

  private var entries: [UInt8] = []
  private(set) var count = 0
  private(set) var isPossible = true

  mutating func add(size: Int, length: Int) {
    count += 1
    // The format's bound for what is unpacked; there may be no more than 2^27 frames.
    guard length <= 1 << 30, size <= 1 << 31, count <= 1 << 27 else {
      isPossible = false
      return
    }
    entries += Self.word(UInt32(size)) + Self.word(UInt32(length))
  }

  var bytes: [UInt8] {
    Self.head(Self.magic, entries.count + Self.footSize) + entries + Self.word(UInt32(count)) + [0]
      + Self.word(Self.lastMagic)
  }

  static func head(_ magic: UInt32, _ size: Int) -> [UInt8] { word(magic) + word(UInt32(size)) }

  /// Little endian.
  static func word(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  /// What the last bytes of a file say of its table.
  struct Foot {
    let count: Int
    /// Bytes of an entry: 12 with a checksum, else 8.
    let entrySize: Int
    var size: Int { SeekTable.headSize + count * entrySize + SeekTable.footSize }

    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= SeekTable.footSize else { return nil }
      let at = bytes.count - SeekTable.footSize
      guard bytes.word(at + 5) == SeekTable.lastMagic, bytes[at + 4] & 0x7c == 0 else { return nil }
      count = Int(bytes.word(at))
      entrySize = bytes[at + 4] & 0x80 != 0 ? 12 : 8
      guard count <= 1 << 27 else { return nil }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Four bytes, little endian.
  func word(_ at: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: at, as: UInt32.self))
  }
}
