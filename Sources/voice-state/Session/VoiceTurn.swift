import Core

/// One thing that was said, thought, or happened in the channel.
struct VoiceTurn: Sendable {
  /// `speech`, `thought`, `membership`, `effect`; nil in the older wire.
  let kind: String?
  /// `user` or `assistant`.
  let role: String?
  /// `YOU` for a thought of the bot.
  let speakerName: String?
  let text: String
  let at: Timestamp?
  let addressing: VoiceTurnAddressing?

  init(_ value: JSONValue) {
    kind = value.text("kind")
    role = value.text("role")
    speakerName = value.text("speakerName")
    text = value.text("text") ?? ""
    at = value.time("at")
    addressing = value.part(VoiceTurnAddressing.init, "addressing")
  }
}

/// Whom a turn was meant for.
struct VoiceTurnAddressing: Sendable {
  /// A name; `ME` is the bot.
  let talkingTo: String?
  /// 0 to 1.
  let directedConfidence: Double?
  let source: String?, reason: String?

  init(_ value: JSONValue) {
    talkingTo = value.text("talkingTo")
    directedConfidence = value.double("directedConfidence")
    source = value.text("source")
    reason = value.text("reason")
  }
}
