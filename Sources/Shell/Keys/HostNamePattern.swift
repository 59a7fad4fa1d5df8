import CCrypto

/// The first field of a line of OpenSSH's known_hosts: names and patterns between
/// commas (`box,[box]:2222,*.example,!bad.example`), or one name hashed (`|1|salt|hash`).
struct HostNamePattern: Equatable, Sendable {
  private enum Kind: Equatable, Sendable {
    case hashed(salt: [UInt8], hash: [UInt8])
    case list([ArraySlice<UInt8>])
  }

  /// As written.
  let text: ArraySlice<UInt8>
  private let kind: Kind

  /// - Returns: nil for a hash that is damaged, or a list with an empty name.
  init?(_ text: ArraySlice<UInt8>) {
    self.text = text
    guard text.first == UInt8(ascii: "|") else {
      let names = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      guard names.allSatisfy({ !$0.isEmpty && !$0.elementsEqual([Self.not]) }) else { return nil }
      kind = .list(names)
      return
    }
    let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    guard parts.count == 4, parts[1].elementsEqual("1".utf8), let salt = Base64.decode(parts[2]),
      let hash = Base64.decode(parts[3]), salt.count == 20, hash.count == 20
    else { return nil }
    kind = .hashed(salt: salt, hash: hash)
  }

  /// Whether a host is meant, as sshd(8) says: one pattern fits, and none that is
  /// denied does.
  ///
  /// - Parameter name: `box` or `[box]:2222`, in lower case.
  func matches(_ name: String) -> Bool {
    switch kind {
    case .hashed(let salt, let hash): return Self.hash(name, salt: salt) == hash
    case .list(let patterns):
      var found = false
      for pattern in patterns {
        let denies = pattern.first == Self.not
        guard Self.fits(Array(name.utf8)[...], denies ? pattern.dropFirst() : pattern) else {
          continue
        }
        if denies { return false }
        found = true
      }
      return found
    }
  }

  /// The field without a host: nil when nobody is left. Patterns stay: they mean
  /// more than one host.
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

  /// `*` for any bytes, `?` for one. Goes back only to the last star, so that no
  /// pattern takes long.
  private static func fits(_ name: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    var (at, place) = (name.startIndex, pattern.startIndex)
    var star: (pattern: Int, name: Int)?
    while at < name.endIndex {
      if place < pattern.endIndex, pattern[place] == UInt8(ascii: "*") {
        star = (place, at)
        place += 1
      } else if place < pattern.endIndex,
        pattern[place] == UInt8(ascii: "?") || lower(pattern[place]) == name[at]
      {
        at += 1
        place += 1
      } else if let last = star {
        star = (last.pattern, last.name + 1)
        (place, at) = (last.pattern + 1, last.name + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
