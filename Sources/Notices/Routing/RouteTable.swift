public import Records

/// What is done with a notification.
public enum RouteAction: String, CaseIterable, Sendable {
  case push, banner, speak, haptic
  case hapticAudio = "haptic-audio"
  case complication
  /// Kept until a drive ends, the person comes back, wakes, has done their workout, or until
  /// the next digest.
  case hold, queue, brief, summary, digest
  /// Nobody is told.
  case archive

  /// Whether it is told now, and not kept.
  public var isNow: Bool {
    switch self {
    case .push, .banner, .speak, .haptic, .hapticAudio: true
    // A watch's face shows it to who looks: here it waits like the others.
    case .complication, .hold, .queue, .brief, .summary, .digest, .archive: false
    }
  }
}

/// How a watch taps.
public enum RouteHaptic: String, Sendable {
  case none, tap, strong
}

/// One cell of the table: what is done, and how.
public struct RouteCell: Equatable, Sendable {
  public var action: RouteAction
  public var hasSound: Bool
  public var haptic: RouteHaptic
  /// Whether it may pass a device's own silence.
  public var isCritical: Bool
  /// When what is kept is let go; nil for what is not kept.
  public var flush: String?

  init(
    _ action: RouteAction, sound: Bool = false, haptic: RouteHaptic = .none,
    critical: Bool = false, flush: String? = nil
  ) {
    self.action = action
    hasSound = sound
    self.haptic = haptic
    isCritical = critical
    self.flush = flush
  }
}

/// What is done with a notification of each urgency in each state: the table of
/// agent-notify(1).
public enum RouteTable {
  private static let archive = RouteCell(.archive)
  private static let drive = RouteCell(.hold, flush: "drive-end")
  private static let wake = RouteCell(.brief, flush: "wake")
  private static let workout = RouteCell(.summary, flush: "workout-end")
  private static let digest = RouteCell(.digest, flush: "digest")
  private static let alarm = RouteCell(.push, sound: true, haptic: .strong, critical: true)
  private static let push = RouteCell(.push, sound: true, haptic: .strong)

  /// In the order of the urgencies: emergency, urgent, attention, info, noise.
  private static let rows: [PersonState: [RouteCell]] = [
    .driving: [
      RouteCell(.speak, sound: true, critical: true), RouteCell(.speak, sound: true), drive, drive,
      archive,
    ],
    .sleeping: [alarm, wake, wake, wake, archive],
    .workout: [
      RouteCell(.hapticAudio, sound: true, haptic: .strong, critical: true),
      RouteCell(.hapticAudio, sound: true, haptic: .strong), workout, workout, archive,
    ],
    .phone: [
      RouteCell(.banner, sound: true, critical: true), RouteCell(.banner, sound: true),
      RouteCell(.banner), digest, archive,
    ],
    .watch: [
      RouteCell(.hapticAudio, sound: true, haptic: .strong, critical: true),
      RouteCell(.hapticAudio, sound: true, haptic: .strong), RouteCell(.haptic, haptic: .tap),
      RouteCell(.complication), archive,
    ],
    .desk: [alarm, push, RouteCell(.queue, flush: "next-interaction"), digest, archive],
    .deskIdle: [alarm, push, RouteCell(.push, haptic: .tap), digest, archive],
  ]

  /// The cell of a state and an urgency.
  public static func cell(
    _ state: PersonState, _ urgency: NotificationRecord.Urgency
  ) -> RouteCell {
    let column = NotificationRecord.Urgency.allCases.firstIndex(of: urgency) ?? 0
    return rows[state]?[column] ?? archive
  }
}
