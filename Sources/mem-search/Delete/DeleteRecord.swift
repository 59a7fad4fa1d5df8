import Core
import Records
import Screen

/// What came of one fact that was to be deleted or put back: a record for a
/// script, a line for a person.
struct DeleteRecord {
  var type = "fact_delete"
  var id: String
  var guild: String
  /// `deleted`, `not_found`, `changed`, `unknown`, `restored`, `lost`.
  var result: String
  var reason: String?
  /// When it was deleted.
  var time: String?
  /// The id that the fact has now.
  var newID: String?
  /// The backend's bytes; nil when there is nothing to tell.
  var fact: [UInt8]?

  /// The record.
  var json: [UInt8] {
    var text =
      "{\"type\":\"\(type)\",\"id\":\(JSONQuote.string(id))"
      + ",\"guild_id\":\(JSONQuote.string(guild)),\"result\":\"\(result)\""
    for (name, value) in [("time", time), ("reason", reason), ("new_id", newID)] {
      if let value { text += ",\"\(name)\":\(JSONQuote.string(value))" }
    }
    var bytes = Array(text.utf8)
    if let fact { bytes += Array(",\"fact\":".utf8) + RowText.line(fact) }
    return bytes + [UInt8(ascii: "}")]
  }

  /// The fields of TSV: id, result, reason, new id, and the fact.
  var tsv: String {
    let words = fact.flatMap { Fact(record: $0)?.fact } ?? ""
    return [id, result, reason ?? "", newID ?? "", words].map { RowText.escape($0) }
      .joined(separator: "\t")
  }

  /// The line for a person.
  func line() -> Line {
    let isDone = result == "deleted" || result == "restored"
    let word = result.exchanging("_", for: " ")
    var line = Line([
      Line.Span(Plain.line(id, limit: 40), .dim), Line.Span("  "),
      Line.Span(word, Style(isDone ? Palette.positive : Palette.error)),
    ])
    if let newID { line.add(" as \(Plain.line(newID, limit: 40))") }
    if let reason { line.add(": \(Plain.line(reason, limit: 300))") }
    if let fact = fact.flatMap({ Fact(record: $0) }) {
      line.add("  " + Plain.line(fact.fact, limit: Cell.longest))
    }
    return line
  }
}

extension RowOutput {
  /// Writes what came of a fact, at once: what is done is not to be lost.
  func result(_ record: DeleteRecord) throws(WriteFailure) {
    try records(
      [record.json], tsv: { _ in [record.tsv] }, lines: { _, _ in [record.line()] })
    try flush()
  }
}
