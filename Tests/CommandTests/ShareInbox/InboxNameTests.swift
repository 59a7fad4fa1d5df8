import Core
import Testing

@testable import share_inbox

@Suite struct InboxNameTests {
  static let good = "1795284337-01a1ff49-017b-7ab0-be9d-c31549d46f8b.png"

  @Test func namesOfItems() throws {
    let name = try #require(ItemName(Array(Self.good.utf8)))
    #expect(name.epoch == 1_795_284_337)
    #expect(name.uuid == "01a1ff49-017b-7ab0-be9d-c31549d46f8b")
    #expect(name.suffix == "png")
    #expect(name.text == Self.good)
    #expect(name.own == nil)
    let named = try #require(ItemName(Array("1-\(name.uuid)-shot-one.2.png".utf8)))
    #expect([named.id, named.stem, named.suffix] == ["1-\(name.uuid)", "shot-one.2", "png"])
    #expect(named.own == "shot-one.2.png")
    #expect(ItemName(Array("1-01A1FF49-017B-7AB0-BE9D-C31549D46F8B.MP4".utf8)) != nil)
  }

  @Test(arguments: [
    "", ".", "a.png", "-\(good)", "x\(good)", "\(good)x.", "\(good).part", "\(good)/",
    "01a1ff49-017b-7ab0-be9d-c31549d46f8b.png", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b.", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b.a b",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b.toolong12",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8g.png",
    "1-01a1ff49_017b_7ab0_be9d_c31549d46f8b.png", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b.png\n",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b.p;g", "01-01a1ff49-017b-7ab0-be9d-c31549d46f8b.png",
    "9999999999999-01a1ff49-017b-7ab0-be9d-c31549d46f8b.png",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-.png", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-a b.png",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-a", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-a.",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8bx.png", "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-ü.png",
    "1-01a1ff49-017b-7ab0-be9d-c31549d46f8b-123456789012345678901234567890123456789.png",
  ])
  func otherNames(_ text: String) {
    #expect(ItemName(Array(text.utf8)) == nil)
  }

  @Test func everyMutationIsForeignOrRoundTrips() {
    let bytes = Array(Self.good.utf8)
    for index in bytes.indices {
      for byte in UInt8.min...UInt8.max {
        var other = bytes
        other[index] = byte
        if let name = ItemName(other) { #expect(Array(name.text.utf8) == other) }
      }
      #expect(ItemName(Array(bytes[..<index])).map { $0.suffix.count < 3 } ?? true)
    }
  }

  @Test(arguments: [
    ("shot one", "shot-one"), ("a - b", "a-b"), ("foo (1)", "foo-1"), ("-rf", "rf"), ("..", ""),
    ("../../x", "x"), ("$(x)", "x"), ("`id`;", "id"), ("it's", "it-s"), ("__init__", "__init__"),
    ("Réunion", "R-union"), ("潮汐表", ""), ("a\u{1b}[31mb\n", "a-31mb"), ("", ""), ("-.-", ""),
    ("#{pane_id}", "pane_id"), ("v1.2", "v1.2"), (".profile", "profile"), ("a...", "a"),
    ("1234567890123456789012345678901234567-9", "1234567890123456789012345678901234567"),
  ])
  func whatIsKeptOfAName(_ name: String, _ stem: String) {
    #expect(ItemName.stem(of: name.utf8) == stem)
  }

  @Test func whatIsKeptOfAnyBytesIsAStem() {
    for length in 0..<400 {
      let name = (0..<length).map { _ in UInt8.random(in: 0...255) }
      let stem = ItemName.stem(of: name)
      #expect(ItemName.stem(of: stem.utf8) == stem)
      let item = ItemName(
        time: Timestamp(seconds: 999_999_999_999), random: [UInt8](repeating: 7, count: 16),
        stem: stem, suffix: "suffix78")
      #expect(ItemName(Array(item.text.utf8)) == item)
      // In an archive, with a folder before it.
      #expect("f/\(item.text)".utf8.count <= 99)
    }
  }

  @Test func newNamesSortAsTheyCame() throws {
    var before = ""
    for step in 0..<5000 {
      let time = Timestamp(seconds: 1_795_284_337, nanoseconds: Int32(step) * 199_999)
      let random = (0..<16).map { _ in UInt8.random(in: 0...255) }
      let name = ItemName(time: time, random: random, stem: "", suffix: "txt")
      #expect(ItemName(Array(name.text.utf8)) == name)
      #expect(before < name.text)
      before = name.text
    }
  }

  @Test func kindsByTheirFirstBytes() {
    let cases: [(String, [UInt8])] = [
      ("png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ("jpg", [0xff, 0xd8, 0xff, 0xe0]),
      ("webp", Array("RIFF....WEBP".utf8)), ("heic", Array("....ftypheic".utf8)),
      ("mov", Array("....ftypqt  ".utf8)), ("mp4", Array("....ftypisom".utf8)),
      ("svg", Array("\n <svg xmlns".utf8)), ("txt", Array("plain words\n".utf8)), ("txt", []),
      ("txt", Array(("x" + String(repeating: "ü", count: 300)).utf8.prefix(FileKind.window))),
      ("bin", [0, 1, 2]), ("bin", [0xc3, 0x28]),
      ("pdf", Array("%PDF-1.7".utf8)), ("bin", [0xff]),
    ]
    for (suffix, head) in cases { #expect(FileKind.suffix(head) == suffix, "\(head)") }
  }

  @Test func pathsAreTypedAsOneWord() {
    let text = PathText.text("look at {path}, then {path} ", path: "/home/a b/it's $x;\"é.png")
    let word = #"/home/a\ b/it\'s\ \$x\;\"é.png"#
    #expect(text == "look at \(word), then \(word) ")
  }
}
