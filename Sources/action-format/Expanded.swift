import Core
import Records
import Screen

/// Everything an action holds, below its row: ids, the model's figures, the
/// words, the prompts with their sizes, and the rest of the metadata.
struct Expanded {
  /// Each with its label; a prompt, which stands below its own, has none.
  private var entries: [(label: String?, text: String)] = []
  private var shown: Set<String> = []

  static func lines(_ action: Action, _ layout: Layout) -> [Line] {
    var expanded = Expanded()
    expanded.facts(action, layout)
    expanded.words(action)
    expanded.prompts(action)
    expanded.rest(action)
    return expanded.lines(layout) + [Line()]
  }

  private mutating func facts(_ action: Action, _ layout: Layout) {
    field("id", action.id)
    field("time", action.createdAt)
    if let text = action.createdAt, let time = Timestamp(rfc3339: text) {
      field("local time", TimeText.absolute(time, zone: layout.zone))
    }
    field("level", action.level)
    field("guild", action.guild)
    field("channel", action.channel)
    field("message", action.message)
    field("user", action.user.map { id in layout.names[id].map { "\(id) (\($0))" } ?? id })
    for name in ["provider", "model"] {
      add(name, as: name, action)
      if !shown.contains(name) { field(name, action.metadata?["llm"]?[name]?.text) }
    }
    field("tokens", Usage(action).full)
    if action.metadata?["usage"]?.members.allSatisfy({ $0.name.hasSuffix("okens") }) == true {
      shown.insert("usage")
    }
    if let cost = action.cost, cost != 0 { field("cost", Amount.exactMoney(cost)) }
    add("stopReason", as: "stop reason", action)
    add("toolNames", as: "tools", action)
    if let milliseconds = action.milliseconds { field("duration", Amount.duration(milliseconds)) }
  }

  private mutating func words(_ action: Action) {
    field("content", action.content)
    add("transcript", as: "transcript", action)
    add("lastUserContent", as: "last user", action)
    guard let calls = action.metadata?["toolCalls"], calls.count > 0 else { return }
    shown.insert("toolCalls")
    for call in calls.elements {
      let name = call[either: "name", "toolName"]?.text ?? call.string ?? "?"
      let input = call[either: "input", "arguments", "args"].map { Brief.text($0, limit: .max) }
      field("tool call", name + (input.map { "(\($0))" } ?? ""))
    }
  }

  private mutating func prompts(_ action: Action) {
    for (name, label) in [("systemPrompt", "system prompt"), ("userPrompt", "user prompt")]
    where prompt(action.metadata?[name], label) {
      shown.insert(name)
    }
    guard let bundle = action.metadata?["replyPrompts"], bundle.isObject else { return }
    shown.insert("replyPrompts")
    _ = prompt(bundle["systemPrompt"], "system prompt")
    _ = prompt(bundle["initialUserPrompt"], "first prompt")
    for (index, value) in (bundle["followupUserPrompts"]?.elements ?? []).enumerated() {
      _ = prompt(value, "follow-up \(index + 1)")
    }
    let taken = ["systemPrompt", "initialUserPrompt", "followupUserPrompts"]
    for member in bundle.members where !taken.contains(member.name) {
      guard !member.value.isNull, member.value.count > 0 || member.value.text != nil else {
        continue
      }
      field("prompt " + member.name, Brief.text(member.value, limit: .max, unwraps: false))
    }
  }

  private mutating func prompt(_ value: JSONValue?, _ label: String) -> Bool {
    guard let text = value?.string else { return false }
    field(label, text.count == 1 ? "1 char" : "\(text.count) chars")
    if !text.isEmpty { entries.append((nil, text)) }
    return true
  }

  /// A line for each member that was not shown yet; those that are null share one.
  private mutating func rest(_ action: Action) {
    var unset: [String] = []
    if let metadata = action.metadata, !metadata.isObject {
      field("metadata", metadata.text ?? metadata.compact())
    }
    for member in action.metadata?.members ?? [] where !shown.contains(member.name) {
      if member.value.isNull {
        unset.append(member.name)
      } else {
        let isEmpty = member.value.count == 0 && member.value.text == nil
        field(
          member.name,
          isEmpty ? member.value.compact() : Brief.text(member.value, limit: .max, unwraps: false))
      }
    }
    for member in action.object.members where !Action.knownMembers.contains(member.name) {
      field(member.name, member.value.text ?? member.value.compact())
    }
    if !unset.isEmpty { field("null", unset.joined(separator: ", ")) }
  }

  /// Shows a member of the metadata under another name.
  private mutating func add(_ name: String, as label: String, _ action: Action) {
    guard let text = action.metadata?[name]?.text else { return }
    shown.insert(name)
    field(label, text)
  }

  private mutating func field(_ label: String, _ text: String?) {
    if let text { entries.append((Plain.line(label, limit: 200), text)) }
  }

  private func lines(_ layout: Layout) -> [Line] {
    let widest = entries.compactMap(\.label).map(CellWidth.of).max() ?? 0
    let column = min(widest, layout.width.map { max($0 / 3, 12) } ?? 24, 24)
    let indent = Fit.spaces(4)
    return entries.flatMap { label, text in
      let start = label == nil ? 6 : column + 6
      let parts = Paragraph.wrap(text, to: layout.width.map { max($0 - start, 12) })
      return parts.enumerated().map { index, part in
        var line = Line(indent)
        if let label {
          if index == 0 { line.add(Fit.truncate(label, to: column), .dim) }
          line.fill(to: start)
        } else {
          line.add("│ ", .dim)
        }
        line.add(part)
        return line.trimmed
      }
    }
  }
}
