import Core
import Records
import Screen

/// How the calls of some tools are shown. Each is a file, and a line in `CallRenderers`.
protocol CallRenderer: SendableMetatype {
  /// The tools' names, in lower case.
  static var tools: Set<String> { get }
  /// What is done, in a line.
  static func subject(of call: CallView) -> String?
  /// What came of it, a few words each.
  static func facts(of call: CallView) -> [Line.Span]
  /// More about it, in lines below its row.
  static func details(of call: CallView, _ room: DetailRoom) -> [Line]
}

extension CallRenderer {
  static func subject(of call: CallView) -> String? { call.label ?? call.brief }
  static func facts(of call: CallView) -> [Line.Span] { [] }
  static func details(of call: CallView, _ room: DetailRoom) -> [Line] { [] }
}

struct DetailRoom {
  var cells: Int?
  var tail: Int

  func line(_ text: String, _ style: Style = .plain) -> Line {
    let line = Line(Plain.line(text, limit: (cells ?? 4000) * 4), style)
    return cells.map { line.cut(to: $0) } ?? line
  }
}

enum CallRenderers {
  static let all: [any CallRenderer.Type] = [
    ShellRenderer.self, SearchRenderer.self, FetchRenderer.self, FileRenderer.self,
  ]

  private static let byTool = Dictionary(
    all.flatMap { renderer in renderer.tools.map { ($0, renderer) } }, uniquingKeysWith: { $1 })

  static func of(_ tool: String) -> any CallRenderer.Type {
    let name = tool.lowercased()
    if let found = byTool[name] { return found }
    var last = name[...]
    for mark in ["__", ".", ":", "/"] {
      while let place = last.place(of: mark) { last = last[place.upperBound...] }
    }
    return byTool[String(last)] ?? OtherRenderer.self
  }
}

/// Any tool: what it is called with, and the first line that it printed.
enum OtherRenderer: CallRenderer {
  static let tools: Set<String> = []

  static func details(of call: CallView, _ room: DetailRoom) -> [Line] {
    guard room.tail > 0, let output = call.record.stdout ?? call.record.stderr else { return [] }
    let first = TextEnds.first(of: output)
    if first.isEmpty { return [] }
    let more = TextEnds.count(output) - 1
    return [room.line(more > 0 ? "\(first) … \(more + 1) lines" : first, .dim)]
  }
}
