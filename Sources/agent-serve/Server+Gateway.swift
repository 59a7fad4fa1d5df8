import CLibc
import Core
import Records

extension Server {
  /// The gateway and its port, as long as they are open.
  struct OpenGateway {
    fileprivate let gateway: Gateway
    /// Nil where only the voice server makes replies.
    fileprivate let listener: Listener?
    fileprivate let pulse: Task<Void, Never>

    /// Ends what it does, then all its connections.
    func close() async {
      await listener?.close()
      pulse.cancel()
      await gateway.stop()
    }
  }

  /// Where the gateway listens: on the host of the rest. Nil for none.
  var gatewayAddress: ListenAddress? {
    options.gateway.map { ListenAddress(address, port: $0) }
  }

  /// What makes replies, where there is to be a gateway or a reply command.
  ///
  /// - Throws: what SQLite says.
  func makeGateway(_ store: ActionStore, token: AccessToken?) async throws -> Gateway? {
    guard options.gateway != nil || options.replyCommand != nil else { return nil }
    return try await Gateway(
      store,
      GatewaySettings(
        command: options.replyCommand, asksForReplies: options.asksForReplies,
        asksForDevices: options.asksForDevices, token: token, backlogLimit: options.backlog),
      diagnostics: diagnostics)
  }

  /// Opens the port of the gateway, if there is to be one, and says where it is.
  func openGateway(_ gateway: Gateway?, _ backend: ServedBackend) async -> OpenGateway? {
    guard let gateway else { return nil }
    let pulse = Task { await tick(gateway) }
    guard let place = gatewayAddress else {
      return OpenGateway(gateway: gateway, listener: nil, pulse: pulse)
    }
    let service = GatewayService(
      gateway: gateway, connections: backend.connections, tickets: backend.tickets,
      backlogLimit: options.backlog, diagnostics: diagnostics, names: backend.names,
      token: backend.token)
    do {
      let listener = try await Listener(place, service)
      let url = "ws://\(ListenAddress(place, port: listener.port).text)"
      diagnostics.note("gateway: listening on \(url)")
      announce(RecordText(.gateway).string("url", url))
      if options.asksForDevices { readAnswers(for: gateway) }
      return OpenGateway(gateway: gateway, listener: listener, pulse: pulse)
    } catch {
      fail(place, error, Self.gatewayOption)
    }
  }

  private func tick(_ gateway: Gateway) async {
    while !Task.isCancelled {
      try? await Poller.sleep(for: Gateway.tickInterval)
      if !Task.isCancelled { await gateway.tick() }
    }
  }

  /// Reads from standard input who may connect, unless that is something else.
  private func readAnswers(for gateway: Gateway) {
    let others = [options.ingest, options.replay, options.tokenFile, options.voiceSecretFile]
    if others.contains("-") { return }
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    // It waits for a person: a thread of its own, not one of the tasks' few.
    OwnThread.require {
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while read(0, &byte, 1) == 1 {
        if byte != 10 {
          if line.count < 1024 { line.append(byte) }
          continue
        }
        continuation.yield(String(decoding: line, as: UTF8.self))
        line = []
      }
      continuation.finish()
    }
    Task { for await line in lines { await gateway.answerPairing(line) } }
  }
}
