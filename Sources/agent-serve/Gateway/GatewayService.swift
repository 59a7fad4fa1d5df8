import Core
import Frames
import Synchronization

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

  /// The numbers of connections that were given out.
  let numbers = Numbers()

  final class Numbers: Sendable {
    private let last = Atomic(0)

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
  }

  /// The WebSocket that a request asks for (RFC 6455, section 4.2).
  func upgrade(_ head: RequestHead) throws(RequestFault) -> ProtocolSwitch? {
    guard asksForSocket(head), head["sec-websocket-version"] == "13", refusal(of: head) == nil
    else { return nil }
    let key = head["sec-websocket-key"] ?? ""
    guard key.utf8.count == 24, Base64.bytes(Array(key.utf8))?.count == 16,
      head.framing == .length(0)
    else { throw .malformed }
    let answer =
      WholeAnswer.statusLine(101) + "Upgrade: websocket\r\nConnection: upgrade\r\n"
      + "Sec-WebSocket-Accept: \(HandshakeKey.accept(key))\r\n\r\n"
    return ProtocolSwitch(answer: Array(answer.utf8)) { socket in
      await PeerSession(socket, self, number: numbers.next()).run()
    }
  }

  private func asksForSocket(_ head: RequestHead) -> Bool {
    head.method == "GET" && !head.isOld && head.lists("connection", "upgrade")
      && head.lists("upgrade", "websocket")
  }

  /// What is said to who asks for something that only a WebSocket has.
  func upgradeRequired(_ head: RequestHead) -> WholeAnswer {
    var answer = WholeAnswer.error("this port speaks WebSocket", status: 426)
    // Who knows of WebSockets, and asks in a way that is none of theirs, need not be told.
    answer.upgrade = asksForSocket(head) || !head.lists("connection", "upgrade")
    return answer
  }

  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    guard head.method == "POST", refusal(of: head) == nil, takesBody(head) else {
      return BodyPlan()
    }
    return BodyPlan(keeps: true, share: BodyPlan.budget.share(), isHeld: true)
  }

  func stream(_ head: RequestHead) -> (any EventSource)? { nil }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    if let refusal = refusal(of: head) { return .whole(refusal) }
    if asksForSocket(head) { return .whole(upgradeRequired(head)) }
    if !head.isMethodKnown { return .whole(.unknownMethod) }
    guard case .whole(let bytes) = body.behindMark else { return .whole(.tooLarge) }
    return await serve(head, bytes)
  }

  /// Why a request may not ask for what it asks, nil when it may. A page that a browser
  /// shows may open a WebSocket anywhere; only a token, which it does not have, stands
  /// against that.
  func refusal(of head: RequestHead) -> WholeAnswer? {
    var refusal: WholeAnswer
    if let names, !names.contains(head.authority) {
      refusal = .misdirected
    } else if token == nil && head["origin"] != nil {
      refusal = .foreignOrigin
    } else {
      return nil
    }
    // Who wanted another protocol has nothing else to say here.
    refusal.closes = asksForSocket(head)
    return refusal
  }
}
