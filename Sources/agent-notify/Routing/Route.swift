import CLibc
import Core
import Records

/// What a person said of how they want to be told.
struct RoutePreferences: Equatable, Sendable {
  /// Categories of which they want to hear nothing.
  var muted: [String] = []
  /// Urgencies of whole categories, as they were written.
  var overrides: [String: String] = [:]
  var quietHours: QuietHours?

  /// None.
  init() {}

  /// - Parameter object: with the members `muted`, `overrides` and `quietHours`; what makes
  ///   no sense in them counts as missing.
  init(_ object: JSONValue) {
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
struct RouteInput: Sendable {
  /// A word of `NotificationRecord.Urgency`, or one that nobody knows; nil for none.
  var urgency: String?
  var category: String
  var now: LocalTime
  /// When the person last touched something; nil for never.
  var lastInteraction: Timestamp?
  /// What their devices report; nil where nothing does.
  var context: PersonContext?
  var preferences = RoutePreferences()
}

/// Where a notification goes now, and how: agent-notify(1).
struct Route: Equatable, Sendable {
  /// Where the person is.
  var state: PersonState
  /// The notification's, or the one that the person's preferences give it.
  var urgency: NotificationRecord.Urgency
  /// What is done.
  var cell: RouteCell
  /// The cell of the table that decided: `desk/urgent`; or `mute`.
  var rule: String
  /// What else had a say, in the order in which it did.
  var mods: [String]

  /// Decides. Pure: the same input always goes the same way. Nil for an urgency that nobody knows.
  init?(_ input: RouteInput) {
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
  static func state(_ input: RouteInput, _ mods: inout [String]) -> PersonState {
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

/// What is done with a notification.
enum RouteAction: String, CaseIterable, Sendable {
  case push, banner, speak, haptic
  case hapticAudio = "haptic-audio"
  case complication
  /// Kept until a drive ends, the person comes back, wakes, has done their workout, or until
  /// the next digest.
  case hold, queue, brief, summary, digest
  /// Nobody is told.
  case archive

  /// Whether it is told now, and not kept.
  var isNow: Bool {
    switch self {
    case .push, .banner, .speak, .haptic, .hapticAudio: true
    // A watch's face shows it to who looks: here it waits like the others.
    case .complication, .hold, .queue, .brief, .summary, .digest, .archive: false
    }
  }
}

/// How a watch taps.
enum RouteHaptic: String, Sendable {
  case none, tap, strong
}

/// One cell of the table: what is done, and how.
struct RouteCell: Equatable, Sendable {
  var action: RouteAction
  var hasSound = false
  var haptic = RouteHaptic.none
  /// Whether it may pass a device's own silence.
  var isCritical = false
  /// When what is kept is let go; nil for what is not kept.
  var flush: String?
}

/// What is done with a notification of each urgency in each state: the table of
/// agent-notify(1).
enum RouteTable {
  private static let archive = RouteCell(action: .archive)
  private static let drive = RouteCell(action: .hold, flush: "drive-end")
  private static let wake = RouteCell(action: .brief, flush: "wake")
  private static let workout = RouteCell(action: .summary, flush: "workout-end")
  private static let digest = RouteCell(action: .digest, flush: "digest")
  private static let alarm = RouteCell(
    action: .push, hasSound: true, haptic: .strong, isCritical: true)
  private static let push = RouteCell(action: .push, hasSound: true, haptic: .strong)

  /// In the order of the urgencies: emergency, urgent, attention, info, noise.
  private static let rows: [PersonState: [RouteCell]] = [
    .driving: [
      RouteCell(action: .speak, hasSound: true, isCritical: true),
      RouteCell(action: .speak, hasSound: true), drive, drive,
      archive,
    ],
    .sleeping: [alarm, wake, wake, wake, archive],
    .workout: [
      RouteCell(action: .hapticAudio, hasSound: true, haptic: .strong, isCritical: true),
      RouteCell(action: .hapticAudio, hasSound: true, haptic: .strong), workout, workout, archive,
    ],
    .phone: [
      RouteCell(action: .banner, hasSound: true, isCritical: true),
      RouteCell(action: .banner, hasSound: true),
      RouteCell(action: .banner), digest, archive,
    ],
    .watch: [
      RouteCell(action: .hapticAudio, hasSound: true, haptic: .strong, isCritical: true),
      RouteCell(action: .hapticAudio, hasSound: true, haptic: .strong),
      RouteCell(action: .haptic, haptic: .tap),
      RouteCell(action: .complication), archive,
    ],
    .desk: [alarm, push, RouteCell(action: .queue, flush: "next-interaction"), digest, archive],
    .deskIdle: [alarm, push, RouteCell(action: .push, haptic: .tap), digest, archive],
  ]

  /// The cell of a state and an urgency.
  static func cell(
    _ state: PersonState, _ urgency: NotificationRecord.Urgency
  ) -> RouteCell {
    let column = NotificationRecord.Urgency.allCases.firstIndex(of: urgency) ?? 0
    return rows[state]?[column] ?? archive
  }
}

/// Where a person is, and so how they can be reached: agent-notify(1). In the order in which
/// they are looked for; the last two are for who is nowhere else.
enum PersonState: String, CaseIterable, Sendable {
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
  var isBusy: Bool { self == .driving || self == .sleeping || self == .workout }
}

/// What a person's devices report.
struct PersonContext: Equatable, Sendable {
  /// `carplay`, `phone`, `watch`, `none`.
  var activeDevice: String?
  /// `driving`, `sleep`, `dnd`, `workout`, `none`.
  var focus: String?
  var isPhoneForeground = false
  var isPhoneLocked = false
  var isWatchOnWrist = false
  var hasHeadphones = false
  var hasVoice = true
  /// When they reported; nothing is believed that says no time.
  var reported: Timestamp?

  /// Nothing reported.
  init() {}

  /// - Parameter object: with the members that agent-notify(1) names; one of another type
  ///   counts as missing.
  init(_ object: JSONValue) {
    activeDevice = object["activeDevice"]?.string
    focus = object["focus"]?.string
    isPhoneForeground = object["phoneForeground"]?.bool == true
    isPhoneLocked = object["phoneLocked"]?.bool == true
    isWatchOnWrist = object["watchOnWrist"]?.bool == true
    hasHeadphones = object["headphones"]?.bool == true
    hasVoice = object["voiceAvailable"]?.bool != false
    reported = object["reportedAt"]?.time
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

/// An instant, and what a clock shows then where the person is.
struct LocalTime: Equatable, Sendable {
  /// When it is.
  let instant: Timestamp
  /// Minutes since midnight.
  let minute: Int

  /// - Parameter text: RFC 3339, whose own clock time is the local one.
  /// - Returns: nil for anything else.
  init?(rfc3339 text: String) {
    guard let instant = Timestamp(rfc3339: text),
      let minute = QuietHours.minute(text.dropFirst(11).prefix(5))
    else { return nil }
    (self.instant, self.minute) = (instant, minute)
  }

  /// - Parameter instant: of this machine's clock; the zone is that of TZ, or the system's.
  init(_ instant: Timestamp) {
    self.instant = instant
    minute = LocalZone.calendar(instant.seconds).map { Int($0.tm_hour * 60 + $0.tm_min) } ?? 0
  }
}

/// When a person wants to be left alone, each day.
struct QuietHours: Equatable, Sendable {
  /// Minutes since midnight; the end belongs to the day after when it is before the start.
  let start: Int, end: Int

  /// - Parameters: `HH:MM` each, the end also 24:00; nil when one is not.
  init?(start: some StringProtocol, end: some StringProtocol) {
    guard let start = QuietHours.minute(start),
      let end = end == "24:00" ? 24 * 60 : QuietHours.minute(end)
    else { return nil }
    (self.start, self.end) = (start, end)
  }

  /// Whether it is one of them; the start is, the end is not.
  func hold(_ minute: Int) -> Bool {
    start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// Minutes since midnight of `HH:MM`; nil for anything else.
  static func minute(_ text: some StringProtocol) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ bytes[$0] &- 0x30 < 10 })
    else { return nil }
    let hour = Int(bytes[0] - 0x30) * 10 + Int(bytes[1] - 0x30)
    let minute = Int(bytes[3] - 0x30) * 10 + Int(bytes[4] - 0x30)
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }
}
