import Core

struct PairingRequest: Sendable {
  let id: String
  let device: PairedDevice
  /// Why it is asked for: `not-paired`, `scope-upgrade`.
  let reason: String
  let address: String
  /// Milliseconds.
  let time: Int

  var node: JSONNode {
    let head: JSONNode = ["requestId": .text(id)]
    return head.adding(device.node).adding(["remoteIp": .text(address), "ts": .number(time)])
  }
}

struct PairingRequests {
  private static let limit = 50
  private static let lifetime = 300_000

  private var requests: [PairingRequest] = []

  mutating func pending(now: Int) -> [PairingRequest] {
    requests.removeAll { now - $0.time > Self.lifetime }
    return requests
  }

  /// Adds a request. The same wish of the same device is the same request; another one
  /// takes the old one's place under a new id, so that nobody approves what was not shown. Returns
  /// the request, and whether it is new; nil when too many wait.
  mutating func add(
    _ device: PairedDevice, reason: String, address: String, now: Int
  ) -> (request: PairingRequest, isNew: Bool)? {
    if let known = pending(now: now).first(where: { $0.device.id == device.id }) {
      if known.device.scopes == device.scopes && known.device.name == device.name {
        return (known, false)
      }
      requests.removeAll { $0.id == known.id }
    }
    if requests.count >= Self.limit { return nil }
    let request = PairingRequest(
      id: Base64.random(bytes: 9), device: device, reason: reason, address: address, time: now)
    requests.append(request)
    return (request, true)
  }

  mutating func receive(_ id: String, now: Int) -> PairingRequest? {
    let found = pending(now: now).first { $0.id == id }
    requests.removeAll { $0.id == id }
    return found
  }
}
