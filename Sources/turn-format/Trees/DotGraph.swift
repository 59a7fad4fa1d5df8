import Core
import Records
import Screen

struct DotGraph {
  static let start = [
    "digraph turns {", "  rankdir=LR;", "  node [shape=box, fontname=\"sans-serif\"];",
  ]
  static let end = ["}"]

  /// More of a text makes a node too wide, cells.
  private static let widest = 60
  private static let mostThreads = 4096

  private var count = 0
  private var threads: [String: String] = [:]

  mutating func lines(_ text: StoryText) -> [String] {
    let story = text.story
    var lines: [String] = []
    let home = node(of: story, text.thread, &lines)
    let top = next()
    var words: [String]
    if story.key.kind == .turn {
      words = [Mark(story.turn?.state).word] + text.words.map { Self.short($0) }
      words.append(text.totals.facts.map(\.text).joined(separator: " · "))
    } else {
      words = story.parts[story.key].map { Self.words(of: $0.record) } ?? []
    }
    if let started = story.started {
      words.append(text.layout.clock(started))
      if story.key.kind == .turn, let took = text.took { words.append(Amount.duration(took)) }
    }
    lines.append(Self.node(top, words, colour: story.parts[story.key]?.record))
    lines.append("  \(home) -> \(top);")
    // The node of the part that each depth is in.
    var above = [top]
    for step in text.steps {
      let name = next()
      above.removeLast(max(0, above.count - step.depth - 1))
      lines.append(Self.node(name, Self.words(of: step.part.record), colour: step.part.record))
      let offset = step.part.since?.milliseconds(since: story.started)
      let label = offset.map { " [label=\(Self.quoted("+" + Amount.duration($0)))]" } ?? ""
      lines.append("  \(above.last ?? top) -> \(name)\(label);")
      above.append(name)
    }
    return lines
  }

  private mutating func node(
    of story: Story, _ thread: StoryBook.Thread, _ lines: inout [String]
  ) -> String {
    let origin = story.key.origin
    let key = "\(origin.backend.rawValue)/\(origin.profile ?? "")/\(story.thread ?? "")"
    if let known = threads[key] { return known }
    let name = next()
    if threads.count < Self.mostThreads { threads[key] = name }
    let words = [thread.title, story.thread ?? "no conversation", origin.profile]
    let label = words.compactMap(\.self).map { Self.short($0) }
    lines.append("  \(name) [shape=folder, label=\(Self.quoted(label.joined(separator: "\n")))];")
    return name
  }

  private mutating func next() -> String {
    count += 1
    return "n\(count)"
  }

  private static func words(of record: ConversationRecord) -> [String] {
    let label = Row(record, limit: 4 * widest)
    let first = label.head.text + (label.subject.spans.isEmpty ? "" : " " + label.subject.text)
    return [Fit.truncate(first, to: widest), label.facts.map(\.text).joined(separator: " · ")]
  }

  private static func short(_ text: String) -> String {
    Fit.truncate(Plain.line(text, limit: 4 * widest), to: widest)
  }

  private static func node(
    _ name: String, _ words: [String], colour record: ConversationRecord?
  ) -> String {
    let colour: String
    switch record {
    case .turn(let turn) where turn.state == .failed: colour = ", color=red"
    case .toolCall(let call) where call.state == .failed: colour = ", color=red"
    case .toolCall(let call) where call.state == .rejected: colour = ", color=orange"
    case .approval(let approval) where approval.state == .pending: colour = ", color=orange"
    default: colour = ""
    }
    return
      "  \(name) [label=\(quoted(words.filter { !$0.isEmpty }.joined(separator: "\n")))\(colour)];"
  }

  /// A string of the language: graphviz reads a backslash in a label as an escape.
  static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
