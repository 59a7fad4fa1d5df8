import Agent

/// Which sessions are wanted: `--guild` and `--session`.
struct SessionFilter: Sendable, Equatable {
  var guild: String?
  /// A session's id, or the beginning of it.
  var session: String?

  /// Whether a session is wanted.
  func takes(id: String?, guild: String?) -> Bool {
    if let wanted = self.guild, wanted != guild { return false }
    if let wanted = session { return id?.hasPrefix(wanted) == true }
    return true
  }

  /// Those that are wanted; a whole id means its session alone, not those whose
  /// ids begin with it.
  func select(_ sessions: [RawSession]) -> [RawSession] {
    let found = sessions.filter { takes(id: $0.id, guild: $0.guild) }
    let exact = found.filter { $0.id == session }
    return session == nil || exact.isEmpty ? found : exact
  }
}
