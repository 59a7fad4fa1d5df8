public import CLibc

/// Names of files as text, byte for byte.
///
/// The system's names are bytes, and need not be UTF-8; a `String` made of such
/// bytes would be repaired, and so name another file. Where a name comes in (the
/// command line, the environment, a folder) each byte that is not part of UTF-8
/// becomes a scalar of its own, U+10EE80 to U+10EEFF, of a plane for private use;
/// where a name goes out (see FileCalls.swift) it becomes that byte again. In
/// between it is text like any other: it can be joined, split at slashes, compared.
public enum FileName {
  private static let base: UInt32 = 0x10ee00

  static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
    (base + 0x80...base + 0xff).contains(scalar.value) ? UInt8(scalar.value - base) : nil
  }

  /// The first byte of these scalars in UTF-8, which few names have.
  private static let first: UInt8 = 0xf4

  /// The name in an entry of a folder.
  public static func text(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafeBytes(of: &entry.pointee.d_name) { text(Array($0.prefix { $0 != 0 })) }
  }

  /// A name as text.
  public static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    if !bytes.contains(first), let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = ""
    var rest = bytes
    while !rest.isEmpty {
      let whole = UTF8Text.firstFault(rest) ?? rest.count
      for scalar in String(decoding: rest[..<whole], as: UTF8.self).unicodeScalars {
        // One that is there already: its bytes, so that it comes out again.
        if byte(scalar) == nil {
          text.unicodeScalars.append(scalar)
        } else {
          for byte in String(scalar).utf8 { append(byte, to: &text) }
        }
      }
      if whole < rest.count { append(rest[whole], to: &text) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(whole + 1))
    }
    return text
  }

  /// A name as text.
  public static func text(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { text($0) } }

  /// A name that ends with a zero, as the system gives it.
  public static func text(_ name: UnsafePointer<CChar>) -> String {
    text(UnsafeRawBufferPointer(start: name, count: strlen(name)))
  }

  private static func append(_ byte: UInt8, to text: inout String) {
    if let scalar = Unicode.Scalar(base + UInt32(byte)) { text.unicodeScalars.append(scalar) }
  }

  /// The bytes of a name.
  public static func bytes(_ name: String) -> [UInt8] {
    if !isOdd(name) { return Array(name.utf8) }
    var bytes: [UInt8] = []
    for scalar in name.unicodeScalars {
      if let byte = byte(scalar) { bytes.append(byte) } else { bytes += Array(String(scalar).utf8) }
    }
    return bytes
  }

  /// Hands the name over as the system wants it.
  public static func with<Result>(
    _ name: String, _ body: (UnsafePointer<CChar>) throws -> Result
  ) rethrows -> Result {
    if !isOdd(name) { return try name.withCString(body) }
    return try (bytes(name) + [0]).withUnsafeBytes { bytes in
      try body(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
    }
  }

  /// The text that was meant where a name turns out to be none: what is not UTF-8
  /// is U+FFFD.
  public static func repaired(_ name: String) -> String {
    isOdd(name) ? String(decoding: bytes(name), as: UTF8.self) : name
  }

  /// A name for a record: what is not UTF-8 in it as `\xe9`.
  public static func shown(_ name: String) -> String {
    if !isOdd(name) { return name }
    var shown = ""
    for scalar in name.unicodeScalars {
      if byte(scalar) == nil {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += Visible.escape(scalar)
      }
    }
    return shown
  }

  /// Whether a name may hold a byte that is not UTF-8.
  public static func isOdd(_ name: String) -> Bool {
    name.utf8.contains(first) && name.unicodeScalars.contains { byte($0) != nil }
  }
}
