public import Core
public import Web

/// What the command lines of commands that follow any URL say of a request: headers, a
/// body, whose token.
public enum RequestArguments {
  /// `-H`.
  public static let header = Option<[String]>(
    "H", "header", "LINE", "add a header, 'Name: value'; @FILE: those in FILE",
    .path.offering(.none)
  ) { $0.append($1) }

  /// A token of RFC 9110, section 5.6.2; `what` it is, for messages.
  public static func token(_ what: String) -> Reading<String> {
    Reading { argument throws(UsageError) in
      let value = argument.value
      guard !value.isEmpty, Header(value, "") == Header(line: value + ":") else {
        throw argument.fault("not \(what)")
      }
      return value
    }
  }

  /// The headers of `-H LINE` and `-H @FILE`, in their order.
  ///
  /// - Throws: `Failure` for what is no header line; it quotes no value.
  public static func headers(_ arguments: [String]) throws(Failure) -> [Header] {
    var found: [Header] = []
    for argument in arguments { found += try headers(argument) }
    return found
  }

  /// Makes sure that headers of the user's are none of those that only we can say.
  ///
  /// - Parameter own: names in small letters, and what there is instead, for the message.
  public static func refuse(_ headers: [Header], _ own: [String: String]) throws(Failure) {
    for header in headers {
      if let instead = own[header.name.lowercased()] {
        throw Failure("header \(header.name)", instead)
      }
    }
  }

  private static func headers(_ argument: String) throws(Failure) -> [Header] {
    guard argument.hasPrefix("@") else {
      guard let header = Header(line: FileName.repaired(argument)) else {
        // The line may hold a secret: show no more than its name.
        let name = argument.split(separator: ":").first.map(String.init) ?? ""
        let isName = argument.utf8.contains(58) && Header(line: name + ":") != nil
        throw Failure(isName ? "header \(name)" : "header", "not a line `name: value`")
      }
      return [header]
    }
    let name = String(argument.dropFirst())
    var found: [Header] = []
    var number = 0
    for line in try BoundedFile.text(name).split(separator: 10, omittingEmptySubsequences: false) {
      number += 1
      var line = line
      if line.last == 13 { line = line.dropLast() }
      if line.isEmpty || line.first == 35 { continue }
      guard let header = Header(line: String(decoding: line, as: UTF8.self)) else {
        throw Failure("\(name):\(number)", "not a header line `name: value`")
      }
      found.append(header)
    }
    return found
  }

  /// The bytes of `--data DATA` and `--data @FILE`.
  public static func data(_ argument: String) throws(Failure) -> [UInt8] {
    guard argument.hasPrefix("@") else { return FileName.bytes(argument) }
    return try BoundedFile.given(String(argument.dropFirst()))
  }

  /// Puts the token into a request that may have it. A profile's is bound to the origin
  /// of its URL, one of `--token-file` to the URL that is asked.
  ///
  /// - Parameters:
  ///   - request: with the user's own headers; a token among them wins over the
  ///     profile's.
  ///   - access: how one is let in.
  ///   - isProfiles: whether the address was made from the profile's.
  public static func authorize(
    _ request: inout Request, settings: Settings, profile: Settings.Profile?,
    access: AccessOptions, isProfiles: Bool = false
  ) throws(Failure) -> AgentServer {
    var isProfiles = isProfiles
    if !isProfiles, let url = profile?.url, let own = try? WebAddress(socket: url) {
      isProfiles = own.origin == request.address.origin
    }
    let server = try AgentServer(
      base: request.address, settings: settings, profile: isProfiles ? profile : nil,
      tokenFile: access.tokenFile, allowPlaintext: access.allowPlaintext,
      headers: request.privateHeaders)
    server.authorize(&request)
    return server
  }

  /// What is wrong with a URL that was given, without its query or a password.
  public static func fault(of url: String, _ error: Failure) -> Failure {
    let shown = url.split(separator: "?").first.map(String.init) ?? url
    return Failure(shown.contains("@") ? "url" : shown, error.reason)
  }
}

extension Settings {
  /// The profile of a command that follows a URL, too, which need not be there where nobody asks for
  /// it by name.
  ///
  /// - Parameter isNeeded: whether it is in any case.
  public func profile(_ access: AccessOptions, isNeeded: Bool) throws(Failure) -> Profile? {
    access.profile == nil && !isNeeded ? try? profile() : try profile(access.profile)
  }
}

/// The name of a conversation or an agent, as it is given on a command line.
extension Reading<String> {
  /// Why a text is no name: lower case, no full stop; nil when it is one.
  public static func faultOfThreadName(_ text: String) -> String? {
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
    {
      return "a name without control characters is needed"
    }
    // The longest that a gateway takes.
    return text.unicodeScalars.count > 512 ? "more than 512 characters" : nil
  }

  /// The name of a conversation or an agent.
  public static var threadName: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      if let reason = faultOfThreadName(argument.value) { throw argument.fault(reason) }
      return argument.value
    }
  }
}
