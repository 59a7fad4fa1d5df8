import Records

/// The final texts of the agent in a turn, in the order in which they began.
public struct FinalTexts: Sendable {
  private var ids: [String] = []
  private var texts: [String: String] = [:]

  /// None yet.
  public init() {}

  /// Takes what comes of a question.
  public mutating func receive(_ news: ChatNews) {
    guard case .message(let message) = news, message.role == .assistant else { return }
    guard message.state == .final else { return }
    if texts.updateValue(message.text, forKey: message.id) == nil { ids.append(message.id) }
  }

  /// A line feed between two.
  public var text: String { ids.compactMap { texts[$0] }.joined(separator: "\n") }
}
