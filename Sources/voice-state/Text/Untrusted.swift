import Agent
import Core
import Screen

enum Untrusted {
  /// The scalars of one text that are looked at: more than a line can show.
  static let most = 512

  /// A text as one line without controls; nil and blank texts are nil.
  static func text(_ text: String?) -> String? {
    guard let text else { return nil }
    let line = Plain.line(text, limit: most)
    return line.isEmpty ? nil : line
  }

  static func text(_ text: String?, or other: String) -> String { self.text(text) ?? other }

  /// A name of the wire as words: `wake_word` is `wake word`.
  static func words(_ name: String?) -> String? {
    text(name).map { String($0.map { $0 == "_" ? " " : $0 }) }
  }

  /// Without a name the first digits of the id, as the dashboard; without both `someone`.
  static func person(_ name: String?, _ userId: String?) -> String {
    text(name) ?? text(userId).map { String($0.prefix(8)) } ?? "someone"
  }

  /// The same, where the session may know the name.
  static func person(_ name: String?, _ userId: String?, in session: VoiceSession) -> String {
    person(name ?? session.name(of: userId), userId)
  }

  /// The name of a person that the session only has an id for; nil without one.
  static func person(_ userId: String?, in session: VoiceSession) -> String? {
    userId.map { person(nil, $0, in: session) }
  }

  /// An object or another value on one line: `query: tides, limit: 5`.
  static func value(_ value: JSONValue?, unwraps: Bool = false) -> String? {
    guard let value, !value.isNull else { return nil }
    return text(Brief.text(value, limit: most, unwraps: unwraps))
  }

  /// The last name the bot was seen under; `agent` when it was not yet heard.
  static func bot(in session: VoiceSession) -> String {
    let turn = session.recentTurns.last {
      $0.role == "assistant" && $0.kind ?? "speech" == "speech" && text($0.speakerName) != nil
    }
    return text(turn?.speakerName, or: "agent")
  }
}

struct Now: Equatable, Sendable {
  let time: Timestamp
  /// Whether times are told by the clock of the user's zone, and not as ages.
  var tellsClock = false

  init(_ time: Timestamp, tellsClock: Bool = false) {
    (self.time, self.tellsClock) = (time, tellsClock)
  }

  /// `now`, `14s ago`, `in 5m`; by the clock `18:30:13`, and of another day `05-09 18:30`.
  func words(for other: Timestamp) -> String {
    guard tellsClock else { return TimeText.relative(other, now: time) }
    let words = TimeText.absolute(other)
    guard words.utf8.count == 19 else { return words }
    // 2026-05-09 18:30:13
    let isToday = words.prefix(10) == TimeText.absolute(time).prefix(10)
    return String(isToday ? words.dropFirst(11) : words.dropFirst(5).dropLast(3))
  }

  /// The cells of most times.
  var cells: Int { tellsClock ? 8 : 7 }
}

enum Age {
  static func text(_ time: Timestamp?, at now: Now) -> String? { time.map(now.words(for:)) }

  /// `now`, `14s ago`, `in 5m`; nil without a time.
  static func text(_ time: Timestamp?, at now: Timestamp) -> String? {
    time.map { TimeText.relative($0, now: now) }
  }

  /// `14s ago` for so many milliseconds; nil without a number.
  static func text(_ milliseconds: Double?) -> String? {
    guard let milliseconds, milliseconds.magnitude < 1e15 else { return nil }
    return TimeText.relative(
      Timestamp(seconds: -Int64(milliseconds / 1000)), now: Timestamp(seconds: 0))
  }

  /// 0 when it is already past; nil without a time.
  static func seconds(from start: Timestamp?, to end: Timestamp?) -> Int64? {
    guard let start, let end else { return nil }
    let (seconds, isHuge) = end.seconds.subtractingReportingOverflow(start.seconds)
    guard !isHuge else { return nil }
    return max(0, end.nanoseconds < start.nanoseconds ? seconds - 1 : seconds)
  }

  /// How long from one time to another: `3.2s`, `4m58s`; nil without a time.
  static func span(from start: Timestamp?, to end: Timestamp?) -> String? {
    guard let start, let end, let seconds = seconds(from: start, to: end) else { return nil }
    guard start < end else { return Amount.duration(0) }
    let rest = (Int(end.nanoseconds) - Int(start.nanoseconds) + 1_000_000_000) % 1_000_000_000
    return Amount.duration(Double(seconds) * 1000 + Double(rest / 1_000_000))
  }

  /// A clock from one time to another: `0:28`; nil without a time.
  static func clock(from start: Timestamp?, to end: Timestamp?) -> String? {
    seconds(from: start, to: end).map { Amount.clock($0) }
  }
}

enum PanelText {
  static func quoted(_ text: String?) -> String? { Untrusted.text(text).map { "“\($0)”" } }

  /// A number with its noun: `1 turn`, `3 turns`.
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  static func age(_ time: Timestamp?, _ now: Now) -> Line {
    Line(Fit.padStart(Age.text(time, at: now) ?? "?", to: now.cells), .dim)
  }

  /// A text over several lines behind a beginning, the last one cut when there
  /// is more.
  static func paragraph(
    _ text: String, _ style: Style = .plain, lead: Line = Line(), width: Int, indent: Int = 2,
    most: Int
  ) -> [Line] {
    let room = max(width - indent, 2)
    let first = max(width - lead.cells, 2)
    let plain = Plain.line(text, limit: first + room * most)
    var rows = Paragraph.wrap(plain, to: first)
    if rows.count > 1 {
      // The lines below the first have other room than it.
      rows = [rows[0]] + Paragraph.wrap(rows.dropFirst().joined(separator: " "), to: room)
    }
    if rows.count > most {
      let end = Fit.truncate(rows[most - 1], to: (most == 1 ? first : room) - 2)
      rows = Array(rows.prefix(most - 1)) + [end.hasSuffix(Fit.ellipsis) ? end : end + " …"]
    }
    return rows.enumerated().map { index, row in
      var line = index == 0 ? lead : Line(Fit.spaces(indent))
      line.add(row, style)
      return line.cut(to: width)
    }
  }
}
