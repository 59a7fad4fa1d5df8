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

/// How the calls of some tools are shown.
struct CallRenderer: Sendable {
  /// The tools' names, in lower case.
  var tools: [String] = []
  /// The arguments that say what is done; the first that is there counts.
  var subject: [String] = []
  /// What came of it, a few words each.
  var facts: @Sendable (CallView) -> [Line.Span] = { _ in [] }
  /// More about it, in lines below its row that are as wide as the layout.
  var details: @Sendable (CallView, CardLayout) -> [Line] = { _, _ in [] }

  static let all = [shell, search, fetch, file]

  private static let byTool = Dictionary(
    all.flatMap { renderer in renderer.tools.map { ($0, renderer) } }, uniquingKeysWith: { $1 })

  static func of(_ tool: String) -> CallRenderer {
    let name = tool.lowercased()
    if let found = byTool[name] { return found }
    var last = name[...]
    for mark in ["__", ".", ":", "/"] {
      while let place = last.place(of: mark) { last = last[place.upperBound...] }
    }
    return byTool[String(last)] ?? other
  }

  func subject(of call: CallView) -> String? {
    call.argument(subject) ?? (call.label == call.record.tool ? nil : call.label) ?? call.brief
  }

  static let file = CallRenderer(
    tools: [
      "read", "read_file", "write", "write_file", "edit", "edit_file", "multiedit", "list_dir",
      "ls", "list", "apply_patch", "create_file", "delete_file", "view", "notebookedit",
    ],
    subject: ["path", "file_path", "filePath", "file", "filename", "notebook_path", "dir"],
    facts: { call in
      guard let output = call.record.stdout, !output.isEmpty else { return [] }
      let count = TextEnds.count(output)
      return [
        Line.Span(count == 1 ? "1 line" : "\(count) lines", .dim),
        Line.Span(Amount.bytes(output.utf8.count), .dim),
      ]
    })

  /// Any tool: what it is called with, and the first line that it printed.
  static let other = CallRenderer(
    details: { call, layout in
      guard layout.tail > 0, let output = call.record.stdout ?? call.record.stderr else {
        return []
      }
      let first = TextEnds.first(of: output)
      if first.isEmpty { return [] }
      let count = TextEnds.count(output)
      return [layout.line(count > 1 ? "\(first) … \(count) lines" : first, .dim)]
    })
}

// MARK: - Commands

extension CallRenderer {
  static let shell = CallRenderer(
    tools: [
      "bash", "run_bash", "sh", "shell", "exec", "execute", "run_command", "execute_command",
      "run_shell_command", "terminal", "local_shell", "command", "code_agent", "process",
    ],
    subject: ["command", "cmd", "script", "code"],
    facts: { call in
      var facts: [Line.Span] = []
      if let code = call.record.exitCode {
        facts.append(Line.Span("exit \(code)", code == 0 ? .dim : Style.error))
      }
      if call.record.isTruncated == true { facts.append(Line.Span("cut", Style.warning)) }
      return facts
    },
    details: { call, layout in
      printed(call.record.stdout, layout, .dim)
        + printed(call.record.stderr, layout, Style.warning)
    })

  private static func printed(_ text: String?, _ layout: CardLayout, _ style: Style) -> [Line] {
    guard let text, layout.tail > 0 else { return [] }
    let count = TextEnds.count(text)
    if count == 0 { return [] }
    let bytes = layout.tail == .max ? Int.max : 64 * 1024
    let shown = TextEnds.last(layout.tail, of: text, bytes: bytes)
    var lines = TextEnds.lines(shown).map { text in
      var line = Line("│ ", .dim)
      line.add(lastState(of: text), style)
      return layout.cut(line)
    }
    if lines.count < count {
      let more = count - lines.count
      let words = more == 1 ? "1 line" : "\(more) lines"
      lines.insert(Line("│ … \(words) above", .dim), at: 0)
    }
    return lines
  }

  /// What a terminal would leave of a line on which a program writes again and again.
  private static func lastState(of line: Substring) -> String {
    let line = line.utf8.last == 13 ? line.dropLast() : line
    let last = line.utf8.lastIndex(of: 13).map { line[line.utf8.index(after: $0)...] } ?? line
    return Plain.lines(String(last)).joined(separator: " ")
  }
}

// MARK: - Searches

extension CallRenderer {
  /// How many results there are, and the first of them.
  static let search = CallRenderer(
    tools: [
      "web_search", "search", "websearch", "memory_search", "conversation_search", "grep", "glob",
      "gmail_search", "image_search", "gif_search", "video_search", "file_search",
      "search_call", "gif_call", "image_call", "video_call",
    ],
    subject: ["query", "q", "pattern", "search", "text"],
    facts: { call in
      guard let count = results(of: call)?.count else { return [] }
      return [Line.Span(count == 1 ? "1 result" : "\(count) results", .dim)]
    },
    details: { call, layout in
      let most = min(layout.tail, 3)
      if let results = results(of: call) {
        return (0..<min(results.count, most)).compactMap { index in
          results.element(index).map { layout.cut(line(of: $0)) }
        }
      }
      guard most > 0, let output = call.record.stdout else { return [] }
      let count = TextEnds.count(output)
      let start = output.unicodeScalars.prefix(16 * 1024)
      var lines = TextEnds.lines(Substring(start)).prefix(min(most, count))
        .map { layout.line(String($0), .dim) }
      if count > lines.count {
        lines.append(layout.line("… \(count - lines.count) more lines", .dim))
      }
      return lines
    })

  private static let lists = [
    "results", "items", "data", "hits", "matches", "messages", "memories",
  ]

  private static func results(of call: CallView) -> JSONValue? {
    guard let json = call.json else { return nil }
    if json.kind == .array { return json }
    return lists.lazy.compactMap { json[$0] }.first { $0.kind == .array }
  }

  private static func line(of result: JSONValue) -> Line {
    let title = result[either: "title", "name", "subject", "fact", "text", "snippet"]?.text
    let place = result[either: "url", "link", "path", "file"]?.text
    var line = Line(Plain.line(title ?? place ?? Brief.text(result), limit: CallView.longest))
    if title != nil, let place {
      line.add(" · " + Plain.line(place, limit: CallView.longest), .dim)
    }
    return line
  }
}

// MARK: - Pages

extension CallRenderer {
  static let fetch = CallRenderer(
    tools: [
      "web_fetch", "fetch", "webfetch", "fetch_url", "open_url", "web_summarize", "browser_open",
      "http", "http_request", "web_scrape", "image_describe", "navigate",
    ],
    subject: ["url", "uri", "href", "link"],
    facts: { call in
      var facts: [Line.Span] = []
      let json = call.json
      if let status = json?[either: "status", "statusCode", "status_code", "code"]?.text {
        let isFine = status.utf8.first == 0x32 || status == "ok"
        let shown = Plain.line(status, limit: 20)
        facts.append(Line.Span(shown, isFine ? .dim : Style.warning))
      }
      let size =
        json?[either: "size", "bytes", "length", "contentLength"]?.number
        ?? body(of: json).map { Double($0.byteCount) }
        ?? call.record.stdout.map { Double($0.utf8.count) }
      if let size, size > 0 { facts.append(Line.Span(Amount.bytes(size), .dim)) }
      return facts
    },
    details: { call, layout in
      guard layout.tail > 0, let output = call.record.stdout else { return [] }
      let text: String
      if let json = call.json {
        text =
          json[either: "title", "name"]?.text
          ?? body(of: json)?.string(bytes: 4000).map { TextEnds.first(of: $0) } ?? ""
      } else {
        text = title(in: output) ?? TextEnds.first(of: output)
      }
      return text.isEmpty ? [] : [layout.line(text, .dim)]
    })

  private static func body(of json: JSONValue?) -> JSONValue? {
    json?[either: "content", "text", "body", "markdown", "summary"]
  }

  private static func title(in page: String) -> String? {
    let head = String(String.UnicodeScalarView(page.unicodeScalars.prefix(8000)))
    guard let open = head.place(of: "<title"),
      let start = head[open.upperBound...].firstIndex(of: ">")
    else { return nil }
    let text = head[head.index(after: start)...].prefix { $0 != "<" }
    let shown = TextEnds.first(of: String(text))
    return shown.isEmpty ? nil : shown
  }
}
