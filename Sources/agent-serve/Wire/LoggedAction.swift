import Core

/// One action as the store keeps it: what the agent told, in neither of the
/// wire's two spellings.
///
/// Texts are unescaped. JSON that is not ours to judge (metadata, further
/// members, the cost's digits) is kept as the bytes that came in.
struct LoggedAction: Sendable, Equatable {
  /// RFC 3339 in UTC with three decimals, as the dashboard writes it.
  var createdAt: String
  /// The guild's id, nil when none was given.
  var guild: String?
  /// The channel's id.
  var channel: String?
  /// The message's id.
  var message: String?
  /// The user's id.
  var user: String?
  /// What the action is; never empty.
  var kind: String
  /// The whole text.
  var content: String?
  /// One JSON value on one line; nil when null or absent.
  var metadata: String?
  /// A JSON number as it was written, nil when null or absent.
  var cost: String?
  /// Further members as they were written, `"level":"warn"`, joined by commas;
  /// empty when there is none.
  var extra: String = ""

  /// US dollars; 0 when unknown or beyond what a double holds.
  var usd: Double {
    guard let cost, let value = Double(cost), value.isFinite else { return 0 }
    return value
  }
}

extension LoggedAction {
  /// The session that metadata names, nil when it names none.
  ///
  /// - Parameter metadata: one valid JSON value.
  static func session(metadata: String?) -> String? {
    guard var metadata, metadata.contains("sessionId") else { return nil }
    return metadata.withUTF8 { bytes in
      let value = try? ScanMembers.value(of: "sessionId", in: UnsafeRawBufferPointer(bytes))
      // SQLite ends a text at a NUL.
      guard let value, value.isString, let text = value.string, !text.isEmpty,
        !text.utf8.contains(0)
      else { return nil }
      return text
    }
  }
}

/// An action with its number in the store.
struct StoredAction: Sendable, Equatable {
  /// Ascending in the order in which actions were stored; never used twice.
  let id: Int64
  /// The action.
  let action: LoggedAction
}
