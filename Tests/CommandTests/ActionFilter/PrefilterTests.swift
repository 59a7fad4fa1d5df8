import Core
import Testing

@testable import action_filter

@Suite struct PrefilterTests {
  func needles(_ options: [String]) -> [String]? {
    guard
      let filter = try? FilterOptions.table.parse(
        ["--fast"] + options, FilterOptions(now: Timestamp(seconds: 0)))
    else { return nil }
    return Prefilter.needles(filter)?.map {
      String(decoding: $0.bytes, as: UTF8.self) + ($0.ignoresCase ? " i" : "")
    }
  }

  @Test func takesTheLongestPlainPart() {
    #expect(needles(["-k", "llm_error,b"]) == ["\"llm_error\"", "\"b\""])
    #expect(needles(["-k", "llm_*"]) == ["\"llm_"])
    #expect(needles(["-k", "*_error"]) == ["_error\""])
    #expect(needles(["-k", "a?bcd*"]) == ["bcd"])
    #expect(needles(["-F", "a/bc\"d"]) == ["bc"])
    #expect(needles(["-i", "-F", "RISK of Ärger"]) == [" of  i"])
    #expect(needles(["-i", "-F", "ÄRGER"]) == ["rger i"])
    #expect(needles(["-U", "12345678000"]) == ["1234", "5678"])
    #expect(needles(["-M", "007x"]) == ["\"007x\""])
    #expect(needles(["-M", "true"]) == ["true"])
    #expect(needles(["-g", "1", "-k", "abc"]) == ["\"abc\""])
    // Who has a name, any line may tell.
    #expect(needles(["-U", "noor", "-k", "abc"]) == nil)
    #expect(needles(["--thread", "vs-1", "-c", "123456"]) == ["\"vs-1\""])
    #expect(needles(["-M", "abc", "--id", "123456,vs-1"]) == ["123", "456", "\"vs-1\""])
    #expect(needles(["-k", "abc", "-M", "123456", "-F", "xyz"]) == ["123", "456"])
  }

  @Test(arguments: [
    ["-k", "*"], ["-k", "[a]bc"], ["-k", "abc,*"], ["-k", "a/b"], ["-F", ""], ["-F", "a"],
    ["-i", "-F", "sks"], ["-g", "12345"], ["-g", "0"], ["-g", "1.5"], ["-d", "llm"], ["-x", "1"],
    ["-E", "abc"], [], ["-v", "-k", "abc"], ["-a", "-k", "abc"], ["--strict", "-k", "abc"],
    ["-k", "k1,k2,k3,k4,k5,k6,k7,k8,k9,k10,k11,k12,k13,k14,k15,k16,k17"],
  ])
  func looksAtEveryLine(options: [String]) {
    #expect(needles(options) == nil)
  }
}
