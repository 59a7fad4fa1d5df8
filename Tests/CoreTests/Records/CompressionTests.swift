import Testing

@testable import Records

@Suite struct CompressionTests {
  private func found(_ bytes: [UInt8]) -> Compression? {
    bytes.withUnsafeBytes { Compression(start: $0) }
  }

  @Test func theFirstBytesTell() {
    #expect(found([0x28, 0xb5, 0x2f, 0xfd]) == .zstd)
    #expect(found([0x1f, 0x8b, 8, 0]) == .gzip)
    #expect(found([0x1f, 0x8b]) == .gzip)
  }

  @Test(
    arguments: [
      [], [0x1f], [0x28, 0xb5, 0x2f], Array("{\"a\"".utf8), [0xef, 0xbb, 0xbf, 0x7b],
      [0x8b, 0x1f, 0, 0],
    ] as [[UInt8]])
  func whatIsNotCompressedIsRead(bytes: [UInt8]) {
    #expect(found(bytes) == nil)
  }
}
