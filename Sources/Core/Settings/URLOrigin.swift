/// The origin of a URL: scheme, host and port (RFC 6454), as far as comparing
/// two settings needs it. A URL that cannot be compared surely, such as one with
/// a name that is not ASCII, has none.
struct URLOrigin: Equatable {
  let scheme: String
  let host: String
  let port: Int

  init?(_ url: String) {
    let bytes = Array(url.utf8)
    guard bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x5c }),
      let colon = url.place(of: "://")
    else { return nil }
    scheme = url[..<colon.lowerBound].lowercased()
    let ports = ["http": 80, "https": 443, "ws": 80, "wss": 443]
    guard let standard = ports[scheme] else { return nil }
    var authority = url[colon.upperBound...].prefix { !"/?#".contains($0) }
    if let at = authority.lastIndex(of: "@") {
      authority = authority[authority.index(after: at)...]
    }
    var port: Int? = standard
    if let end = authority.lastIndex(of: ":"), authority[end...].firstIndex(of: "]") == nil {
      let digits = authority[authority.index(after: end)...]
      if !digits.isEmpty { port = UInt16(digits).map(Int.init) }
      authority = authority[..<end]
    }
    guard let port, !authority.isEmpty else { return nil }
    host = authority.lowercased()
    self.port = port
  }
}
