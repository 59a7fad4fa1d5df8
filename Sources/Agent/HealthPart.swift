import Core
import Records

/// A part of an agent's system and how it is: what agent-status(1) shows of it.
struct HealthPart {
  let name: String
  var troubles: [String] = []
  var words: [String] = []

  static func record(
    _ name: String, _ status: String, _ summary: String, latency: String, _ place: String
  ) -> [UInt8] {
    RecordText(.health).string("source", name).string("status", status)
      .string("summary", summary).json("latency_ms", latency).string("url", place).bytes
  }
}

extension OperationCall {
  /// Writes how the parts are; `latency`: of an answer, milliseconds.
  func finish(_ parts: [HealthPart], latency: Int, at place: String) throws -> ExitStatus {
    let rows = parts.map { part in
      HealthPart.record(
        part.name, part.troubles.isEmpty ? "healthy" : "degraded",
        (part.troubles + part.words).joined(separator: ", "), latency: String(latency), place)
    }
    try output.list(rows, .health)
    return parts.allSatisfy(\.troubles.isEmpty) ? .success : .negative
  }
}

extension Listing {
  static let health = Listing(
    columns: [
      .text("SOURCE", "source"),
      Column("STATUS") { row in
        let words = row["status"]?.text ?? ""
        return .words(words, words == "healthy" ? .good : words == "degraded" ? .odd : .bad)
      },
      .milliseconds("LATENCY", "latency_ms"), .text("SUMMARY", "summary", gives: true),
      .text("URL", "url", gives: true),
    ], fields: ["source", "status", "latency_ms", "summary", "url"])
}
