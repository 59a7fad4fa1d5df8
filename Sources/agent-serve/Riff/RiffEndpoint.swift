/// What the voice server is asked for (Agent/Riff/CONTRACT.md 2 to 4).
enum RiffEndpoint: String, CaseIterable, Sendable {
  case transcribe = "/riff/transcribe-only"
  case health = "/riff/health"

  /// How it is asked.
  var method: String {
    switch self {
    case .transcribe: "POST"
    case .health: "GET"
    }
  }

  /// The longest body, bytes.
  var limit: Int {
    switch self {
    case .transcribe: 25 << 20
    case .health: 0
    }
  }

  /// Whether the body is a clip.
  var takesClip: Bool { self == .transcribe }
}
