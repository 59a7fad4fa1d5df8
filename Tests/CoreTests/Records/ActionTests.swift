import TestSupport
import Testing

@testable import Core
@testable import Records

@Suite struct ActionKindTests {
  @Test func noFirstWordBelongsToTwoDomains() {
    var owners: [Substring: Set<ActionDomain>] = [:]
    for (domain, kinds) in ActionKind.table {
      for kind in kinds { owners[kind.prefix { $0 != "_" }, default: []].insert(domain) }
    }
    #expect(owners.allSatisfy { $0.value.count == 1 })
  }

  @Test func everyKnownKindHasItsDomain() {
    for (domain, kinds) in ActionKind.table {
      for kind in kinds { #expect(ActionKind.domain(of: kind) == domain, "\(kind)") }
    }
  }

  /// The kinds that a dashboard sends, as its sources spell them.
  static let sent: [(domain: ActionDomain, kinds: String)] = [
    (.llm, "llm_call llm_error llm_tool_call llm_lifecycle"),
    (
      .voice,
      """
      voice_session_start voice_session_end voice_turn_in voice_turn_out voice_runtime voice_error \
      voice_warn voice_info voice_soundboard_play voice_music voice_lifecycle music_player
      """
    ),
    (.asr, "asr_call asr_error"), (.tts, "tts_call tts_error"),
    (.text, "sent_reply sent_message reply_skipped reacted text_runtime"),
    (.memory, "memory_fact memory_embedding_call memory_embedding_error memory_runtime"),
    (
      .browser,
      """
      browser_browse_call browser_browse_failed browser_tool_step browser_tool_result \
      browser_agent_reasoning browser_agent_final browser_agent_session_turn browser_agent
      """
    ),
    (
      .media,
      """
      image_call image_error gif_call gif_error video_call video_error video_context_call \
      video_context_error
      """
    ),
    (.discovery, "search_call search_error search_service discovery_feed_snapshot"),
    (
      .code,
      """
      code_agent_call code_agent_error sub_agent_session_lifecycle swarm_activity_bridge_error \
      swarm_server_status swarm_server_spawn_fallback swarm_server_spawn_failed \
      swarm_spawn_request_accepted swarm_spawn_request_declined swarm_spawn_request_noop \
      swarm_spawn_request_rate_limited swarm_spawn_request_received \
      swarm_spawn_request_response_error swarm_task_cancel_error swarm_task_delivery_error \
      swarm_task_progress swarm_task_result swarm_worker_adoption_timeout swarm_worker_exit \
      swarm_worker_log_attached
      """
    ),
    (
      .automation,
      "automation_created automation_updated automation_post automation_run automation_error"
    ),
    (
      .initiative,
      "initiative_post initiative_skip initiative_source_add initiative_source_remove"
    ),
    (
      .system,
      """
      bot_error bot_warning bot_runtime bot_lifecycle dashboard runtime stream_discovery \
      minecraft_game_events minecraft_mcp_init_error minecraft_mcp_process \
      minecraft_mcp_process_output minecraft_runtime_call minecraft_runtime_tool_error \
      minecraft_narration_blocked minecraft_narration_candidate minecraft_narration_filtered \
      minecraft_narration_post minecraft_narration_skip
      """
    ),
  ]

  @Test func everyKindThatIsSentHasADomainAndIsKnown() {
    var count = 0
    for (domain, kinds) in Self.sent {
      for kind in kinds.split(separator: " ").map(String.init) {
        #expect(ActionKind.domain(of: kind) == domain, "\(kind)")
        #expect(ActionKind.all.contains(kind), "\(kind)")
        count += 1
      }
    }
    #expect(count == 96)
    #expect(Set(ActionKind.all).count == ActionKind.all.count)
  }

  @Test(arguments: [
    ("voice_intent_detected", ActionDomain.voice), ("sent_message", .text),
    ("memory_runtime", .memory),
    ("video_context_more", .media), ("automation_error", .automation), ("bot_lifecycle", .system),
    ("reacted", .text), ("reacted_x", .other), ("dashboard", .system), ("runtime", .system),
    ("music_player", .voice), ("swarm_worker_new", .code), ("sub_agent_x", .code),
    ("minecraft_x", .system), ("runtime_x", .other), ("", .other), ("_", .other), ("voice", .other),
    ("voicemail", .other), ("speech", .tts), ("speech_x", .other), ("urls", .other),
  ])
  func otherKindsTakeTheirPrefix(kind: String, domain: ActionDomain) {
    #expect(ActionKind.domain(of: kind) == domain)
  }

  @Test func errorsAndToolsGoAcrossDomains() {
    for kind in ["llm_error", "browser_browse_failed", "asr_error", "swarm_server_spawn_failed"] {
      #expect(ActionKind.isError(kind: kind))
      #expect(withBytes(kind) { ActionKind.isError(kind: $0, level: .init(start: nil, count: 0)) })
    }
    #expect(!ActionKind.isError(kind: "bot_warning"))
    #expect(!ActionKind.isError(kind: "error"))
    #expect(ActionKind.isError(kind: "bot_runtime", level: "error"))
    for kind in ["llm_tool_call", "browser_tool_step", "search_call", "memory_embedding_call"] {
      #expect(ActionKind.isTool(kind: kind))
      #expect(withBytes(kind) { ActionKind.isTool(kind: $0) })
    }
    #expect(!ActionKind.isTool(kind: "llm_call"))
    #expect(!ActionKind.isTool(kind: "video_context_call"))
  }
}

@Suite struct ActionFieldsTests {
  func read(_ text: String, _ field: (ActionFields) -> ScanValue) -> String? {
    withBytes(text) { bytes in
      guard let fields = try? ActionFields(bytes) else { return "fault" }
      return field(fields).string
    }
  }

  @Test func readsBothSpellings() {
    let row = #"{"id":7,"created_at":"t","guild_id":"g","user_id":null,"kind":"k","usd_cost":0.5}"#
    let live = #"{"kind":"k","guildId":"g","usdCost":4e-7,"createdAt":"t","level":"warn"}"#
    #expect(read(row, \.id) == "7")
    #expect(read(row, \.createdAt) == "t")
    #expect(read(row, \.user) == nil)
    #expect(read(row, \.cost) == "0.5")
    #expect(read(live, \.guild) == "g")
    #expect(read(live, \.cost) == "4e-7")
    #expect(read(live, \.createdAt) == "t")
    #expect(read(live, \.level) == "warn")
    #expect(read(live, \.id) == nil)
  }

  @Test func lastDuplicateWinsAndInnerMembersDoNotCount() {
    let text =
      #"{"kind":"a","metadata":{"kind":"b","usdCost":1},"content":"\"kind\":\"c\"","k\u0069nd":"d"}"#
    #expect(read(text, \.kind) == "d")
    #expect(read(text, \.cost) == nil)
    #expect(read(#"{"guild_id":null,"guildId":"g"}"#, \.guild) == "g")
    #expect(read(#"{"guild_id":"r","guildId":null}"#, \.guild) == "r")
    #expect(read(#"{"kind":"a","kind":null}"#, \.kind) == nil)
  }
}

@Suite struct ActionKeyTests {
  func key(_ text: String) throws -> ActionKey {
    try withBytes(text) { ActionKey(try ActionFields($0), scratch: ScanScratch()) }
  }

  @Test func rowAndLiveActionHaveTheSameKey() throws {
    let words = String(repeating: "ä", count: 1999)
    let row = try key(
      #"{"id":9,"created_at":"t","guild_id":"1","channel_id":null,"message_id":null,"user_id":"2","#
        + #""kind":"k","content":"\#(words)\#u{fffd}","metadata":null,"usd_cost":0}"#)
    // The cut at 2000 units goes through the emoji.
    let live = try key(
      #"{"kind":"k","guildId":1,"userId":"2","content":"\#(words)😀 and more","createdAt":"t"}"#)
    let escaped = try key(
      #"{"createdAt":"t","content":"\#(words)\ud83d\ude00","kind":"\u006b","guildId":"1","userId":"2"}"#
    )
    let lone = try key(
      #"{"createdAt":"t","content":"\#(words)\ud83d","kind":"k","guildId":"1","userId":"2"}"#)
    #expect(row == live)
    #expect(row == escaped)
    #expect(row == lone)
  }

  /// What a dashboard's store makes of a value, as its own code does it:
  /// `value ? String(value).slice(0, 2000) : null`.
  @Test(arguments: [
    (#""""#, "null"), ("0", "null"), ("-0.0", "null"), ("false", "null"), ("1e-400", "null"),
    ("[]", #""""#), ("[null]", #""""#), ("[[],[[]]]", #"",""#), ("true", #""true""#),
    ("{}", #""[object Object]""#), (#"{"a":[1,"]"]}"#, #""[object Object]""#),
    (
      #"["a",1,[2,[null,3]],{"b":","},true,false,0,"\u00e4\"",-0]"#,
      #""a,1,2,,3,[object Object],true,false,0,ä\",0""#
    ),
    ("17", #""17""#), ("1.50", #""1.5""#), ("70e-1", #""7""#),
    ("123456789012345678", #""123456789012345680""#),
    ("-9007199254740993", #""-9007199254740992""#), ("1e21", #""1e+21""#),
    ("1e20", #""100000000000000000000""#),
    ("0.000001", #""0.000001""#), ("0.00000012", #""1.2e-7""#), ("1e400", #""Infinity""#),
    ("[-1e400,1E5, 0.10]", #""-Infinity,100000,0.1""#),
  ])
  func aRowHasTheTextOfTheLiveValue(live: String, row: String) throws {
    for name in ["content", "guildId", "channelId", "messageId", "userId"] {
      #expect(
        try key(#"{"kind":"k","createdAt":"t","\#(name)":\#(live)}"#)
          == key(#"{"kind":"k","createdAt":"t","\#(name)":\#(row)}"#), "\(name)")
    }
    withBytes(live) { live in
      withBytes(row) { #expect(ScanValue(live).storedText == ScanValue($0).string) }
    }
  }

  @Test func anArrayIsCutAt2000Too() throws {
    let words = String(repeating: "x", count: 1994)
    let row = try key(#"{"kind":"k","createdAt":"t","content":"ä,😀,\#(words)\#u{fffd}"}"#)
    #expect(row == (try key(#"{"kind":"k","createdAt":"t","content":["ä","😀","\#(words)😀",1]}"#)))
    let many = "[" + Array(repeating: "[{}]", count: 9000).joined(separator: ",") + "]"
    let cut = Array(repeating: "[object Object]", count: 126).joined(separator: ",").prefix(2000)
    #expect(
      try key(#"{"kind":"k","content":\#(many)}"#) == key(#"{"kind":"k","content":"\#(cut)"}"#))
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(try key(#"{"kind":"k","content":\#(deep)}"#) == key(#"{"kind":"k"}"#))
  }

  @Test func everyPartCounts() throws {
    let base = #"{"kind":"k","createdAt":"t","guildId":"1","content":"c"}"#
    let others = [
      #"{"kind":"l","createdAt":"t","guildId":"1","content":"c"}"#,
      #"{"kind":"k","createdAt":"u","guildId":"1","content":"c"}"#,
      #"{"kind":"k","createdAt":"t","guildId":"2","content":"c"}"#,
      #"{"kind":"k","createdAt":"t","channelId":"1","content":"c"}"#,
      #"{"kind":"k","createdAt":"t","messageId":"1","content":"c"}"#,
      #"{"kind":"k","createdAt":"t","userId":"1","content":"c"}"#,
      #"{"kind":"k","createdAt":"t","guildId":"1","content":"cc"}"#,
      #"{"kind":"k","createdAt":"t","guildId":"1"}"#,
    ]
    var keys: Set<ActionKey> = [try key(base)]
    for other in others { #expect(keys.insert(try key(other)).inserted, "\(other)") }
    #expect(
      try key(base) == key(#"{"kind":"k","createdAt":"t","guildId":"1","content":"c","usdCost":1}"#)
    )
  }

  @Test func cutsAt2000UnitsOfUTF16() {
    func prefix(_ text: String) -> (Int, Bool) {
      withBytes(text) { ActionKey.prefix(of: $0, units: 2000) }
    }
    #expect(prefix(String(repeating: "a", count: 2000)) == (2000, false))
    #expect(prefix(String(repeating: "a", count: 2001)) == (2000, false))
    #expect(prefix(String(repeating: "ä", count: 2001)) == (4000, false))
    #expect(prefix(String(repeating: "😀", count: 1001)) == (4000, false))
    #expect(prefix("a" + String(repeating: "😀", count: 1001)) == (1 + 4 * 999, true))
    #expect(prefix(String(repeating: "a", count: 1998) + "😀") == (2002, false))
  }

  @Test func digestIsSipHash128() {
    // The reference code's first vectors for 128 bits: key 00..0f, input 00, 01, ...
    var digest = SipHash128(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
    #expect(digest.finish() == (0xe6a8_25ba_047f_81a3, 0x9302_55c7_1472_f66d))
    digest = SipHash128(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
    digest.add(0)
    #expect(digest.finish() == (0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634))
    var pieces = SipHash128()
    var whole = SipHash128()
    let bytes = (0..<100).map { UInt8($0) }
    bytes.withUnsafeBytes { whole.add($0) }
    bytes[..<3].withUnsafeBytes { pieces.add($0) }
    bytes[3...].withUnsafeBytes { pieces.add($0) }
    #expect(pieces.finish() == whole.finish())
  }
}
