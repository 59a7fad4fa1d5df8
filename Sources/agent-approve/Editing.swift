import Agent
import Core
import Records
import Screen

/// `--edit`: allows what is asked for, but with another command, which a person writes.
final class Editing: Answering {
  private var found: [String: ApprovalRecord] = [:]

  func edit(_ id: String) throws -> ExitStatus {
    try run { isListed }
    guard end == nil else { return try leave(.success) }
    guard let approval = found[id] else {
      diagnostics.say("nothing with the id \(Visible.line(id)) waits")
      return try leave(.negative)
    }
    let change = try ApprovalEdit(approval)
    guard let input = try change.input(diagnostics) else {
      diagnostics.say("nothing changed, and nothing was sent")
      return try leave(.negative)
    }
    guard Confirmation.isYes("Allow that?") else {
      diagnostics.say("nothing was sent")
      return try leave(.negative)
    }
    return try give([ApprovalDecision(id: id, decision: "approve", input: input)])
  }

  override func changed(_ approval: ApprovalRecord) {
    found[approval.id] = approval.state == .pending ? approval : nil
  }
}

/// What a tool is to be given instead of what was asked for.
struct ApprovalEdit {
  /// The members but the command, with their bytes.
  private var members: [[UInt8]] = []
  private let text: String
  private let isCommand: Bool

  /// - Throws: `Failure` for what cannot be changed.
  init(_ approval: ApprovalRecord) throws(Failure) {
    let request = try? JSONValue.parse(approval.request)
    guard let input = request?["tool_input"], input.isObject, approval.tool != AskedQuestion.tool
    else {
      throw Failure(
        Visible.line(approval.id), "only what a tool of Claude Code asks can be changed")
    }
    isCommand = input["command"]?.string != nil
    let bytes = approval.request.withUnsafeBytes { request in
      (try? ScanMembers.value(of: "tool_input", in: request)).map { Array($0.bytes) } ?? []
    }
    text = input["command"]?.string ?? String(decoding: bytes, as: UTF8.self)
    members = bytes.withUnsafeBytes { bytes in
      guard var scan = try? ScanMembers(bytes) else { return [] }
      var members: [[UInt8]] = []
      while (try? scan.next()) == true {
        if scan.key.unescaped == "command" { continue }
        members.append([0x22] + Array(scan.key.bytes) + [0x22, 0x3a] + Array(scan.value.bytes))
      }
      return members
    }
  }

  /// Has it changed, and shows on standard error what is another; nil where nothing is.
  func input(_ diagnostics: Diagnostics) throws(Failure) -> [UInt8]? {
    let editor = try Editor(text + "\n", name: "agent-approve.\(isCommand ? "sh" : "json")")
    defer { editor.remove() }
    let bytes = try editor.edit()
    guard var new = String(validating: bytes, as: UTF8.self) else {
      throw Failure("what was written", "not UTF-8")
    }
    if new.hasSuffix("\n") { new.removeLast() }
    // What is edited away altogether is given up.
    guard !new.utf8.elementsEqual(text.utf8), !new.trimmed.isEmpty else { return nil }
    let writer = RecordWriter(descriptor: 2)
    let lines = ApprovalCard.diff(text, new).map { $0.render(width: nil, depth: .none) + "\n" }
    try? writer.write(lines.joined())
    try? writer.flush()
    if isCommand {
      return members.reduce(RecordText()) { $0.members($1) }.string("command", new).bytes
    }
    guard (try? JSONValue.parse(bytes))?.isObject == true else {
      throw Failure("what was written", "not a JSON object")
    }
    return RowText.line(bytes)
  }
}
