/// How a file is compressed, by its first bytes.
public enum Compression: String, Sendable, CaseIterable {
  /// RFC 8878. A skippable frame in front is not looked behind.
  case zstd
  /// RFC 1952.
  case gzip

  /// How many bytes decide.
  public static let magicSize = 4

  /// - Parameter start: the first bytes of a file, `magicSize` of them or all.
  /// - Returns: nil for a file that is not compressed.
  public init?(start: UnsafeRawBufferPointer) {
    // No line of JSON begins so.
    if start.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) {
      self = .zstd
    } else if start.starts(with: [0x1f, 0x8b]) {
      self = .gzip
    } else {
      return nil
    }
  }

  /// The program, and the options with which it decompresses its standard input
  /// to its standard output.
  var words: [String] { [rawValue, "-dcq"] }
}
