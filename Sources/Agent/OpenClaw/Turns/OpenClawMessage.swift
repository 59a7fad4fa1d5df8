package import Core
package import Records

/// What the parts of a gateway's answer say, for those who follow turns and for the one who
/// asked (CONTRACT.md 7).
package enum OpenClawMessage {
  /// The text blocks of a message, joined; nil for none.
  package static func text(of message: JSONValue) -> String? {
    if let text = message.string { return text }
    guard let content = message["content"] else { return message["text"]?.string }
    if let text = content.string { return text }
    let blocks = content.elements.filter { $0["type"]?.string == "text" }
    return blocks.isEmpty ? nil : blocks.compactMap { $0["text"]?.string }.joined()
  }

  /// Sets the tokens and the US dollars of a turn; nil where they are not said.
  package static func add(usage: JSONValue, to turn: inout TurnRecord) {
    let input = usage[either: "input", "input_tokens", "inputTokens"]?.integer
    let output = usage[either: "output", "output_tokens", "outputTokens"]?.integer
    if input != nil || output != nil {
      turn.usage = TurnRecord.Usage(
        inputTokens: input.map { Int(clamping: $0) },
        outputTokens: output.map { Int(clamping: $0) })
    }
    turn.cost = usage["cost"]?["total"]?.number.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }
}

extension String {
  /// The end of the text.
  ///
  /// - Parameter most: bytes; a scalar is not cut.
  package func tail(bytes most: Int) -> String {
    guard utf8.count > most else { return self }
    var start = utf8.index(endIndex, offsetBy: -most)
    while start < endIndex, UTF8.isContinuation(utf8[start]) { start = utf8.index(after: start) }
    return String(self[start...])
  }
}
