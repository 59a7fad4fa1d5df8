import Core

/// What an agent tells about itself as a whole, and not action by action. Each
/// replaces what was there before (Agent/Clanky/CONTRACT.md 9.4).
enum Document: String, CaseIterable, Sendable {
  /// `{"activeCount":n,"sessions":[...]}` (Agent/Clanky/CONTRACT.md 4).
  case voiceState = "voice_state"
  /// The guilds, each with its channels.
  case guilds
  /// The automations of all guilds.
  case automations
  /// The runs of all automations.
  case automationRuns = "automation_runs"
  /// The tunnel, or null (Agent/Clanky/CONTRACT.md 5.4).
  case publicHTTPS = "public_https"
  /// Provider to its models.
  case models = "llm_models"

  /// Where it is put, and read in the form that the dashboard gives it.
  var path: String {
    switch self {
    case .voiceState: "/api/voice/state"
    case .guilds: "/api/guilds"
    case .automations: "/api/automations"
    case .automationRuns: "/api/automations/runs"
    case .publicHTTPS: "/api/public-https"
    case .models: "/api/llm/models"
    }
  }

  /// - Parameter path: a request's path; nil when nothing is put there.
  init?(path: String) {
    guard let found = Self.allCases.first(where: { $0.path == path }) else { return nil }
    self = found
  }

  /// What an agent that told nothing has.
  var absent: String {
    switch self {
    case .voiceState: #"{"activeCount":0,"sessions":[]}"#
    case .guilds, .automations, .automationRuns: "[]"
    case .publicHTTPS: "null"
    case .models: "{}"
    }
  }
}
