import CLibc

/// UTF-8 over raw bytes, as the Encoding standard of WHATWG decodes it.
public enum UTF8Text {
  /// Whether all bytes are well-formed UTF-8 (Unicode 15, table 3-7). ASCII
  /// goes by 64 bytes at a time.
  public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    firstFault(bytes) == nil
  }

  /// Where the first ill-formed sequence begins, in bytes from 0; nil when there
  /// is none.
  public static func firstFault(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    let end = base + bytes.count
    var position = base
    while position < end {
      if end - position >= 8,
        position.loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        position += 8
        position += clibc_scan_ascii(
          position.assumingMemoryBound(to: UInt8.self), end - position)
        continue
      }
      let first = position.load(as: UInt8.self)
      if first < 0x80 {
        position += 1
        continue
      }
      let length = sequenceLength(position, end)
      if length == 0 { return position - base }
      position += length
    }
    return nil
  }

  /// The bytes with each ill-formed part replaced by U+FFFD.
  public static func repaired(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    Array(String(decoding: bytes, as: UTF8.self).utf8)
  }

  /// The same bytes where there is no such part.
  public static func repaired(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { isValid($0) ? bytes : repaired($0) }
  }

  /// The length of the well-formed sequence at `position`, 0 if there is none.
  private static func sequenceLength(_ position: UnsafeRawPointer, _ end: UnsafeRawPointer) -> Int {
    let first = position.load(as: UInt8.self)
    let length: Int
    var low: UInt8 = 0x80
    var high: UInt8 = 0xbf
    switch first {
    case 0xc2...0xdf: length = 2
    case 0xe0: (length, low) = (3, 0xa0)
    case 0xed: (length, high) = (3, 0x9f)
    case 0xe1...0xef: length = 3
    case 0xf0: (length, low) = (4, 0x90)
    case 0xf1...0xf3: length = 4
    case 0xf4: (length, high) = (4, 0x8f)
    default: return 0
    }
    if end - position < length { return 0 }
    let second = position.load(fromByteOffset: 1, as: UInt8.self)
    if second < low || second > high { return 0 }
    for offset in 2..<max(length, 2) {
      if position.load(fromByteOffset: offset, as: UInt8.self) & 0xc0 != 0x80 { return 0 }
    }
    return length
  }
}

/// The few searches in short texts that the commands need. Those of the standard
/// library bring its regular expressions into a command: 2 MB and their pages.
extension StringProtocol {
  /// Where another text begins and ends for the first time, compared by bytes.
  public func place(of text: String) -> Range<Index>? {
    guard let offset = offset(of: text) else { return nil }
    let start = utf8.index(startIndex, offsetBy: offset)
    return start..<utf8.index(start, offsetBy: text.utf8.count)
  }

  /// Whether another text is in this one, compared by bytes.
  public func holds(_ text: String) -> Bool { offset(of: text) != nil }

  /// How many bytes stand before another text.
  private func offset(of text: String) -> Int? {
    var text = text
    return text.withUTF8 { wanted -> Int? in
      func find(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let begin = bytes.baseAddress, let first = wanted.baseAddress, !wanted.isEmpty else {
          return wanted.isEmpty ? 0 : nil
        }
        let found = clibc_memmem(begin, bytes.count, first, wanted.count)
        return found.map { $0 - UnsafeRawPointer(begin) }
      }
      return utf8.withContiguousStorageIfAvailable(find)
        ?? Array(utf8).withUnsafeBufferPointer(find)
    }
  }

  /// The text with each occurrence of a text that is not empty exchanged for another.
  public func exchanging(text: String, for other: String) -> String {
    var out = ""
    var rest = String(self)[...]
    while !text.isEmpty, let place = rest.place(of: text) {
      out += rest[..<place.lowerBound]
      out += other
      rest = rest[place.upperBound...]
    }
    return out + rest
  }

  /// The text with each of a scalar exchanged for a text.
  public func exchanging(_ scalar: Unicode.Scalar, for text: String) -> String {
    var out = ""
    for each in unicodeScalars {
      if each == scalar { out += text } else { out.unicodeScalars.append(each) }
    }
    return out
  }
}

extension BidirectionalCollection {
  /// What is left without some elements at both ends.
  @inlinable
  public func trimming(_ isBlank: (Element) -> Bool) -> SubSequence {
    var rest = self[...]
    while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
    while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
    return rest
  }
}

extension String {
  /// The text without white space at both ends. By scalars: a combining mark may follow a blank
  /// and must not hide it.
  public var trimmed: String {
    String(unicodeScalars.trimming { $0.properties.isWhitespace })
  }
}

extension Substring {
  /// The text without white space at both ends.
  public var trimmed: String { String(self).trimmed }
}
