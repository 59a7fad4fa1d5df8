import Core
import NIOConcurrencyHelpers
import NIOCore

/// The port of the gateway: WebSockets, and the few requests that want none.
struct GatewayService: RequestService {
  let gateway: Gateway
  let connections: Connections
  let tickets: Tickets
  let backlogLimit: Int
  let diagnostics: Diagnostics
  /// What the server may be called, nil for anything.
  let names: ServedNames?
  /// What clients must show, nil for a server that is open to its machine.
  let token: AccessToken?

  /// What is done with requests for a WebSocket.
  var sockets: SocketUpgrade {
    let numbers = NIOLockedValueBox(0)
    return SocketUpgrade(
      messageLimit: Gateway.messageLimit, accepts: { refusal(of: $0) == nil },
      peer: { channel in
        let number = numbers.withLockedValue { number in
          number += 1
          return number
        }
        return Peer(channel, number: number, limit: backlogLimit)
      }, serve: { await gateway.serve($0) })
  }

  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    BodyPlan(keeps: head.method == "POST" && refusal(of: head) == nil)
  }

  func stream(_ head: RequestHead) -> ServedStream? { nil }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    if let refusal = refusal(of: head) { return .whole(refusal) }
    guard case .whole(let bytes) = body else { return .whole(.tooLarge) }
    return await serve(head, bytes)
  }

  /// Why a request may not ask for what it asks, nil when it may. A page that a browser
  /// shows may open a WebSocket anywhere; only a token, which it does not have, stands
  /// against that.
  private func refusal(of head: RequestHead) -> WholeAnswer? {
    if let names, !names.contains(head.authority) { return .misdirected }
    if token == nil && head["origin"] != nil { return .foreignOrigin }
    return nil
  }
}
