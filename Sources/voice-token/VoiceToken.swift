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
  let given: [UInt8]?
  do throws(Failure) { given = try TokenFile.given(path) } catch { throw error.asDenied }
  guard var secret = given else {
    throw Failure(name, "no secret can be read there", .denied)
  }
  if secret.last == 10 { secret.removeLast() }
  if secret.isEmpty { throw Failure(name, "no secret in it", .denied) }
  if secret.contains(10) { throw Failure(name, "more than one line", .denied) }
  guard secret.allSatisfy({ (0x21...0x7e).contains($0) }) else {
    throw Failure(name, "not one line of visible characters", .denied)
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

  static let table = OptionTable<TokenOptions>(
    program: "voice-token",
    summary: "Print a token by which somebody may join a room of a LiveKit server.",
    synopsis: "[options] ROOM", operands: .none,
    options: [
      Option("i", "identity", "NAME", "who joins (default: the name of the user)", .name) {
        $0.identity = $1
      },
      Option("k", "key", "KEY", "the name of the secret (default: LIVEKIT_API_KEY)", .name) {
        $0.key = $1
      },
      Option(
        "s", "secret-file", "FILE",
        "the API secret, - for standard input (default: ~/.config/agentutils/livekit)", .path
      ) { $0.file = $1 },
      Option("t", "time", "SECONDS", "for how long it is good (default: 3600)", .goodFor) {
        $0.seconds = $1
      },
      Option(nil, "name", "TEXT", "what others see", .name) { $0.name = $1 },
    ]
  ) { options, words throws(UsageError) in
    guard let room = words.paths.first else { throw UsageError("which ROOM?") }
    if words.paths.count > 1 { throw UsageError("one room alone: \(words.operands[1])") }
    options.room = room
    if options.key == nil { throw UsageError("which API key? give -k, or set LIVEKIT_API_KEY") }
  }

  /// What the token says.
  func claims(now: Int) throws(Failure) -> String {
    var claims = #"{"iss":\#(try quoted(key ?? "")),"sub":\#(try quoted(identity ?? Self.user))"#
    claims += #","nbf":\#(now),"exp":\#(now + seconds)"#
    if let name { claims += #","name":\#(try quoted(name))"# }
    return claims + #","video":{"room":\#(try quoted(room)),"roomJoin":true,"canPublish":true"#
      + #","canSubscribe":true,"canPublishData":true}}"#
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
