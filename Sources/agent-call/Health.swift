import Core
import Records
import Screen
import Web

/// `agent-call health`: our own record around the backend's.
enum Health {
  /// `{"type":"health","ok":true,"latency_ms":3.2,"url":"..."}`: the backend's
  /// members as they came, between ours.
  ///
  /// - Parameters:
  ///   - answer: the backend's object.
  ///   - latency: milliseconds as text.
  ///   - url: what was asked.
  static func record(_ answer: [UInt8], latency: String, url: String) -> [UInt8] {
    let inner = RowText.line(Array(RowText.line(answer).dropFirst().dropLast()))
    var record = Array("{\"type\":\"health\",".utf8)
    if !inner.isEmpty { record += inner + [44] }
    record += Array("\"latency_ms\":\(latency),\"url\":\(JSONQuote.string(url))}".utf8)
    return record
  }

  /// The rows of the table.
  static func facts(isWell: Bool, latency: String, url: String) -> [RowOutput.Fact] {
    [
      (
        "health",
        isWell
          ? Line.Span("ok", Style(Palette.positive)) : Line.Span("not ok", Style(Palette.error))
      ),
      ("latency", Line.Span("\(latency) ms")),
      ("url", Line.Span(Plain.line(url))),
    ]
  }
}
