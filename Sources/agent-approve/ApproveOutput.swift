import Core
import Records
import Screen
import Turns

/// Nothing of an approval is ever cut: who decides is to have seen all of it.
extension RowOutput {
  /// The members of an approval that `-o tsv` writes, and those of an answer.
  private static let approvalFields = [
    "id", "state", "tool", "thread", "decision", "by", "reason", "expires", "request",
  ]
  private static let answerFields = ["id", "decision", "result", "reason"]

  func headerOfApprovals() throws(WriteFailure) { try header(Self.approvalFields) }

  func approval(_ approval: ApprovalRecord) throws(WriteFailure) {
    try write(approval.bytes, Self.approvalFields) {
      approval.state == .pending
        ? ApprovalCard(approval).lines(now: .now()) + [Line("")] : [ApprovalCard.state(approval)]
    }
  }

  func answer(_ answer: ApprovalAnswer) throws(WriteFailure) {
    try write(answer.bytes, Self.answerFields) { [ApprovalCard.outcome(answer)] }
  }

  /// All that waits was told, to who reads it as a part.
  func opened() throws(WriteFailure) {
    try write(RecordText(.open).time(.now()).bytes, []) { [] }
  }

  private func write(
    _ record: [UInt8], _ fields: [String], _ lines: () -> [Line]
  ) throws(WriteFailure) {
    try records(
      [record], fields: fields, tsv: { [RowText.tsv($0, fields: fields)] },
      lines: { _, _ in lines() })
  }
}

/// An approval as a person decides on it: what would run, where, and all else that the
/// backend says of it, whole and escaped. What it does not say is not guessed.
struct ApprovalCard {
  private let approval: ApprovalRecord
  private let request: JSONValue?
  /// What it asks, where it is a question.
  let questions: [AskedQuestion]

  /// The members that have a place and a name of their own, in this order.
  private static let named = [
    ("cwd", "in"), ("host", "host"), ("resolvedPath", "program"), ("agentId", "agent"),
    ("sessionKey", "session"), ("session", "session"), ("title", "title"),
    ("agent_type", "subagent"),
  ]
  /// What Claude Code tells its hooks beside that, and what is shown in another way.
  private static let hook = [
    "tool_name", "tool_input", "permission_suggestions", "session_id", "transcript_path",
    "prompt_id", "permission_mode", "hook_event_name", "effort", "agent_id",
  ]
  private static let command = ["commandArgv", "command"]
  /// What the model may have written to look harmless.
  private static let words = ["commandPreview"]
  private static let isAbout = " (not the command: words about it)"

  init(_ approval: ApprovalRecord) {
    self.approval = approval
    request = try? JSONValue.parse(approval.request)
    questions = approval.tool == AskedQuestion.tool ? AskedQuestion.all(in: request) : []
  }

  /// The lines, none of which may be cut.
  func lines(now: Timestamp) -> [Line] {
    var head = Line("approval ", .bold)
    head.add(Visible.line(approval.id), .bold)
    head.add(" (\(Visible.line(approval.tool)))")
    if let expires = approval.expires {
      head.add(", expires \(TimeText.relative(expires, now: now))", .dim)
    }
    var lines = [head] + commandLines
    for (member, name) in Self.named {
      guard let value = request?[member], !value.isNull else { continue }
      lines.append(Self.row(name, Self.text(value)))
    }
    if approval.tool == "exec", request?[either: "cwd"] == nil {
      lines.append(Self.row("in", "not said", .dim))
    }
    if request?[either: "sessionKey"] == nil, let thread = approval.thread {
      lines.append(Self.row("thread", Visible.line(thread)))
    }
    if !questions.isEmpty { return lines + questions.flatMap(questionLines) + otherLines }
    let isHook = request?["tool_name"] != nil
    let known = Set(
      Self.named.map(\.0) + Self.command + Self.words + ["allowedDecisions"]
        + (isHook ? Self.hook : []))
    for (name, value) in request?.members ?? [] where !known.contains(name) && !value.isNull {
      lines.append(Self.row(Visible.line(name), Self.text(value)))
    }
    for name in Self.words {
      guard let value = request?[name], !value.isNull else { continue }
      lines.append(Self.row("preview", Self.text(value) + Self.isAbout, .dim))
    }
    for offer in request.map(ClaudeAsk.suggestions) ?? [] {
      lines.append(Self.row(offer.decision, Visible.line(offer.words), .bold))
    }
    lines.append(Self.row("answers", approval.decisions.map(Visible.line).joined(separator: ", ")))
    return lines
  }

  /// What else a question of Claude Code was given.
  private var otherLines: [Line] {
    let input = request?["tool_input"]
    var lines: [Line] = []
    for (name, value) in input?.members ?? [] where name != "questions" && !value.isNull {
      lines.append(Self.row(Visible.line(name), Self.text(value)))
    }
    for question in input?["questions"]?.elements ?? [] {
      for (index, option) in (question["options"]?.elements ?? []).enumerated() {
        for (name, value) in option.members
        where !["label", "description"].contains(name) && !value.isNull {
          lines.append(Self.row("  \(index + 1)", "\(Visible.line(name)): \(Self.text(value))"))
        }
      }
    }
    return lines
  }

  /// What is asked, and what may be chosen, by number.
  private func questionLines(_ question: AskedQuestion) -> [Line] {
    let header = question.header.map { " (\(Visible.line($0)))" } ?? ""
    var lines = [Self.row("asks", Visible.line(question.text) + header, .bold)]
    for (index, choice) in question.choices.enumerated() {
      let more = choice.description.map { ": \(Visible.line($0))" } ?? ""
      lines.append(Self.row("  \(index + 1)", Visible.line(choice.label) + more))
    }
    return lines + [Self.row("answers", Self.hint(question), .dim)]
  }

  /// What may be answered: `1 to 3, or your own words`.
  static func hint(_ question: AskedQuestion) -> String {
    if question.isSecret { return "a secret, which cannot be given here; deny" }
    let count = question.choices.count
    let numbers = count == 0 ? [] : [count == 1 ? "1" : "1 to \(count)"]
    let some = numbers.map { $0 + (question.takesSeveral ? ", several with commas" : "") }
    return (some + (question.takesWords ? ["your own words"] : [])).joined(separator: ", or ")
  }

  private var commandLines: [Line] {
    if let input = request?["tool_input"], request?["tool_name"] != nil {
      return questions.isEmpty ? inputLines(input) : []
    }
    let given = request?["command"].flatMap { $0.isNull ? nil : $0 }
    guard let words = argv else {
      return given.map { [Self.row("command", Self.text($0), .bold)] } ?? []
    }
    let shown = ShellText.line(words)
    var lines = [Self.row("runs", shown, .bold)]
    // Where both are given and differ, both are shown: which one counts is not said.
    if let text = given?.string, text != shown, text != words.joined(separator: " ") {
      lines.append(Self.row("command", Self.text(given!), .bold))
    }
    return lines
  }

  /// What a tool of Claude Code is to do, as its dialog shows it: a command, a change of a file, a
  /// plan; then all else that it is given.
  private func inputLines(_ input: JSONValue) -> [Line] {
    var lines: [Line] = []
    var shown: Set<String> = []
    func take(_ name: String) -> String? {
      guard let text = input[name]?.string else { return nil }
      shown.insert(name)
      return text
    }
    if let command = take("command") { lines += rows("runs", command.lines) }
    if let path = take("file_path") ?? take("notebook_path") {
      lines.append(Self.row("file", Self.word(path), .bold))
    }
    if let plan = take("plan") { lines += rows("plan", plan.lines) }
    if let text = take("content") ?? take("new_source") { lines += Self.diff("", text) }
    if input["old_string"]?.string != nil, input["new_string"]?.string != nil {
      lines += Self.diff(take("old_string") ?? "", take("new_string") ?? "")
    }
    let edits = (input["edits"]?.elements ?? []).map {
      (old: $0["old_string"]?.string, new: $0["new_string"]?.string, count: $0.count)
    }
    if !edits.isEmpty, edits.allSatisfy({ $0.old != nil && $0.new != nil && $0.count == 2 }) {
      shown.insert("edits")
      lines += edits.flatMap { Self.diff($0.old ?? "", $0.new ?? "") }
    }
    for (name, value) in input.members where !shown.contains(name) && !value.isNull {
      let isWords = name == "description"
      lines.append(
        Self.row(
          isWords ? "says" : Visible.line(name),
          Self.text(value) + (isWords ? Self.isAbout : ""),
          isWords ? .dim : .plain))
    }
    return lines
  }

  private func rows(_ name: String, _ texts: [String]) -> [Line] {
    texts.enumerated().map { Self.row($0.offset == 0 ? name : "", Visible.line($0.element), .bold) }
  }

  /// What becomes of a text, line by line; what stays around it stands there, too.
  static func diff(_ old: String, _ new: String) -> [Line] {
    let (hadEnd, hasEnd) = (old.utf8.last == 10, new.utf8.last == 10)
    let isOther = !old.isEmpty && !new.isEmpty && hadEnd != hasEnd
    let (old, new) = (old.isEmpty ? [] : old.lines, new.isEmpty ? [] : new.lines)
    let most = min(old.count, new.count)
    // Swift takes some characters for the same that no shell does.
    let isSame = { (a: String, b: String) in a.utf8.elementsEqual(b.utf8) }
    let head = (0..<most).first { !isSame(old[$0], new[$0]) } ?? most
    let tail =
      (0..<most - head).first { !isSame(old[old.count - 1 - $0], new[new.count - 1 - $0]) }
      ?? most - head
    let changes =
      old[..<head].map { ("  ", $0, Style.dim) }
      + old[head..<old.count - tail].map { ("- ", $0, Style(Palette.error)) }
      + new[head..<new.count - tail].map { ("+ ", $0, Style(Palette.positive)) }
      + new[(new.count - tail)...].map { ("  ", $0, Style.dim) }
    let end = hasEnd ? "with a line feed at the end now" : "without a line feed at the end now"
    return changes.map { mark, text, style in row("", mark + Visible.line(text), style) }
      + (isOther ? [row("", "(\(end))", .dim)] : [])
  }

  private var argv: [String]? {
    guard let list = request?["commandArgv"], list.kind == .array, list.count > 0 else {
      return nil
    }
    let words = list.elements.compactMap(\.string)
    return words.count == list.count ? words : nil
  }

  private static func row(_ name: String, _ text: String, _ style: Style = .plain) -> Line {
    var line = Line("  " + name + Fit.spaces(max(1, 9 - CellWidth.of(name))), .dim)
    line.add(text, style)
    return line
  }

  /// As a shell's word where not all of it can be seen; anything else as JSON.
  private static func text(_ value: JSONValue) -> String {
    value.string.map(word) ?? Visible.line(value.compact())
  }

  private static func word(_ text: String) -> String {
    !text.isEmpty && ShellText.isPlain(text) ? text : ShellText.word(text)
  }

  // MARK: - Single lines

  /// What became of one: `approval a7 approved: allow-once by ada`.
  static func state(_ approval: ApprovalRecord) -> Line {
    var line = Line("approval \(Visible.line(approval.id)) \(approval.state.rawValue)")
    let words = [
      approval.decision, approval.by.map { "by \($0)" }, approval.reason,
    ].compactMap(\.self)
    if !words.isEmpty { line.add(": " + Visible.line(words.joined(separator: " ")), .dim) }
    return line
  }

  /// What came of an answer: `approval a7 allow-once: accepted`.
  static func outcome(_ answer: ApprovalAnswer) -> Line {
    var line = Line(
      "approval \(Visible.line(answer.id)) \(Visible.line(answer.decision)): ")
    let isFine = answer.result == .accepted || answer.result == .already
    let word = answer.result == .notFound ? "not found" : answer.result.rawValue
    line.add(word, Style(isFine ? Palette.positive : Palette.error))
    if let reason = answer.reason { line.add(" (\(Visible.line(reason)))", .dim) }
    return line
  }
}

extension String {
  /// Without an empty one behind the last line feed.
  fileprivate var lines: [String] {
    var lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.count > 1, lines.last == "" { lines.removeLast() }
    return lines
  }
}
