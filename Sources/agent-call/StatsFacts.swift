import Core
import Records
import Screen
import Web

/// `GET /api/stats` for a person (Agent/Clanky/CONTRACT.md 5.1).
enum StatsFacts {
  /// - Parameters:
  ///   - payload: the answer.
  ///   - now: the day of UTC in it is today.
  /// - Returns: nil when it does not look like stats at all.
  static func of(_ payload: JSONValue, now: Timestamp) -> [RowOutput.Fact]? {
    guard let stats = ActionStats(payload) else { return nil }
    let runtime = payload["runtime"]
    var facts: [RowOutput.Fact] = []
    func fact(_ name: String, _ text: String?, _ style: Style = .plain) {
      if let text, !text.isEmpty { facts.append((name, Line.Span(text, style))) }
    }
    if let isReady = stats.isReady {
      let tag = Cell.text(runtime?["userTag"]).text
      let words = isReady ? "connected" : "not connected"
      fact(
        "agent", tag.isEmpty ? words : "\(words) as \(tag)",
        Style(isReady ? Palette.positive : Palette.error))
    }
    gateway(runtime?["gateway"]).map { fact("gateway", $0, Style(Palette.warning)) }
    fact("guilds", Cell.text(runtime?["guildCount"]).text)
    fact("last message", age(runtime?["lastBotMessageAt"], now))
    fact("waiting replies", stats.pendingReplies.map { "\($0)" })
    fact("voice sessions", stats.voiceSessions.map { "\($0)" })
    if let tunnel = runtime?["publicHttps"], tunnel.isObject {
      let url = Cell.text(tunnel["publicUrl"]).text
      let error = Cell.text(tunnel["lastError"]).text
      let parts = [Cell.text(tunnel["status"]).text, url, error].filter { !$0.isEmpty }
      fact("tunnel", parts.joined(separator: " "))
    }
    fact("cost today", stats.cost(of: String(now.rfc3339.prefix(10))).map(Amount.money))
    if let total = stats.totalCost {
      let bars = Spark.line(stats.dailyCosts.prefix(14).reversed().map(\.cost))
      fact("cost kept", Amount.money(total) + (stats.dailyCosts.count > 1 ? "  \(bars)" : ""))
    }
    let reply = payload["stats"]?["performance"]?["totalMs"]
    if let half = reply?["p50Ms"]?.number {
      let most = reply?["p95Ms"]?.number.map { ", 95 % in \(Amount.duration($0))" } ?? ""
      fact("reply time", "half in \(Amount.duration(half))\(most)")
    }
    for entry in stats.counts where entry.count != 0 {
      let isError = ActionKind.isError(kind: entry.kind)
      fact(
        "24 h \(Plain.line(entry.kind, limit: 100))", "\(entry.count)",
        isError ? Style(Palette.error) : .plain)
    }
    return facts
  }

  private static func gateway(_ gateway: JSONValue?) -> String? {
    if gateway?["reconnectInFlight"]?.bool == true {
      let tries = gateway?["reconnectAttempts"]?.integer ?? 0
      return "reconnecting, try \(tries)"
    }
    return gateway?["hasConnectedAtLeastOnce"]?.bool == false ? "never connected" : nil
  }

  private static func age(_ value: JSONValue?, _ now: Timestamp) -> String? {
    guard let time = value?.string.flatMap({ Timestamp(rfc3339: $0) }) else {
      return Cell.text(value).text
    }
    return TimeText.relative(time, now: now)
  }
}

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
    return RecordText(.health).members(inner).json("latency_ms", latency).string("url", url).bytes
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

/// `GET /api/public-https` (Agent/Clanky/CONTRACT.md 5.4).
enum Tunnel {
  /// Whether the agent can be reached through it: the address alone does not tell,
  /// for it stays when the tunnel has ended.
  static func isUp(_ tunnel: JSONValue) -> Bool {
    tunnel["enabled"]?.bool == true && tunnel["status"]?.string == "ready"
  }
}
