import Agent
import CLibc
import Core

extension ChatOptions {
  func checkTerminals() throws(UsageError) {
    switch mode {
    case .message where words == nil && !isStandardInputNamed:
      if isatty(0) == 1 { throw UsageError("nothing to say: give words, or -i to talk") }
    case .interactive:
      if isatty(0) == 0 || isatty(1) == 0 { throw UsageError("--interactive needs a terminal") }
    default: break
    }
  }

  /// The whole message; reads standard input to its end.
  func question() throws(Failure) -> ChatQuestion {
    let text: String
    if let words { text = words } else { text = try Self.standardInput() }
    var question = question(text)
    for file in files { question.attachments.append(try AttachedFile.read(file)) }
    return question
  }

  func question(_ text: String) -> ChatQuestion {
    var question = ChatQuestion(
      thread: thread, agent: agent, text: text, key: key ?? randomUUID())
    (question.isAgain, question.mayBeSaid) = (isAgain, key != nil)
    (question.isNew, question.manner) = (isNew, manner)
    return question
  }

  private static func standardInput() throws(Failure) -> String {
    var bytes = try BoundedFile.text("-")
    // The line feed that ends a line of a shell is no part of what is said.
    if bytes.last == 10 { bytes.removeLast() }
    if bytes.last == 13 { bytes.removeLast() }
    if let place = bytes.withUnsafeBytes({ UTF8Text.firstFault($0) }) {
      throw Failure("standard input", "not UTF-8 at byte \(place + 1)")
    }
    if bytes.isEmpty { throw Failure("standard input", "the message is empty") }
    return String(decoding: bytes, as: UTF8.self)
  }
}

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

/// Where an answer goes as audio. Like the file of a shell's `>` it is made, and emptied,
/// before anything is said: that it cannot be is known before.
struct SpeechFile {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = clibc_create(path)
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.isRegular, ftruncate(descriptor, 0) != 0 {
      throw Failure(path, systemReason(systemError))
    }
  }

  func write(_ bytes: [UInt8]) throws(Failure) {
    try RecordWriter.write(bytes, to: descriptor, of: path)
    if close(descriptor) != 0 { throw Failure(code: systemError, place: path) }
  }
}
