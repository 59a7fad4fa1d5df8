/// What a file holds that is no UTF-8, by its first bytes.
public enum ForeignText {
  /// Why it is not read, for a diagnostic.
  ///
  /// - Parameter start: the first bytes, 16 of them or all.
  /// - Returns: nil for what may be UTF-8.
  public static func reason(of start: some Collection<UInt8>) -> String? {
    let start = Array(start.prefix(16))
    if let known = known.first(where: { start.starts(with: $0.magic) }) {
      return "it is \(known.what)"
    }
    if isOfZstd(start) { return "it is compressed by zstd" }
    return isUTF16(start) ? "it is UTF-16 text" : nil
  }

  /// One of 16 magic numbers may stand in front of a file of zstd, too: pzstd(1)'s do.
  public static func isOfZstd(_ start: some Collection<UInt8>) -> Bool {
    start.starts(with: [0x28, 0xb5, 0x2f, 0xfd])
      || start.first.map { $0 & 0xf0 == 0x50 } == true
        && start.dropFirst().starts(with: [0x2a, 0x4d, 0x18])
  }

  private static let known: [(what: String, magic: [UInt8])] = [
    ("compressed by xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), ("compressed by gzip", [0x1f, 0x8b]),
    ("compressed by bzip2", Array("BZh".utf8)), ("compressed by zip", [0x50, 0x4b, 3, 4]),
    ("compressed by zip", [0x50, 0x4b, 5, 6]), ("compressed by zip", [0x50, 0x4b, 7, 8]),
    ("compressed by lz4", [0x04, 0x22, 0x4d, 0x18]), ("compressed by lzip", Array("LZIP".utf8)),
    ("compressed by 7-Zip", [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]),
    ("compressed by compress", [0x1f, 0x9d]), ("UTF-32 text", [0xff, 0xfe, 0, 0]),
    ("UTF-32 text", [0, 0, 0xfe, 0xff]), ("UTF-16 text", [0xff, 0xfe]),
    ("UTF-16 text", [0xfe, 0xff]),
  ]

  /// Whether every other byte is NUL, and no more: text of ASCII without a mark.
  private static func isUTF16(_ start: [UInt8]) -> Bool {
    guard start.count >= 4 else { return false }
    let even = start.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let odd = start.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    func isZero(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { $0 == 0 } }
    func isText(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { $0 >= 9 && $0 < 0x7f } }
    return isZero(odd) && isText(even) || isZero(even) && isText(odd)
  }
}
