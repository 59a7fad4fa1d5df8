import Core
import Frames
import Testing

@testable import Web

/// The frames that are sent, of a client and of a server.
@Suite struct FrameWriterTests {
  private static let frames: [(FrameWriter.Opcode, [UInt8], ReadFrame?)] = [
    (.text, Array("π".utf8), .text("π")), (.text, [], .text("")),
    (.binary, [UInt8](repeating: 7, count: 125), .binary([UInt8](repeating: 7, count: 125))),
    (.binary, [UInt8](repeating: 8, count: 126), .binary([UInt8](repeating: 8, count: 126))),
    (.binary, [UInt8](repeating: 9, count: 70_000), .binary([UInt8](repeating: 9, count: 70_000))),
    (.ping, [1, 2], .ping([1, 2])), (.pong, [3], nil),
    (.close, CloseFrame.payload(1008, "no"), .close(1008, "no")),
  ]

  @Test(arguments: [FrameReader.Sender.client, .server])
  func whatIsWrittenIsRead(sender: FrameReader.Sender) {
    let writer = FrameWriter(masks: sender == .client)
    for (opcode, payload, _) in Self.frames { writer.add(opcode, payload) }
    let unsent = writer.unsent
    let bytes = writer.take()
    #expect(bytes.count == unsent)
    #expect(writer.unsent == 0)
    #expect(writer.take() == [])
    #expect(ReadFrame.read([bytes], from: sender) == Self.frames.compactMap(\.2))
    #expect(ReadFrame.read([bytes], from: sender == .client ? .server : .client) == [.failed(1002)])
  }

  @Test func aServersFramesAreThose() {
    let writer = FrameWriter(masks: false)
    writer.add(.text, Array("Hello".utf8))
    #expect(writer.take() == [0x81, 5] + Array("Hello".utf8))
    writer.add(.ping, [])
    writer.add(.close, [3, 232])
    #expect(writer.take() == [0x89, 0, 0x88, 2, 3, 232])
  }
}
