import CLibc

/// The lines of a run of bytes, one after the other, without the LF and the CR before it.
struct MailLines {
  private let bytes: UnsafeRawBufferPointer
  private(set) var place: Int
  private let end: Int

  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    self.bytes = bytes
    place = range.lowerBound
    end = range.upperBound
  }

  mutating func next() -> Range<Int>? {
    guard place < end else { return nil }
    let start = place
    let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    let length = rest.placeOfLineFeed ?? rest.count
    place = min(end, start + length + 1)
    let hasReturn = length > 0 && rest[length - 1] == 13
    return start..<start + length - (hasReturn ? 1 : 0)
  }
}

extension UnsafeRawBufferPointer {
  var placeOfLineFeed: Int? {
    guard let start = baseAddress, let found = memchr(start, 10, count) else { return nil }
    return UnsafeRawPointer(found) - start
  }
}

extension UInt8 {
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}
