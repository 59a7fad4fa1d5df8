import CLibc
import CNats
import Core

/// A connection that is being made, in a thread of its own: what the library calls connecting
/// blocks.
final class BusDial {
  /// Readable when the outcome is there.
  let descriptor: Int32
  let server: BusServer
  let loop: cnats_loop_ref

  enum Outcome {
    case connected(OpaquePointer)
    /// `isFinal` for what another try will not mend.
    case failed(Failure, isFinal: Bool)
  }

  /// How long one try may take, milliseconds.
  private static let patience: Int64 = 5000
  /// We look ourselves whether a link is alive: milliseconds, a year.
  private static let noPings: Int64 = 365 * 86_400_000
  /// Bytes that are read at once; a record of TLS fits.
  private static let readSize: Int32 = 256 << 10

  init(to server: BusServer, _ door: BusAuth, name: String, wake: Int32) throws(Failure) {
    self.server = server
    guard let loop = cnats_loop_new(wake) else { Diagnostics.outOfMemory() }
    var options: OpaquePointer?
    guard natsOptions_Create(&options) == NATS_OK, let options else { Diagnostics.outOfMemory() }
    do throws(Failure) {
      try Self.set(options, server, door, name: name)
      try Self.check(cnats_drive(options, loop), "event loop")
    } catch {
      natsOptions_Destroy(options)
      cnats_loop_free(loop)
      throw error
    }
    self.loop = loop
    descriptor = cnats_dial_start(options)
    guard descriptor >= 0 else {
      throw Failure(server.url, systemReason(systemError), .temporary)
    }
  }

  deinit { close(descriptor) }

  private static func set(
    _ options: OpaquePointer, _ server: BusServer, _ door: BusAuth, name: String
  ) throws(Failure) {
    // The scheme is ours: the library's tls:// does not switch TLS on.
    let url = server.speaking(tls: false).url
    try check(natsOptions_SetURL(options, url), url)
    try check(natsOptions_SetName(options, name), "name")
    try check(natsOptions_SetTimeout(options, patience), "time-out")
    try check(natsOptions_SetAllowReconnect(options, false), "reconnect")
    // Where a handshake fails the library would at once ask those that the server told of, with
    // the secret.
    try check(
      natsOptions_SetIgnoreDiscoveredServers(options, !door.mayAskOthers(of: server)), "others")
    try check(natsOptions_SetPingInterval(options, noPings), "pings")
    try check(natsOptions_SetIOBufSize(options, readSize), "buffer")
    // Otherwise a thread of the library's decides when something is sent.
    try check(natsOptions_SetSendAsap(options, true), "sending")
    if server.isTLS {
      try check(natsOptions_SetSecure(options, true), "TLS")
      if let file = door.authorities {
        try check(natsOptions_LoadCATrustedCertificates(options, file), file)
      }
      if let (chain, key) = door.certificate {
        try check(natsOptions_LoadCertificatesChain(options, chain, key), chain)
      }
      try check(natsOptions_SetExpectedHostname(options, server.host), "host")
    }
    switch door.pass {
    case .nothing: break
    case .token(let token): try check(natsOptions_SetToken(options, token.reveal()), "token")
    case .user(let name, let password):
      try check(natsOptions_SetUserInfo(options, name.reveal(), password.reveal()), "user")
    case .credentials(let path):
      try check(natsOptions_SetUserCredentialsFromFiles(options, path, nil), path)
    case .key(let user, let path):
      try check(natsOptions_SetNKeyFromSeed(options, user, path), path)
    }
  }

  private static func check(_ status: natsStatus, _ what: String) throws(Failure) {
    guard status != NATS_OK else { return }
    throw Failure(what, words(of: status))
  }

  static func words(of status: natsStatus) -> String {
    lower(natsStatus_GetText(status).map { String(cString: $0) } ?? "error \(status.rawValue)")
  }

  /// Words as they stand in a sentence; a name in capitals stays.
  static func lower(_ words: String) -> String {
    guard let first = words.first, words.dropFirst().first?.isLowercase == true else {
      return words
    }
    return first.lowercased() + words.dropFirst()
  }

  func outcome() -> Outcome? {
    var outcome = cnats_outcome()
    let count = read(descriptor, &outcome, MemoryLayout<cnats_outcome>.size)
    if count < 0 && (systemError == EAGAIN || systemError == EINTR) { return nil }
    guard count == MemoryLayout<cnats_outcome>.size else {
      return .failed(Failure(server.url, "no connection", .temporary), isFinal: false)
    }
    if outcome.status == NATS_OK, let connection = outcome.connection {
      return .connected(connection)
    }
    let reason = withUnsafeBytes(of: outcome.reason) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return failure(outcome.status, reason)
  }

  private func failure(_ status: natsStatus, _ reason: String) -> Outcome {
    func final(_ words: String, _ status: ExitStatus = .failure) -> Outcome {
      .failed(Failure(server.url, words, status), isFinal: true)
    }
    let text = reason.lowercased()
    switch status {
    case NATS_CONNECTION_AUTH_FAILED:
      return final("refused: credentials are missing or wrong", .denied)
    case NATS_SECURE_CONNECTION_REQUIRED: return final("the server wants TLS: tls://")
    case NATS_SECURE_CONNECTION_WANTED: return final("the server does not speak TLS")
    case NATS_SSL_ERROR where !server.isTLS:
      // The library changes to TLS by itself, and knows none of our certificates then.
      return final("the server wants TLS: tls://")
    case NATS_SSL_ERROR where text.holds(":depth="): return final(Self.distrust(reason))
    case NATS_SSL_ERROR where text.holds("certificate"):
      return final("the certificate is not trusted")
    case NATS_NO_SERVER: break
    default:
      if text.holds("authorization") || text.holds("authentication") {
        return final("refused: credentials are missing or wrong", .denied)
      }
    }
    let isUsual = status == NATS_NO_SERVER || reason.isEmpty
    let words = isUsual ? Self.words(of: status) : Self.plain(reason)
    return .failed(Failure(server.url, words, .temporary), isFinal: false)
  }

  /// What is wrong with a certificate: `... error: 62:hostname mismatch:depth=0:...`.
  private static func distrust(_ reason: String) -> String {
    let words = reason.split(separator: ":").map { $0.drop { $0 == " " } }
    guard let place = words.firstIndex(where: { $0.hasPrefix("depth=") }), place > 0 else {
      return "the certificate is not trusted"
    }
    return "the certificate is not trusted: \(words[place - 1])"
  }

  private static func plain(_ reason: String) -> String {
    guard reason.hasPrefix("("), let end = reason.place(of: "): ") else { return reason }
    return String(reason[end.upperBound...])
  }
}
