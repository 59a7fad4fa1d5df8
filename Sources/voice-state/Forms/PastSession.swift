import Agent
import Core
import Screen

extension [PastSession] {
  func lines(at now: Timestamp, guilds: [String: String]) -> [Line] {
    let titles = ["started", "ended", "took", "mode", "end", "guild", "session"].map(\.dim)
    let rows = map { session in
      let reason = Untrusted.text(session.reason, or: "-")
      let isBad = reason.holds("error") || reason.holds("lost")
      let guild = session.guild.flatMap { guilds[$0] }
      return [
        Line(session.startedAt.map { TimeText.absolute($0, zone: TimeText.local) } ?? "-"),
        Line(session.endedAt.map { TimeText.relative($0, now: now) } ?? "-"),
        Line(session.seconds.map { Amount.duration($0 * 1000) } ?? "-"),
        Line(Untrusted.text(session.mode, or: "-")), Line(reason, isBad ? .error : .plain),
        (Untrusted.text(guild) ?? Untrusted.text(session.guild, or: "-")).dim,
        Line(Untrusted.text(session.id, or: "-")),
      ]
    }
    let columns: [Grid.Column] = [.left, .left, .right, .left, .left, .left, .left]
    return rows.isEmpty ? [] : Grid.lines(columns, width: .max) { [titles] + rows }
  }

  func limited(since: Timestamp? = nil, count: Int?) -> [PastSession] {
    let young = filter { session in
      guard let since, let end = session.endedAt else { return true }
      return end >= since
    }
    return Array(young.prefix(count ?? young.count))
  }
}

enum NoSession {
  static let words = "No voice session."
  static let recent = 5
  static let origin =
    "there is one while the agent is in a voice channel: agent-call join lets it come to yours"
}
