import Core
import Frames
import Testing

@testable import Web

/// Frames and messages of RFC 6455, whole and cut anywhere.
@Suite struct FrameReaderTests {
  private static let pi = "π is 3,14 — 円周率 𝛑"

  /// Bytes, and what they are.
  private static let streams: [([UInt8], [ReadFrame])] = [
    (frame(0x81, "hello"), [.text("hello")]),
    (frame(0x81, ""), [.text("")]),
    (frame(0x82, ""), [.binary([])]),
    (frame(0x82, [0, 255, 10]), [.binary([0, 255, 10])]),
    (frame(0x81, pi) + frame(0x81, pi), [.text(pi), .text(pi)]),
    // Fragments, cut within a character, empty ones, control frames between them.
    (
      frame(0x01, Array(pi.utf8.prefix(1))) + frame(0x89, "a")
        + frame(0x00, Array(pi.utf8.dropFirst(1).prefix(15))) + frame(0x8a, "b")
        + frame(0x80, Array(pi.utf8.dropFirst(16))) + frame(0x81, "next"),
      [.ping([97]), .text(pi), .text("next")]
    ),
    (frame(0x01, "") + frame(0x00, "") + frame(0x80, ""), [.text("")]),
    (frame(0x01, "") + frame(0x80, "x"), [.text("x")]),
    (frame(0x02, [1]) + frame(0x00, "") + frame(0x80, [2]), [.binary([1, 2])]),
    // Each length that is written in another way.
    (
      frame(0x81, String(repeating: "a", count: 125))
        + frame(0x81, String(repeating: "b", count: 126)),
      [.text(String(repeating: "a", count: 125)), .text(String(repeating: "b", count: 126))]
    ),
    (frame(0x89, String(repeating: "p", count: 125)), [.ping([UInt8](repeating: 112, count: 125))]),
    (frame(0x88, ""), [.close(nil, "")]),
    (frame(0x88, [3, 232]), [.close(1000, "")]),
    (frame(0x88, [15, 160] + Array("bye π".utf8)), [.close(4000, "bye π")]),
    // Nothing counts behind a close.
    (frame(0x88, [3, 233]) + frame(0x81, "late"), [.close(1001, "")]),
  ]

  /// Bytes that fail the connection, and with which code, after what.
  private static let faults: [([UInt8], [ReadFrame])] = [
    (frame(0xc1, "x"), [.failed(1002)]), (frame(0xa1, "x"), [.failed(1002)]),
    (frame(0x91, "x"), [.failed(1002)]), (frame(0xc9, ""), [.failed(1002)]),
    (frame(0x83, "x"), [.failed(1002)]), (frame(0x87, ""), [.failed(1002)]),
    (frame(0x8b, ""), [.failed(1002)]), (frame(0x8f, "x"), [.failed(1002)]),
    (frame(0x80, "x"), [.failed(1002)]), (frame(0x00, "x"), [.failed(1002)]),
    (frame(0x81, "a") + frame(0x80, "x"), [.text("a"), .failed(1002)]),
    (frame(0x01, "a") + frame(0x81, "x"), [.failed(1002)]),
    (frame(0x01, "a") + frame(0x02, "x"), [.failed(1002)]),
    (frame(0x09, "x"), [.failed(1002)]), (frame(0x08, [3, 232]), [.failed(1002)]),
    (frame(0x89, String(repeating: "p", count: 126)), [.failed(1002)]),
    (frame(0x88, [3, 232] + [UInt8](repeating: 97, count: 124)), [.failed(1002)]),
    // Lengths with more digits than they need, and with the highest bit.
    ([0x81, 126, 0, 125] + [UInt8](repeating: 97, count: 125), [.failed(1002)]),
    ([0x81, 127, 0, 0, 0, 0, 0, 0, 255, 255, 97], [.failed(1002)]),
    ([0x82, 127, 128, 0, 0, 0, 0, 0, 0, 0, 97], [.failed(1002)]),
    // More than anybody takes.
    ([0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 1, 97], [.failed(1009)]),
    ([0x82, 127, 127, 255, 255, 255, 255, 255, 255, 255, 97], [.failed(1009)]),
    // Texts and reasons.
    (frame(0x81, [0xff]), [.failed(1007)]), (frame(0x81, [0xc3]), [.failed(1007)]),
    (frame(0x81, [0xed, 0xa0, 0x80]), [.failed(1007)]),
    (frame(0x81, [0xf4, 0x90, 0x80, 0x80]), [.failed(1007)]),
    (frame(0x81, [0xc0, 0xaf]), [.failed(1007)]),
    (frame(0x01, [0xe5, 0x86]) + frame(0x80, [0x86, 0xff]), [.failed(1007)]),
    (frame(0x01, [0xe5, 0x86]) + frame(0x80, ""), [.failed(1007)]),
    (frame(0x01, [0xe5]) + frame(0x00, [0x41]), [.failed(1007)]),
    (frame(0x88, [3, 232, 0xff]), [.failed(1007)]),
    (frame(0x88, [3]), [.failed(1002)]),
  ]

  /// Frames of a server, as this sender has them.
  private static func sent(by sender: FrameReader.Sender, _ frames: [UInt8]) -> [UInt8] {
    sender == .client ? masked(frames) : frames
  }

  @Test(arguments: [FrameReader.Sender.client, .server])
  func everyCut(sender: FrameReader.Sender) {
    for (frames, want) in Self.streams + Self.faults {
      let bytes = Self.sent(by: sender, frames)
      #expect(ReadFrame.read([bytes], from: sender) == want)
      #expect(ReadFrame.read(bytes.map { [$0] }, from: sender) == want)
      for cut in 0...bytes.count {
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
        #expect(ReadFrame.read(pieces, from: sender) == want)
      }
    }
  }

  @Test(arguments: [FrameReader.Sender.client, .server])
  func inOnePiece(sender: FrameReader.Sender) {
    let all = Self.streams.dropLast(4)
    let bytes = Self.sent(by: sender, all.flatMap(\.0))
    #expect(ReadFrame.read([bytes], from: sender) == all.flatMap(\.1))
    #expect(ReadFrame.read(bytes.map { [$0] }, from: sender) == all.flatMap(\.1))
  }

  /// The example of RFC 6455, section 5.7.
  private static let maskedHello: [UInt8] = [
    0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
  ]

  @Test func masksAreOfClients() {
    #expect(masked(frame(0x81, "Hello")) == Self.maskedHello)
    #expect(ReadFrame.read([Self.maskedHello], from: .client) == [.text("Hello")])
    func fault(_ reason: String) -> FrameFault { FrameFault(.protocolError, reason) }
    for frames in [
      frame(0x81, "Hello"), frame(0x81, ""), frame(0x02, [1]), frame(0x89, "p"),
      frame(0x88, ""), frame(0x82, [UInt8](repeating: 7, count: 70_000)),
    ] {
      let under = masked(frames)
      let whole = masked(frame(0x81, "a"))
      #expect(Self.refusal(frames, from: .client) == fault("an unmasked frame"))
      #expect(Self.refusal(under, from: .server) == fault("a masked frame"))
      #expect(ReadFrame.read([whole + frames], from: .client) == [.text("a"), .failed(1002)])
      #expect(ReadFrame.read([frame(0x81, "a") + under]) == [.text("a"), .failed(1002)])
    }
    // One among the fragments.
    let parts = masked(frame(0x01, "a")) + frame(0x80, "b")
    #expect(Self.refusal(parts, from: .client)?.reason == "an unmasked frame")
  }

  /// What the first call throws.
  private static func refusal(_ bytes: [UInt8], from sender: FrameReader.Sender) -> FrameFault? {
    let reader = FrameReader(from: sender, limit: nil)
    var bytes = bytes
    return bytes.withUnsafeMutableBytes { memory -> FrameFault? in
      reader.supply(memory)
      do throws(FrameFault) { _ = try reader.next() } catch { return error }
      return nil
    }
  }

  @Test(arguments: [FrameReader.Sender.client, .server])
  func longMessagesInPieces(sender: FrameReader.Sender) {
    // Lengths about those of the pieces that are read and of wslay's own buffer.
    for count in [4094, 4095, 4096, 4097, 65535, 65536, 131_070, 300_001, 1 << 20] {
      let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
      let bytes = Self.sent(by: sender, frame(0x82, payload) + frame(0x81, "end"))
      for size in [1000, 4096, 4097, 131_072, bytes.count] {
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
          Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        #expect(ReadFrame.read(pieces, from: sender) == [.binary(payload), .text("end")])
      }
    }
  }

  @Test func aWholeMessageStaysWhereItIs() throws {
    for sender in [FrameReader.Sender.client, .server] {
      let payload = [UInt8](repeating: 120, count: 10_000)
      var bytes = Self.sent(by: sender, frame(0x81, payload))
      let reader = FrameReader(from: sender, limit: nil)
      try bytes.withUnsafeMutableBytes { memory in
        reader.supply(memory)
        guard case .message(let message) = try reader.next() else {
          Issue.record("no message")
          return
        }
        #expect(message.bytes.elementsEqual(payload))
        let place = UnsafeRawPointer(memory.baseAddress! + memory.count - payload.count)
        #expect(message.bytes.baseAddress == place)
        if try reader.next() != nil { Issue.record("more than one") }
      }
    }
  }

  @Test(arguments: [FrameReader.Sender.client, .server])
  func aLimitDropsMessagesAndGoesOn(sender: FrameReader.Sender) {
    let long = frame(0x81, "0123456789a")
    let next = frame(0x81, "0123456789")
    let parts = frame(0x01, "01234") + frame(0x89, "") + frame(0x00, "56789") + frame(0x80, "a")
    for (frames, want): ([UInt8], [ReadFrame]) in [
      (long + next, [.oversize(11), .text("0123456789")]),
      (parts + next, [.ping([]), .oversize(11), .text("0123456789")]),
      (frame(0x01, [0xff]) + parts, [.failed(1007)]),
      (
        frame(0x02, [UInt8](repeating: 0xff, count: 12)) + frame(0x80, "") + next,
        [.oversize(12), .text("0123456789")]
      ),
    ] {
      let bytes = Self.sent(by: sender, frames)
      for cut in 0...bytes.count {
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
        #expect(ReadFrame.read(pieces, from: sender, limit: 10) == want)
      }
    }
    // What is wrong and too long is wrong, however it comes.
    for wrong: [UInt8] in [[0xc1], [0x83], [0x80]] {
      let bytes = Self.sent(by: sender, wrong + [127, 0, 0, 0, 0, 0, 1, 0x11, 0x70, 97])
      for cut in 0...bytes.count {
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
        #expect(ReadFrame.read(pieces, from: sender, limit: 10) == [.failed(1002)])
      }
    }
    // What is claimed is not waited for.
    let claim = Self.sent(by: sender, [0x82, 127, 0, 0, 0, 0, 0x3f, 0, 0, 0, 97])
    #expect(ReadFrame.read([claim], from: sender, limit: 10) == [.oversize(0x3f00_0000)])
    // The header alone says it, however it comes, and once.
    let header = Array(claim.dropLast())
    #expect(ReadFrame.read([header], from: sender, limit: 10) == [.oversize(0x3f00_0000)])
    for cut in 0...claim.count {
      let pieces = [Array(claim[..<cut]), Array(claim[cut...])]
      #expect(ReadFrame.read(pieces, from: sender, limit: 10) == [.oversize(0x3f00_0000)])
    }
    #expect(
      ReadFrame.read(header.map { [$0] }, from: sender, limit: 10) == [.oversize(0x3f00_0000)])
    let huge = Self.sent(by: sender, [0x81, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 97]).dropLast()
    #expect(ReadFrame.read([Array(huge)], from: sender) == [.failed(1009)])
    let late = Self.sent(by: sender, frame(0x01, "0123456789") + [0x80, 100, 97])
    #expect(ReadFrame.read([late], from: sender, limit: 10) == [.oversize(110)])
  }

  @Test(arguments: [FrameReader.Sender.client, .server])
  func aLimitThatIsRaised(sender: FrameReader.Sender) {
    let reader = FrameReader(from: sender, limit: 10)
    let long = frame(0x81, "0123456789a")
    func read(_ frames: [UInt8]) -> [ReadFrame] {
      ReadFrame.read(Self.sent(by: sender, frames), by: reader)
    }
    #expect(read(frame(0x81, "a") + long) == [.text("a"), .oversize(11)])
    reader.limit = 11
    #expect(read(long + frame(0x81, "0123456789ab")) == [.text("0123456789a"), .oversize(12)])
    // Within a message it counts from the next fragment on; what is dropped stays so.
    #expect(read(frame(0x01, "0123456789a")) == [])
    reader.limit = 12
    #expect(read(frame(0x80, "b")) == [.text("0123456789ab")])
    #expect(read(frame(0x01, "0123456789") + frame(0x00, "abc")) == [.oversize(13)])
    reader.limit = nil
    #expect(read(frame(0x80, "d") + long) == [.text("0123456789a")])
  }

  /// Many empty fragments are no message, and take no memory.
  @Test(arguments: [FrameReader.Sender.client, .server])
  func manyEmptyFragments(sender: FrameReader.Sender) {
    let reader = FrameReader(from: sender, limit: 10)
    #expect(ReadFrame.read(Self.sent(by: sender, frame(0x01, "é")), by: reader) == [])
    let empty = Self.sent(by: sender, (0..<10_000).flatMap { _ in frame(0x00, "") })
    for _ in 0..<10 { #expect(ReadFrame.read(empty, by: reader) == []) }
    #expect(ReadFrame.read(Self.sent(by: sender, frame(0x80, "x")), by: reader) == [.text("éx")])
  }

  @Test func closeCodes() {
    let may = [1000...1003, 1007...1014, 3000...4999].flatMap { Array($0) }
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] + may {
      let found = ReadFrame.read([frame(0x88, [UInt8(code >> 8), UInt8(code & 255)])])
      #expect(found == [may.contains(code) ? .close(UInt16(code), "") : .failed(1002)])
    }
  }

  @Test func closeReasonsAreCutBetweenCharacters() {
    let payload = CloseFrame.payload(1000, String(repeating: "é", count: 100))
    #expect(payload.count == 124)
    #expect(payload.withUnsafeBytes { UTF8Text.isValid(.init(rebasing: $0[2...])) })
  }

  @Test func tooManyFrames() throws {
    let part = frame(0x00, "a")
    for (count, want): (Int, [ReadFrame]) in [(2, [.text("aaaa")]), (3, [.failed(1002)])] {
      let reader = FrameReader(from: .server, limit: nil, mostFrames: 4)
      let parts = (0..<count).flatMap { _ in part }
      #expect(ReadFrame.read(frame(0x01, "a") + parts + frame(0x80, "a"), by: reader) == want)
    }
  }
}
