import CCrypto
import Core

/// A host's public key, in the form that goes over the wire (RFC 4253, 6.6) and, in
/// base64, into OpenSSH's files.
public struct HostKey: Equatable, Sendable {
  /// `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa` ...
  public let type: String
  /// The whole key, its type in front.
  public let blob: [UInt8]
  /// What ssh-keygen(1) calls the key's size.
  public let bits: Int

  /// Reads a key as a host shows it.
  ///
  /// - Returns: nil when it is damaged: a part missing or too long, bytes behind it.
  ///   A type that is not known is taken when its parts hang together.
  public init?(blob: [UInt8]) {
    var reader = WireReader(blob[...])
    guard let name = reader.text(), !name.isEmpty, let bits = Self.bits(of: name, &reader),
      reader.isAtEnd
    else { return nil }
    type = name
    self.blob = blob
    self.bits = bits
  }

  /// Reads a key as it stands in a file: its type and its base64.
  ///
  /// - Returns: nil when it is damaged, or says another type inside.
  public init?(type: some StringProtocol, base64: ArraySlice<UInt8>) {
    guard let blob = Base64.bytes(base64), let key = HostKey(blob: blob), key.type == type else {
      return nil
    }
    self = key
  }

  /// Reads the first line of a user's public key's file.
  ///
  /// - Returns: the key, and the words behind it; nil when it is no key.
  static func publicLine(_ bytes: [UInt8]) -> (key: HostKey, comment: String)? {
    let words = bytes.prefix { $0 != 10 && $0 != 13 }.split(separator: 0x20, maxSplits: 2)
    guard words.count > 1,
      let key = HostKey(type: String(decoding: words[0], as: UTF8.self), base64: words[1])
    else { return nil }
    return (key, words.count > 2 ? String(decoding: words[2], as: UTF8.self) : "")
  }

  /// `SHA256:...`, as `ssh-keygen -l` shows it.
  public var fingerprint: String {
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(blob, blob.count, &digest)
    return "SHA256:" + Base64.text(digest).prefix { $0 != "=" }
  }

  /// Type and base64, as they stand in OpenSSH's files.
  public var text: String { "\(type) \(Base64.text(blob))" }

  /// The short name of the type: `ED25519`.
  public var kind: String { Self.kind(of: type) }

  /// The short name that OpenSSH shows for a type, the type itself where it has none.
  public static func kind(of type: String) -> String {
    switch type {
    case "ssh-ed25519": "ED25519"
    case "ssh-rsa", "rsa-sha2-256", "rsa-sha2-512": "RSA"
    case "ssh-dss": "DSA"
    case "sk-ssh-ed25519@openssh.com": "ED25519-SK"
    case "sk-ecdsa-sha2-nistp256@openssh.com": "ECDSA-SK"
    default: type.hasPrefix("ecdsa-sha2-nistp") ? "ECDSA" : type
    }
  }

  /// The size of a key whose parts are those of its type, nil when they are not.
  private static func bits(of type: String, _ reader: inout WireReader) -> Int? {
    // Whoever has the key in hand signs a name, too.
    let hasName = type.hasPrefix("sk-")
    let bits: Int?
    switch type {
    case "ssh-ed25519", "sk-ssh-ed25519@openssh.com":
      bits = reader.string()?.count == 32 ? 256 : nil
    case "ecdsa-sha2-nistp256", "sk-ecdsa-sha2-nistp256@openssh.com":
      bits = point("nistp256", 256, &reader)
    case "ecdsa-sha2-nistp384": bits = point("nistp384", 384, &reader)
    case "ecdsa-sha2-nistp521": bits = point("nistp521", 521, &reader)
    case "ssh-rsa":
      bits = reader.number() == nil ? nil : reader.number().flatMap { $0 >= 512 ? $0 : nil }
    case "ssh-dss":
      let numbers = (0..<4).map { _ in reader.number() }
      bits = numbers.contains(nil) ? nil : numbers[0]
    default:
      var count = 0
      while !reader.isAtEnd {
        guard let part = reader.string() else { return nil }
        count = max(count, part.count)
      }
      return count > 0 ? count * 8 : nil
    }
    return hasName && reader.string() == nil ? nil : bits
  }

  private static func point(_ curve: String, _ bits: Int, _ reader: inout WireReader) -> Int? {
    guard reader.text() == curve, let point = reader.string(), point.first == 4,
      point.count == 1 + 2 * ((bits + 7) / 8)
    else { return nil }
    return bits
  }
}
