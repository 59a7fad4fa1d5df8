import CCrypto
import Core

/// A line of a file in OpenSSH's known_hosts format, see sshd(8).
struct HostKeyLine: Equatable, Sendable {
  enum Marker: Equatable, Sendable {
    case trusted
    /// It must never be believed, whoever shows it.
    case revoked
    case authority
  }

  let marker: Marker
  let hosts: HostNamePattern
  let key: HostKey
  /// In its file, from 1.
  var number = 0

  /// The longest line, bytes.
  static let limit = 16 * 1024

  /// Whether it says that this is a key of a host.
  func isPin(of place: HostKeyPlace) -> Bool { marker == .trusted && hosts.matches(place.key) }

  /// Nil for a line that says nothing. `line`: without its line feed; a carriage return in front of that is no part of it.
  static func read(_ line: ArraySlice<UInt8>) throws(Failure) -> HostKeyLine? {
    let line = line.last == 13 ? line.dropLast() : line
    guard line.count <= limit else { throw Failure("longer than \(limit) bytes") }
    guard line.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7f }) else {
      throw Failure("control character in the line")
    }
    var rest = line.drop(while: \.isBlank)
    guard let first = rest.first, first != UInt8(ascii: "#") else { return nil }
    var marker = Marker.trusted
    if first == UInt8(ascii: "@") {
      switch String(decoding: word(&rest), as: UTF8.self) {
      case "@revoked": marker = .revoked
      case "@cert-authority": marker = .authority
      default: throw Failure("unknown marker")
      }
    }
    guard let hosts = HostNamePattern(word(&rest)) else { throw Failure("damaged host name") }
    let type = String(decoding: word(&rest), as: UTF8.self)
    let base64 = word(&rest)
    guard !type.isEmpty, !base64.isEmpty else { throw Failure("no key in the line") }
    guard let key = HostKey(type: type, base64: base64) else { throw Failure("damaged key") }
    return HostKeyLine(marker: marker, hosts: hosts, key: key)
  }

  /// The lines of a file, each with its line feed if it has one.
  static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 10) {
      lines.append(rest[...end])
      rest = rest[(end + 1)...]
    }
    if !rest.isEmpty { lines.append(rest) }
    return lines
  }

  static func readAll(_ bytes: [UInt8]) -> (
    entries: [HostKeyLine], faults: [(number: Int, reason: String)]
  ) {
    var entries: [HostKeyLine] = []
    var faults: [(number: Int, reason: String)] = []
    for (index, line) in split(bytes).enumerated() {
      do throws(Failure) {
        guard var entry = try read(line.last == 10 ? line.dropLast() : line) else { continue }
        entry.number = index + 1
        entries.append(entry)
      } catch {
        faults.append((index + 1, error.reason))
      }
    }
    return (entries, faults)
  }

  private static func word(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let word = rest.prefix { !$0.isBlank }
    rest = rest[word.endIndex...].drop(while: \.isBlank)
    return word
  }
}

/// The first field of a line of OpenSSH's known_hosts: names and patterns between
/// commas (`box,[box]:2222,*.example,!bad.example`), or one name hashed (`|1|salt|hash`).
struct HostNamePattern: Equatable, Sendable {
  private enum Kind: Equatable, Sendable {
    case hashed(salt: [UInt8], hash: [UInt8])
    case list([ArraySlice<UInt8>])
  }

  let text: ArraySlice<UInt8>
  private let kind: Kind

  /// Nil for a hash that is damaged, or a list with an empty name.
  init?(_ text: ArraySlice<UInt8>) {
    self.text = text
    guard text.first == UInt8(ascii: "|") else {
      let names = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      guard names.allSatisfy({ !$0.isEmpty && !$0.elementsEqual([Self.not]) }) else { return nil }
      kind = .list(names)
      return
    }
    let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[1].elementsEqual("1".utf8), let salt = Base64.bytes(parts[2]),
      let hash = Base64.bytes(parts[3]), salt.count == 20, hash.count == 20
    else { return nil }
    kind = .hashed(salt: salt, hash: hash)
  }

  /// As sshd(8) says; `name`: `box` or `[box]:2222`, in lower case.
  func matches(_ name: String) -> Bool {
    switch kind {
    case .hashed(let salt, let hash): return Self.hash(name, salt: salt) == hash
    case .list(let patterns):
      var found = false
      for pattern in patterns {
        let denies = pattern.first == Self.not
        let text = denies ? pattern.dropFirst() : pattern
        guard Glob(text.map(Self.lower), hasSets: false).matches(name) else { continue }
        if denies { return false }
        found = true
      }
      return found
    }
  }

  /// Nil when nobody is left. Patterns stay: they mean more than one host.
  func without(_ name: String) -> ArraySlice<UInt8>? {
    switch kind {
    case .hashed: return matches(name) ? nil : text
    case .list(let patterns):
      let rest = patterns.filter { !$0.map(Self.lower).elementsEqual(name.utf8) }
      if rest.count == patterns.count { return text }
      // What only takes away from nothing means nobody.
      guard rest.contains(where: { $0.first != Self.not }) else { return nil }
      return Array(rest.joined(separator: [UInt8(ascii: ",")]))[...]
    }
  }

  private static let not = UInt8(ascii: "!")

  private static func lower(_ byte: UInt8) -> UInt8 {
    (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
  }

  private static func hash(_ name: String, salt: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 0
    let bytes = Array(name.utf8)
    HMAC(EVP_sha1(), salt, Int32(salt.count), bytes, bytes.count, &digest, &count)
    return digest
  }
}
