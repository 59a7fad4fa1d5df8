import Core
import Records
import Screen
import Testing

@testable import action_format

/// The action of a JSON text.
func formatAction(_ text: String) throws -> Action { Action(try JSONValue.parse(text: text)) }

func detailText(_ action: Action, _ phrase: Phrase = Phrase()) -> String {
  var phrase = phrase
  phrase.detail(action)
  return phrase.line.text
}

@Suite struct DetailTests {
  private func detail(_ text: String, isWide: Bool = true) throws -> String {
    detailText(try formatAction(text), Phrase(isWide: isWide))
  }

  static let examples: [(String, String)] = [
    (
      #"{"kind":"llm_call","content":"p:m","metadata":{"model":"opus","usage":{"inputTokens":1532,"outputTokens":84,"cacheReadTokens":1100},"toolNames":"web_search, memory_search","stopReason":"tool_use","transcript":"one sec"}}"#,
      "opus · 1.5k in, 1.1k cached, 84 out · web_search, memory_search · “one sec”"
    ),
    (#"{"kind":"llm_call","content":"claude:opus-4"}"#, "opus-4"),
    (
      #"{"kind":"llm_call","content":"p:m","metadata":{"durationMs":1900,"stopReason":"max_tokens","toolCallCount":2}}"#,
      "m · 2 tools · 1.9s · max_tokens"
    ),
    (
      #"{"kind":"llm_tool_call","content":"p:m","metadata":{"model":"opus","toolCalls":[{"name":"web_search","input":{"query":"tides"}},{"name":"play","arguments":"{\"id\":3,\"loop\":true}"}]}}"#,
      "opus · web_search(tides) · play(id: 3, loop: true)"
    ),
    (
      #"{"kind":"llm_tool_call","content":"p:m","metadata":{"toolName":"web_search","arguments":{"q":"x"},"result":{"ok":true,"count":2},"durationMs":1200,"success":false}}"#,
      "m · web_search(x) · 1.2s · → ok: true, count: 2 · failed"
    ),
    (
      #"{"kind":"llm_error","content":"overloaded_error: later","metadata":{"status":529,"errorType":"overloaded_error","model":"opus"}}"#,
      "overloaded_error: later · status 529 · opus"
    ),
    (
      #"{"kind":"voice_session_end","content":"inactivity_timeout","metadata":{"durationSeconds":298,"mode":"openai_realtime"}}"#,
      "left · after 4m58s · inactivity_timeout · openai_realtime"
    ),
    (
      #"{"kind":"voice_session_start","content":"voice_joined:77","metadata":{"mode":"voice_agent","maxSessionMinutes":45}}"#,
      "joined · voice_agent · 77 · at most 45m"
    ),
    (
      #"{"kind":"voice_turn_in","content":"voice_activity_started","userId":"12","metadata":{}}"#,
      "12 · voice_activity_started"
    ),
    (
      #"{"kind":"voice_turn_in","content":"voice_activity_started","metadata":{"speakerName":"Mika","transcript":"hi there"}}"#,
      "Mika: “hi there”"
    ),
    (#"{"kind":"voice_turn_out","metadata":{"text":"hello"}}"#, "agent: “hello”"),
    (
      #"{"kind":"voice_runtime","content":"openai_realtime_asr_partial_segment","metadata":{"speakerName":"Mika","transcript":"when do"}}"#,
      "Mika: “when do …”"
    ),
    (
      #"{"kind":"voice_runtime","content":"gemini_realtime_transcript","metadata":{"transcript":"At noon.","transcriptSource":"output"}}"#,
      "agent: “At noon.”"
    ),
    (
      #"{"kind":"voice_runtime","content":"realtime_tool_call_started","metadata":{"toolName":"web_search","arguments":{"query":"tides"}}}"#,
      "web_search(tides) · started"
    ),
    (
      #"{"kind":"voice_runtime","content":"realtime_tool_call_completed","metadata":{"toolName":"web_search","runtimeMs":1285,"outputSummary":{"ok":true,"resultCount":4,"error":null}}}"#,
      "web_search · 1.3s · → ok: true, resultCount: 4"
    ),
    (
      #"{"kind":"voice_error","content":"realtime_tool_call_failed","metadata":{"toolName":"play","runtimeMs":912,"error":"not_in_voice"}}"#,
      "play · 912ms · not_in_voice"
    ),
    (
      #"{"kind":"voice_runtime","content":"voice_latency_stage","metadata":{"stage":"audio_started","finalizedToAsrStartMs":44,"replyRequestToAudioStartMs":85}}"#,
      "audio_started · 129ms · asr 44ms · audio 85ms"
    ),
    (
      #"{"kind":"sent_reply","content":"two tides\na day","channelId":"771204459001741312","metadata":{"performance":{"totalMs":2290}}}"#,
      "#771204459001741312 · 15 chars · 2.3s · two tides ↵ a day"
    ),
    (
      #"{"kind":"memory_fact","content":"Mika sails","metadata":{"factType":"profile","confidence":0.84,"subject":"__lore__"}}"#,
      "profile · 84% · Mika sails · about the community"
    ),
    (
      #"{"kind":"memory_embedding_call","content":"emb","metadata":{"inputChars":47,"vectorDims":1536,"usage":{"inputTokens":12,"outputTokens":0}}}"#,
      "emb · 47 chars · 1.5k dims · 12 in, 0 out"
    ),
    (
      #"{"kind":"search_call","content":"tides","metadata":{"returnedResults":1,"providerUsed":"brave","latencyMs":1240}}"#,
      "“tides” · 1 result · brave · 1.2s"
    ),
    (
      #"{"kind":"browser_tool_step","content":"browser_open","metadata":{"step":1,"tool":"browser_open","input":{"url":"https://x.example/"}}}"#,
      "step 1 · browser_open(https://x.example/)"
    ),
    (
      #"{"kind":"browser_browse_failed","content":"open it","metadata":{"errorMessage":"timed out","durationMs":30010}}"#,
      "open it · timed out · 30s"
    ),
    (
      #"{"kind":"automation_created","content":"tides: post","metadata":{"automationId":7,"schedule":{"kind":"daily","hour":7,"minute":5}}}"#,
      "#7 · tides: post · daily at 07:05"
    ),
    (
      #"{"kind":"reply_skipped","content":"llm_skip","metadata":{"addressing":{"reason":"llm_decides"}}}"#,
      "llm_skip · llm_decides"
    ),
    (#"{"kind":"bot_error","content":"gateway: shard 0"}"#, "gateway: shard 0"),
    (
      #"{"kind":"gif_call","content":"waves","metadata":{"query":"waves","returnedResults":20}}"#,
      "waves · 20 results"
    ),
    (
      #"{"kind":"never_seen","content":"words","metadata":{"a":1,"b":"two","xId":"9","c":{"d":1}}}"#,
      "words · a 1 · b two"
    ),
  ]

  @Test(arguments: examples)
  func theLineThatMatters(_ text: String, _ line: String) throws {
    #expect(try detail(text) == line)
  }

  @Test func aNarrowScreenShortensIds() throws {
    let text = #"{"kind":"sent_reply","content":"x","channel_id":"771204459001741312"}"#
    #expect(try detail(text, isWide: false) == "#…1312 · 1 char · x")
  }

  /// Bodies that a kind may come with, one stranger than the other.
  static let bodies = [
    "", #","metadata":{}"#, #","metadata":null"#, #","metadata":[]"#, #","metadata":"text""#,
    #","metadata":7"#,
    #","content":null,"metadata":{"usage":[],"model":{},"toolCalls":{"a":1},"toolNames":7,"durationMs":"soon","confidence":"high","error":{},"schedule":"daily","performance":3,"transcript":[],"step":{},"llm":1,"stopReason":null}"#,
    #","content":{"a":1},"metadata":{"usage":{"inputTokens":"12","outputTokens":1e300},"toolCalls":["x",1,null,{"name":3,"input":[]},{"function":{"name":"f","arguments":"{"}}],"toolNames":["a",1],"durationMs":-5,"confidence":77,"error":{"message":"m"},"schedule":{"kind":"interval","everyMinutes":1e300},"returnedResults":-1}"#,
    #","content":"\u0000\u001b[31m\ud800","metadata":{"toolName":"\u001b]0;x\u0007","arguments":"\u009b2J","speakerName":"\u202eevil","transcript":"\r\n","failure":"x"},"level":"error""#,
  ]

  @Test func everyKindHasALineWhateverItHolds() throws {
    let kinds = ActionKind.all + ["x", ""]
    #expect(kinds.count > 100)
    for kind in kinds {
      for body in Self.bodies {
        let action = try formatAction("{\"kind\":\"\(kind)\"\(body)}")
        var layout = Layout(width: 100)
        for width in [nil, 0, 1, 40, 100, 200] as [Int?] {
          layout.width = width
          let lines = [layout.row(action)] + Expanded.lines(action, layout)
          for line in lines {
            let text = line.render(width: width, depth: .none)
            #expect(
              !text.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) })
            #expect(!text.unicodeScalars.contains { (0x202a...0x202e).contains($0.value) })
            if let width { #expect(CellWidth.of(text) <= width) }
          }
        }
        #expect(Layout().row(action).text.contains(kind))
      }
      let plain = try formatAction("{\"kind\":\"\(kind)\",\"content\":\"these words\"}")
      #expect(detailText(plain).contains("these words"), "\(kind)")
    }
  }
}
