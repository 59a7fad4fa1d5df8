import Core
import Records

/// What a person and a script are told of single records of a dashboard
/// (Agent/Clanky/CONTRACT.md 5.1 and 5.4).
extension ClankyOperations {
  static func stats(_ payload: JSONValue, now: Timestamp) -> [OperationOutput.Detail]? {
    guard let stats = ActionStats(payload) else { return nil }
    let runtime = payload["runtime"]
    var facts: [OperationOutput.Detail] = []
    func fact(_ name: String, _ cell: Cell?) {
      if let cell { facts.append((name, cell)) }
    }
    if let isReady = stats.isReady {
      let tag = runtime?["userTag"]?.text ?? ""
      let words = isReady ? "connected" : "not connected"
      fact("agent", .words(tag.isEmpty ? words : "\(words) as \(tag)", isReady ? .good : .bad))
    }
    fact("gateway", gateway(runtime?["gateway"]).map { .words($0, .odd) })
    fact("guilds", .text(runtime?["guildCount"]))
    fact("last message", .age(runtime?["lastBotMessageAt"], now: now))
    fact("waiting replies", stats.pendingReplies.map { .words("\($0)") })
    fact("voice sessions", stats.voiceSessions.map { .words("\($0)") })
    let tunnel = runtime?["publicHttps"]
    fact("tunnel", .row(["status", "publicUrl", "lastError"].map { .text(tunnel?[$0]) }))
    fact("cost today", stats.cost(of: String(now.rfc3339.prefix(10))).map { .dollars($0) })
    if let total = stats.totalCost {
      let days = stats.dailyCosts
      let bars = days.count > 1 ? [Cell.bars(days.prefix(14).reversed().map(\.cost))] : []
      fact("cost kept", .row([.dollars(total)] + bars, by: "  "))
    }
    let reply = payload["stats"]?["performance"]?["totalMs"]
    if let half = reply?["p50Ms"]?.number {
      let most = reply?["p95Ms"]?.number.map { [Cell.words("95 % in"), .duration($0)] } ?? []
      fact("reply time", .row([.row([.words("half in"), .duration(half)]), .row(most)], by: ", "))
    }
    for entry in stats.counts where entry.count != 0 {
      let isError = ActionKind.isError(kind: entry.kind)
      fact("24 h \(entry.kind)", .words("\(entry.count)", isError ? .bad : .plain))
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

  /// `{"type":"health","ok":true,"latency_ms":3.2,"url":"..."}`: the backend's
  /// members as they came, between ours.
  static func health(_ answer: [UInt8], latency: String, url: String) -> [UInt8] {
    let inner = RowText.line(Array(RowText.line(answer).dropFirst().dropLast()))
    return RecordText(.health).members(inner).json("latency_ms", latency).string("url", url).bytes
  }

  /// Whether the agent can be reached through its tunnel (`GET /api/public-https`): the
  /// address alone does not tell, for it stays when the tunnel has ended.
  static func isUp(tunnel: JSONValue) -> Bool {
    tunnel["enabled"]?.bool == true && tunnel["status"]?.string == "ready"
  }
}
