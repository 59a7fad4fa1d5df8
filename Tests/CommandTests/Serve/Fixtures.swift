import Core
import Foundation

@testable import agent_serve

/// Actions and stores for the tests.
enum Fixture {
  /// An action with little in it.
  static func action(
    _ kind: String = "llm_call", at time: String = "2026-03-01T12:00:00.000Z",
    guild: String? = nil, content: String? = nil, metadata: String? = nil, cost: String? = nil
  ) -> LoggedAction {
    LoggedAction(
      createdAt: time, guild: guild, kind: kind, content: content, metadata: metadata, cost: cost)
  }

  /// The actions that a record gives.
  static func read(_ line: String, unique: Bool = false) throws -> [LoggedAction] {
    var reader = RecordReader(now: Timestamp(seconds: 0), isUnique: unique)
    return try Array(line.utf8).withUnsafeBytes { try reader.read($0).compactMap(\.action) }
  }

  /// The row of an action, as text.
  static func row(_ action: LoggedAction, id: Int64 = 7) -> String {
    String(decoding: ActionEncoder.rows([StoredAction(id: id, action: action)]), as: UTF8.self)
  }

  /// The live form of an action, as text.
  static func live(_ action: LoggedAction, id: Int64 = 7) -> String {
    var out: [UInt8] = []
    ActionEncoder.appendLive(StoredAction(id: id, action: action), to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  /// The head that a text is.
  static func head(_ text: String) throws -> RequestHead {
    var parser = RequestParser()
    var used = 0
    let part = try Array(text.utf8).withUnsafeBytes { try parser.next($0, &used) }
    guard case .head(let head) = part else { throw Refusal.malformed }
    return head
  }
}
