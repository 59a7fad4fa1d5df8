import Testing

@testable import Shell

@Suite struct TarArchiveTests {
  @Test func aHeaderIsThatOfUstar() {
    var archive = TarArchive()
    archive.add("f/a.txt", Array("hello".utf8), modified: 1_795_284_337)
    let bytes = archive.finished
    #expect(bytes.count == 4 * 512)
    #expect(Array(bytes[0..<8]) == Array("f/a.txt\u{0}".utf8))
    #expect(Array(bytes[100..<108]) == Array("0000600\u{0}".utf8))
    #expect(Array(bytes[124..<136]) == Array("00000000005\u{0}".utf8))
    #expect(Array(bytes[136..<148]) == Array("15300356561\u{0}".utf8))
    #expect(bytes[156] == UInt8(ascii: "0"))
    #expect(Array(bytes[257..<265]) == Array("ustar\u{0}00".utf8))
    var sum = 0
    for index in 0..<512 { sum += (148..<156).contains(index) ? 32 : Int(bytes[index]) }
    let written = String(decoding: bytes[148..<154], as: UTF8.self)
    #expect(Int(written, radix: 8) == sum)
    #expect(Array(bytes[512..<517]) == Array("hello".utf8))
  }

  @Test(arguments: [0, 1, 511, 512, 513, 1024])
  func everyContentIsFilledUpToABlock(_ size: Int) {
    var archive = TarArchive()
    archive.add("x", [UInt8](repeating: 7, count: size), modified: -1)
    archive.add("y", [], modified: 0)
    #expect(archive.bytes.count == 1024 + (size + 511) / 512 * 512)
    #expect(archive.finished.count == archive.bytes.count + 1024)
  }
}
