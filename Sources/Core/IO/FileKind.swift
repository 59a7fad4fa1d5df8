/// What a file is by its first bytes, for a suffix where its name has none. The
/// signatures are those of file(1) and of the formats' own descriptions.
public enum FileKind {
  /// How many bytes from the beginning are looked at.
  public static let window = 512

  /// - Parameter head: so many of its bytes, or all.
  /// - Returns: `png`, `txt`; `bin` for what is not known and no text.
  public static func suffix(_ head: [UInt8]) -> String {
    for (suffix, at, signature) in signatures where has(head, at, signature) { return suffix }
    if has(head, 0, "RIFF") {
      if has(head, 8, "WEBP") { return "webp" }
      if has(head, 8, "WAVE") { return "wav" }
      if has(head, 8, "AVI ") { return "avi" }
    }
    if has(head, 4, "ftyp") { return media(brand: Array(head.dropFirst(8).prefix(4))) }
    if let text = markup(head) { return text }
    return isText(head) ? "txt" : "bin"
  }

  private static let signatures: [(String, Int, [UInt8])] = [
    ("png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ("jpg", 0, [0xff, 0xd8, 0xff]),
    ("gif", 0, Array("GIF87a".utf8)),
    ("gif", 0, Array("GIF89a".utf8)),
    ("bmp", 0, Array("BM".utf8)),
    ("tiff", 0, [0x49, 0x49, 0x2a, 0x00]),
    ("tiff", 0, [0x4d, 0x4d, 0x00, 0x2a]),
    ("jxl", 0, [0xff, 0x0a]),
    ("jxl", 0, [0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]),
    ("webm", 0, [0x1a, 0x45, 0xdf, 0xa3]),
    ("pdf", 0, Array("%PDF-".utf8)),
    ("zip", 0, [0x50, 0x4b, 0x03, 0x04]),
    ("gz", 0, [0x1f, 0x8b]),
    ("zst", 0, [0x28, 0xb5, 0x2f, 0xfd]),
    ("xz", 0, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
    ("ogg", 0, Array("OggS".utf8)),
    ("flac", 0, Array("fLaC".utf8)),
    ("mp3", 0, Array("ID3".utf8)),
  ]

  /// The brand of an ISO base media file, ISO/IEC 14496-12.
  private static func media(brand: [UInt8]) -> String {
    switch String(decoding: brand, as: UTF8.self) {
    case "heic", "heix", "hevc", "heim", "heis", "mif1", "msf1": "heic"
    case "avif", "avis": "avif"
    case "qt  ": "mov"
    case "M4A ", "M4B ": "m4a"
    default: "mp4"
    }
  }

  private static func markup(_ head: [UInt8]) -> String? {
    let start = head.drop { [9, 10, 13, 32].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    if text.hasPrefix("<svg") { return "svg" }
    if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") { return "html" }
    return nil
  }

  private static func isText(_ head: [UInt8]) -> Bool {
    guard !head.contains(where: { $0 < 9 || (14...31).contains($0) && $0 != 27 || $0 == 127 })
    else { return false }
    // A window that is full may end inside a character: up to three bytes short.
    return (0...(head.count < window ? 0 : 3)).contains {
      String(validating: head.dropLast($0), as: UTF8.self) != nil
    }
  }

  private static func has(_ head: [UInt8], _ at: Int, _ text: String) -> Bool {
    has(head, at, Array(text.utf8))
  }

  private static func has(_ head: [UInt8], _ at: Int, _ signature: [UInt8]) -> Bool {
    head.dropFirst(at).starts(with: signature)
  }
}
