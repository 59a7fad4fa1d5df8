import CLibc
import Core
import Kinds

struct Setup {
  private let talk: SetupTalk
  private let file: ProfileFile
  private let wanted: KindFacts?
  private var profile: String
  private var kind: KindFacts
  private var url = ""
  private var identifier = ""
  private var token: [UInt8] = []
  /// The fingerprint of the certificate that the server is to have; empty for one that authorities
  /// vouch for.
  private var fingerprint = ""
  /// What the last question came to: the status, the reason, and what was printed.
  private var code: Int32 = 0
  private var said = ""
  private var printed = ""
  /// Whether a gateway refused the token, and let the device in.
  private var isByDevice = false
  /// Where the token goes, once that was asked, and what the profile says of it once it is there.
  private var place: String?
  private var kept: [String]?
  /// The device that a pairing code made of this machine.
  private var device = ""

  private var isPDS: Bool { wanted == .pds }
  private var client: String { isPDS ? "pds-record" : "agent-call" }
  private var what: String { kind.secret }
  private var facts: SetupFacts { kind.setup ?? .usual }

  init(_ options: SetupOptions, _ file: ProfileFile, _ talk: SetupTalk) {
    (wanted, profile) = (options.kind, options.profile ?? "")
    kind = options.kind ?? .clanky
    (self.file, self.talk) = (file, talk)
  }

  /// The exit status.
  mutating func run() throws -> Int32 {
    name()
    if file.has(profile),
      !talk.agrees("There is a profile \(profile). Replace its URL and \(what)?")
    {
      talk.say("Nothing was changed.")
      return 1
    }
    address()
    if isPDS { identity() }
    secret()
    if let status = try check() { return status }
    let kept = try kept ?? keep()
    let (key, value) = belonging()
    var settings = kind == .clanky ? [] : ["kind = \(kind.name)"]
    settings += location
    if !value.isEmpty { settings.append("\(key ?? "") = \(value)") }
    try file.write(profile, settings + kept, replacing: key)
    talk.say("Wrote the profile \(profile) in \(file.path).")
    // What was written is what counts.
    try ask(profile)
    if code == 0 {
      talk.say("\(client) -p \(profile) \(word.joined(separator: " ")): ok")
      if kind == .openclaw {
        talk.say(
          "agent-approve sees what runs of this device ask. What the TUI, the clock and other devices "
            + "ask, it sees with --all: the gateway is then asked for operator.admin.")
      }
    } else {
      explain()
    }
    if code == 0 { talk.say(next: facts.commands(profile)) }
    if Self.heard.contains(where: { Process.environment($0) != nil }) {
      talk.say("AGENT_URL, AGENT_PROFILE and AGENT_TOKEN_FILE win over profiles: unset them.")
    }
    return code
  }

  // MARK: Questions

  /// The name and the URL must be what agentutils.conf(5) can hold.
  private mutating func name() {
    while true {
      if profile.isEmpty { profile = talk.ask("Name of the profile", "default") }
      if !ProfileFile.isName(profile) {
        talk.say("A name has letters, digits, dots, dashes and underscores.")
      } else if profile.utf8.count > 40 {
        talk.say("A name has 40 letters at most.")
      } else {
        return
      }
      profile = ""
    }
  }

  private mutating func address() {
    let question = (wanted?.setup ?? .usual).address
    while true {
      url = talk.ask(question)
      if url.hasSuffix("/") { url.removeLast() }
      let isSocket = url.hasPrefix("ws:") || url.hasPrefix("wss:")
      if isPDS, isSocket {
        talk.say("A personal data server is asked by https.")
        continue
      }
      if url.isEmpty {
        guard let wanted, wanted.defaultURL != nil else { continue }
        kind = wanted
        return
      }
      let schemes = ["http://", "https://", "ws://", "wss://"]
      if !schemes.contains(where: { url.hasPrefix($0) && url != $0 }) { url = scheme + "://" + url }
      if !url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !Array("\"'`\\".utf8).contains($0) })
      {
        talk.say("This is not a URL: it has blanks or odd characters.")
      } else if url.holds("@") {
        talk.say("Leave the user and the password out of the URL.")
      } else if url.utf8.count > 180 {
        talk.say("A URL has 180 characters at most.")
      } else {
        // What the profile says of a server stays with that.
        let old = file.value(of: "url", in: profile).flatMap(Self.secureHost)
        let isKnown = old != nil && old == Self.secureHost(url)
        fingerprint = isKnown ? file.value(of: "tls-fingerprint", in: profile) ?? "" : ""
        recognize()
        return
      }
    }
  }

  /// Who is to show a certificate; nil where no TLS is spoken.
  private static func secureHost(_ url: String) -> Substring? {
    ["https://", "wss://"].first(where: url.hasPrefix).map { scheme in
      url.dropFirst(scheme.count).prefix { $0 != "/" }
    }
  }

  private mutating func recognize() {
    kind = wanted ?? (url.hasPrefix("ws") ? .openclaw : isPincer() ? .pincer : .clanky)
    if isGateway() { (kind, url) = (.openclaw, "ws" + url.dropFirst("http".utf8.count)) }
  }

  /// What an address without one begins with. On this machine there is no TLS.
  private var scheme: String {
    var host = url.prefix { $0 != "/" }
    let isHere: Bool
    if host == "[::1]" || host.hasPrefix("[::1]:") {
      isHere = true
    } else {
      host = host.prefix { $0 != ":" }
      let isAddress = host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
      isHere = host == "localhost" || host.hasPrefix("127.") && isAddress
    }
    let start = wanted?.setup?.scheme ?? "http"
    return isHere ? start : start + "s"
  }

  private mutating func identity() {
    while true {
      identifier = talk.ask("Handle of the account, or its DID")
      if identifier.hasPrefix("@") { identifier.removeFirst() }
      let isPlain = identifier.allSatisfy {
        $0.isASCII && ($0.isLetter || $0.isNumber) || ".:%_-".contains($0)
      }
      let parts = identifier.split(separator: ".", maxSplits: 1)
      if isPlain, identifier.hasPrefix("did:") && identifier != "did:" || parts.count == 2 {
        if identifier.utf8.count <= 180 { return }
        talk.say("A name has 180 characters at most.")
      } else if !identifier.isEmpty {
        talk.say("This is neither a handle, as ada.example.org, nor a DID.")
      }
    }
  }

  /// Only a Pincer server refuses in its way whatever has no token.
  private mutating func isPincer() -> Bool {
    guard probe(.pincer, ["-o", "tsv", "-q", "threads"]), code == 77,
      said.holds("no token was sent"), said.holds("unauthenticated")
    else { return false }
    talk.say("This is a Pincer server.")
    return true
  }

  /// A gateway says at its dashboard's address that it lives.
  private mutating func isGateway() -> Bool {
    let mayBe = kind == .clanky && wanted == nil || kind == .openclaw
    guard mayBe, url.hasPrefix("http"), url == origin, probe(.clanky, ["get", "/health"]),
      code == 0, let answer = try? JSONValue.parse(text: printed),
      answer["ok"]?.bool == true, answer["status"]?.string == "live"
    else { return false }
    talk.say("This is an OpenClaw gateway.")
    return true
  }

  private mutating func secret() { token = talk.secret(facts.secret) }

  // MARK: Whether it answers

  private static let heard = ["AGENT_URL", "AGENT_PROFILE", "AGENT_TOKEN_FILE"]

  private var word: [String] { isPDS && token.isEmpty ? ["describe"] : facts.word }

  private mutating func ask(
    _ profile: String, _ changes: [String: String?] = [:], with input: [UInt8]? = nil,
    isFirst: Bool = false
  ) throws {
    let limit =
      isPDS
      ? ["--timeout", "15", "--max-retries", "0"] : ["--max-time", "15", "-o", "tsv"]
    let name = changes["AGENT_URL"] == nil ? ["-p", profile] : []
    let given = input?.isEmpty == false ? ["--token-file", "-"] : []
    // All that the commands need is asked for together, so that one approval is enough.
    let words = isFirst && kind == .openclaw ? ["-v", "scopes"] : word
    try call([client] + name + given + limit + words, changes, input ?? [])
    // A gateway without agents is one, and so is a server without threads.
    if code == 1, facts.mayBeEmpty { code = 0 }
  }

  private mutating func call(
    _ words: [String], _ changes: [String: String?], _ input: [UInt8]
  ) throws {
    var environment: [String: String?] = [:]
    for name in Self.heard + ["CREDENTIALS_DIRECTORY"] {
      environment.updateValue(nil, forKey: name)
    }
    environment.merge(changes) { $1 }
    let call = try ProgramCall(
      words, environment: environment, input: input.isEmpty ? [] : input + [10])
    ProgramCall.wait(for: [call], clean: talk.clean)
    (code, said) = (call.status, call.faults.last ?? "")
    isByDevice = call.faults.contains { $0.holds("lets this device in by its own") }
    printed = call.lines.joined(separator: " ")
  }

  /// Asks by the profile `new`, which `configure` wrote.
  private mutating func askNew(
    _ words: [String], seconds: Int = 15, _ input: [UInt8] = []
  ) throws {
    try call(
      ["agent-call", "-p", "new", "--max-time", "\(seconds)"] + words,
      ["XDG_CONFIG_HOME": talk.folder], input)
  }

  /// Asks as if this were an agent of a kind; false where that cannot be.
  private mutating func probe(_ kind: KindFacts, _ words: [String]) -> Bool {
    guard (try? configure(kind)) != nil else { return false }
    // What follows may ask without a profile.
    defer { unlink(configuration) }
    try? askNew(words, seconds: 5)
    return true
  }

  /// Asks the agent with the token, before anything is written.
  private mutating func isHealthy() throws -> Bool {
    var changes: [String: String?] = ["XDG_CONFIG_HOME": talk.folder]
    // The device that a gateway comes to know is to stay; the tokens for a password are not.
    if isPDS { changes["XDG_STATE_HOME"] = talk.folder + "/state" }
    if kind == .clanky, fingerprint.isEmpty {
      changes["AGENT_URL"] = url
    } else {
      try configure(kind)
    }
    // A pairing code serves once: first all that can fail. A token has letters.
    if kind == .pincer, token.allSatisfy({ (0x30...0x39).contains($0) }) {
      try file.check()
      place = place ?? choosePlace()
      let path = talk.folder + "/token"
      try askNew(["-o", "json", "pair", path], token.isEmpty ? [10] : token)
      if code != 0 { return false }
      token = try BoundedFile.given(path).filter { $0 != 10 }
      server = origin
      device = (try? JSONValue.parse(text: printed))?["deviceId"]?.string ?? ""
      guard let kept = try keep(in: place ?? "file") else {
        try revoke()
        talk.fail("could not keep the \(what); nothing was changed")
      }
      self.kept = kept
      talk.say("The server has made this machine one of its devices.")
    }
    try ask("new", changes, with: token, isFirst: true)
    if code == 0, isByDevice {
      talk.say(
        "The gateway does not accept this token. It knows this device, and lets it in without.")
      token = []
    }
    return code == 0
  }

  /// Writes the profile `new` of a configuration of its own.
  private func configure(_ kind: KindFacts) throws {
    var lines = ["[profile new]", "kind = \(kind.name)"] + location
    if !identifier.isEmpty { lines.append("identifier = \(identifier)") }
    try Folders.make(talk.folder + "/agentutils")
    try StateFile(path: configuration).replace(with: lines.flatMap { Array($0.utf8) + [10] })
  }
  /// What a profile says of where the agent is.
  private var location: [String] {
    (url.isEmpty ? [] : ["url = \(url)"])
      + (fingerprint.isEmpty ? [] : ["\(Self.key)\(fingerprint)"])
  }
  private static let key = "tls-fingerprint = "
  private var configuration: String { talk.folder + "/agentutils/config" }

  /// Has the server forget the device that a code made: else nobody could pair any more.
  private mutating func revoke(at old: (url: String, fingerprint: String)? = nil) throws {
    if device.isEmpty { return }
    let now = (url, fingerprint)
    (url, fingerprint) = old ?? now
    defer {
      (url, fingerprint) = now
      (device, kept) = ("", nil)
    }
    try configure(.pincer)
    try askNew(["-q", "--token-file", "-", "revoke", device], token)
    talk.say(
      code == 0
        ? "The server has forgotten this machine again."
        : "The server keeps this machine as device \(device): revoke it from another one, with "
          + "agent-call revoke.")
  }

  /// The server that gave a token, or has refused it: it is for no other one.
  private var server = ""
  private var origin: String {
    guard let mark = url.place(of: "://") else { return url }
    return String(url[..<mark.upperBound] + url[mark.upperBound...].prefix { $0 != "/" })
  }
  private var isToBeLetIn: Bool { code == 77 && said.holds("run on the gateway: ") }

  /// Asks until the agent answers, or somebody has had enough. Returns the exit status where
  /// nothing is to be written.
  private mutating func check() throws -> Int32? {
    while true {
      talk.say("Asking \(url.isEmpty ? "the gateway of this machine" : url) ...")
      if try isHealthy() {
        talk.say("The \(isPDS ? "server" : "agent") answers.")
        useHandle()
        return nil
      }
      if isToBeLetIn, try isLetIn() {
        talk.say("The gateway lets this device in.")
        return nil
      }
      if isTrusted() { continue }
      explain()
      // The token is wrong, or the way to the agent is.
      let usual = isPDS && code == 1 ? "h" : code != 77 ? "u" : isPDS ? "p" : "t"
      let choices = isPDS ? ("handle or password", "u/h/p/w/q") : ("another token", "u/t/w/q")
      let question =
        "Another URL, \(choices.0), write the profile nonetheless, or quit (\(choices.1))"
      switch talk.ask(question, usual).lowercased().first {
      case "h" where isPDS: identity()
      case "u":
        if code == 77 { server = origin }
        let old = (url, fingerprint)
        address()
        if !server.isEmpty, server != origin {
          try revoke(at: old)
          server = ""
          secret()
        }
      case "t",
        "p" where isPDS:
        try revoke()
        server = ""
        secret()
      case "w": return nil
      case "q":
        let status = code
        try revoke()
        talk.say("Nothing was changed.")
        return status
      default: break
      }
    }
  }

  /// Whether somebody believes a certificate that nobody vouches for. Without a terminal nobody has
  /// looked at it.
  private mutating func isTrusted() -> Bool {
    guard code != 77, isatty(0) == 1, let host = Self.secureHost(url),
      let mark = said.place(of: Self.key)
    else { return false }
    let found = String(said[mark.upperBound...].prefix(CertificateFingerprint.length))
    guard CertificateFingerprint(found)?.text == found else { return false }
    talk.say(
      "The certificate of \(host) is not signed by anyone this machine trusts. Its SHA-256 "
        + "fingerprint is \(found).")
    guard talk.ask("Trust it? (yes/no)", "no").lowercased() == "yes" else { return false }
    fingerprint = found
    recognize()
    return true
  }

  /// For a quarter of an hour; a gateway is not to be asked often.
  private mutating func isLetIn() throws -> Bool {
    talk.say("  \(said)")
    talk.say("Waiting until somebody has done that; Ctrl-C ends.")
    for _ in 0..<180 {
      talk.pause(seconds: 5)
      if try isHealthy() { return true }
      if code != 75, !isToBeLetIn { return false }
    }
    return false
  }

  /// An account that was given by its DID is one that people know by its handle, and not every
  /// server lets a DID log in. A handle that does not lead back to the DID is somebody's claim.
  private mutating func useHandle() {
    guard identifier.hasPrefix("did:"), let answer = try? JSONValue.parse(text: printed),
      let handle = answer["handle"]?.string, (1...180).contains(handle.utf8.count),
      !token.isEmpty || answer["handleIsCorrect"]?.bool == true,
      handle.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || ".-".contains($0) }),
      !handle.lowercased().hasSuffix(".invalid")
    else { return }
    talk.say("\(identifier) is \(handle).")
    identifier = handle
  }

  private func explain() {
    talk.say("  \(said)")
    let fitting = advice.first {
      ($0.kind == nil || $0.kind == kind) && ($0.status == nil || $0.status == code)
        && ($0.signs.isEmpty || $0.signs.contains { said.holds($0) })
    }
    if let fitting { talk.say(fitting.words.exchanging(text: "IDENTIFIER", for: identifier)) }
  }

  // MARK: What is kept

  private func choosePlace() -> String {
    let places = ["pass", "secret-tool"].filter(ProgramCall.isThere) + ["file"]
    return talk.choose("Where to keep the \(what)", places, places[0])
  }

  private func keep() throws -> [String] {
    guard !token.isEmpty else { return [] }
    let place = place ?? choosePlace()
    if let kept = try keep(in: place) { return kept }
    let name = place == "file" ? Folders.join(file.folder, "\(profile).token") : place
    talk.fail("\(name): could not keep the \(what); nothing was changed")
  }

  /// Nil where it could not be kept.
  private func keep(in place: String) throws -> [String]? {
    switch place {
    case "pass":
      let name = "agentutils/\(profile)"
      if !talk.hand(token + [10], to: ["pass", "insert", "-m", "-f", name]) { return nil }
      return ["token-command = pass show \(name)"]
    case "secret-tool":
      let names = ["service", "agentutils", "profile", profile]
      if !talk.hand(token, to: ["secret-tool", "store", "--label=agentutils \(profile)"] + names) {
        return nil
      }
      return ["token-command = secret-tool lookup " + names.joined(separator: " ")]
    default:
      let name = "\(profile).token"
      if (try? file.keep(token, as: name)) != true { return nil }
      return ["token-file = \(name)"]
    }
  }

  /// What else the profile says: whose records, or where an agent keeps its own.
  private func belonging() -> (key: String?, value: String) {
    if isPDS { return ("identifier", identifier) }
    let servers = file.profiles(of: .pds)
    guard kind == .joelclaw, !servers.isEmpty else { return (nil, "") }
    let now = file.value(of: "pds", in: profile) ?? "none"
    let choice = talk.choose(
      "Profile of the server that keeps its records", servers + ["none"],
      servers.contains(now) ? now : "none")
    return ("pds", choice == "none" ? "" : choice)
  }
}

/// What is said of an answer of this kind of agent (nil: of any), with this status, that has one of
/// these signs (none: whatever it says). The first that fits counts.
private let advice: [(kind: KindFacts?, status: Int32?, signs: [String], words: String)] = [
  (
    nil, nil, ["certificate has changed"],
    "Nothing was sent. A new fingerprint goes into the profile by hand, once it was compared."
  ),
  (
    .pds, nil, ["plain http"],
    "Over plain http everybody on the way could read the password: use https, a tunnel, or ssh "
      + "-L."
  ),
  (.pds, nil, ["neither a handle"], "The name of the account is misspelled."),
  (.pds, 1, [], "The server is there, but has no account of this name."),
  (
    .pds, 77, [],
    "The server is there, but does not let IDENTIFIER in with this password: is it an app "
      + "password of this account?"
  ),
  (
    .pds, nil, ["a page, not"],
    "Something answers there, but it is not a personal data server: is the path right, does the "
      + "network want a sign-in?"
  ),
  (
    .pds, 2, [],
    "Something answers there, but it is not a personal data server: is the path right?"
  ),
  (nil, nil, ["token-command of"], "The token cannot be read back from where it is kept."),
  (nil, 77, ["run on the gateway: "], "The gateway is there, but has not let this device in."),
  (
    nil, 77, ["invalid pairing code"],
    "The server is there, but the pairing code is wrong, used, or older than 10 minutes."
  ),
  (
    nil, 77, ["CreatePairingCode"],
    "A device is paired already: make a code on it, with agent-call pairing-code."
  ),
  (nil, 77, ["AUTH_TOKEN_MISSING"], "The gateway is there, but wants a token."),
  (nil, 77, ["no token was sent"], "The agent is there, but wants a token."),
  (
    nil, 77, ["has a public tunnel"],
    "The agent itself has no token yet: set one there, it is public."
  ),
  (nil, 77, [], "The agent is there, but does not accept this token."),
  (
    nil, nil, ["in clear text"],
    "Over plain ws everybody on the way could listen: use wss, a tunnel, or ssh -L."
  ),
  (
    nil, nil, ["not a WebSocket", "not the greeting"],
    "Something answers there, but it is not a gateway: is the port right?"
  ),
  (
    nil, nil, ["plain http"],
    "Over plain http everybody on the way could read the token: use https, a tunnel, or ssh -L."
  ),
  (nil, nil, ["tunnel's page"], "The tunnel is there, but the agent behind it is asleep or gone."),
  (
    nil, nil, ["esolve host", "esolving"],
    "This host name does not exist: is it spelled right, is the network up? A tunnel gets a new "
      + "name when it restarts."
  ),
  (
    nil, nil, ["wrong version number", "packet length too long", "record layer"],
    "Something answers there, but not with TLS: is it http:// or, for a gateway, ws://?"
  ),
  (
    nil, nil, ["ertificate", "SSL", "TLS"],
    "The other side cannot prove who it is: is the URL right? Name a certificate of your own in "
      + "SSL_CERT_FILE, or its fingerprint in the profile."
  ),
  (
    nil, nil, ["refused", "onnect to"],
    "Nothing answers at this address: is the agent running, is the port right?"
  ),
  (
    nil, 75, ["no whole answer", "imed out"],
    "No answer came in time: is the machine on, is a firewall between?"
  ),
  (
    nil, nil, ["no such path", "not the backend", "not JSON", "place of JSON"],
    "Something answers there, but it is not the dashboard of an agent: is the path right?"
  ),
  (nil, 75, [], "It did not answer properly; it may later."),
]
