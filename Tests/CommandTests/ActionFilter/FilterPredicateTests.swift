import Core
import Records
import Testing

@testable import action_filter

/// Whether the options select an action; nil when they are a usage error.
func selects(_ options: [String], _ action: String) -> Bool? {
  guard
    let filter = try? FilterOptions.table.parse(
      options, FilterOptions(now: Timestamp(seconds: 1_772_366_400)))
  else { return nil }
  let scratch = ScanScratch()
  return Array(action.utf8).withUnsafeBytes { bytes in
    guard let fields = try? ActionFields(bytes) else { return nil }
    return filter.predicate.matches(fields, scratch) != filter.isInverted
  }
}

@Suite struct FilterPredicateTests {
  @Test(arguments: [
    ("llm_call", "llm_call", true), ("llm_call", "llm_calls", false), ("llm_*", "llm_call", true),
    ("*", "", true), ("*_error", "asr_error", true), ("*_error", "asr_errors", false),
    ("*a*a*b", "aaaaaaaaaaab", true), ("*a*a*b", "aaaaaaaaaaac", false),
    ("?sr_call", "asr_call", true),
    ("?", "ä", true), ("??", "ä", false), ("[at]*_call", "tts_call", true),
    ("[at]sr", "xsr", false),
    ("[!a]x", "bx", true), ("[!a]x", "ax", false), ("[a-c]x", "bx", true), ("[]]", "]", true),
    ("[a", "[a", true), (#"\*"#, "*", true), (#"\*"#, "a", false), ("a,b", "b", true),
    ("", "", false),
  ])
  func kindsAreGlobs(pattern: String, kind: String, matches: Bool) {
    let expected: Bool? = pattern.isEmpty ? nil : matches
    #expect(selects(["-k", pattern], #"{"kind":"\#(kind)"}"#) == expected)
  }

  @Test func kindComparesAfterItsEscapes() {
    #expect(selects(["-k", "llm_call"], #"{"\u006bind":"llm\u005fcall"}"#) == true)
    #expect(selects(["-k", "llm_call"], #"{"kind":"a","metadata":{"kind":"llm_call"}}"#) == false)
    #expect(selects(["-k", "k😀"], #"{"kind":"\u006b\uD83D\ude00"}"#) == true)
    #expect(selects(["-k", "k?"], #"{"kind":"\u006b\uD83D\ude00"}"#) == true)
    #expect(selects(["-k", "k😀"], #"{"kind":"k\uD83D \ude00"}"#) == false)
    #expect(selects(["-k", "*"], "{}") == false)
    #expect(selects(["-k", "5"], #"{"kind":5}"#) == false)
  }

  @Test func domains() {
    #expect(selects(["-d", "llm,tts"], #"{"kind":"tts_call"}"#) == true)
    #expect(selects(["-d", "voice"], #"{"kind":"voice_music"}"#) == true)
    #expect(selects(["-d", "text"], #"{"kind":"reacted"}"#) == true)
    #expect(selects(["-d", "other"], "{}") == true)
    #expect(selects(["-d", "error"], #"{"kind":"browser_browse_failed"}"#) == true)
    #expect(selects(["-d", "error"], #"{"kind":"bot_runtime","level":"e\u0072ror"}"#) == true)
    #expect(selects(["-d", "error"], #"{"level":"error"}"#) == true)
    #expect(selects(["-d", "error"], #"{"kind":"bot_warning"}"#) == false)
    #expect(selects(["-d", "tool"], #"{"kind":"browser_agent_final"}"#) == true)
    #expect(selects(["-d", "llm", "-d", "tool"], #"{"kind":"search_call"}"#) == true)
    #expect(selects(["-d", "chat"], "{}") == nil)
  }

  @Test func idsAreTextOrNumbers() {
    #expect(selects(["-g", "9007199254740993"], #"{"guild_id":9007199254740993}"#) == true)
    #expect(selects(["-g", "9007199254740993"], #"{"guild_id":9007199254740992}"#) == false)
    #expect(selects(["-g", "7"], #"{"guildId":"\u0037"}"#) == true)
    #expect(selects(["-g", "7"], #"{"guildId":null}"#) == false)
    #expect(selects(["-g", "null"], #"{"guildId":null}"#) == false)
    #expect(selects(["-c", "7"], #"{"channel_id":"7"}"#) == true)
    #expect(selects(["-U", "7", "-U", "8"], #"{"userId":"8"}"#) == true)
    #expect(selects(["-M", "7"], #"{"messageId":"8"}"#) == false)
    #expect(selects(["-g", "true"], #"{"guild_id":true}"#) == false)
    #expect(selects(["-g", ""], "{}") == nil)
  }

  @Test func everyOptionMustHold() {
    let action = #"{"kind":"llm_call","guild_id":"1","usd_cost":0.5}"#
    #expect(selects(["-k", "llm_call", "-g", "1", "-x", "0.5"], action) == true)
    #expect(selects(["-k", "llm_call", "-g", "2"], action) == false)
    #expect(selects(["-v", "-k", "llm_call", "-g", "2"], action) == true)
    #expect(selects(["-v"], action) == false)
  }

  @Test func costsAreExactNumbers() {
    #expect(selects(["-x", "0.01"], #"{"usd_cost":1e-2}"#) == true)
    #expect(selects(["-x", "0.01"], #"{"usd_cost":0.0099999999999999999999}"#) == false)
    #expect(selects(["--max-cost", "4e-7"], #"{"usdCost":0.0000004}"#) == true)
    #expect(selects(["-x", "9007199254740993"], #"{"usd_cost":9007199254740992}"#) == false)
    // Unknown is 0, as in the rows; text is no cost at all.
    #expect(selects(["-x", "0"], "{}") == true)
    #expect(selects(["-x", "0"], #"{"usdCost":null}"#) == true)
    #expect(selects(["-x", ".001"], "{}") == false)
    #expect(selects(["--max-cost", "1"], #"{"usdCost":null}"#) == true)
    for option in ["-x", "--max-cost"] {
      #expect(selects([option, "0"], #"{"usd_cost":"0"}"#) == false)
      #expect(selects([option, "many"], "{}") == nil)
    }
  }

  @Test func timesAreInstants() {
    let noon = #"{"created_at":"2026-03-01T12:00:00Z"}"#
    #expect(selects(["-S", "2026-03-01T12:00:00.000+00:00"], noon) == true)
    #expect(selects(["-B", "2026-03-01T12:00:00Z"], noon) == false)
    #expect(
      selects(["-S", "2026-03-01T12:00:00Z"], #"{"createdAt":"2026-03-01T12:00:00.500Z"}"#) == true)
    #expect(
      selects(["-B", "2026-03-01T12:00:00Z"], #"{"createdAt":"2026-03-01T13:59:59.9+02:00"}"#)
        == true)
    #expect(selects(["-S", "90s"], #"{"createdAt":"2026-03-01T11:58:30Z"}"#) == true)
    #expect(selects(["-S", "90s"], #"{"createdAt":"2026-03-01T11:58:29.999Z"}"#) == false)
    #expect(selects(["-B", "1d"], #"{"createdAt":"2026-02-28T11:59:59Z"}"#) == true)
    #expect(selects(["-S", "2026-03-01"], noon) == true)
    let late = #"{"createdAt":"2026-03-01T14:00:00.000000001000+02:00"}"#
    #expect(selects(["-S", "2026-03-01T12:00:00.000000002Z"], late) == false)
    #expect(selects(["-S", "2026-03-01T04:00:00.00000000100-08:00"], late) == true)
    #expect(selects(["-S", "1h"], #"{"createdAt":"yesterday"}"#) == false)
    #expect(selects(["-S", "tomorrow"], noon) == nil)
  }

  @Test func metadataByPointer() {
    let action =
      #"{"metadata":{"a":{"b/c":[1,{"~":"x"}]},"n":1e-2,"t":true,"z":null,"k":"1","":5}}"#
    #expect(selects(["--where", "/a/b~1c/1/~0=x"], action) == true)
    #expect(selects(["--where", "/a/b~1c/0=1.0"], action) == true)
    #expect(selects(["--where", "/a/b~1c/01=x"], action) == false)
    #expect(selects(["--where", "/a/b~1c/-=x"], action) == false)
    #expect(selects(["--where", "/n=0.01"], action) == true)
    #expect(selects(["--where", "/t=true"], action) == true)
    #expect(selects(["--where", "/t=1"], action) == false)
    #expect(selects(["--where", "/z=null"], action) == true)
    #expect(selects(["--where", "/none/deeper=null"], action) == true)
    #expect(selects(["--where", "/k=1"], action) == true)
    #expect(selects(["--where", "/k=1.0"], action) == false)
    #expect(selects(["--where", "/=5"], action) == true)
    #expect(selects(["--where", "/a={}"], action) == false)
    #expect(selects(["--where", "/k=2", "--where", "/t=true"], action) == true)
    #expect(selects(["--where", "=null"], "{}") == true)
    #expect(selects(["--where", "/x=a=b"], #"{"metadata":{"x":"a=b"}}"#) == true)
    #expect(selects(["--where", "/x=2"], #"{"metadata":{"x":1,"\u0078":2}}"#) == true)
    for bad in ["k=1", "/k", "/~2=1", "/k~=1"] {
      #expect(selects(["--where", bad], action) == nil)
    }
  }
}

@Suite struct FilterTextTests {
  func holds(_ options: [String], _ content: String) -> Bool? {
    selects(options, #"{"kind":"k","content":"\#(content)"}"#)
  }

  @Test func textIsFoundAfterTheEscapes() {
    #expect(holds(["-F", "nfoo"], #"a\nfoo"#) == false)
    #expect(holds(["-F", "rate limit"], #"rate\u0020limit"#) == true)
    #expect(holds(["-F", "\nfoo"], #"a\nfoo"#) == true)
    #expect(holds(["-F", "😀"], #"\ud83d\ude00"#) == true)
    #expect(holds(["-F", "\u{fffd}"], #"\ud83d"#) == true)
    #expect(holds(["-F", #"""#], #"a\"b"#) == true)
    #expect(holds(["-F", #"\"#], #"a\"b"#) == false)
    #expect(holds(["-F", "after"], #"nul\u0000after"#) == true)
    #expect(holds(["-F", "Rate"], "rate") == false)
    #expect(holds(["-F", "no", "-F", "rate"], "rate") == true)
    #expect(holds(["-F", ""], "x") == true)
    #expect(selects(["-F", "1"], #"{"content":1}"#) == false)
    #expect(selects(["-F", ""], #"{"content":null}"#) == false)
  }

  @Test(arguments: [
    ("RATE", "a Rate limit"), ("ÄRGER", "ärger"), ("ärger", "ÄRGER"), ("ſ", "S"), ("s", "ſ"),
    ("\u{212a}", "k"), ("kelvin", "\u{212a}elvin"), ("ς", "Σ"), ("σ", "ς"), ("ẞ", "ß"), ("µ", "Μ"),
    ("Ω", "\u{2126}"), ("ǆ", "ǅ"), ("𐐀", "𐐨"), ("Ꭰ", "ꭰ"), ("ⅷ", "Ⅷ"), ("\u{1fd3}", "\u{390}"),
    ("ﬅ", "ﬆ"), ("\u{23a}", "\u{2c65}"), (#"É"#, #"\u00e9"#),
  ])
  func foldsSimply(needle: String, content: String) {
    #expect(holds(["-i", "-F", needle], "<" + content + ">") == true)
    #expect(holds(["-F", needle, "-i"], content) == true)
  }

  @Test(arguments: [("ss", "ß"), ("i", "İ"), ("i", "ı"), ("I", "ı"), ("ä", "a"), ("fi", "ﬁ")])
  func doesNotFoldFurther(needle: String, content: String) {
    #expect(holds(["-i", "-F", needle], content) == false)
  }

  @Test func foldingLeavesInvalidBytesAlone() {
    let text: [UInt8] = [0xff, 0x41, 0xc3, 0xe2, 0x84, 0xed, 0xa0, 0x80, 0xc3, 0x84, 0xf0]
    let folded = CaseFolding().fold(text)
    #expect(folded == [0xff, 0x61, 0xc3, 0xe2, 0x84, 0xed, 0xa0, 0x80, 0xc3, 0xa4, 0xf0])
  }

  /// Contents are folded in pieces: the needle at every place around the seams.
  @Test func findsTheNeedleAcrossPieces() {
    for needle in ["ÄRGER\u{212a}x", "Q", "\u{23a}"] {
      let search = TextSearch(needle, ignoresCase: true)
      let quiet = Array(String(repeating: "äb\u{23a}c", count: 3).utf8).filter {
        $0 != 0xc8 && $0 != 0xba
      }
      for before in Array(0...40) + Array(16_300...16_450) + Array(32_700...32_830) {
        var text = [UInt8](repeating: 0x79, count: before)
        text += Array(needle.lowercased().utf8)
        text += quiet + [UInt8](repeating: 0x79, count: 100)
        #expect(text.withUnsafeBytes { search.matches($0) }, "\(needle) after \(before)")
        text.removeSubrange(before..<before + needle.lowercased().utf8.count)
        #expect(!text.withUnsafeBytes { search.matches($0) }, "\(needle) without, \(before)")
      }
    }
  }

  @Test func regularExpressions() {
    #expect(holds(["-E", "^rate (limit|cap)$"], "rate cap") == true)
    #expect(holds(["-E", "^limit"], "rate limit") == false)
    #expect(holds(["-E", "a.c"], "aäc") == true)
    #expect(holds(["-i", "-E", "ärger+$"], "ÄRGERR") == true)
    #expect(holds(["-E", "b$"], #"a\u0000b"#) == true)
    #expect(holds(["-E", "a\nb"], #"a\nb"#) == true)
    #expect(holds(["-E", "x", "-E", "y"], "y") == true)
    #expect(holds(["-E", "x", "-F", "y"], "y") == false)
    #expect(holds(["-E", "("], "y") == nil)
    #expect(holds(["-E", "^$"], "") == true)
  }
}
