import Core
import Records

/// A command of the user's that says how soon an item matters. Nothing of the item stands in
/// its words or its environment: it reads the record.
struct UrgencyCommand {
  private let run: CommandRun

  /// More is no answer, bytes.
  private static let limit = 64 << 10

  init(_ command: String, timeout: Double) {
    run = CommandRun(["/bin/sh", "-c", command], limit: Self.limit, timeout: timeout)
  }

  func urgency(
    of record: [UInt8]
  ) throws(CommandRun.Failure) -> NotificationRecord.Urgency {
    let printed = try run.output(input: record)
    guard let urgency = Self.urgency(printed) else { throw .broken("printed no urgency") }
    return urgency
  }

  /// The urgency in an answer: its first word, or that member of its JSON object. Of other
  /// JSON, whole or not, no word is an answer.
  static func urgency(_ answer: [UInt8]) -> NotificationRecord.Urgency? {
    let text = String(decoding: answer, as: UTF8.self)
    let word: String?
    if let value = try? answer.withUnsafeBytes({ try JSONValue.parse($0) }) {
      word = value["urgency"]?.string
    } else if let first = text.first(where: { !$0.isWhitespace }), "{[".contains(first) {
      word = nil
    } else {
      word = text.split { !$0.isLetter }.first.map(String.init)
    }
    return word.flatMap { NotificationRecord.Urgency(rawValue: $0.lowercased()) }
  }
}
