import TestSupport
import Testing

@testable import Core

@Suite struct ScanNumberTests {
  func compare(_ a: String, _ b: String) -> Int? {
    withBytes(a) { a in
      withBytes(b) { b in
        guard let a = ScanNumber(a), let b = ScanNumber(b) else { return nil }
        return a.compare(b)
      }
    }
  }

  @Test(arguments: [
    ("1", "1.0", 0), ("1e-2", "0.01", 0), ("100", "1E+2", 0), ("0", "-0.0e9", 0),
    ("9007199254740993", "9007199254740992", 1), ("0.1", "0.10000000000000001", -1),
    ("-1", "1", -1), ("-2", "-1", -1), ("-10", "-9.99", -1), ("0", "-1", 1), ("0", "1e-400", -1),
    ("1e400", "1e399", 1), ("4e-7", "0.0000004", 0), ("12.50", "12.5", 0), ("12.5", "12.49", 1),
    ("1e99999999999999999999", "1", 1), ("1e-99999999999999999999", "1", -1),
    ("0.00120", "12e-4", 0),
    ("123456789012345678901234567890", "1.2345678901234567890123456789e29", 0),
  ])
  func comparesExactly(a: String, b: String, order: Int) {
    #expect(compare(a, b) == order)
    #expect(compare(b, a) == -order)
  }

  @Test(arguments: [
    "", "-", "01", "1.", ".1", "1e", "1e+", "+1", "0x1", "1 ", "--1", "1.e1", "Inf",
  ])
  func refusesWhatIsNoNumber(text: String) {
    #expect(withBytes(text) { ScanNumber($0) == nil })
  }

  @Test func givesTheNearestDouble() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      // JSON knows no `5e-324` without digits before the e; Swift's form is JSON.
      #expect(withBytes("\(value)") { ScanNumber($0)?.double } == value, "\(value)")
      #expect(withBytes("\(value)") { ScanValue($0).double } == value, "\(value)")
    }
    for _ in 0..<50_000 {
      let digits = Int64.random(in: -99_999_999...99_999_999_999_999_999, using: &random)
      var text = "\(digits >> Int64.random(in: 0..<60, using: &random))"
      if Bool.random(using: &random) { text += ".\(UInt32.random(in: 0...99_999, using: &random))" }
      if Bool.random(using: &random) { text += "e\(Int.random(in: -40...40, using: &random))" }
      let value = withBytes(text) { ScanValue($0).double }
      #expect(value == Double(text), "\(text)")
    }
    for text in [
      "0.1", "4e-7", "123456789012345.5", "0.30000000000000004", "1e22", "1e23", "0.5e-5",
    ] {
      #expect(withBytes(text) { ScanNumber($0)?.double } == Double(text))
    }
    for text in ["0", "-0", "0.0", "1E2", "-4e-7", "9007199254740993", "1e-22", "1e23", "12e+3"] {
      #expect(withBytes(text) { ScanValue($0).double } == Double(text), "\(text)")
    }
    #expect(withBytes("null") { ScanValue($0).double } == nil)
    #expect(withBytes("-1e999") { ScanNumber($0)?.double } == -.infinity)
  }
}
