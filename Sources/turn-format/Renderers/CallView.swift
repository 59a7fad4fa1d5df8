import Core
import Records
import Screen

struct CallView {
  /// More of the arguments or of an output that is JSON is not read, bytes.
  private static let mostRead = 256 * 1024
  /// More of a line for people says nothing more, scalars.
  static let longest = 400

  let record: ToolCallRecord
  let renderer: CallRenderer
  /// What it was called with; nil when nothing was told, or too much.
  let arguments: JSONValue?

  init(_ record: ToolCallRecord) {
    self.record = record
    renderer = CallRenderer.of(record.tool)
    arguments = record.arguments.flatMap { bytes in
      bytes.count > Self.mostRead ? nil : bytes.withUnsafeBytes { try? JSONValue.parse($0) }
    }
  }

  func argument(_ names: [String]) -> String? {
    for name in names {
      if let text = arguments?[name]?.text, !text.isEmpty { return text }
    }
    return nil
  }

  var brief: String? {
    guard let arguments, !arguments.isNull else { return nil }
    let text = Brief.text(arguments, limit: Self.longest)
    return text.isEmpty ? nil : text
  }

  /// The label without the name of the tool, which stands in front of it anyway.
  var label: String? {
    guard let label = record.label else { return nil }
    guard label.hasPrefix(record.tool) else { return label }
    let rest = label.dropFirst(record.tool.count).drop { $0 == " " || $0 == ":" }
    return rest.isEmpty ? nil : String(rest)
  }

  var json: JSONValue? {
    guard let text = record.stdout, text.utf8.count <= Self.mostRead,
      let first = text.utf8.first(where: { $0 > 0x20 }), first == 0x7b || first == 0x5b
    else { return nil }
    return try? JSONValue.parse(text: text)
  }
}

enum TextEnds {
  /// How many lines a text has; line ends after the last text do not count.
  static func count(_ text: String) -> Int {
    let end = end(of: text.utf8)
    if end == text.utf8.startIndex { return 0 }
    return text.utf8[..<end].reduce(1) { $1 == 10 ? $0 + 1 : $0 }
  }

  /// The last lines of a text, and no more of them than so many bytes.
  static func last(_ lines: Int, of text: String, bytes: Int = 64 * 1024) -> Substring {
    let utf8 = text.utf8
    let end = end(of: utf8)
    var start = end
    var left = lines
    var room = bytes
    while start > utf8.startIndex, room > 0 {
      let before = utf8.index(before: start)
      if utf8[before] == 10 {
        left -= 1
        if left <= 0 { break }
      }
      start = before
      room -= 1
    }
    // Not within a scalar.
    while start < end, utf8[start] & 0xc0 == 0x80 { start = utf8.index(after: start) }
    return text[start..<end]
  }

  /// The lines of a text. CR LF is one character to Swift, but holds the end of a line.
  static func lines(_ text: Substring) -> [Substring] {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { Substring($0) }
  }

  /// The first line that is not blank, at most so many scalars of it.
  static func first(of text: String, scalars limit: Int = CallView.longest) -> String {
    let start = text.unicodeScalars.drop { $0.value <= 0x20 }
    return String(String.UnicodeScalarView(start.prefix(limit).prefix { $0 != "\n" }))
  }

  private static func end(of utf8: String.UTF8View) -> String.Index {
    var end = utf8.endIndex
    while end > utf8.startIndex {
      let before = utf8.index(before: end)
      guard utf8[before] == 10 || utf8[before] == 13 || utf8[before] == 32 else { break }
      end = before
    }
    return end
  }
}
