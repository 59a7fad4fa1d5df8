import Core
import Records
import Screen

/// Searches: how many results there are, and the first of them.
enum SearchRenderer: CallRenderer {
  static let tools: Set<String> = [
    "web_search", "search", "websearch", "memory_search", "conversation_search", "grep", "glob",
    "gmail_search", "image_search", "gif_search", "video_search", "file_search",
    "search_call", "gif_call", "image_call", "video_call",
  ]

  private static let most = 3
  private static let lists = [
    "results", "items", "data", "hits", "matches", "messages", "memories",
  ]

  static func subject(of call: CallView) -> String? {
    call.argument(["query", "q", "pattern", "search", "text"]) ?? call.label ?? call.brief
  }

  static func facts(of call: CallView) -> [Line.Span] {
    guard let count = results(of: call)?.count else { return [] }
    return [Line.Span(count == 1 ? "1 result" : "\(count) results", .dim)]
  }

  static func details(of call: CallView, _ room: DetailRoom) -> [Line] {
    let most = min(room.tail, most)
    guard let results = results(of: call) else {
      guard most > 0, let output = call.record.stdout else { return [] }
      let count = TextEnds.count(output)
      let start = output.unicodeScalars.prefix(16 * 1024)
      var lines = TextEnds.lines(Substring(start)).prefix(min(most, count))
        .map { room.line(String($0), .dim) }
      if count > lines.count {
        lines.append(room.line("… \(count - lines.count) more lines", .dim))
      }
      return lines
    }
    return (0..<min(results.count, most)).compactMap { index in
      results.element(index).map { line(of: $0, room) }
    }
  }

  private static func results(of call: CallView) -> JSONValue? {
    guard let json = call.json else { return nil }
    if json.kind == .array { return json }
    return lists.lazy.compactMap { json[$0] }.first { $0.kind == .array }
  }

  private static func line(of result: JSONValue, _ room: DetailRoom) -> Line {
    let title = result[either: "title", "name", "subject", "fact", "text", "snippet"]?.text
    let place = result[either: "url", "link", "path", "file"]?.text
    let shown = Plain.line(title ?? place ?? Brief.text(result), limit: CallView.longest)
    var line = Line(shown)
    if title != nil, let place {
      line.add(" · " + Plain.line(place, limit: CallView.longest), .dim)
    }
    return room.cells.map { line.cut(to: $0) } ?? line
  }
}
