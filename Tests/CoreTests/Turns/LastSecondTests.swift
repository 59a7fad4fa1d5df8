import Core
import Testing

@testable import Turns

/// Times that are read by the one before.
@Suite struct LastSecondTests {
  @Test func eachIsWhatItSays() {
    let texts = [
      "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.250Z", "2026-03-01T12:00:00.25xZ",
      "2026-03-01T12:00:00.999z", "2026-03-01T12:00:01.000Z", "2026-03-01T12:00:00.250Z",
      "2026-03-01T12:00:00.12+01:00", "2026-03-01T12:00:00.123456Z", "2026-12-31T23:59:60.500Z",
      "2026-12-31T23:59:60.750Z", "2026-03-01T12:00:00.1234", "", "no time",
    ]
    var clock = LastSecond()
    for text in texts {
      let json = Array("\"\(text)\"".utf8)
      json.withUnsafeBytes { bytes in
        #expect(clock.of(ScanValue(bytes)) == Timestamp(rfc3339: text), "\(text)")
      }
    }
    #expect(clock.of(.absent) == nil)
  }
}
