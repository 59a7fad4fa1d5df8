import CLibc
import Testing

@testable import Core

@Suite struct FileNameTests {
  @Test(
    arguments: [
      ([0x61, 0xe9], "a\\xe9", "a\u{fffd}"), ([0xc3, 0xa9], "é", "é"),
      ([0xf0, 0x9f], "\\xf0\\x9f", "\u{fffd}"),
      ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80", "\u{fffd}\u{fffd}\u{fffd}"),
      ([0xf0, 0x9f, 0x8c, 0x8a], "🌊", "🌊"), ([0xf4, 0x8f, 0xbf, 0xbf], "\u{10ffff}", "\u{10ffff}"),
      // The scalars that stand for bytes, when they stand in a name.
      ([0xf4, 0x8e, 0xbb, 0xa9], "\\xf4\\x8e\\xbb\\xa9", "\u{10eee9}"),
    ] as [([UInt8], String, String)])
  func names(_ bytes: [UInt8], shown: String, repaired: String) {
    let name = FileName.text(bytes)
    #expect(FileName.bytes(name) == bytes)
    #expect(FileName.shown(name) == shown)
    #expect(Visible.line(name) == (bytes[0] == 0xf4 && bytes[1] == 0x8f ? name : shown))
    #expect(FileName.repaired(name) == repaired)
  }

  @Test func everyNameComesOutAsItWentIn() {
    var generator = SystemRandomNumberGenerator()
    let pieces: [[UInt8]] = [
      [0x61], [0x2f], [0xff], [0xe9], [0xc3, 0xa9], [0xe2, 0x82], [0xac], [0xf0, 0x9f, 0x8c, 0x8a],
      [0xf4, 0x8e, 0xbb, 0xa9], [0xf4], [0x8e, 0xbb], [0x80],
    ]
    for _ in 0..<2000 {
      let bytes = (0..<6).flatMap { _ in pieces.randomElement(using: &generator)! }
      let name = FileName.text(bytes)
      #expect(FileName.bytes(name) == bytes)
      // Joined, too, where the pieces together are UTF-8 by chance.
      #expect(FileName.bytes(name + FileName.text([0x82]) + "x") == bytes + [0x82, 0x78])
      (bytes + [0]).withUnsafeBytes {
        #expect(FileName.text($0.assumingMemoryBound(to: CChar.self).baseAddress!) == name)
      }
      FileName.with(name) { #expect(strlen($0) == bytes.count) }
    }
  }

  @Test func filesAreFoundByTheirBytes() throws {
    let scratch = Scratch()
    let name = scratch.file(FileName.text([0xff, 0xfe]))
    try StateFile(path: name).replace(with: [1])
    #expect(try StateFile(path: name).read() == [1])
    #expect(try StateFile(path: scratch.file("\u{fffd}\u{fffd}")).read() == nil)
    #expect(access(name, F_OK) == 0 && stat(following: name)?.isRegular == true)
    #expect(rename(name, name + "x") == 0 && realpath(name + "x") == name + "x")
    #expect(unlink(name + "x") == 0)
  }
}
