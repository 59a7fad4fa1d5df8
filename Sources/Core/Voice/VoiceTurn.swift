/// One thing that was said, thought, or happened in the channel.
public struct VoiceTurn: Sendable {
  /// `speech`, `thought`, `membership`, `effect`; nil in the older wire.
  public let kind: String?
  /// `user` or `assistant`.
  public let role: String?
  /// `YOU` for a thought of the bot.
  public let speakerName: String?
  public let text: String
  public let at: Timestamp?
  public let addressing: VoiceTurnAddressing?

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
public struct VoiceTurnAddressing: Sendable {
  /// A name; `ME` is the bot.
  public let talkingTo: String?
  /// 0 to 1.
  public let directedConfidence: Double?
  public let source: String?, reason: String?

  init(_ value: JSONValue) {
    talkingTo = value.text("talkingTo")
    directedConfidence = value.double("directedConfidence")
    source = value.text("source")
    reason = value.text("reason")
  }
}
