import Core
import TestSupport
import Testing

@testable import Records

@Suite struct FaultLogTests {
  private func said(_ body: (inout FaultLog) -> Void) throws -> [String] {
    try Captured {
      var log = FaultLog(Diagnostics(program: "prog", descriptor: $0))
      body(&log)
    }.lines
  }

  @Test func theFirstTenLinesAreNamed() throws {
    for count in [1, 10] {
      let lines = try said { log in
        for number in 1...count { log.line("file", number, "bad") }
        log.finish()
      }
      #expect(lines == (1...count).map { "prog: file:\($0): bad" })
    }
  }

  @Test(arguments: [(11, "1 more bad line"), (12, "2 more bad lines")])
  func theOthersAreCounted(count: Int, words: String) throws {
    let lines = try said { log in
      for number in 1...count { log.line("-", number, "bad") }
      log.finish()
      // Said once.
      log.finish()
    }
    #expect(lines.count == 11)
    #expect(lines.first == "prog: standard input:1: bad")
    #expect(lines.last == "prog: \(words)")
  }

  @Test func everyFileIsNamed() throws {
    let lines = try said { log in
      for number in 1...12 { log.file("f\(number)", "gone") }
      #expect(log.hasFault)
      log.finish()
    }
    #expect(lines == (1...12).map { "prog: f\($0): gone" })
  }

  @Test func eventsOfAStream() throws {
    let lines = try said { log in
      for _ in 1...12 { log.event("http://h/s", "voice_state: no voice state") }
      #expect(log.hasFault)
      log.finish()
    }
    #expect(lines.first == "prog: http://h/s: voice_state: no voice state")
    #expect(lines.last == "prog: 2 more bad events")
  }

  @Test func nothingIsNoFault() throws {
    var hasFault = true
    let lines = try said { log in
      log.finish()
      hasFault = log.hasFault
    }
    #expect(lines.isEmpty && !hasFault)
  }
}
