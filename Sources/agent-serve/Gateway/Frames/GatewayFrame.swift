import Core

struct GatewayRequest: Sendable {
  private static let form: ClosedObject = [
    "type": .word(["req"]), "id": .text(1...256), "method": .text(1...256), "params?": .any,
    "traceparent?": .text(0...256), "expectedProfileId?": .text(0...256),
  ]

  let id: String
  let method: String
  let params: JSONValue?

  init(_ frame: JSONValue) throws(GatewayFault) {
    try Self.form.check(frame, "invalid request frame")
    id = Self.id(of: frame)
    method = frame["method"]?.string ?? ""
    params = frame["params"]
  }

  /// By which a frame is answered, whatever else is wrong with it.
  static func id(of frame: JSONValue?) -> String {
    frame?["id"]?.string.flatMap { (1...256).contains($0.utf16.count) ? $0 : nil } ?? "invalid"
  }

  func text(_ name: String) -> String { params?[name]?.string ?? "" }

  func number(_ name: String) -> Int? { params?[name]?.integer.map { Int($0) } }

  func isTrue(_ name: String) -> Bool { params?[name]?.bool ?? false }

  static func value(_ bytes: [UInt8]) throws(GatewayFault) -> JSONValue {
    let parsed = bytes.withUnsafeBytes { bytes -> JSONValue? in
      // JSONValue mends what is not JSON; a request has to be.
      guard ScanValidator.isValue(bytes) else { return nil }
      return try? JSONValue.parse(bytes)
    }
    guard let parsed else { throw .invalid("invalid request frame: not JSON") }
    return parsed
  }
}

/// The frames that the gateway sends (Agent/OpenClaw/CONTRACT.md 1).
extension Peer {
  func answer(_ id: String, _ payload: JSONNode) {
    let frame: JSONNode = ["type": "res", "id": .text(id), "ok": true, "payload": payload]
    send(frame.bytes)
  }

  func refuse(_ id: String, _ fault: GatewayFault, payload: JSONNode = .absent) {
    let frame: JSONNode = [
      "type": "res", "id": .text(id), "ok": false, "payload": payload, "error": fault.node,
    ]
    send(frame.bytes)
  }

  /// An event.
  static func event(_ name: String, _ payload: [UInt8], sequence: Int?) -> [UInt8] {
    let frame: JSONNode = [
      "type": "event", "event": .text(name), "payload": .raw(payload), "seq": .number(sequence),
    ]
    return frame.bytes
  }
}
