import Agent
import Core

enum AttachedFile {
  /// How long a pipe may bring nothing, seconds.
  private static let patience = 5.0

  static func read(_ path: String) throws(Failure) -> ChatQuestion.Attachment {
    let name = name(of: path)
    // `-` is standard input everywhere in the suite, and that has no name.
    if path == "-" || name.isEmpty { throw Failure("--attach", "a file is to be named") }
    let bytes = try BoundedFile.given(path, patience: patience)
    if bytes.isEmpty { throw Failure(path, "the file is empty") }
    return ChatQuestion.Attachment(
      name: FileName.repaired(name), mediaType: mediaType(name, bytes), bytes: bytes)
  }

  static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? ""
  }

  /// By its first bytes where they say it, else by its name, else by whether it is text.
  static func mediaType(_ name: String, _ bytes: [UInt8]) -> String {
    for (type, at, signature) in signatures
    where bytes.dropFirst(at).starts(with: signature) { return type }
    if bytes.starts(with: Array("RIFF".utf8)) {
      let kind = String(decoding: bytes.dropFirst(8).prefix(4), as: UTF8.self)
      if let type = ["WEBP": "image/webp", "WAVE": "audio/wav"][kind] { return type }
    }
    if bytes.dropFirst(4).starts(with: Array("ftyp".utf8)) {
      switch String(decoding: bytes.dropFirst(8).prefix(4), as: UTF8.self) {
      case "heic", "heix", "mif1": return "image/heic"
      case "avif": return "image/avif"
      case "M4A ": return "audio/mp4"
      default: return "video/mp4"
      }
    }
    if let dot = name.lastIndex(of: "."), dot > name.startIndex,
      let type = extensions[name[name.index(after: dot)...].lowercased()]
    {
      return type
    }
    let isText = !bytes.contains(0) && bytes.withUnsafeBytes { UTF8Text.isValid($0) }
    return isText ? "text/plain" : "application/octet-stream"
  }

  private static let signatures: [(String, Int, [UInt8])] = [
    ("image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ("image/jpeg", 0, [0xff, 0xd8, 0xff]),
    ("image/gif", 0, Array("GIF87a".utf8)),
    ("image/gif", 0, Array("GIF89a".utf8)),
    ("application/pdf", 0, Array("%PDF-".utf8)),
    ("application/zip", 0, [0x50, 0x4b, 0x03, 0x04]),
    ("application/gzip", 0, [0x1f, 0x8b]),
    ("audio/ogg", 0, Array("OggS".utf8)),
    ("audio/flac", 0, Array("fLaC".utf8)),
    ("audio/mpeg", 0, Array("ID3".utf8)),
    ("video/webm", 0, [0x1a, 0x45, 0xdf, 0xa3]),
  ]

  /// For what has no signature: the types of the IANA registry.
  private static let extensions = [
    "txt": "text/plain", "log": "text/plain", "md": "text/markdown", "markdown": "text/markdown",
    "csv": "text/csv", "html": "text/html", "htm": "text/html", "json": "application/json",
    "ndjson": "application/x-ndjson", "xml": "application/xml", "yaml": "application/yaml",
    "yml": "application/yaml", "svg": "image/svg+xml", "mp3": "audio/mpeg",
  ]
}
