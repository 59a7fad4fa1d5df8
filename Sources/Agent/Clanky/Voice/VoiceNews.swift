package import Core

/// One thing that happened in voice.
package struct VoiceNews: Sendable {
  /// The session's id, and its guild's; nil when it does not say.
  package let session: String?, guild: String?
  /// When it happened.
  package let at: Timestamp?
  /// Whom it is about, and the name of that person.
  package let user: String?, speaker: String?
  /// What of the session it tells besides, for one that no state told of.
  package let textChannel: String?, voiceChannel: String?, mode: String?
  /// The most seconds that the session lasts.
  package let mostSeconds: Int64?
  /// What changes; nil for what changes nothing that is shown.
  package let event: VoiceEvent?
}

/// What happened in a session, as far as it changes what is shown of it.
package enum VoiceEvent: Sendable {
  /// The session begins; or ends, with the reason, which may be empty.
  case begins
  case ends(String)
  /// A person begins to speak.
  case personSpeaks
  /// The agent begins to speak, or has ended.
  case agentSpeaks, agentEnds
  /// Words of the person that are not yet final.
  case partialWords(String)
  /// What was said, by the person or by the agent.
  case words(String, isAgent: Bool)
  /// A call of a tool began: what is told of it then.
  case callBegins(VoiceToolCall)
  /// A call ended: what is told of it then.
  case callEnds(VoiceToolCall)
  /// Someone came or went.
  case membership(VoiceMembershipEvent)
  /// Stages of an answer, told one after the other.
  case answer(request: String, VoiceLatency.Stages)
  /// Whether the bot takes words as meant for it, and whether someone addressed it.
  case attention(VoiceWake?, isDirect: Bool)
  /// Something seen on a screen.
  case seen(VoiceStreamWatch.Seen)
  /// A frame of a screen came; with how many there are by now.
  case frame(total: Int?)
  /// Music plays, pauses or stops.
  case music(phase: String, title: String?, query: String?)
  /// A sound was played; with how many there were by now.
  case sound(count: Int?)
}
