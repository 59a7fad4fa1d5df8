public import Core

/// Where a person is, and so how they can be reached: agent-notify(1). In the order in which
/// they are looked for; the last two are for who is nowhere else.
public enum PersonState: String, CaseIterable, Sendable {
  case driving, sleeping, workout
  /// Looks at a telephone.
  case phone
  /// Wears a watch, and the telephone is locked.
  case watch
  case desk
  /// At the desk, as far as is known, but has not touched anything for a while.
  case deskIdle = "desk-idle"

  /// How long a report of it stays true, seconds; nil for those that no report is of.
  var limit: Int? {
    switch self {
    case .driving: 1800
    case .sleeping: 43_200
    case .workout: 14_400
    case .phone: 300
    case .watch: 3600
    case .desk, .deskIdle: nil
    }
  }

  /// Who has not touched anything for longer is idle, seconds.
  static let idleLimit = 1800

  /// Whether quiet hours make it `sleeping`: not for who uses a telephone, and not for who
  /// said what they are doing.
  var isQuietened: Bool { self == .watch || self == .desk || self == .deskIdle }

  /// Whether nothing but what is pressing may be told now, and all else waits for its end.
  public var isBusy: Bool { self == .driving || self == .sleeping || self == .workout }
}

/// What a person's devices report.
public struct PersonContext: Equatable, Sendable {
  /// `carplay`, `phone`, `watch`, `none`.
  public var activeDevice: String?
  /// `driving`, `sleep`, `dnd`, `workout`, `none`.
  public var focus: String?
  public var isPhoneForeground = false
  public var isPhoneLocked = false
  public var isWatchOnWrist = false
  public var hasHeadphones = false
  public var hasVoice = true
  /// When they reported; nothing is believed that says no time.
  public var reported: Timestamp?

  /// Nothing reported.
  public init() {}

  /// - Parameter object: with the members that agent-notify(1) names; one of another type
  ///   counts as missing.
  public init(_ object: JSONValue) {
    activeDevice = object["activeDevice"]?.string
    focus = object["focus"]?.string
    isPhoneForeground = object["phoneForeground"]?.bool == true
    isPhoneLocked = object["phoneLocked"]?.bool == true
    isWatchOnWrist = object["watchOnWrist"]?.bool == true
    hasHeadphones = object["headphones"]?.bool == true
    hasVoice = object["voiceAvailable"]?.bool != false
    reported = object["reportedAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
  }

  func shows(_ state: PersonState) -> Bool {
    switch state {
    case .driving: focus == "driving" || activeDevice == "carplay"
    case .sleeping: focus == "sleep" || focus == "dnd"
    case .workout: focus == "workout"
    case .phone: activeDevice == "phone" && isPhoneForeground
    case .watch: isWatchOnWrist && isPhoneLocked
    case .desk, .deskIdle: false
    }
  }

  /// Whether a report is still true of a state; exactly at the limit it is.
  func isFresh(for state: PersonState, at now: Timestamp) -> Bool {
    guard let reported, let limit = state.limit else { return false }
    return reported.adding(.seconds(limit)) >= now
  }
}
