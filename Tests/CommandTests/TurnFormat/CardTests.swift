import Core
import Records
import Screen
import Testing

@testable import turn_format

@Suite struct RendererTests {
  private func call(
    _ tool: String, _ arguments: String = "{}", _ stdout: String? = nil
  ) -> CallView {
    var record = ToolCallRecord(
      Say.origin, id: "c", thread: "x", tool: tool, state: .succeeded, time: nil)
    record.arguments = Array(arguments.utf8)
    record.stdout = stdout
    return CallView(record)
  }

  private func details(_ call: CallView, tail: Int = 5) -> [String] {
    call.renderer.details(call, CardLayout(width: 40, tail: tail)).map(\.text)
  }

  private func facts(_ call: CallView) -> [String] {
    call.renderer.facts(call).map(\.text)
  }

  @Test(arguments: [
    ("run_bash", CallRenderer.shell), ("Bash", .shell), ("web_search", .search),
    ("mcp__web__search", .search), ("Browser.fetch", .fetch), ("fs/read_file", .file),
    ("a:b", .other), ("", .other), ("__", .other),
  ])
  func areFoundByTheToolsName(_ tool: String, _ renderer: CallRenderer) {
    #expect(CallRenderer.of(tool).tools == renderer.tools)
  }

  @Test func eachToolHasOne() {
    let tools = CallRenderer.all.flatMap(\.tools)
    #expect(Set(tools).count == tools.count)
    #expect(tools.allSatisfy { $0 == $0.lowercased() })
  }

  @Test func aShellShowsTheEndOfWhatItPrints() {
    let output = (1...9).map { "line \($0)\n" }.joined()
    #expect(
      details(call("sh", "{}", output), tail: 2) == ["│ … 7 lines above", "│ line 8", "│ line 9"])
    #expect(details(call("sh", "{}", "a\nb"), tail: 2) == ["│ a", "│ b"])
    #expect(details(call("sh", "{}", "a\nb\nc"), tail: 2).first == "│ … 1 line above")
    #expect(details(call("sh", "{}", "10%\r50%\r99%"), tail: 2) == ["│ 99%"])
    #expect(details(call("sh", "{}", "dos\r\nlines\r\n"), tail: 2) == ["│ dos", "│ lines"])
    #expect(details(call("sh", "{}", "\n\n"), tail: 2) == [])
    #expect(details(call("sh", "{}", output), tail: 0) == [])
    #expect(details(call("sh", "{}", output), tail: .max).count == 9)
  }

  @Test(arguments: [
    (#"[{"title":"T","url":"u"},{"url":"v"}]"#, ["2 results"], ["T · u", "v"]),
    (#"{"results":[]}"#, ["0 results"], []),
    (#"{"items":["one"]}"#, ["1 result"], ["one"]),
    ("one\ntwo\nthree\nfour\nfive\n", [], ["one", "two", "three", "… 2 more lines"]),
    (#"{"broken"#, [], [#"{"broken"#]),
  ])
  func aSearchShowsItsFirstResults(_ output: String, _ facts: [String], _ details: [String]) {
    let call = call("web_search", #"{"query":"q"}"#, output)
    #expect(call.renderer.subject(of: call) == "q")
    #expect(self.facts(call) == facts)
    #expect(self.details(call) == details)
  }

  @Test(arguments: [
    (#"{"status":200,"title":"T","content":"abc"}"#, ["200", "3 B"], ["T"]),
    (#"{"statusCode":404,"body":"\n no \nsuch"}"#, ["404", "10 B"], ["no "]),
    ("<html><head><title class=x>A &amp; B</title>", ["44 B"], ["A &amp; B"]),
    ("plain\ntext", ["10 B"], ["plain"]), ("<title>", ["7 B"], ["<title>"]), ("", [], []),
  ])
  func aPageShowsItsStatusSizeAndTitle(_ output: String, _ facts: [String], _ details: [String]) {
    let call = call("web_fetch", #"{"url":"https://u"}"#, output)
    #expect(call.renderer.subject(of: call) == "https://u")
    #expect(self.facts(call) == facts)
    #expect(self.details(call).map { $0.trimmingEnd } == details.map { $0.trimmingEnd })
  }

  @Test func aLabelDoesNotRepeatTheTool() {
    var record = call("web_search").record
    record.label = "web_search \"tides\""
    #expect(CallView(record).label == "\"tides\"")
    record.label = "web_search"
    #expect(CallView(record).label == nil)
    record.label = "look it up"
    #expect(CallView(record).label == "look it up")
  }
}

extension String {
  fileprivate var trimmingEnd: Substring {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return text
  }
}

@Suite struct RowShapeTests {
  private let row = {
    var row = Row()
    row.head = Line("✓ tool")
    row.subject = Line("a subject that is long")
    row.facts = [Line.Span("ok"), Line.Span("exit 0"), Line.Span("1.2s")]
    return row
  }()

  @Test(arguments: [
    (nil, "✓ tool  a subject that is long · ok · exit 0 · 1.2s"),
    (60, "✓ tool  a subject that is long · ok · exit 0 · 1.2s"),
    (46, "✓ tool  a subject that i… · ok · exit 0 · 1.2s"),
    (40, "✓ tool  a subject that is… · ok · exit 0"),
    (30, "✓ tool  a subject that i… · ok"), (16, "✓ tool  a … · ok"), (10, "✓ tool · …"),
    (1, "…"),
  ])
  func whatMattersLeastGivesWay(_ width: Int?, _ text: String) {
    #expect(row.line(width: width).text == text)
  }
}

@Suite struct LiveCardsTests {
  private func fit(_ heights: [Int], rows: Int) -> [String] {
    let cards = heights.enumerated().map { card, height in
      (0..<height).map { Line("\(card).\($0)") }
    }
    return cards.fitted(to: rows).map(\.text)
  }

  @Test func whatFitsIsWhole() {
    #expect(fit([2, 1], rows: 3) == ["0.0", "0.1", "1.0"])
    #expect(fit([], rows: 3) == [])
  }

  @Test func theLongOnesGiveWay() {
    #expect(fit([2, 9], rows: 6) == ["0.0", "0.1", "1.0", "  … 6 more lines", "1.7", "1.8"])
    #expect(fit([9], rows: 1) == ["0.0"])
    #expect(fit([9], rows: 2) == ["0.0", "  … 8 more lines"])
    #expect(fit([9, 9], rows: 2) == ["0.0", "1.0"])
  }

  @Test func ofTooManyTheLastAreSeen() {
    #expect(fit([3, 3, 3, 3], rows: 3) == ["… 2 more turns", "2.0", "3.0"])
    #expect(fit([3, 3], rows: 1) == ["… 2 more turns"])
  }

  @Test(arguments: 1...12) func neverMoreRowsThanThereAre(_ rows: Int) {
    for heights in [[1], [30], [5, 5, 5], [1, 40, 2, 3], Array(repeating: 4, count: 20)] {
      #expect(fit(heights, rows: rows).count == min(rows, heights.reduce(0, +)))
    }
  }
}

@Suite struct DotGraphTests {
  @Test func aLabelIsOneString() {
    #expect(DotGraph.quoted(#"a"b\c"# + "\nd") == #""a\"b\\c\nd""#)
  }
}
