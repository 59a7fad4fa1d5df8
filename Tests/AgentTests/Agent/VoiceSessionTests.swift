import Core
import Testing

@testable import Agent

@Suite struct VoiceSessionTests {
  private func session(_ text: String) throws -> VoiceSession {
    VoiceSession(try JSONValue.parse(text: text))
  }

  private func time(_ text: String) -> Timestamp? { Timestamp(rfc3339: text) }

  @Test func membersOfTheHead() throws {
    let session = try session(
      #"""
      {"sessionId":"s-1","guildId":"77","voiceChannelId":78,"startedAt":"2026-05-09T18:30:02.500Z",
      "maxEndsAt":null,"inactivityEndsAt":"soon","mode":"openai_realtime","activeInputStreams":1,
      "activeCaptures":[{"userId":"4","displayName":"Oren","ageMs":3200}],"botTurnOpen":false,
      "participants":[{"userId":"4","displayName":"Oren"},"x",null,{"userId":"5"}],
      "participantCount":7}
      """#)
    #expect(session.sessionId == "s-1")
    #expect(session.voiceChannelId == "78")
    #expect(session.textChannelId == nil)
    #expect(session.startedAt == time("2026-05-09T18:30:02.500Z"))
    #expect(session.maxEndsAt == nil && session.inactivityEndsAt == nil)
    #expect(session.modeLabel == "OpenAI RT")
    #expect(session.activeCaptures.first?.ageMs == 3200)
    #expect(session.participants.count == 2 && session.participantCount == 7)
    #expect(session.name(of: "4") == "Oren" && session.name(of: "5") == nil)
  }

  @Test(arguments: ["null", "[]", "{}", "3", #"{"conversation":7,"latency":[],"toolCalls":{}}"#])
  func whatIsMissingIsEmpty(_ text: String) throws {
    let session = try session(text)
    #expect(session.sessionId == nil && session.participants.isEmpty && session.toolCalls.isEmpty)
    #expect(session.conversation == nil && session.latency == nil && session.music == nil)
    #expect(session.activity == .idle)
  }

  static let activities: [(String, VoiceActivity)] = [
    (#"{"botTurnOpen":true,"activeInputStreams":1}"#, .speaking),
    (#"{"batchAsr":{"pendingTurns":1},"activeInputStreams":1}"#, .processing),
    (#"{"realtime":{"pendingTurns":2}}"#, .processing),
    (#"{"activeInputStreams":1,"realtime":{"state":{"connected":false}}}"#, .listening),
    (#"{"activeCaptures":[{}]}"#, .listening),
    (#"{"realtime":{"state":{"connected":false}}}"#, .disconnected),
    (#"{"realtime":{"state":{"connected":true}}}"#, .idle),
    (#"{"realtime":{"state":null}}"#, .idle),
  ]

  @Test(arguments: activities)
  func activity(_ text: String, _ expected: VoiceActivity) throws {
    #expect(try session(text).activity == expected)
  }

  @Test func awake() throws {
    let now = try #require(time("2026-05-09T18:30:30.000Z"))
    #expect(try session(#"{"conversation":{"wake":{"active":true}}}"#).isAwake(at: now))
    #expect(
      try !session(
        #"{"conversation":{"wake":{"active":false},"lastAssistantReplyAt":"2026-05-09T18:30:29Z"}}"#
      ).isAwake(at: now))
    for (reply, isAwake) in [("18:29:56", true), ("18:29:55", false)] {
      let text = #"{"conversation":{"lastDirectAddressAt":"2026-05-09T\#(reply).000Z"}}"#
      #expect(try session(text).isAwake(at: now) == isAwake)
    }
  }

  @Test func bothSpellings() throws {
    let old = try session(
      #"""
      {"streamWatch":{"active":true,"lastBrainContextAt":"2026-05-09T18:30:00Z",
      "lastBrainContextModel":"m","brainContextCount":3,"brainContextPayload":{"notes":["a"]}},
      "asrSessions":[{"closing":true}],"lastGenerationContext":{"memoryFacts":{"userFacts":[{
      "fact":"f","fact_type":"profile"}]},"sessionTiming":{"maxRemainingMs":1500}}}
      """#)
    #expect(old.streamWatch?.noteCount == 3 && old.streamWatch?.lastNoteModel == "m")
    #expect(old.streamWatch?.lastNoteAt == time("2026-05-09T18:30:00Z"))
    #expect(old.streamWatch?.notePayload?.notes == ["a"])
    #expect(old.asrSessions.first?.phase == "closing")
    #expect(old.lastGenerationContext?.memoryFacts.userFacts == 1)
    #expect(old.lastGenerationContext?.sessionTiming?.maxRemainingMs == 1500)
    let new = try session(
      #"""
      {"streamWatch":{"noteCount":4},"asrSessions":[{"phase":"ready"}],"lastGenerationContext":{
      "membershipEvents":[{"at":1778351409250}],"participantRoster":["a",{"displayName":"b"},{}],
      "userFacts":[{"factType":"x"}],"sessionTiming":{"maxSecondsRemaining":2}}}
      """#)
    #expect(new.streamWatch?.noteCount == 4 && new.asrSessions.first?.phase == "ready")
    let context = try #require(new.lastGenerationContext)
    #expect(context.membershipEvents.first?.at == time("2026-05-09T18:30:09.250Z"))
    #expect(context.participantRoster == ["a", "b"])
    #expect(context.memoryFacts.count == 1)
    #expect(context.sessionTiming?.maxRemainingMs == 2000)
  }

  static let calls: [(String, VoiceToolCall.State)] = [
    (#"{"completedAt":null,"success":false,"runtimeMs":0}"#, .running),
    (#"{"completedAt":"2026-05-09T18:30:00Z","success":true,"error":""}"#, .ok),
    (#"{"completedAt":"2026-05-09T18:30:00Z","success":false}"#, .failed),
    (#"{"completedAt":null,"error":"timeout"}"#, .failed),
    (#"{"completedAt":"2026-05-09T18:30:00Z","error":{"message":"m"}}"#, .failed),
    (#"{"completedAt":"2026-05-09T18:30:00Z"}"#, .ok), (#"{"success":true}"#, .ok),
  ]

  @Test(arguments: calls)
  func toolCalls(_ text: String, _ state: VoiceToolCall.State) throws {
    #expect(VoiceToolCall(try JSONValue.parse(text: text)).state == state)
  }

  @Test func medians() throws {
    let latency = VoiceLatency(
      try JSONValue.parse(
        text: #"""
          {"recentTurns":[{"totalMs":4137,"asrToGenerationStartMs":118},{"totalMs":1110},
          {"totalMs":"900","asrToGenerationStartMs":131}],"averages":{"totalMs":2624}}
          """#))
    #expect(latency.medians == [nil, 124.5, nil, nil, 1110])
    #expect(latency.averages.all == [nil, nil, nil, nil, 2624])
  }

  @Test func hugeTextsAndListsAreKeptInPart() throws {
    let text = String(repeating: "é", count: 500_000)
    let turns = (0..<3000).map { #"{"text":"\#($0)"}"# }.joined(separator: ",")
    let session = try session(
      #"{"mode":"x\#(text)","recentTurns":[\#(turns)],"promptState":{"bridge":{"replyPrompts":{"#
        + #""systemPrompt":"\#(text)"}}}}"#)
    let mode = try #require(session.mode)
    #expect(mode.utf8.count == JSONValue.mostVoiceText - 1 && mode.hasSuffix("é"))
    #expect(session.recentTurns.count == 1000 && session.recentTurns.last?.text == "2999")
    let prompt = try #require(session.promptState?.bridge?.systemPrompt)
    #expect(prompt.byteCount == 1_000_000 && prompt.whole == text)
    #expect(prompt.beginning(bytes: 5) == "éé")
  }

  @Test func numbersOutOfRangeAreNoCrash() throws {
    let session = try session(
      #"""
      {"participantCount":1e300,"pendingDeferredTurns":-9223372036854775808,"soundboard":{
      "playCount":99999999999999999999},"startedAt":1e30,"maxEndsAt":-1,"activeInputStreams":2.9}
      """#)
    #expect(session.participantCount == 0 && session.pendingDeferredTurns == 0)
    #expect(session.soundboard?.playCount == 0 && session.startedAt == nil)
    #expect(session.maxEndsAt == time("1969-12-31T23:59:59.999Z"))
    #expect(session.activeInputStreams == 2)
  }
}
