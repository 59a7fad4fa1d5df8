import Core

/// Files as one stream that every tar(1) takes apart: the ustar form of POSIX.1-1988
/// (pax(1), ustar Interchange Format), regular files alone.
struct TarArchive {
  private(set) var bytes: [UInt8] = []

  private static let block = 512

  /// Adds a file.
  ///
  /// - Parameters:
  ///   - name: 1 to 99 bytes, a relative path.
  ///   - modified: seconds since 1970.
  mutating func add(_ name: String, _ content: [UInt8], modified: Int64) {
    var header = [UInt8](repeating: 0, count: Self.block)
    func put(_ text: String, at place: Int) {
      header.replaceSubrange(place..<(place + text.utf8.count), with: Array(text.utf8))
    }
    put(String(name.prefix(99)), at: 0)
    put(Self.octal(0o600, 7), at: 100)
    put(Self.octal(0, 7), at: 108)
    put(Self.octal(0, 7), at: 116)
    put(Self.octal(Int64(content.count), 11), at: 124)
    put(Self.octal(max(0, modified), 11), at: 136)
    // The sum is that of the header with blanks in its own place.
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar\u{0}00", at: 257)
    put(Self.octal(header.reduce(0) { $0 + Int64($1) }, 6) + "\u{0} ", at: 148)
    bytes += header + content
    pad()
  }

  /// The whole, with its end.
  var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }

  private mutating func pad() {
    let rest = bytes.count % Self.block
    if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.block - rest) }
  }

  private static func octal(_ value: Int64, _ width: Int) -> String {
    let digits = String(value, radix: 8)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits.suffix(width)
  }
}
