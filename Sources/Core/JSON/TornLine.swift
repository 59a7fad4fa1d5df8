import CLibc

/// The whole JSON objects of a line that is not one: two records without a LF between them, a
/// record that was cut by the next one, NUL bytes that a crash left.
///
/// What may be a part of a record that was cut is not taken for one.
public struct TornLine {
  /// The objects, in their order.
  public private(set) var records: [UnsafeRawBufferPointer] = []
  /// What is wrong; nil where there is one value or none behind NUL bytes.
  public let fault: ScanFault?

  /// Reads a line, in time linear to its length.
  ///
  /// - Returns: nil when it is one JSON value, is blank, or has nothing in it that is whole.
  public init?(_ line: UnsafeRawBufferPointer) {
    guard let (found, _) = ScanValidator.firstFault(line), found != .empty else { return nil }
    guard let start = line.firstIndex(where: { $0 != 0 && !Self.isWhite($0) }) else {
      fault = nil
      return
    }
    let rest = UnsafeRawBufferPointer(rebasing: line[start...])
    fault = start == 0 ? found : ScanValidator.firstFault(rest)?.fault
    if fault == nil {
      records = [rest]
      return
    }
    for part in rest.split(separator: 0) { read(UnsafeRawBufferPointer(rebasing: part)) }
    if records.isEmpty { return nil }
  }

  private mutating func read(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    var at = 0
    // Behind what was cut, a record has to stand for itself.
    var isTorn = false
    while true {
      while at < bytes.count, Self.isWhite(bytes[at]) { at += 1 }
      if at == bytes.count { return }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
      if rest[0] == UInt8(ascii: "{") {
        let (found, place) = ScanValidator.look(at: rest, isAlone: false)
        if found != nil {
          isTorn = true
          at += Self.next(in: rest, fault: place)
        } else {
          at += place
          while at < bytes.count, Self.isWhite(bytes[at]) { at += 1 }
          // Other text behind it makes it a part of something else.
          isTorn = isTorn && Self.isEmpty(rest[..<place])
          guard at == bytes.count || bytes[at] == UInt8(ascii: "{") else {
            isTorn = true
            continue
          }
          if !isTorn { records.append(UnsafeRawBufferPointer(rebasing: rest[..<place])) }
          isTorn = false
          continue
        }
      } else if !isTorn {
        // The end of something whose beginning is not there.
        return
      }
      guard at < bytes.count,
        let brace = memchr(base + at, Int32(UInt8(ascii: "{")), bytes.count - at)
      else { return }
      at = UnsafeRawPointer(brace) - base
    }
  }

  /// From where on the next record may begin: what stands at the fault, or at the end of the
  /// string before it, which was cut and ended with the first quote of the next record.
  private static func next(in bytes: UnsafeRawBufferPointer, fault: Int) -> Int {
    var cursor = ScanCursor(bytes)
    let start = cursor.at
    while cursor.at < cursor.end,
      let found = memchr(cursor.at, 0x22, cursor.end - cursor.at)
    {
      let quote = UnsafeRawPointer(found) - UnsafeRawPointer(start)
      if quote >= fault { break }
      cursor.at = start + quote
      guard (try? cursor.skipString()) != nil else { return quote + 1 }
      let end = cursor.at - start
      if end > fault { return quote + 1 }
      guard bytes[end..<fault].allSatisfy(isWhite) else { continue }
      if let last = bytes[quote + 1..<end - 1].lastIndex(where: { !isWhite($0) }),
        bytes[last] == UInt8(ascii: "{")
      {
        return last
      }
    }
    return max(1, fault)
  }

  private static func isWhite(_ byte: UInt8) -> Bool {
    byte.isBlank || byte == 0x0a
  }

  private static func isEmpty(_ object: Slice<UnsafeRawBufferPointer>) -> Bool {
    object.dropFirst().dropLast().allSatisfy(isWhite)
  }
}
