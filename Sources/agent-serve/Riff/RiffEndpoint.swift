/// What the voice server is asked for (Agent/Riff/CONTRACT.md 2 to 4).
enum RiffEndpoint: String, CaseIterable, Sendable {
  case transcribe = "/riff/transcribe-only"
  case audio = "/riff/audio"
  case message = "/riff/message"
  case conversation = "/riff/conversation"
  case sessions = "/riff/sessions"
  case narrate = "/riff/narrate-poll"
  case health = "/riff/health"

  var method: String { limit == 0 ? "GET" : "POST" }

  /// The longest body, bytes.
  var limit: Int {
    switch self {
    case .transcribe, .audio: 25 << 20
    case .message: 8 << 10
    case .conversation, .sessions, .narrate, .health: 0
    }
  }

  var takesClip: Bool { self == .transcribe || self == .audio }
}
