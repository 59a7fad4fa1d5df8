import Core
import Records
import Web

/// How a gateway is, part by part: what agent-status(1) shows of it
/// (Agent/OpenClaw/CONTRACT.md 6.2).
extension GatewayOperations {
  static func health(_ call: OperationCall) throws -> ExitStatus {
    let caller = GatewayCaller(call.caller, scopes: [.read])
    let start = Clock.monotonic
    let health = try JSONValue.parse(caller.call("health"))
    let latency = Int((Clock.monotonic - start) * 1000)
    let list = try JSONValue.parse(caller.call("sessions.list", GatewayLists.sessions))
    let sessions = list["sessions"]?.elements ?? []
    // Only what is at work can wait for a person.
    let waiting = sessions.contains(where: isBusy) ? try asking(call) : []
    let parts =
      [gateway(health, caller.hello)] + agents(health, sessions, waiting) + channels(health)
    return try call.finish(parts, latency: latency, at: call.caller.backend.base.socketDisplay)
  }

  private static func isBusy(_ session: JSONValue) -> Bool { session["hasActiveRun"]?.bool == true }

  /// The conversations that wait for a person, as far as this device may see that.
  private static func asking(_ call: OperationCall) throws -> Set<String> {
    let caller = GatewayCaller(call.caller, scopes: [.read], more: [.approvals])
    guard let answer = try? JSONValue.parse(caller.call("exec.approval.list")) else { return [] }
    let entries = answer["approvals"]?.elements ?? answer.elements
    return Set(entries.compactMap { $0["request"]?["sessionKey"]?.string })
  }

  private static func gateway(_ health: JSONValue, _ hello: GatewayHello?) -> HealthPart {
    var part = HealthPart(name: "gateway")
    if health["ok"]?.bool == false { part.troubles.append("it is not well, as it says") }
    if health["modelRuntime"]?["degraded"]?.bool == true {
      part.troubles.append("no model is ready")
    }
    for plugin in health["plugins"]?["errors"]?.elements ?? [] {
      part.troubles.append("the plug-in \(plugin["id"]?.string(bytes: 60) ?? "?") failed")
    }
    if let server = hello?.server { part.words.append("version \(server)") }
    if let uptime = hello?.uptime { part.words.append("up \(span(uptime))") }
    // Which passes.
    if health["eventLoop"]?["degraded"]?.bool == true { part.words.append("overloaded") }
    return part
  }

  private static func agents(
    _ health: JSONValue, _ sessions: [JSONValue], _ waiting: Set<String>
  ) -> [HealthPart] {
    (health["agents"]?.elements ?? []).compactMap { agent in
      guard let id = agent["agentId"]?.string else { return nil }
      let own = sessions.filter { session in
        let key = session["key"]?.string
        return (session["agentId"]?.string ?? key.flatMap(GatewayKey.init)?.agent) == id
      }
      // Its health may be older than the list.
      let told = (agent["sessions"]?["count"]?.integer).map(Int.init(clamping:)) ?? 0
      let count = max(told, own.count)
      var part = HealthPart(
        name: id, words: [count == 1 ? "1 conversation" : "\(count) conversations"])
      let busy = own.filter(isBusy).compactMap { $0["key"]?.string }
      let asking = busy.filter(waiting.contains)
      let working = busy.filter { !waiting.contains($0) }
      if !asking.isEmpty { part.words.append("waiting for a person: \(names(asking))") }
      if !working.isEmpty { part.words.append("at work: \(names(working))") }
      if busy.isEmpty { part.words.append("idle") }
      return part
    }
  }

  /// What people call conversations; not many.
  private static func names(_ keys: [String]) -> String {
    let most = 3
    let names = keys.prefix(most).map { GatewayKey($0)?.name ?? $0 }
    return names.joined(separator: " ")
      + (keys.count > most ? " and \(keys.count - most) more" : "")
  }

  private static func channels(_ health: JSONValue) -> [HealthPart] {
    (health["channels"]?.members ?? []).compactMap { name, channel in
      let accounts = channel["accounts"]?.members.map(\.value) ?? []
      let all = (accounts.isEmpty ? [channel] : accounts).filter {
        $0["configured"]?.bool != false && $0["enabled"]?.bool != false
      }
      if all.isEmpty { return nil }
      var part = HealthPart(name: name)
      for account in all {
        if let trouble = trouble(of: account) { part.troubles.append(trouble) }
      }
      return part
    }
  }

  /// Nil for a channel, or an account of one, that is well.
  private static func trouble(of channel: JSONValue) -> String? {
    let error = channel["lastError"]?.string(bytes: 200)
    if let state = channel["healthState"]?.string(bytes: 60), state != "healthy" {
      return [state, error].compactMap { $0 }.joined(separator: ": ")
    }
    if channel["linked"]?.bool == false { return "not linked" }
    if let probe = channel["probe"], probe["ok"]?.bool == false {
      return probe["error"]?.string(bytes: 200) ?? "it does not answer"
    }
    return error
  }

  private static func span(_ seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
    default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
    }
  }
}
