import Core
import Screen

/// Who came and went, newest first.
struct MembershipPanel: Panel {
  static let name = "membership"
  static let title = "Comings and goings"

  private static let most = 6

  private let events: [VoiceMembershipEvent]
  private let session: VoiceSession
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
    guard !session.membershipEvents.isEmpty else { return nil }
    events = session.membershipEvents.suffix(Self.most).reversed()
    self.session = session
    self.now = now
  }

  func lines(width: Int) -> [Line] {
    events.map { event in
      let age = Age.text(event.at, at: now) ?? Age.text(event.ageMs) ?? "?"
      var line = Line(Fit.padStart(age, to: 7) + "  ", .dim)
      switch event.eventType {
      case "join": line.add("→ ", Style(Palette.positive))
      case "leave": line.add("← ", Style(Palette.warning))
      default: line.add("· ", .dim)
      }
      let verb = Self.verb(event.eventType)
      let room = max(width - line.cells - CellWidth.of(verb) - 1, 2)
      let name = Outside.person(event.displayName ?? session.name(of: event.userId), event.userId)
      line.add(Fit.truncate(name, to: room) + " ")
      line.add(verb, .dim)
      return line.cut(to: width)
    }
  }

  private static func verb(_ type: String?) -> String {
    switch type {
    case "join": "joined"
    case "leave": "left"
    default: Fit.truncate(Outside.words(type) ?? "?", to: 20)
    }
  }
}
