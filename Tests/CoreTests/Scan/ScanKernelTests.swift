import CLibc
import Testing

@testable import Core

/// The kernels against the walk in Swift, each kind of kernel that this
/// processor knows.
@Suite(.serialized) struct ScanKernelTests {
  /// The members of an object, or where and why the walk ended.
  private struct Walk: Equatable {
    var members: [[Range<Int>]] = []
    var fault: ScanFault?
    var end = 0
  }

  /// - Parameter descends: whether objects are walked too, instead of crossed.
  private func plainly(_ bytes: UnsafeRawBufferPointer, descends: Bool) -> Walk {
    var found = Walk()
    var cursor = ScanCursor(bytes)
    let base = cursor.at
    func members() throws(ScanFault) {
      try cursor.enterObject()
      var isFirst = true
      while let key = try cursor.nextKey(&isFirst) {
        if descends, cursor.at < cursor.end, cursor.at.pointee == UInt8(ascii: "{") {
          try members()
        } else {
          let value = try cursor.value()
          found.members.append([range(key, base), range(value, base)])
        }
      }
    }
    do throws(ScanFault) {
      try members()
      try cursor.finish()
    } catch {
      found.fault = error
    }
    found.end = cursor.at - base
    return found
  }

  private func withKernels(
    _ bytes: UnsafeRawBufferPointer, descends: Bool, _ memory: ScanMemory
  ) -> Walk {
    var found = Walk()
    var walk = ScanWalk(bytes, memory)
    let base = walk.cursor.at
    func members() throws(ScanFault) {
      try walk.enterObject()
      while let key = try walk.nextKey() {
        if descends, walk.isAtValue("{") {
          try members()
        } else {
          let value = try walk.value()
          found.members.append([range(key, base), range(value, base)])
        }
      }
    }
    do throws(ScanFault) {
      try members()
      try walk.cursor.finish()
    } catch {
      found.fault = error
    }
    found.end = walk.cursor.at - base
    return found
  }

  private func range(_ value: ScanValue, _ base: UnsafePointer<UInt8>) -> Range<Int> {
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

  @Test func walkAsSwiftWalks() {
    var random = SeededGenerator(seed: 23)
    let memory = ScanMemory()
    var faults = 0
    for round in 0..<3000 {
      var bytes = round % 2 == 0 ? long(&random) : Array(RandomJSON.object(&random).utf8)
      if round % 3 > 0 { damage(&bytes, &random) }
      GuardedBytes.with(bytes) { guarded in
        let descends = round % 5 == 0
        let plain = plainly(guarded, descends: descends)
        if plain.fault != nil { faults += 1 }
        forEachLevel { level in
          #expect(
            withKernels(guarded, descends: descends, memory) == plain,
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

  /// The kernels must do the work, not leave it to the walk in Swift.
  @Test func crossWhatIsPlain() {
    var random = SeededGenerator(seed: 29)
    let memory = ScanMemory()
    var seen = 0
    for _ in 0..<500 {
      let bytes = Array(RandomJSON.object(&random).utf8)
      bytes.withUnsafeBytes { bytes in
        let members = plainly(bytes, descends: false).members
        forEachLevel { level in
          let cursor = ScanCursor(bytes)
          clibc_scan_open(memory.scan, cursor.at, cursor.end)
          var at: UnsafePointer<UInt8>? = cursor.at + (bytes.firstIndex(of: 0x7b) ?? 0) + 1
          var index = 0
          while index < members.count {
            let count = clibc_scan_members(memory.scan, &at, index == 0, memory.room, 3)
            index += count
            guard count > 0, let here = at else { break }
            if memory.room[count - 1].value_count == 0 {
              at = clibc_scan_container(memory.scan, here)
            }
          }
          #expect(
            index == members.count, "level \(level): \(String(decoding: bytes, as: UTF8.self))")
          seen += index
        }
      }
    }
    #expect(seen > 1000)
  }

  /// A string that goes through many windows, closed or not.
  @Test(.timeLimit(.minutes(1))) func crossLongStrings() {
    let memory = ScanMemory()
    for piece in ["a", "\\\\", "\\\"", "\\\\\\\"", "é{"] {
      let long = Array((#"{"a":""# + String(repeating: piece, count: 300_000)).utf8)
      for end in [#""}"#, #"","b":[1]}"#, "", #"\"}"#] {
        (long + Array(end.utf8)).withUnsafeBytes { bytes in
          let plain = plainly(bytes, descends: false)
          forEachLevel { level in
            #expect(withKernels(bytes, descends: false, memory) == plain, "level \(level)")
          }
        }
      }
    }
  }
}
