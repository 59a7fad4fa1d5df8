import Agent
import Core
import Web

/// Makes the stream's request from the options: headers, body, token.
struct TailRequest {
  private let options: TailOptions

  init(_ options: TailOptions) { self.options = options }

  /// The request of the stream.
  ///
  /// - Parameters:
  ///   - target: what is followed.
  ///   - settings: the configuration.
  ///   - profile: the profile in use.
  /// - Returns: the request, and whose token it carries.
  /// - Throws: `SettingsError`.
  func make(
    _ target: Target, settings: Settings, profile: Settings.Profile?
  ) throws(SettingsError) -> (request: Request, server: AgentServer) {
    var request = Request(target.address, method: options.method ?? "GET")
    if target.dashboard == nil { request.unquotable = target.address.queryValues }
    for line in options.headers { request.privateHeaders += try headers(line) }
    if let data = options.data {
      let body = try body(data)
      request.body = body
      if options.method == nil { request.method = "POST" }
      if !request.privateHeaders.contains(where: { $0.isNamed("Content-Type") }) {
        let isJSON = body.withUnsafeBytes { ScanValidator.isValue($0) }
        let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
        request.headers.append(Header("Content-Type", type))
      }
    }
    // A token is bound to the profile's origin; `--token-file` binds it to the URL.
    var isProfiles = target.dashboard != nil
    if !isProfiles, let url = profile?.url, let own = try? WebAddress(url) {
      isProfiles = own.origin == target.address.origin
    }
    let server = try AgentServer(
      base: target.address, settings: settings, profile: isProfiles ? profile : nil,
      tokenFile: options.access.tokenFile, allowPlaintext: options.access.allowPlaintext,
      headers: request.privateHeaders)
    server.authorize(&request)
    return (request, server)
  }

  private func headers(_ argument: String) throws(SettingsError) -> [Header] {
    guard argument.hasPrefix("@") else {
      guard let header = Header(line: FileName.repaired(argument)) else {
        // The line may hold a secret: show no more than its name.
        let name = argument.split(separator: ":").first.map(String.init) ?? ""
        let isName = argument.utf8.contains(58) && Header(line: name + ":") != nil
        throw SettingsError(isName ? "header \(name)" : "header", "not a line `name: value`")
      }
      return [header]
    }
    let name = String(argument.dropFirst())
    var found: [Header] = []
    var number = 0
    for line in try BoundedFile.given(name).split(separator: 10, omittingEmptySubsequences: false) {
      number += 1
      var line = line
      if line.last == 13 { line = line.dropLast() }
      if line.isEmpty || line.first == 35 { continue }
      guard let header = Header(line: String(decoding: line, as: UTF8.self)) else {
        throw SettingsError("\(name):\(number)", "not a header line `name: value`")
      }
      found.append(header)
    }
    return found
  }

  private func body(_ argument: String) throws(SettingsError) -> [UInt8] {
    guard argument.hasPrefix("@") else { return FileName.bytes(argument) }
    return try BoundedFile.given(String(argument.dropFirst()))
  }
}

/// What is followed: a URL, or a stream of the dashboard.
struct Target {
  /// The dashboard's stream and its address, nil for a URL.
  let dashboard: (stream: DashboardStream, base: WebAddress)?
  /// The stream's address.
  let address: WebAddress

  /// What a state file is bound to: the stream and its profile, for the name of
  /// a tunnel changes; without one, the URL without its query.
  let source: String

  /// - Parameters:
  ///   - text: the operand.
  ///   - url: the URL of the profile, nil if there is none.
  ///   - profile: the profile's name, nil if it has none.
  /// - Throws: `SettingsError`.
  init(_ text: String, url: String?, profile: String? = nil) throws(SettingsError) {
    if let stream = DashboardStream(rawValue: text) {
      guard let url else {
        throw SettingsError(text, "no url: set AGENT_URL, or a profile in agentutils.conf(5)")
      }
      let base: WebAddress
      do throws(AddressError) { base = try WebAddress(url) } catch {
        throw SettingsError("the profile's url", error.reason)
      }
      dashboard = (stream, base)
      address = try stream.address(at: base)
      source = stream.source(profile: profile, address: address)
      return
    }
    do throws(AddressError) {
      address = try WebAddress(text)
    } catch {
      let shown = text.split(separator: "?").first.map(String.init) ?? text
      let safe = shown.contains("@") ? "url" : shown
      throw SettingsError(safe, error.reason)
    }
    dashboard = nil
    source = address.display
  }
}
