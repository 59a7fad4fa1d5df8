/// The SHA-256 of a server's certificate in DER, by which people compare certificates.
public struct CertificateFingerprint: Hashable, Sendable {
  private let digest: [UInt8]

  /// - Parameter digest: its 32 bytes.
  public init(digest: [UInt8]) { self.digest = digest }

  /// Reads what programs print: `sha256:` or nothing in front of 64 hexadecimal digits, which may
  /// have a colon between each two, or `SHA256:` in front of base64 with or without padding.
  ///
  /// - Returns: nil for anything else.
  public init?(_ text: String) {
    let mark = "sha256:"
    let isMarked = text.prefix(mark.count).lowercased() == mark
    let letters = Array((isMarked ? text.dropFirst(mark.count) : text[...]).utf8)
    if isMarked, letters.count == 43 || letters.count == 44 {
      let padding: [UInt8] = letters.count == 43 ? [0x3d] : []
      guard let digest = Base64.bytes(letters + padding), digest.count == 32 else { return nil }
      self.digest = digest
      return
    }
    let isPaired = letters.count == 95
    var digits: [UInt8] = []
    for (place, letter) in letters.enumerated() {
      if isPaired, place % 3 == 2 {
        guard letter == 0x3a else { return nil }
      } else if let digit = Character(Unicode.Scalar(letter)).hexDigitValue {
        digits.append(UInt8(digit))
      } else {
        return nil
      }
    }
    guard digits.count == 64 else { return nil }
    digest = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// How long `text` is.
  public static let length = 71

  /// `sha256:` and 64 digits.
  public var text: String {
    "sha256:" + digest.hex
  }
}
