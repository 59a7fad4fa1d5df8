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
  public var hasSound = false
  public var haptic = RouteHaptic.none
  /// Whether it may pass a device's own silence.
  public var isCritical = false
  /// When what is kept is let go; nil for what is not kept.
  public var flush: String?
}

/// What is done with a notification of each urgency in each state: the table of
/// agent-notify(1).
public enum RouteTable {
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
  public static func cell(
    _ state: PersonState, _ urgency: NotificationRecord.Urgency
  ) -> RouteCell {
    let column = NotificationRecord.Urgency.allCases.firstIndex(of: urgency) ?? 0
    return rows[state]?[column] ?? archive
  }
}
