import Core
import Records
import Screen

enum FetchRenderer: CallRenderer {
  static let tools: Set<String> = [
    "web_fetch", "fetch", "webfetch", "fetch_url", "open_url", "web_summarize", "browser_open",
    "http", "http_request", "web_scrape", "image_describe", "navigate",
  ]

  static func subject(of call: CallView) -> String? {
    call.argument(["url", "uri", "href", "link"]) ?? call.label ?? call.brief
  }

  static func facts(of call: CallView) -> [Line.Span] {
    var facts: [Line.Span] = []
    let json = call.json
    if let status = json?[either: "status", "statusCode", "status_code", "code"]?.text {
      let isFine = status.utf8.first == 0x32 || status == "ok"
      let shown = Plain.line(status, limit: 20)
      facts.append(Line.Span(shown, isFine ? .dim : Style(Palette.warning)))
    }
    let size =
      json?[either: "size", "bytes", "length", "contentLength"]?.number
      ?? body(of: json).map { Double($0.byteCount) }
      ?? call.record.stdout.map { Double($0.utf8.count) }
    if let size, size > 0 { facts.append(Line.Span(Amount.bytes(size), .dim)) }
    return facts
  }

  static func details(of call: CallView, _ room: DetailRoom) -> [Line] {
    guard room.tail > 0, let output = call.record.stdout else { return [] }
    if let json = call.json {
      let title = json[either: "title", "name"]?.text
      let text = title ?? body(of: json)?.string(bytes: 4000).map { TextEnds.first(of: $0) } ?? ""
      return text.isEmpty ? [] : [room.line(text, .dim)]
    }
    let text = title(in: output) ?? TextEnds.first(of: output)
    return text.isEmpty ? [] : [room.line(text, .dim)]
  }

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
