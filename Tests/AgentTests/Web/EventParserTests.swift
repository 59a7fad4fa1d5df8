import Core
import Testing

@testable import Web

/// The grammar of WHATWG HTML 9.2.5 and 9.2.6.
@Suite struct EventParserTests {
  /// A stream, what it means, and its resume point.
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let items: [ParsedItem]
    let id: String

    init(_ name: String, _ text: String, _ items: [ParsedItem], id: String = "") {
      self.init(name, bytes: Array(text.utf8), items, id: id)
    }

    init(_ name: String, bytes: [UInt8], _ items: [ParsedItem], id: String = "") {
      self.name = name
      self.bytes = bytes
      self.items = items
      self.id = id
    }

    var testDescription: String { name }
  }

  private static func message(_ data: String, id: String = "", type: String = "") -> ParsedItem {
    .event(type: type, id: id, data: data)
  }

  static let samples: [Sample] = [
    Sample("line feeds", "data: a\n\n", [message("a")]),
    Sample("carriage returns", "data: a\r\rdata: b\r\r", [message("a"), message("b")]),
    Sample("both", "data: a\r\n\r\ndata: b\r\n\r\n", [message("a"), message("b")]),
    Sample(
      "any mix", "data: a\ndata: b\rdata: c\r\ndata: d\n\r\n\rdata: e\r\n\n",
      [
        message("a\nb\nc\nd"), message("e"),
      ]),
    Sample("two of CRLF are one blank line", "data: a\r\n\r\n\r\n\n", [message("a")]),
    Sample("mark", "\u{feff}data: a\n\n", [message("a")]),
    Sample("only one mark", "\u{feff}\u{feff}data: a\n\ndata: b\n\n", [message("b")]),
    Sample("no mark later", "\n\u{feff}data: a\n\ndata: b\n\n", [message("b")]),
    Sample(
      "half a mark", bytes: [0xef, 0xbb] + Array("data: a\n\ndata: b\n\n".utf8), [message("b")]),
    Sample("one space goes", "data:a\ndata: b\ndata:  c\ndata:\td\n\n", [message("a\nb\n c\n\td")]),
    Sample("colons", "data:a:b\ndata::\n\n", [message("a:b\n:")]),
    Sample("no colon", "data\n\ndata\ndata\n\n", [message(""), message("\n")]),
    Sample("empty data", "data:\n\n", [message("")]),
    Sample(
      "names are exact",
      " data: a\nDATA: b\ndatas: c\ndat: d\nda ta: e\ndata : f\nevents: g\ndata: h\n\n",
      [message("h")]),
    Sample(
      "no data, no event", "event: a\n\nid: 1\n\ndata: b\n\n", [message("b", id: "1")], id: "1"),
    Sample("type", "event: a\ndata: 1\n\ndata: 2\n\n", [message("1", type: "a"), message("2")]),
    Sample("last type wins", "event: a\nevent: b\ndata: 1\n\n", [message("1", type: "b")]),
    Sample("empty type", "event: a\nevent\ndata: 1\n\n", [message("1")]),
    Sample("forgotten type", "event: a\n\ndata: 1\n\n", [message("1")]),
    Sample(
      "id persists", "id: 7\ndata: a\n\ndata: b\n\n",
      [message("a", id: "7"), message("b", id: "7")],
      id: "7"),
    Sample(
      "empty id clears", "id: 7\ndata: a\n\nid\ndata: b\n\n", [message("a", id: "7"), message("b")]),
    Sample(
      "id with NUL is ignored", "id: 7\ndata: a\n\nid: 8\0\ndata: b\n\n",
      [message("a", id: "7"), message("b", id: "7")], id: "7"),
    Sample("id alone", "id: 9\n\n", [], id: "9"),
    Sample(
      "id is committed at the blank line", "id: 1\ndata: a\n\nid: 2\ndata: b\n",
      [message("a", id: "1")], id: "1"),
    Sample("unfinished", "data: a\n\ndata: b\n", [message("a")]),
    Sample("unfinished line", "data: a\n\ndata: b", [message("a")]),
    Sample(
      "retry",
      "retry: 1500\nretry:  5\nretry: 5s\nretry: +5\nretry:\nretry: -1\nretry: ６\nretry:0\n",
      [.retry(1500), .retry(0)]),
    Sample("huge retry", "retry: 10000000000000000000000000\n", [.retry(UInt64.max)]),
    Sample("retry in the middle", "data: a\nretry: 3\ndata: b\n\n", [.retry(3), message("a\nb")]),
    Sample(
      "comments", ":\n: a\n:b\ndata: 1\n: c\n\n",
      [
        .comment(""), .comment("a"), .comment("b"), .comment("c"), message("1"),
      ]),
    Sample(
      "separators of Unicode are data", "data: a\u{2028}b\u{85}c\u{0b}d\u{0c}e\n\n",
      [message("a\u{2028}b\u{85}c\u{0b}d\u{0c}e")]),
    Sample(
      "marks that combine", "data: \u{301}a\ndata:\u{301}b\n\n", [message("\u{301}a\n\u{301}b")]),
    Sample("characters of four bytes", "data: 𝄞🎉é\n\n", [message("𝄞🎉é")]),
    Sample(
      "ill-formed UTF-8", bytes: Array("data: ".utf8) + [0xff, 0x61, 0xc3, 0x0a, 0x0a],
      [message("\u{fffd}a\u{fffd}")]),
    Sample("NUL is data", "data: a\0b\n\n", [message("a\0b")]),
    Sample("only blank lines", "\n\r\r\n\n", []),
    Sample("nothing", "", []),
  ]

  @Test(arguments: samples) func wholeStream(_ sample: Sample) {
    let parsed = parse([sample.bytes])
    #expect(parsed.items == sample.items)
    #expect(parsed.id == sample.id)
  }

  @Test(arguments: samples) func everyCut(_ sample: Sample) {
    for cut in 0...sample.bytes.count {
      let parsed = parse([Array(sample.bytes[..<cut]), Array(sample.bytes[cut...])])
      #expect(parsed.items == sample.items, "cut at \(cut)")
      #expect(parsed.id == sample.id, "cut at \(cut)")
    }
  }

  @Test(arguments: samples, [1, 2, 3, 7]) func pieces(_ sample: Sample, size: Int) {
    let pieces = stride(from: 0, to: sample.bytes.count, by: size).map { start in
      Array(sample.bytes[start..<min(start + size, sample.bytes.count)])
    }
    let parsed = parse(pieces)
    #expect(parsed.items == sample.items)
    #expect(parsed.id == sample.id)
  }

  @Test func carriageReturnActsAtOnce() {
    var parser = EventParser()
    var items: [ParsedItem] = []
    feed(Array("data: a\r\r".utf8), to: &parser, &items)
    #expect(items == [Self.message("a")])
  }

  @Test func restartKeepsTheCommittedIDAlone() {
    var parser = EventParser()
    var items: [ParsedItem] = []
    feed(Array("id: 1\ndata: a\n\nid: 2\nevent: x\ndata: lost\n".utf8), to: &parser, &items)
    parser.restart()
    feed(Array("\u{feff}data: b\n\n".utf8), to: &parser, &items)
    #expect(items == [Self.message("a", id: "1"), Self.message("b", id: "1")])
  }

  @Test func partialEventsOnlyWhenAsked() {
    let partial = ParsedItem.event(type: "x", id: "1", data: "b\nc", partial: true)
    let text = "id: 1\n\nid: 2\nevent: x\ndata: b\ndata: c"
    #expect(parse(text) == [])
    #expect(parse(text, flushPartial: true) == [partial])
    #expect(parse("data: a\n\n", flushPartial: true) == [Self.message("a")])
    #expect(parse("data: a\n\ndata", flushPartial: true).count == 2)
    #expect(parse("event: a\n", flushPartial: true) == [])
  }

  @Test func limitDropsTheEventAlone() {
    let text = "data: 12345\n\nid: 3\ndata: 123\ndata: 456\n\ndata: 12\n\n"
    #expect(
      parse(text, limit: 5) == [
        Self.message("12345"), .oversize, Self.message("12", id: "3"),
      ])
    #expect(
      parse("event: 123456\ndata: 1\n\ndata: 2\n\n", limit: 5) == [.oversize, Self.message("2")])
    #expect(
      parse("data\ndata\ndata\ndata\n\ndata: 1\n\n", limit: 2) == [.oversize, Self.message("1")])
    #expect(parse("data: 123456", limit: 5, flushPartial: true) == [.oversize])
    #expect(parse(": 123456\ndata: 1\n\n", limit: 5) == [Self.message("1")])
  }
}
