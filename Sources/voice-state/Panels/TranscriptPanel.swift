import Agent
import Core
import Records
import Screen

struct TranscriptPanel: Panel {
  static let name = "transcript", title = "Transcript"

  private static let most = 10
  private static let mostRows = 4
  /// The least cells of the ages, and the most of the names.
  private static let ageCells = 4
  private static let mostName = 12

  private struct Entry {
    let age: String, name: String, text: String
    let nameStyle: Style, textStyle: Style
  }

  private let entries: [Entry]
  private let count: Int

  init?(_ session: VoiceSession, at now: Now) {
    let turns = session.recentTurns.filter { !$0.text.isEmpty }
    count = turns.count
    let partial = session.asrSessions.compactMap { asr -> Entry? in
      guard let text = asr.utterance?.partialText else { return nil }
      return Entry(
        age: "now", name: Untrusted.person(asr.displayName, asr.userId), text: text + " …",
        nameStyle: .dim, textStyle: .dim)
    }
    let bot = Untrusted.bot(in: session)
    entries = turns.suffix(Self.most).map { Self.entry($0, now, bot: bot) } + partial.prefix(4)
    if entries.isEmpty { return nil }
  }

  var note: Line { count > Self.most ? Line("last \(Self.most) of \(count)", .dim) : Line() }

  func lines(width: Int) -> [Line] {
    let widest = entries.map { CellWidth.of($0.name) }.max() ?? 0
    let nameCells = min(widest, Self.mostName, max(width / 4, 4))
    let ages = max(entries.map { CellWidth.of($0.age) }.max() ?? 0, Self.ageCells)
    let ageCells = width < 28 + ages ? 0 : ages + 1
    let indent = ageCells + nameCells + 1
    return entries.flatMap { entry in
      let rows = Paragraph.wrap(entry.text, to: max(width - indent, 6), rows: Self.mostRows)
      return rows.enumerated().map { index, row in
        let name = Fit.truncate(entry.name, to: nameCells)
        return Line {
          if index == 0 {
            if ageCells > 0 { (Fit.padStart(entry.age, to: ages) + " ").dim }
            name.styled(entry.nameStyle)
            Fit.spaces(nameCells + 1 - CellWidth.of(name))
          } else {
            Fit.spaces(indent)
          }
          row.styled(entry.textStyle)
        }.cut(to: width)
      }
    }
  }

  private static func entry(_ turn: VoiceTurn, _ now: Now, bot: String) -> Entry {
    let isBot = turn.role == "assistant"
    let name: String
    var style: Style = isBot ? Style(Palette.positive, bold: true) : .bold
    switch turn.kind {
    case "thought":
      name = "thought"
      style = Style(Palette.colour(of: .initiative))
    case "membership", "effect": (name, style) = (Untrusted.text(turn.speakerName, or: "-"), .dim)
    default: name = Untrusted.text(turn.speakerName, or: isBot ? bot : "someone")
    }
    let isAside = turn.kind == "membership" || turn.kind == "effect" || turn.kind == "thought"
    return Entry(
      age: turn.at.map { shortAge($0, now) } ?? "", name: name,
      text: Plain.line(turn.text, limit: 2000), nameStyle: style,
      textStyle: isAside ? .dim : .plain)
  }

  /// An age of at most four cells, `now`, `14s`, `5m`; or the time.
  private static func shortAge(_ time: Timestamp, _ now: Now) -> String {
    let age = now.words(for: time)
    if age.hasSuffix(" ago") { return String(age.dropLast(4)) }
    return age.hasPrefix("in ") ? "+" + age.dropFirst(3) : age
  }
}
