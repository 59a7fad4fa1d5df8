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

  func wantsBody(_ head: RequestHead) -> Bool { false }

  func stream(_ head: RequestHead) -> ServedFeed? { nil }

  func answer(_ head: RequestHead, body: RequestBody) async -> WholeAnswer {
    if let refusal = refusal(of: head) { return refusal }
    guard head.method == "GET" || head.method == "HEAD" else { return .noSuchMethod }
    switch head.path {
    case "/health", "/healthz", "/readyz": return .json(#"{"ok":true,"status":"live"}"#)
    case "/": return .error("this port speaks WebSocket", status: 426)
    default: return .noSuchPath
    }
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
