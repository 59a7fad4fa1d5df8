import Agent
import Core
import Web

/// ws-tail(1): follows a WebSocket, one record per message.
public func wsTailMain() {
  WsOptions.table.run(WsOptions(), verbose: \.follow.isVerbose) { try follow($0, $1).run() }
}

private func follow(_ options: WsOptions, _ diagnostics: Diagnostics) throws(Failure) -> Follow {
  var settings = try Settings()
  settings.limitToken(options.follow.reconnect.maxTime)
  let profile = try settings.profile(options.access, isNeeded: false)
  settings.configuration.report(to: diagnostics)
  var request = Request(try address(options.url))
  request.unquotable = request.address.queryValues
  request.privateHeaders = try RequestArguments.headers(options.headers)
  try RequestArguments.refuse(
    request.privateHeaders,
    Dictionary(uniqueKeysWithValues: Upgrade.reserved.map { ($0, "is the handshake's own") }))
  let server = try RequestArguments.authorize(
    &request, settings: settings, profile: profile, access: options.access)
  let greeting = try options.data.map { data throws(Failure) in
    let bytes = try RequestArguments.data(data)
    guard bytes.withUnsafeBytes(UTF8Text.isValid) else {
      throw Failure("--data", "not UTF-8")
    }
    return bytes
  }
  var socket = SocketOptions()
  socket.subprotocols = options.subprotocols
  socket.maxMessageBytes = options.follow.maxEventBytes
  let lines = options.sends ? SentLines(diagnostics) : nil
  let place = request.address.socketDisplay
  var stream = FollowedStream(place) { [request, socket] follow in
    lines?.onFault = { [unowned follow] in follow.hadFault = true }
    follow.input = lines.map { lines in ({ lines.descriptor }, { lines.turn() }) }
    return { () throws(LinkEnd) in
      let open = try LiveSocket.connect(
        follow, request, options: socket, idle: follow.policy.idleTimeout)
      if let greeting { open.send(text: greeting) }
      follow.opened(open.place)
      lines?.socket = open
      defer { lines?.socket = nil }
      // What came before the connection.
      lines?.turn()
      while true {
        switch try open.receive(idle: follow.policy.idleTimeout, pingEvery: options.ping) {
        case .message(let message): try follow.print(message)
        case .oversize(let bytes): follow.oversize(bytes: bytes)
        case nil: continue
        }
      }
    }
  }
  stream.judge = { server.problem(of: $0, $1) }
  return Follow(
    options.follow, try options.access.client(diagnostics.program), stream,
    output: EventOutput(dataOnly: options.dataOnly, receivedAt: options.follow.receivedAt),
    diagnostics)
}

private func address(_ url: String) throws(Failure) -> WebAddress {
  do throws(Failure) { return try WebAddress(socket: url) } catch {
    throw RequestArguments.fault(of: url, error)
  }
}
