/// The algorithms that one side offers when keys are exchanged (RFC 4253, 7.1), best
/// first.
struct KeyExchangeOffer: Equatable, Sendable {
  var exchange: [String] = []
  var hostKey: [String] = []
  /// Ciphers, to the host and from it.
  var cipher: [String] = []
  var cipherBack: [String] = []
  /// Message authentication, to the host and from it.
  var mac: [String] = []
  var macBack: [String] = []

  init() {}

  /// Reads the offer out of the bytes with which a host begins: perhaps lines of any
  /// kind, one that starts with `SSH-`, then the packet. All of it is in the clear.
  ///
  /// - Returns: nil when it is not all there, or is none.
  init?(greeting: [UInt8]) {
    guard var rest = Self.behindVersion(greeting[...]) else { return nil }
    guard rest.count > 5 else { return nil }
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let padding = Int(rest[rest.startIndex + 4])
    guard length >= padding + 1, length <= rest.count - 4 else { return nil }
    rest = rest.dropFirst(5).prefix(length - 1 - padding)
    guard rest.first == 20, rest.count > 17 else { return nil }
    var reader = WireReader(rest.dropFirst(17))
    var lists: [[String]] = []
    while lists.count < 6, let list = reader.string() {
      lists.append(
        list.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) })
    }
    guard lists.count == 6 else { return nil }
    exchange = lists[0]
    hostKey = lists[1]
    cipher = lists[2]
    cipherBack = lists[3]
    mac = lists[4]
    macBack = lists[5]
  }

  /// What a client that makes this offer cannot agree on with a host's, in words with
  /// both lists; nil when they can agree.
  func mismatch(with host: KeyExchangeOffer) -> String? {
    let kinds: [(String, [String], [String])] = [
      ("key exchange", exchange, host.exchange),
      ("host key", hostKey, host.hostKey),
      ("cipher", cipher, host.cipher),
      ("cipher", cipherBack, host.cipherBack),
      ("MAC", mac, host.mac),
      ("MAC", macBack, host.macBack),
    ]
    var parts: [String] = []
    for (kind, ours, theirs) in kinds where !ours.contains(where: theirs.contains) {
      let part =
        "\(kind) (host: \(theirs.joined(separator: ",")); ours: \(ours.joined(separator: ",")))"
      if parts.last != part { parts.append(part) }
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// The first line that a host sent, when none of its lines is a version of SSH; for
  /// the message. Not escaped.
  static func strangeLine(_ greeting: [UInt8]) -> String? {
    guard !greeting.isEmpty, behindVersion(greeting[...]) == nil, !greeting.starts(with: marker)
    else { return nil }
    let line = greeting.prefix { $0 != 10 && $0 != 13 }.prefix(80)
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static let marker = Array("SSH-".utf8)

  private static func behindVersion(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = bytes
    while let end = rest.firstIndex(of: 10) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.starts(with: marker) { return rest }
    }
    return nil
  }
}
