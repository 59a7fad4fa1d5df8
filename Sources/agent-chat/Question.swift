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
    let kind = FileKind.suffix(Array(bytes.prefix(FileKind.window)))
    if let type = types[kind] { return type }
    if let dot = name.lastIndex(of: "."), dot > name.startIndex,
      let type = extensions[name[name.index(after: dot)...].lowercased()]
    {
      return type
    }
    let isText = !bytes.contains(0) && bytes.withUnsafeBytes { UTF8Text.isValid($0) }
    return isText ? "text/plain" : "application/octet-stream"
  }

  private static let types = [
    "png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "heic": "image/heic", "avif": "image/avif", "pdf": "application/pdf",
    "zip": "application/zip", "gz": "application/gzip", "ogg": "audio/ogg", "flac": "audio/flac",
    "mp3": "audio/mpeg", "wav": "audio/wav", "m4a": "audio/mp4", "mov": "video/mp4",
    "mp4": "video/mp4", "webm": "video/webm",
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
