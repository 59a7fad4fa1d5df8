import Agent
import Core
import Web

/// ws-tail(1): follows a WebSocket, one record per message.
public enum WsTail {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let options = WsOptions.table.parseOrExit(WsOptions())
    let diagnostics = Diagnostics(program: "ws-tail", verbose: options.follow.isVerbose)
    Process.exit(
      FollowLoop.run(diagnostics) { () throws(SettingsError) in
        try loop(options, diagnostics)
      })
  }

  private static func loop(
    _ options: WsOptions, _ diagnostics: Diagnostics
  ) throws(SettingsError) -> FollowLoop {
    var settings = try Settings()
    settings.limitToken(options.follow.reconnect.maxTime)
    let profile = try profile(options, settings)
    settings.configuration.report(to: diagnostics)
    var request = Request(try address(options.url))
    request.unquotable = request.address.queryValues
    request.privateHeaders = try RequestArguments.headers(options.headers)
    try RequestArguments.refuse(
      request.privateHeaders,
      Dictionary(uniqueKeysWithValues: Upgrade.reserved.map { ($0, "is the handshake's own") }))
    let server = try RequestArguments.authorize(
      &request, settings: settings, profile: profile, access: options.access)
    let greeting = try options.data.map { data throws(SettingsError) in
      let bytes = try RequestArguments.data(data)
      guard bytes.withUnsafeBytes(UTF8Text.isValid) else {
        throw SettingsError("--data", "not UTF-8")
      }
      return bytes
    }
    let loop = try FollowLoop(
      options.follow, options.access,
      output: EventOutput(dataOnly: options.dataOnly, receivedAt: options.follow.receivedAt),
      diagnostics: diagnostics)
    let lines = options.sends ? SentLines(diagnostics) { loop.add(.failure) } : nil
    loop.input = lines
    var socket = SocketOptions()
    socket.subprotocols = options.subprotocols
    loop.follow(
      FollowedStream(socket: request, server, options: socket, pingEvery: options.ping) { stream in
        lines?.stream = stream
        guard let greeting else { return }
        stream.onOpen = { [unowned stream] in stream.send(text: greeting) }
      })
    return loop
  }

  private static func address(_ url: String) throws(SettingsError) -> WebAddress {
    do throws(AddressError) { return try WebAddress(socket: url) } catch {
      throw RequestArguments.fault(of: url, error)
    }
  }

  /// A profile that is asked for by name must be there.
  private static func profile(
    _ options: WsOptions, _ settings: Settings
  ) throws(SettingsError) -> Settings.Profile? {
    options.access.profile == nil
      ? try? settings.profile() : try settings.profile(options.access.profile)
  }
}
