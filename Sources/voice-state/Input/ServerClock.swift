import Core

/// When a state was taken, by the server's own clock: instants that came
/// together with their age.
enum ServerClock {
  /// - Returns: the latest that the sessions tell, nil when none of them does.
  static func time(of sessions: [VoiceSession]) -> Timestamp? {
    sessions.flatMap(exact).max()
  }

  /// The latest instant that the sessions hold: no later than the state.
  static func latest(in sessions: [VoiceSession]) -> Timestamp? {
    sessions.flatMap { session in
      [session.startedAt, session.lastActivityAt, session.recentTurns.last?.at].compactMap { $0 }
    }.max()
  }

  private static func exact(_ session: VoiceSession) -> [Timestamp] {
    let wake = session.conversation?.wake
    let pairs: [(Timestamp?, Double?)] =
      session.membershipEvents.map { ($0.at, $0.ageMs) }
      + session.activeCaptures.map { ($0.startedAt, $0.ageMs) } + [
        (session.conversation?.lastAssistantReplyAt, wake?.msSinceAssistantReply),
        (session.conversation?.lastDirectAddressAt, wake?.msSinceDirectAddress),
      ]
    return pairs.compactMap { at, age in
      // A century is no age.
      guard let at, let age, age >= 0, age < 3.2e12 else { return nil }
      return at.adding(.milliseconds(Int64(age)))
    }
  }
}
