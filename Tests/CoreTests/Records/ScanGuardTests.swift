import TestSupport
import Testing

@testable import Core
@testable import Records

/// Lines in memory that ends where they do: a read outside of one would end
/// the tests. The lines are cut and damaged at random.
@Suite struct ScanGuardTests {
  private func read(_ bytes: UnsafeRawBufferPointer) {
    var record = RecordScan()
    let scratch = ScanScratch()
    _ = UTF8Text.firstFault(bytes)
    _ = ScanValidator.firstFault(bytes)
    // Whatever follows, even what is no JSON at all, is to stay inside.
    _ = scratch.text(of: bytes)
    _ = ScanNumber(bytes)
    _ = Timestamp(rfc3339: bytes)
    _ = ActionKey(text: bytes)
    do throws(ScanFault) {
      switch try record.read(bytes) {
      case .action, .unmarked: _ = ActionKey(record.fields, scratch: scratch)
      case .list:
        var rows = try ScanElements(record.rows.bytes)
        while try rows.next() { _ = try ActionFields(rows.value.bytes) }
      case .own, .event, .stats, .voiceState: break
      }
    } catch {
      // A fault is what most of them are.
    }
  }

  @Test func everyCutOfALine() throws {
    let line = Array(
      (#"{"event":"e","data":{"kind":"a\\\"\u00e4\ud83d\ude00","x":[{"y":-1.5e+3}],"n":null,"#
        + #""content":"é😀"},"actions":[{"kind":"b","usdCost":true}] }"#).utf8)
    for start in 0..<line.count {
      try GuardedBytes.with(Array(line[start...]), read)
      try GuardedBytes.with(Array(line[..<start]), read)
    }
  }

  @Test func damagedLines() throws {
    var random = SeededGenerator(seed: 17)
    for _ in 0..<3000 {
      var bytes = Array(RandomJSON.object(&random).utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = RandomJSON.noise.randomElement(using: &random) ?? 0
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.removeSubrange(index...)
        default: bytes.insert(UInt8(ascii: "\\"), at: index)
        }
      }
      try GuardedBytes.with(bytes, read)
    }
  }
}
