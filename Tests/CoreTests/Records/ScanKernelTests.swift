import CLibc
import TestSupport
import Testing

@testable import Core
@testable import Records

/// The kernels against the walk in Swift, each kind of kernel that this
/// processor knows.
@Suite(.serialized) struct ScanKernelTests {
  /// What a walk found: the values of each object by name, inner objects first,
  /// and where and why it ended.
  private struct Walk: Equatable {
    var objects: [[Range<Int>]] = []
    var fault: ScanFault?
    var end = 0
  }

  private static let texts = [
    "a", "id", "kind", "usd_cost", "createdAt", "metadata", "first", "0123456789abcdef",
  ]
  /// The objects of `a` and `metadata` are walked.
  private static let names = ScanNames(texts, walked: [0, 5])

  private func plainly(_ bytes: UnsafeRawBufferPointer) -> Walk {
    var found = Walk()
    var cursor = ScanCursor(bytes)
    let base = cursor.at
    func object() throws(ScanFault) {
      var values = [ScanValue](repeating: .absent, count: Self.texts.count)
      try cursor.enterObject()
      var isFirst = true
      while let key = try cursor.nextKey(&isFirst) {
        let quoted = UnsafeRawBufferPointer(start: key.start - 1, count: key.count + 2)
        let name = Self.texts.firstIndex(of: ScanValue(quoted).string ?? "")
        let start = cursor.at
        if name == 0 || name == 5, start < cursor.end, start.pointee == 0x7b {
          try object()
          if let name { values[name] = ScanValue(start: start, count: cursor.at - start) }
        } else {
          let value = try cursor.value()
          if let name { values[name] = value }
        }
      }
      found.objects.append(values.map { range($0, base) })
    }
    do throws(ScanFault) {
      try object()
      try cursor.finish()
    } catch {
      found.fault = error
    }
    found.end = cursor.at - base
    return found
  }

  private func withKernels(_ bytes: UnsafeRawBufferPointer, _ memory: ScanMemory) -> Walk {
    var found = Walk()
    var walk = ScanWalk(bytes, memory)
    let base = walk.cursor.at
    func object() throws(ScanFault) {
      let values = ScanValues()
      try walk.enterObject()
      while let name = try walk.cross(Self.names, into: values) {
        let start = walk.cursor.at
        if walk.isAt("{") {
          try object()
          values[name] = ScanValue(start: start, count: walk.cursor.at - start)
        } else {
          values[name] = try walk.value()
        }
      }
      found.objects.append(Self.texts.indices.map { range(values[$0], base) })
    }
    do throws(ScanFault) {
      try object()
      try walk.cursor.finish()
    } catch {
      found.fault = error
    }
    found.end = walk.cursor.at - base
    return found
  }

  private func range(_ value: ScanValue, _ base: UnsafePointer<UInt8>) -> Range<Int> {
    if value.isAbsent { return 0..<0 }
    let start = value.start - base
    return start..<start + value.count
  }

  /// Calls the body once for each kind of kernel.
  private func forEachLevel(_ body: (Int32) -> Void) {
    let best = clibc_kernels(CLIBC_AVX512)
    defer { _ = clibc_kernels(CLIBC_AVX512) }
    for level in 0...best { body(clibc_kernels(clibc_level(UInt32(level)))) }
  }

  /// An object of up to some windows: long strings, runs of backslashes,
  /// nesting about as deep as the kernels go.
  private func long(_ random: inout SeededGenerator) -> [UInt8] {
    var out = "{\"first\":1"
    for _ in 0..<Int.random(in: 0..<12, using: &random) {
      out += ",\"" + run(&random) + "\":"
      switch Int.random(in: 0..<6, using: &random) {
      case 0: out += "\"" + run(&random) + "\""
      case 1: out += "[\"" + run(&random) + "\",{\"a\":\"" + run(&random) + "]}\"}]"
      case 2: out += RandomJSON.object(&random)
      case 3:
        let depth = Int.random(in: 60...70, using: &random)
        out += String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      case 4: out += String(repeating: "7", count: Int.random(in: 1...70, using: &random)) + "e5"
      default: out += RandomJSON.value(&random, depth: 3)
      }
    }
    return Array((out + "}").utf8)
  }

  private func run(_ random: inout SeededGenerator) -> String {
    var out = ""
    for _ in 0..<Int.random(in: 0..<5, using: &random) {
      let count = [1, 3, 60, 64, 65, 130, 1500].randomElement(using: &random) ?? 1
      let piece = ["a", "\\\\", "\\\"", "{", "]", "é", "\\n", "\\u0022"].randomElement(
        using: &random)
      out += String(repeating: piece ?? "a", count: count)
    }
    return out
  }

  @Test func walkAsSwiftWalks() throws {
    var random = SeededGenerator(seed: 23)
    let memory = ScanMemory()
    var faults = 0
    for round in 0..<3000 {
      var bytes = round % 2 == 0 ? long(&random) : Array(RandomJSON.object(&random).utf8)
      if round % 3 > 0 { damage(&bytes, &random) }
      try GuardedBytes.with(bytes) { guarded in
        let plain = plainly(guarded)
        if plain.fault != nil { faults += 1 }
        forEachLevel { level in
          #expect(
            withKernels(guarded, memory) == plain,
            "level \(level): \(String(decoding: bytes, as: UTF8.self))")
        }
      }
    }
    #expect(faults > 1000 && faults < 5000)
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = RandomJSON.noise.randomElement(using: &random) ?? 0
      case 1: bytes.removeSubrange(index...)
      case 2: bytes.remove(at: index)
      default: bytes.insert(contentsOf: Array("\\\"".utf8), at: index)
      }
    }
  }

  /// The kernels must do the work, not leave it to the walk in Swift: they cross all
  /// of an object without escapes in its keys.
  @Test func crossWhatIsPlain() {
    var random = SeededGenerator(seed: 29)
    let memory = ScanMemory()
    let values = ScanValues()
    let names = ScanNames([])
    for _ in 0..<500 {
      var text = "{"
      for index in 0..<Int.random(in: 1..<9, using: &random) {
        text += (index > 0 ? "," : "") + "\"key\(index)\": " + RandomJSON.value(&random, depth: 1)
      }
      let bytes = Array((text + "} ").utf8)
      bytes.withUnsafeBytes { bytes in
        forEachLevel { level in
          let cursor = ScanCursor(bytes)
          clibc_scan_open(memory.scan, cursor.at, cursor.end)
          var at: UnsafePointer<UInt8>? = cursor.at + 1
          var isFirst = true
          let stop = clibc_scan_members(memory.scan, &at, &isFirst, names.table, values.room)
          let rest = cursor.end - (at ?? cursor.at)
          #expect(Int(stop) == CLIBC_SCAN_END && rest == 1, "level \(level): \(text)")
        }
      }
    }
  }

  @Test func tellsNames() {
    for (number, text) in Self.texts.enumerated() {
      let spellings = [text, text.dropLast() + "\\u" + hex(text.utf8.last ?? 0)]
      for spelling in spellings {
        let found = withBytes(String(spelling)) { Self.names.number(of: ScanValue($0)) }
        #expect(found == number, "\(spelling)")
      }
      for other in [text + "x", String(text.dropLast()), text.uppercased(), "x" + text, ""] {
        let found = withBytes(other) { Self.names.number(of: ScanValue($0)) }
        #expect(found == ScanNames.unknown || text == "id" && other == "a", "\(other)")
      }
    }
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// A string that goes through many windows, closed or not.
  @Test(.timeLimit(.minutes(1))) func crossLongStrings() {
    let memory = ScanMemory()
    for piece in ["a", "\\\\", "\\\"", "\\\\\\\"", "é{"] {
      let long = Array((#"{"a":""# + String(repeating: piece, count: 300_000)).utf8)
      for end in [#""}"#, #"","b":[1]}"#, "", #"\"}"#] {
        (long + Array(end.utf8)).withUnsafeBytes { bytes in
          let plain = plainly(bytes)
          forEachLevel { level in
            #expect(withKernels(bytes, memory) == plain, "level \(level)")
          }
        }
      }
    }
  }
}
