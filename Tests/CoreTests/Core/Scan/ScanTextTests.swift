import CLibc
import TestSupport
import Testing

@testable import Core

/// The kernels that cross strings and ASCII, against steps of one character.
@Suite(.serialized) struct ScanTextTests {
  /// Where a character, a known escape or a digit of one begins, up to the first
  /// byte that is none or the closing quote: the last place.
  private func places(_ bytes: UnsafeRawBufferPointer) -> [Int] {
    var places = [0]
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      if byte == 0x22 || byte < 0x20 { break }
      if byte == 0x5c {
        guard at + 1 < bytes.count else { break }
        if bytes[at + 1] == UInt8(ascii: "u") {
          guard at + 6 <= bytes.count,
            bytes[at + 2..<at + 6].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
          else { break }
          places += at + 2..<at + 6
          at += 6
        } else {
          guard "\"\\/bfnrt".utf8.contains(bytes[at + 1]) else { break }
          at += 2
        }
      } else {
        at += 1
      }
      places.append(at)
    }
    return places
  }

  private func forEachLevel(_ body: (Int32) -> Void) {
    let best = clibc_kernels(CLIBC_AVX512)
    defer { _ = clibc_kernels(CLIBC_AVX512) }
    for level in 0...best { body(clibc_kernels(clibc_level(UInt32(level)))) }
  }

  @Test func crossesStrings() throws {
    var random = SeededGenerator(seed: 31)
    let pieces: [[UInt8]] = [
      "a", "é", "\\\\", "\\\"", "\\n", "\\u00e9", "\\/", "\\b\\f\\r\\t",
    ].map { Array($0.utf8) }
    let stops: [[UInt8]] = [
      "\"", "\\x", "\\u00g0", "\\u00\"", "\n", "\\\n", "\\u", "\u{1f}",
    ].map { Array($0.utf8) }
    var stopped = 0
    for _ in 0..<4000 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0..<40, using: &random) {
        let piece = pieces.randomElement(using: &random) ?? []
        for _ in 0..<(Bool.random(using: &random) ? 1 : 9) { bytes += piece }
      }
      if Bool.random(using: &random) { bytes += stops.randomElement(using: &random) ?? [] }
      bytes += [UInt8](repeating: 0x61, count: Int.random(in: 0..<90, using: &random))
      try GuardedBytes.with(bytes) { guarded in
        guard let base = guarded.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        let places = places(guarded)
        forEachLevel { level in
          let found = (clibc_scan_text(base, base + guarded.count) ?? base) - base
          let isAtStop = found == places.last
          if isAtStop { stopped += 1 }
          #expect(
            isAtStop || guarded.count - found <= 64 && places.contains(found),
            "level \(level): \(found) in \(String(decoding: bytes, as: UTF8.self))")
        }
      }
    }
    #expect(stopped > 1000)
  }

  @Test func findsEndsOfLines() throws {
    for count in 0..<200 {
      for place in [0, count / 3, count - 1, count] where place >= 0 {
        for end: UInt8 in [10, 13] {
          var bytes = [UInt8](repeating: 11, count: count)
          if place < count { bytes[place] = end }
          if place + 1 < count { bytes[place + 1] = 23 - end }
          try GuardedBytes.with(bytes) { guarded in
            guard let base = guarded.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
              return
            }
            forEachLevel { level in
              let found = clibc_scan_line(base, base + count)
              #expect(found == base + place, "level \(level), \(place) of \(count)")
            }
          }
        }
      }
    }
  }

  @Test func countsASCII() throws {
    for count in 0..<300 {
      var bytes = [UInt8](repeating: 0x7f, count: count)
      for other in [count, count / 2, 0] {
        if other < count { bytes[other] = 0x80 }
        try GuardedBytes.with(bytes) { guarded in
          guard let base = guarded.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
          forEachLevel { level in
            let found = clibc_scan_ascii(base, count)
            #expect(found == other || found < other && count - found < 64, "level \(level)")
          }
          #expect(UTF8Text.firstFault(guarded) == (other < count ? other : nil))
        }
      }
    }
  }
}
