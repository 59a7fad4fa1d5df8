public import Core
public import Records

/// The options of agent-notify(1) that say how notifications are routed where the records do not.
public struct RouteOptions: Sendable {
  /// The urgency of actions that tell of no fault; nil when they are no notifications.
  public var actions: NotificationRecord.Urgency?
  /// The file that says what a person's devices report.
  public var context: String?
  public var preferences = RoutePreferences()

  /// Nothing given.
  public init() {}

  /// All of them.
  public static let options: [Option<RouteOptions>] = [
    Option(
      nil, "as", "URGENCY", "tell every action; URGENCY is info, attention, ...",
      .choice(of: NotificationRecord.Urgency.self)
    ) { $0.actions = $1 },
    Option(
      nil, "context", "FILE", "what your devices say: asleep, driving, ...", .path
    ) {
      $0.context = $1
    },
    Option(nil, "mute", "CATEGORY,...", "tell nothing of these categories; repeatable", .list) {
      $0.preferences.muted += $1
    },
    Option(
      nil, "override", "CATEGORY=URGENCY", "give a category this urgency; repeatable",
      Reading(override)
    ) { $0.preferences.overrides[$1.category] = $1.urgency.rawValue },
    Option(
      nil, "quiet-hours", "START-END", "only emergencies then: 23:00-07:00", .hours
    ) { $0.preferences.quietHours = $1 },
  ]

  @Sendable private static func override(
    _ argument: OptionArgument
  ) throws(UsageError) -> (category: String, urgency: NotificationRecord.Urgency) {
    guard let mark = argument.value.lastIndex(of: "="), mark != argument.value.startIndex else {
      throw argument.fault("not CATEGORY=URGENCY")
    }
    let word = String(argument.value[argument.value.index(after: mark)...])
    guard let urgency = NotificationRecord.Urgency(rawValue: word) else {
      throw argument.fault(noneOf: NotificationRecord.Urgency.allCases.map(\.rawValue))
    }
    return (String(argument.value[..<mark]), urgency)
  }
}

extension Reading<QuietHours> {
  fileprivate static var hours: Reading {
    Reading("not a time of day as in 23:00-07:00") { text in
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      return parts.count == 2 ? QuietHours(start: parts[0], end: parts[1]) : nil
    }
  }
}
