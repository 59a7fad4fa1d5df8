import Core
import Records
import Screen

enum ShellRenderer: CallRenderer {
  static let tools: Set<String> = [
    "bash", "run_bash", "sh", "shell", "exec", "execute", "run_command", "execute_command",
    "run_shell_command", "terminal", "local_shell", "command", "code_agent", "process",
  ]

  static func subject(of call: CallView) -> String? {
    let given = call.argument(["command", "cmd", "script", "code"])
    return given ?? (call.label == call.record.tool ? nil : call.label) ?? call.brief
  }

  static func facts(of call: CallView) -> [Line.Span] {
    var facts: [Line.Span] = []
    if let code = call.record.exitCode {
      facts.append(
        Line.Span("exit \(code)", code == 0 ? .dim : Style(Palette.error)))
    }
    if call.record.isTruncated == true { facts.append(Line.Span("cut", Style(Palette.warning))) }
    return facts
  }

  static func details(of call: CallView, _ room: DetailRoom) -> [Line] {
    lines(call.record.stdout, room, .dim)
      + lines(call.record.stderr, room, Style(Palette.warning))
  }

  private static func lines(_ text: String?, _ room: DetailRoom, _ style: Style) -> [Line] {
    guard let text, room.tail > 0 else { return [] }
    let count = TextEnds.count(text)
    if count == 0 { return [] }
    let bytes = room.tail == .max ? Int.max : 64 * 1024
    let shown = TextEnds.last(room.tail, of: text, bytes: bytes)
    var lines = TextEnds.lines(shown).map { text in
      var line = Line("│ ", .dim)
      line.add(lastState(of: text), style)
      return room.cells.map { line.cut(to: $0) } ?? line
    }
    if lines.count < count {
      lines.insert(Line("│ … \(Self.lines(count - lines.count)) above", .dim), at: 0)
    }
    return lines
  }

  private static func lines(_ count: Int) -> String { count == 1 ? "1 line" : "\(count) lines" }

  /// What a terminal would leave of a line on which a program writes again and again.
  private static func lastState(of line: Substring) -> String {
    let line = line.utf8.last == 13 ? line.dropLast() : line
    let last = line.utf8.lastIndex(of: 13).map { line[line.utf8.index(after: $0)...] } ?? line
    return Plain.lines(String(last)).joined(separator: " ")
  }
}
