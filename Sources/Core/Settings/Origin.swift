/// The origin of a URL, scheme, host and port (RFC 6454), as far as comparing
/// two settings needs it. What cannot be told apart surely has none.
struct Origin: Equatable {
  let scheme: String
  let host: String
  let port: Int

  /// - Parameter url: an absolute http or https URL.
  init?(_ url: String) {
    let bytes = Array(url.utf8)
    guard !bytes.contains(where: { $0 <= 0x20 || $0 == 0x5c || $0 == 0x7f }),
      let colon = url.firstRange(of: "://")
    else { return nil }
    scheme = url[..<colon.lowerBound].lowercased()
    guard let standard = ["http": 80, "https": 443][scheme] else { return nil }
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
