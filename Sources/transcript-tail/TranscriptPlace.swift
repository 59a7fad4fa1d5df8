import Core
import Turns

/// Where transcripts are, as the user named it.
enum TranscriptPlace: Equatable {
  /// A file or a folder of this machine.
  case here(String)
  /// A host as `Destination` reads it, and a path there; empty for the usual folder.
  case host(String, path: String)

  /// Reads the operand. A colon makes a host of what stands in front of it, unless there is
  /// a slash in that; an address with colons is in brackets.
  ///
  /// - Parameter text: as given; nil for the usual folder of this machine.
  init(_ text: String?, home: String) throws(UsageError) {
    guard let text else {
      self = .here(ClaudeTranscripts.folder(home: home))
      return
    }
    if text.isEmpty { throw UsageError("no file, folder or host is named") }
    guard let colon = Self.colon(of: text) else {
      self = .here(text)
      return
    }
    let host = String(text[..<colon])
    if host.isEmpty { throw UsageError("\(FileName.repaired(text)): no host is named") }
    self = .host(host, path: String(text[text.index(after: colon)...]))
  }

  /// The colon behind the host; nil for a path of this machine.
  private static func colon(of text: String) -> String.Index? {
    if let open = text.firstIndex(of: "["), open == text.startIndex || text[..<open].hasSuffix("@"),
      let end = text.firstIndex(of: "]")
    {
      let behind = text.index(after: end)
      return behind < text.endIndex && text[behind] == ":" ? behind : nil
    }
    guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else { return nil }
    return colon
  }
}
