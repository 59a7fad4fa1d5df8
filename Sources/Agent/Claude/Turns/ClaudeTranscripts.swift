import CLibc
public import Core

/// Where Claude Code keeps its transcripts, and what their names and lines say by themselves
/// (CONTRACT.md 1 and 6).
public enum ClaudeTranscripts {
  /// The end of a transcript's name.
  public static let suffix = ".jsonl"

  /// How far below the folder transcripts are: a folder for each project, in it one for each
  /// session, and in that one for its subagents.
  public static let depth = depthOfSessions + depthOfSubagents

  /// How far below the folder those of sessions are; further down are those of subagents.
  public static let depthOfSessions = 2

  /// How far below that those of subagents are.
  public static let depthOfSubagents = 2

  /// The folder of all transcripts of this machine.
  public static func folder(
    home: String, environment: (String) -> String? = Process.environment
  ) -> String {
    let base = environment("CLAUDE_CONFIG_DIR") ?? Folders.join(home, ".claude")
    return Folders.join(base, "projects")
  }

  /// The same folder of a host: an expression of its shell, to stand in double quotes.
  public static let folderOnHost = "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects"

  /// The name of the folder in it that has the transcripts of a working folder.
  public static func slug(of folder: String) -> String {
    String(
      folder.unicodeScalars.map { scalar in
        let isPlain =
          scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        return isPlain ? Character(scalar) : "-"
      })
  }

  /// Whose transcript a file is: its name without the suffix.
  ///
  /// - Parameter path: of the file; it need not be UTF-8, see `FileName`.
  /// - Returns: text without a slash, in which anything else may stand.
  public static func session(of path: String) -> String {
    let name = path.utf8.split(separator: slash).last.flatMap { String($0) } ?? ""
    return FileName.shown(name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name)
  }

  /// Bytes, for a character may be a slash and a mark above it.
  private static let slash = UInt8(ascii: "/")

  /// Whether a file holds what a subagent did, not a session.
  public static func isOfSubagent(_ path: String) -> Bool {
    session(of: path).hasPrefix("agent-")
  }

  /// The transcript of the session whose subagent a file is of.
  ///
  /// - Returns: nil when it is not of a subagent, or stands where the session is not told.
  public static func sessionFile(ofSubagent path: String) -> String? {
    guard isOfSubagent(path) else { return nil }
    let parts = path.utf8.split(separator: slash, omittingEmptySubsequences: false)
    guard parts.count > 2, parts[parts.count - 2].elementsEqual("subagents".utf8) else {
      return nil
    }
    return String(path[..<parts[parts.count - 3].endIndex]) + suffix
  }

  /// The transcript of the subagent that a line says was made; nil for any other line.
  ///
  /// - Parameter path: of the transcript that the line is of.
  public static func subagentFile(madeBy line: UnsafeRawBufferPointer, in path: String) -> String? {
    let mark = #""agentId""#
    // Few lines have it.
    guard clibc_memmem(line.baseAddress, line.count, mark, mark.utf8.count) != nil,
      let result = try? ScanMembers.value(of: "toolUseResult", in: line), result.isObject,
      let id = ScanMembers.text(of: "agentId", in: result.bytes),
      (sessionFile(ofSubagent: path) ?? path).hasSuffix(suffix)
    else { return nil }
    let session = (sessionFile(ofSubagent: path) ?? path).dropLast(suffix.count)
    return "\(session)/subagents/agent-\(id)\(suffix)"
  }

  /// The calls whose results a line has.
  public static func calls(endedBy line: UnsafeRawBufferPointer) -> [String] {
    let mark = #""tool_use_id""#
    guard clibc_memmem(line.baseAddress, line.count, mark, mark.utf8.count) != nil,
      let message = try? ScanMembers.value(of: "message", in: line), message.isObject,
      let content = try? ScanMembers.value(of: "content", in: message.bytes)
    else { return [] }
    return content.elements.compactMap { ScanMembers.text(of: "tool_use_id", in: $0.bytes) }
  }

  /// The call in what `originFile` has; nil where it does not say.
  public static func call(inOrigin bytes: UnsafeRawBufferPointer) -> String? {
    ScanMembers.text(of: "toolUseId", in: bytes)
  }

  /// The file that says who made the subagent whose transcript a file is: its kind, and the call.
  ///
  /// - Returns: nil when it is not of a subagent.
  public static func originFile(ofSubagent path: String) -> String? {
    guard isOfSubagent(path), path.hasSuffix(suffix) else { return nil }
    return path.dropLast(suffix.count) + ".meta.json"
  }

  /// What transcript-tail(1) calls what stands in that file.
  public static let originEvent = "agent-meta"

  /// What transcript-tail(1) prints in front of the transcript of a subagent; nil where nothing
  /// stands beside it.
  public static func originLine(ofSubagent path: String) -> [UInt8]? {
    guard let name = originFile(ofSubagent: path),
      let bytes = try? BoundedFile.given(name, limit: originLimit)
    else { return nil }
    var line = ByteBuffer()
    line.append(#"{"event":"agent-meta","id":"#)
    JSONQuote.append(session(of: path) + "/0", to: &line)
    line.append(#","data":"#)
    bytes.withUnsafeBytes { line.append($0) }
    line.append("}")
    return (try? names(of: line.bytes)) == nil ? nil : Array(line.bytes)
  }

  /// The most that such a file has, bytes.
  public static let originLimit = 16 << 10

  /// The type of a line and its id, unescaped.
  ///
  /// - Returns: nil for what it does not say.
  /// - Throws: `ScanFault` when it is not one JSON object; `empty` for blanks alone.
  public static func names(
    of line: UnsafeRawBufferPointer
  ) throws(ScanFault) -> (type: String?, id: String?) {
    var fields = ScanFields<Member>()
    try fields.read(line)
    try ScanValidator.validate(line)
    let (type, id) = (fields[.type], fields[.uuid])
    return (type.isString ? type.string : nil, id.isString ? id.string : nil)
  }

  /// The id of a line; nil where it has none, or is not one JSON object.
  public static func id(of line: UnsafeRawBufferPointer) -> String? {
    guard let id = try? names(of: line).id, !id.isEmpty else { return nil }
    return id
  }

  private enum Member: Int, ScanName {
    case type, uuid
    static let table = NameTable<Member>()
  }
}
