import CLibc
import Core

/// A text that the content is to hold, compared by bytes after the content's
/// escapes are decoded, or by Unicode simple folding.
final class TextSearch: Equatable {
  /// What is looked for, folded where case does not matter.
  let needle: [UInt8]
  private let folding: CaseFolding?
  private let folded = ScanScratch()
  /// Finds what a content with the text has, before its escapes are decoded;
  /// nil where there is no such thing.
  private var traces: LiteralSearch?

  private static let piece = 16 * 1024

  init(_ text: String, ignoresCase: Bool) {
    let bytes = Array(text.utf8)
    folding = ignoresCase ? CaseFolding() : nil
    needle = folding?.fold(bytes) ?? bytes
    traces = literal.map { LiteralSearch([$0]) }
  }

  static func == (one: TextSearch, other: TextSearch) -> Bool { one === other }

  /// False when no text of these bytes can hold the needle: a quick look at what
  /// stands between the quotes of a string, escapes and all.
  func mayMatch(_ raw: UnsafeRawBufferPointer) -> Bool {
    traces.map { $0.find(raw) != nil } ?? true
  }

  var ignoresCase: Bool { folding != nil }

  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    guard !needle.isEmpty else { return true }
    guard let base = text.baseAddress else { return false }
    if let folding { return matches(text, folding) }
    return clibc_memmem(base, text.count, needle, needle.count) != nil
  }

  private func matches(_ text: UnsafeRawBufferPointer, _ folding: CaseFolding) -> Bool {
    let capacity = Self.piece + needle.count
    let out = folded.reserve(capacity)
    var index = 0
    var kept = 0
    while true {
      let count = folding.fold(text, from: &index, to: out + kept, capacity: capacity - kept)
      if count == 0 { return false }
      let length = kept + count
      if clibc_memmem(out, length, needle, needle.count) != nil { return true }
      // A match may begin in this piece and end in the next.
      kept = min(needle.count - 1, length)
      memmove(out, out + length - kept, kept)
    }
  }
}

extension CaseFolding {
  func fold(_ text: [UInt8]) -> [UInt8] {
    // U+023A (two bytes) folds to U+2C65 (three): a text may grow by half.
    let capacity = text.count * 2 + 16
    return text.withUnsafeBytes { bytes in
      [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        guard let out = buffer.baseAddress else { return }
        var index = 0
        count = fold(bytes, from: &index, to: out, capacity: capacity)
      }
    }
  }
}

/// Unicode simple case folding: what makes ä Ä, ſ s and the Kelvin sign k.
///
/// The standard library has case mappings, not foldings: the folding of a
/// character is the lower case of its upper case, where both are one character.
/// Characters that are not equal under that rule but are under CaseFolding.txt
/// (status C and S), and the other way round, are named below.
final class CaseFolding {
  /// Foldings of 256 characters each, made when first needed.
  private var blocks = [[UInt32]?](repeating: nil, count: 0x1f000 >> 8)

  func fold(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return scalar &- 0x41 < 26 ? scalar + 32 : scalar }
    let index = Int(scalar >> 8)
    // Nothing beyond has case.
    guard index < blocks.count else { return scalar }
    if let block = blocks[index] { return block[Int(scalar & 0xff)] }
    let block = (0..<256).map { Self.simple(UInt32(index) << 8 | $0) }
    blocks[index] = block
    return block[Int(scalar & 0xff)]
  }

  /// Folds UTF-8 piece by piece; bytes that are not valid UTF-8 stay as they
  /// are. Returns the bytes written; 0 at the end of the text.
  func fold(
    _ text: UnsafeRawBufferPointer, from index: inout Int, to out: UnsafeMutableRawPointer,
    capacity: Int
  ) -> Int {
    var written = 0
    while index < text.count, written + 8 <= capacity {
      if text.count - index >= 8 {
        let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 == 0 {
          out.storeBytes(of: Self.lower(word), toByteOffset: written, as: UInt64.self)
          (index, written) = (index + 8, written + 8)
          continue
        }
      }
      let byte = text[index]
      if byte < 0x80 {
        out.storeBytes(
          of: byte &- 0x41 < 26 ? byte | 0x20 : byte, toByteOffset: written, as: UInt8.self)
        (index, written) = (index + 1, written + 1)
        continue
      }
      let (scalar, length) = Self.decode(text, index) ?? (0, 1)
      let folded = scalar == 0 ? 0 : fold(scalar)
      if folded != scalar, let units = Unicode.Scalar(folded).flatMap({ UTF8.encode($0) }) {
        for unit in units {
          out.storeBytes(of: unit, toByteOffset: written, as: UInt8.self)
          written += 1
        }
      } else {
        for offset in 0..<length {
          out.storeBytes(of: text[index + offset], toByteOffset: written + offset, as: UInt8.self)
        }
        written += length
      }
      index += length
    }
    return written
  }

  /// Eight ASCII bytes in lower case: a byte from A to Z passes one of the two
  /// bounds alone, and 0x20 is a quarter of the bit that then differs.
  @inline(__always)
  private static func lower(_ word: UInt64) -> UInt64 {
    let fromA = word &+ 0x3f3f_3f3f_3f3f_3f3f
    let beyondZ = word &+ 0x2525_2525_2525_2525
    return word | ((fromA ^ beyondZ) & 0x8080_8080_8080_8080) >> 2
  }

  private static func decode(
    _ text: UnsafeRawBufferPointer, _ index: Int
  ) -> (scalar: UInt32, length: Int)? {
    let lead = text[index]
    let length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    guard lead >= 0xc2, lead < 0xf5, index + length <= text.count else { return nil }
    var scalar = UInt32(lead) & (0xff >> UInt32(length + 1))
    for offset in 1..<length {
      guard text[index + offset] & 0xc0 == 0x80 else { return nil }
      scalar = scalar << 6 | UInt32(text[index + offset] & 0x3f)
    }
    // Longer than it need be, a surrogate, or beyond Unicode.
    let least: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
    guard scalar >= least, Unicode.Scalar(scalar) != nil else { return nil }
    return (scalar, length)
  }

  private static func simple(_ value: UInt32) -> UInt32 {
    switch value {
    // The dotless i has an upper case, but no folding.
    case 0x0131: return value
    // Equal by status S, though their upper cases are of several characters.
    case 0x1fd3: return 0x0390
    case 0x1fe3: return 0x03b0
    case 0xfb05: return 0xfb06
    default: break
    }
    guard let scalar = Unicode.Scalar(value) else { return value }
    let upper = single(scalar.properties.uppercaseMapping) ?? scalar
    return (single(upper.properties.lowercaseMapping) ?? upper).value
  }

  private static func single(_ text: String) -> Unicode.Scalar? {
    text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
  }
}
