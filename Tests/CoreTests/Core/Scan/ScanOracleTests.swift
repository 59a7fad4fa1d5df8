import TestSupport
import Testing

@testable import Core

/// The scanner against jansson: on every text that jansson accepts they agree
/// on each top-level member, and what jansson refuses the validator refuses.
@Suite struct ScanOracleTests {
  @Test func agreesWithJanssonOnEveryMember() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<3000 {
      let text = RandomJSON.object(&random)
      let tree = try JSONValue.parse(text: text)
      try withBytes(text) { bytes in
        #expect(ScanValidator.isValue(bytes))
        #expect(walk(text) == nil)
        var last: [String: ScanValue] = [:]
        var members = try ScanMembers(bytes)
        while try members.next() {
          let quoted = "\"" + String(decoding: members.key.bytes, as: UTF8.self) + "\""
          let name = try #require(withBytes(quoted) { ScanValue($0).string })
          last[name] = members.value
        }
        #expect(Set(last.keys) == Set(tree.members.map(\.name)), "\(text)")
        for (name, value) in last {
          let other = try #require(tree[name], "\(name) in \(text)")
          try expectEqual(value, other, text)
          #expect(try ScanMembers.value(of: name, in: bytes).bytes.elementsEqual(value.bytes))
        }
      }
    }
  }

  private func expectEqual(_ value: ScanValue, _ other: JSONValue, _ text: String) throws {
    switch other.kind {
    case .string: #expect(value.isString && value.string == other.string, "\(text)")
    case .integer, .real:
      let double = ScanNumber(value)?.double
      #expect(value.isNumber && double == other.number, "\(text)")
    case .null: #expect(value.isNull && !value.isAbsent, "\(text)")
    case .bool: #expect(value.string == (other.bool == true ? "true" : "false"), "\(text)")
    case .array:
      #expect(value.isArray)
      var elements = try ScanElements(value.bytes)
      var index = 0
      let others = other.elements
      while try elements.next() {
        try #require(index < others.count)
        try expectEqual(elements.value, others[index], text)
        index += 1
      }
      #expect(index == others.count, "\(text)")
    case .object:
      #expect(value.isObject)
      for (name, member) in other.members {
        try expectEqual(try ScanMembers.value(of: name, in: value.bytes), member, text)
      }
    }
  }

  /// One byte of a good text changed, removed or doubled.
  @Test func validatorRefusesWhatJanssonRefuses() {
    var random = SeededGenerator(seed: 5)
    var refused = 0
    for _ in 0..<6000 {
      var bytes = Array(RandomJSON.object(&random).utf8)
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[index] = RandomJSON.noise.randomElement(using: &random) ?? 0x20
      case 1: bytes.remove(at: index)
      default: bytes.insert(bytes[index], at: index)
      }
      // Jansson also refuses bad UTF-8 and lone surrogates; the validator does not ask.
      guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\\u") else {
        continue
      }
      let accepted = (try? JSONValue.parse(text: text)) != nil
      #expect(withBytes(text) { ScanValidator.isValue($0) } == accepted, "\(text)")
      if !accepted { refused += 1 }
      // The walk is more lenient, never stricter.
      if accepted { #expect(walk(text) == nil, "\(text)") }
    }
    #expect(refused > 1000)
  }
}

/// Walks the members of an object; the fault that was met.
private func walk(_ text: String) -> ScanFault? {
  withBytes(text) { bytes in
    do throws(ScanFault) {
      var members = try ScanMembers(bytes)
      while try members.next() {}
      return nil
    } catch {
      return error
    }
  }
}
