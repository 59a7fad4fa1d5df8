import Core

extension StatsBook {
  /// The payload of `GET /api/stats` and `stats_update` (Agent/Clanky/CONTRACT.md 5.1).
  func json(runtime: String, now: Timestamp) -> String {
    let since = now.before(hours: 24).rfc3339
    let counts = zip(Self.kinds, counts(since: since))
      .map { "\"\($0)\":\($1)" }.joined(separator: ",")
    let days = dailyCost(since: String(now.before(hours: 14 * 24).rfc3339.prefix(10)))
      .map { "{\"day\":\"\($0.day)\",\"usd\":\(JSONText.number($0.usd))}" }
      .joined(separator: ",")
    return """
      {"stats":{"last24h":{\(counts)},"totalCostUsd":\(JSONText.number(totalCost)),\
      "dailyCost":[\(days)],"performance":\(performance(since: since))},\
      "runtime":\(runtime)}
      """
  }

  private func performance(since: String) -> String {
    let names = ReplyPerformance.members
    var values = [[Double]](repeating: [], count: names.count)
    var byKind: [String: Int] = [:]
    let samples = samples.reversed().lazy.filter { $0.createdAt >= since }
    for sample in samples.prefix(Self.sampleLimit) {
      guard let performance = sample.performance else { continue }
      byKind[sample.kind, default: 0] += 1
      for (index, value) in performance.values.enumerated() {
        if let value { values[index].append(value) }
      }
    }
    let kinds = ReplyPerformance.kinds.map { "\"\($0)\":\(byKind[$0] ?? 0)" }
      .joined(separator: ",")
    let metrics = zip(names, values).map { "\"\($0)\":\(MetricSummary($1).json)" }
    return """
      {"windowHours":24,"sampleLimit":\(Self.sampleLimit),"sampleCount":\(values[0].count),\
      "byKind":{\(kinds)},\(metrics[0]),\(metrics[1]),\
      "phases":{\(metrics[2...].joined(separator: ","))}}
      """
  }

  /// There is no bot here: what it alone would know is empty.
  func runtime(_ documents: Documents) -> String {
    // The guilds that the agent told, or else those that were ever seen.
    let told = documents.has(.guilds) ? Guilds(documents.bytes(.guilds)).all.count : nil
    return """
      {"isReady":true,"userTag":null,"guildCount":\(told ?? guilds.count),\
      "lastBotMessageAt":\(JSONText.quoted(lastBotMessageAt)),\
      "replyQueue":{"channels":0,"pending":0},\
      "gateway":{"hasConnectedAtLeastOnce":true,"reconnectInFlight":false,"reconnectAttempts":0,\
      "lastGatewayEventAt":\(JSONText.quoted(lastActionAt))},\
      "voice":\(documents.line(.voiceState)),\
      "publicHttps":\(documents.line(.publicHTTPS)),"screenShare":null}
      """
  }
}

/// The durations that a reply tells in `metadata.performance`.
struct ReplyPerformance: Sendable, Equatable {
  static let kinds = ["sent_reply", "sent_message", "reply_skipped"]
  static let members = [
    "totalMs", "processingMs", "queueMs", "ingestMs", "memorySliceMs", "llm1Ms", "followupMs",
    "typingDelayMs", "sendMs",
  ]

  /// Whole milliseconds, nil where none was told.
  var values = [Double?](repeating: nil, count: members.count)

  init?(metadata: String?) {
    guard var metadata, metadata.utf8.count > 13 else { return nil }
    let values = metadata.withUTF8 { bytes -> [Double?]? in
      do throws(ScanFault) {
        let performance = try ScanMembers.value(
          of: "performance", in: UnsafeRawBufferPointer(bytes))
        guard performance.isObject else { return nil }
        var values = [Double?](repeating: nil, count: Self.members.count)
        var members = try ScanMembers(performance.bytes)
        while try members.next() {
          guard let index = Self.members.firstIndex(of: members.key.unescaped) else { continue }
          let number = Self.number(members.value)
          values[index] = number.flatMap { $0.isFinite && $0 >= 0 ? $0.rounded() : nil }
        }
        return values
      } catch {
        return nil
      }
    }
    guard let values else { return nil }
    self.values = values
  }

  /// `Number(value)`: null counts as 0, unlike a member that is not there.
  private static func number(_ value: ScanValue) -> Double? {
    if value.isNull { return 0 }
    return value.isString
      ? value.string.flatMap(Double.init(javaScript:)) : ScanNumber(value)?.double
  }
}
