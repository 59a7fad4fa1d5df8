import CCrypto
import CLibc
import Core

/// voice-token(1): lets somebody join a room of a LiveKit server, by a JSON Web Token with an
/// HMAC by SHA-256 (RFC 7515).
public func voiceTokenMain() {
  TokenOptions.table.run(TokenOptions()) { options, _ in
    let claims = try options.claims(now: Int(time(nil)))
    let secret = try secret(options.file)
    let text = "\(code(#"{"alg":"HS256","typ":"JWT"}"#)).\(code(claims))"
    let writer = RecordWriter()
    try writer.write("\(text).\(Base64.url(signature(of: Array(text.utf8), by: secret)))\n")
    try writer.flush()
    return .success
  }
}

private func code(_ text: String) -> String { Base64.url(Array(text.utf8)) }

private func signature(of text: [UInt8], by secret: [UInt8]) -> [UInt8] {
  var digest = [UInt8](repeating: 0, count: 32)
  HMAC(EVP_sha256(), secret, Int32(secret.count), text, text.count, &digest, nil)
  return digest
}

/// The one line of a file that is for its owner alone.
private func secret(_ file: String?) throws(Failure) -> [UInt8] {
  let path = file ?? Folders.join(Folders().config, "livekit")
  let name = path == "-" ? "standard input" : path
  guard var secret = try Failure.rethrowing(try TokenFile.given(path), as: \.asDenied) else {
    throw Failure(name, "no secret can be read there", .denied)
  }
  if secret.last == 10 { secret.removeLast() }
  if secret.isEmpty { throw Failure(name, "no secret in it", .denied) }
  if secret.contains(10) { throw Failure(name, "more than one line", .denied) }
  guard secret.allSatisfy({ (0x21...0x7e).contains($0) }) else {
    throw Failure(name, "not one line of visible characters", .denied)
  }
  // RFC 7518, 3.2: a key is as long as the digest at least; LiveKit warns of shorter ones.
  if secret.count < 32 {
    throw Failure(name, "the secret is too short: it needs 32 characters at least", .denied)
  }
  return secret
}

struct TokenOptions {
  var key = Process.environment("LIVEKIT_API_KEY")
  var identity: String?
  var name: String?
  var seconds = 3600
  /// Of the secret; `-` is standard input.
  var file: String?
  var room = ""
  var isListener = false
  /// What may be published alone; none for anything.
  var sources: [String] = []
  var metadata: String?
  /// In the order of the command line, each name once.
  var attributes: [(name: String, value: String)] = []
  /// Who is called into the room: the name, and what it is told.
  var agents: [(name: String, metadata: String?)] = []
  var isHidden = false
  var isAdmin = false

  /// As the claim `canPublishSources` names them.
  private static let known = ["camera", "microphone", "screen_share", "screen_share_audio"]

  static let table = OptionTable<TokenOptions>(
    program: "voice-token",
    summary: "Print a token by which somebody may join a room of a LiveKit server.",
    synopsis: "[options] ROOM", operands: .none,
    options: [
      Option(
        "i", "identity", "NAME", "who joins (default: the name of the user)", .name, \.identity),
      Option("k", "key", "KEY", "the name of the secret (default: LIVEKIT_API_KEY)", .name, \.key),
      Option(
        "s", "secret-file", "FILE",
        "the API secret, - for standard input (default: ~/.config/agentutils/livekit)", .path,
        \.file),
      Option(
        "t", "time", "SECONDS", "for how long it is good (default: 3600)", .goodFor, \.seconds),
      Option(nil, "admin", "also manage the room, and list the rooms of the server", \.isAdmin),
      Option(
        nil, "agent", "NAME[:METADATA]", "call this agent into the room; repeatable",
        Reading(agent), \.agents),
      Option(
        nil, "attribute", "NAME=VALUE", "what others can read of who joins; repeatable",
        Reading(attribute)
      ) { options, new throws(UsageError) in
        if options.attributes.contains(where: { $0.name == new.name }) {
          throw UsageError("--attribute \(new.name)=: given twice")
        }
        options.attributes.append(new)
      },
      Option(nil, "hidden", "others do not see who joins", \.isHidden),
      Option(nil, "listen", "publish neither sound nor data", \.isListener),
      Option(nil, "metadata", "TEXT", "what others can read of who joins", .name, \.metadata),
      Option(nil, "name", "TEXT", "what others see", .name, \.name),
      Option(
        nil, "source", "SOURCE,...",
        "publish from these alone: \(known.joined(separator: ", ")); repeatable",
        Reading(sources, completion: .words(known))
      ) { options, words in
        for word in words where !options.sources.contains(word) { options.sources.append(word) }
      },
    ]
  ) { options, words throws(UsageError) in
    guard let room = words.paths.first else { throw UsageError("which ROOM?") }
    if words.paths.count > 1 { throw UsageError("one room alone: \(words.operands[1])") }
    options.room = room
    if options.isListener, !options.sources.isEmpty {
      throw UsageError("--listen and --source: one of them")
    }
    if options.key == nil { throw UsageError("which API key? give -k, or set LIVEKIT_API_KEY") }
  }

  /// What the token says.
  func claims(now: Int) throws(Failure) -> String {
    var claims = #"{"iss":\#(try quoted(key ?? "")),"sub":\#(try quoted(identity ?? Self.user))"#
    claims += #","nbf":\#(now),"exp":\#(now + seconds)"#
    if let name { claims += #","name":\#(try quoted(name))"# }
    if let metadata { claims += #","metadata":\#(try quoted(metadata))"# }
    if !attributes.isEmpty {
      var members: [String] = []
      for (name, value) in attributes { members.append("\(try quoted(name)):\(try quoted(value))") }
      claims += #","attributes":{\#(members.joined(separator: ","))}"#
    }
    claims += #","video":{"room":\#(try quoted(room)),"roomJoin":true"#
    if isAdmin { claims += #","roomAdmin":true,"roomList":true"# }
    claims += #","canPublish":\#(!isListener),"canSubscribe":true,"canPublishData":\#(!isListener)"#
    if !sources.isEmpty {
      let words = sources.map { JSONQuote.string($0) }.joined(separator: ",")
      claims += #","canPublishSources":[\#(words)]"#
    }
    if isHidden { claims += #","hidden":true"# }
    claims += "}"
    if !agents.isEmpty {
      var dispatches: [String] = []
      for (name, metadata) in agents {
        let told = try metadata.map { text throws(Failure) in #","metadata":\#(try quoted(text))"# }
        dispatches.append(#"{"agentName":\#(try quoted(name))\#(told ?? "")}"#)
      }
      claims += #","roomConfig":{"agents":[\#(dispatches.joined(separator: ","))]}"#
    }
    return claims + "}"
  }

  @Sendable private static func agent(
    _ argument: OptionArgument
  ) throws(UsageError) -> (name: String, metadata: String?) {
    let parts = argument.path.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty else { throw argument.fault("no agent is named") }
    return (String(name), parts.count > 1 ? String(parts[1]) : nil)
  }

  @Sendable private static func attribute(
    _ argument: OptionArgument
  ) throws(UsageError) -> (name: String, value: String) {
    guard let mark = argument.path.firstIndex(of: "="), mark != argument.path.startIndex else {
      throw argument.fault("not NAME=VALUE")
    }
    let value = argument.path[argument.path.index(after: mark)...]
    return (String(argument.path[..<mark]), String(value))
  }

  @Sendable private static func sources(_ argument: OptionArgument) throws(UsageError) -> [String] {
    for word in argument.words where !known.contains(word) { throw argument.fault(noneOf: known) }
    return argument.words
  }

  private func quoted(_ text: String) throws(Failure) -> String {
    if FileName.isOdd(text) { throw Failure(text, "not UTF-8") }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
      throw Failure(Visible.masked(text), "a control character")
    }
    return JSONQuote.string(text)
  }

  private static var user: String {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else {
      return "\(getuid())"
    }
    return String(cString: name)
  }
}

extension Reading<String> {
  /// A text, byte for byte, that is not empty.
  fileprivate static var name: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      return argument.path
    }
  }
}

extension Reading<Int> {
  fileprivate static var goodFor: Reading {
    Reading { argument throws(UsageError) in
      let digits = argument.value.utf8
      guard digits.allSatisfy({ (48...57).contains($0) }), digits.first != 48,
        let seconds = Int(argument.value), (1...999_999_999).contains(seconds)
      else { throw argument.fault("not a number of seconds from 1 to 999999999") }
      return seconds
    }
  }
}
