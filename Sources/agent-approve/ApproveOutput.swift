import CLibc
import Core
import Records
import Screen

/// Standard output: records, or text for a person. Nothing of an approval is ever cut: who
/// decides is to have seen all of it.
final class ApproveOutput {
  let form: RowOutput.Form
  private let writer = RecordWriter()
  private let isTerminal: Bool
  private let isQuiet: Bool
  private let depth: ColourDepth
  private var wantsHeader: Bool

  /// The members of an approval that `-o tsv` writes, and those of an answer.
  private static let approvalFields = [
    "id", "state", "tool", "thread", "decision", "by", "reason", "expires", "request",
  ]
  private static let answerFields = ["id", "decision", "result", "reason"]

  init(form: RowOutput.Form?, look: LookOptions, isQuiet: Bool) {
    isTerminal = isatty(1) == 1
    self.isQuiet = isQuiet
    self.form = form ?? (isTerminal ? .table : .json)
    wantsHeader = look.hasHeader && self.form == .tsv
    depth = ColourDepth.detect(
      look.colour, isTerminal: isTerminal, environment: Process.environment)
  }

  func header() throws(WriteFailure) { try header(Self.approvalFields) }

  private func header(_ fields: [String]) throws(WriteFailure) {
    if !wantsHeader { return }
    wantsHeader = false
    try line(fields.joined(separator: "\t"))
  }

  func approval(_ approval: ApprovalRecord) throws(WriteFailure) {
    try header()
    switch form {
    case .json: try json(approval.bytes)
    case .tsv: try line(RowText.tsv(approval.bytes, fields: Self.approvalFields))
    case .table:
      if approval.state == .pending {
        try lines(ApprovalCard(approval).lines(now: .now()))
        try line("")
      } else {
        try line(ApprovalCard.state(approval))
      }
    }
  }

  func answer(_ answer: ApprovalAnswer) throws(WriteFailure) {
    try header(Self.answerFields)
    switch form {
    case .json: try json(answer.bytes)
    case .tsv: try line(RowText.tsv(answer.bytes, fields: Self.answerFields))
    case .table: try line(ApprovalCard.outcome(answer))
    }
  }

  /// All that waits was told, to who reads it as a part.
  func opened() throws(WriteFailure) { try json(RecordText(.open).time(.now()).bytes) }

  func lines(_ lines: [Line]) throws(WriteFailure) { for each in lines { try line(each) } }

  func text(_ text: String) throws(WriteFailure) { if !isQuiet { try writer.write(text) } }

  func flush() throws(WriteFailure) { try writer.flush() }

  /// Writes what waits, if the reader takes it at once: the command is to end.
  func leave() { if OutputEnd.isWritable { try? writer.flush() } }

  private func line(_ line: Line) throws(WriteFailure) {
    try self.line(line.render(width: nil, depth: depth))
  }

  private func line(_ text: String) throws(WriteFailure) {
    if isQuiet { return }
    try writer.write(text)
    try writer.newline()
  }

  private func json(_ record: [UInt8]) throws(WriteFailure) {
    if !isQuiet { try writer.writeRecord(record, isShown: isTerminal) }
  }
}
