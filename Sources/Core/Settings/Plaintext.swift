import CLibc

extension Credentials {
  /// Whether a token may be sent to a host: over https always; over http only
  /// to this machine, into a tailnet (100.64.0.0/10, *.ts.net: encrypted below),
  /// or when the user said so. Over anything else never.
  ///
  /// - Parameter host: of the URL, an IPv6 address with or without brackets.
  public static func mayTravel(scheme: String, host: String, allowPlaintext: Bool) -> Bool {
    switch scheme.lowercased() {
    case "https": true
    case "http": allowPlaintext || isPrivate(host)
    default: false
    }
  }

  private static func isPrivate(_ host: String) -> Bool {
    // The Kelvin sign is a k in lower case, but no host name has one.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    var name = host.lowercased()[...]
    if name.hasPrefix("[") && name.hasSuffix("]") {
      return ipv6(String(name.dropFirst().dropLast())).map(isPrivate(ipv6:)) ?? false
    }
    if let address = ipv6(String(name)) { return isPrivate(ipv6: address) }
    if name.hasSuffix(".") { name.removeLast() }
    if let address = ipv4(String(name)) { return isPrivate(ipv4: address) }
    if name == "localhost" { return true }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { byte in
          (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
            || byte == 0x5f
        }
    }
    return isName && labels.count > 2 && labels.suffix(2) == ["ts", "net"]
  }

  /// 127.0.0.0/8 (RFC 1122) or 100.64.0.0/10 (RFC 6598), which Tailscale uses.
  private static func isPrivate(ipv4 address: ArraySlice<UInt8>) -> Bool {
    guard let first = address.first, let second = address.dropFirst().first else { return false }
    return first == 127 || first == 100 && second & 0xc0 == 64
  }

  /// ::1, or an IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2).
  private static func isPrivate(ipv6 address: ArraySlice<UInt8>) -> Bool {
    if address.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]) { return true }
    return address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
      && isPrivate(ipv4: address.dropFirst(12))
  }

  private static func ipv4(_ text: String) -> ArraySlice<UInt8>? {
    address(text, family: AF_INET, count: 4)
  }

  private static func ipv6(_ text: String) -> ArraySlice<UInt8>? {
    address(text, family: AF_INET6, count: 16)
  }

  private static func address(_ text: String, family: Int32, count: Int) -> ArraySlice<UInt8>? {
    // A C string would end at a NUL and show inet_pton a shorter name.
    guard !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes[...] : nil
  }
}
