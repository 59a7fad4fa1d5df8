public import Core
public import Records

/// What a person said of how they want to be told.
public struct RoutePreferences: Equatable, Sendable {
  /// Categories of which they want to hear nothing.
  public var muted: [String] = []
  /// Urgencies of whole categories, as they were written.
  public var overrides: [String: String] = [:]
  public var quietHours: QuietHours?

  /// None.
  public init() {}

  /// - Parameter object: with the members `muted`, `overrides` and `quietHours`; what makes
  ///   no sense in them counts as missing.
  public init(_ object: JSONValue) {
    muted = object["muted"]?.elements.compactMap(\.string) ?? []
    for member in object["overrides"]?.members ?? [] {
      overrides[member.name] = member.value.string
    }
    if let start = object["quietHours"]?["start"]?.string,
      let end = object["quietHours"]?["end"]?.string
    {
      quietHours = QuietHours(start: start, end: end)
    }
  }
}

/// What a route is decided by: all of it, and nothing else.
public struct RouteInput: Sendable {
  /// A word of `NotificationRecord.Urgency`, or one that nobody knows; nil for none.
  public var urgency: String?
  public var category: String
  public var now: LocalTime
  /// When the person last touched something; nil for never.
  public var lastInteraction: Timestamp?
  /// What their devices report; nil where nothing does.
  public var context: PersonContext?
  public var preferences = RoutePreferences()
}

/// Where a notification goes now, and how: agent-notify(1).
public struct Route: Equatable, Sendable {
  /// Where the person is.
  public var state: PersonState
  /// The notification's, or the one that the person's preferences give it.
  public var urgency: NotificationRecord.Urgency
  /// What is done.
  public var cell: RouteCell
  /// The cell of the table that decided: `desk/urgent`; or `mute`.
  public var rule: String
  /// What else had a say, in the order in which it did.
  public var mods: [String]

  /// Decides. Pure: the same input always goes the same way. Nil for an urgency that nobody knows.
  public init?(_ input: RouteInput) {
    typealias Urgency = NotificationRecord.Urgency
    guard let given = input.urgency.flatMap({ Urgency(rawValue: $0) }) else { return nil }
    mods = []
    urgency = given
    let wanted = input.preferences.overrides[input.category].flatMap { Urgency(rawValue: $0) }
    if given != .emergency, let wanted, wanted != given {
      urgency = wanted
      mods.append("override")
    }
    state = Self.state(input, &mods)
    if urgency != .emergency, input.preferences.muted.contains(input.category) {
      cell = RouteTable.cell(state, .noise)
      rule = "mute"
      mods.append("mute")
    } else {
      cell = RouteTable.cell(state, urgency)
      rule = "\(state.rawValue)/\(urgency.rawValue)"
    }
    adapt(to: input.context ?? PersonContext())
  }

  /// Where the person is: the first state that the report shows and that it is not too old
  /// for; quiet hours put who does nothing in particular to bed.
  ///
  /// - Parameter input: its urgency and category have no say.
  public static func state(_ input: RouteInput, _ mods: inout [String]) -> PersonState {
    let now = input.now.instant
    var state = PersonState.desk
    if let context = input.context {
      for candidate in PersonState.allCases where context.shows(candidate) {
        if context.isFresh(for: candidate, at: now) {
          state = candidate
          break
        }
        mods.append("stale:\(candidate.rawValue)")
      }
    }
    if state == .desk {
      let idle = Duration.seconds(PersonState.idleLimit)
      state = input.lastInteraction.map { $0.adding(idle) >= now } ?? false ? .desk : .deskIdle
    }
    if state.isQuietened, input.preferences.quietHours?.hold(input.now.minute) == true {
      state = .sleeping
      mods.append("quiet-hours")
    }
    return state
  }

  /// Takes another way where the person lacks what this one needs.
  private mutating func adapt(to context: PersonContext) {
    if cell.action == .speak, !context.hasVoice {
      cell = RouteTable.cell(.driving, .attention)
      if urgency == .emergency { cell = RouteTable.cell(.sleeping, .emergency) }
      mods.append("no-voice")
    }
    if cell.action == .hapticAudio, !context.hasHeadphones {
      cell.action = .haptic
      cell.hasSound = false
      mods.append("no-headphones")
    }
    let needsWatch: [RouteAction] = [.haptic, .hapticAudio, .complication]
    if needsWatch.contains(cell.action), !context.isWatchOnWrist {
      cell.action = .push
      mods.append("no-watch")
    }
  }
}
