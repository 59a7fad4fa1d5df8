import CLibc
import Testing

@testable import Shell

/// Two ends of a connection that buffers little.
private final class Pair {
  let wire: SSH2Wire
  let other: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    _ = socketpair(AF_UNIX, Pair.stream, 0, &ends)
    wire = SSH2Wire(descriptor: ends[0], now: 1)
    other = ends[1]
  }

  deinit { close(other) }

  #if os(Linux)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif

  func say(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { write(other, $0.baseAddress, $0.count) }
  }

  /// What the other end has got, as far as it has.
  func heard() -> Int {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    return max(0, clibc_receive(other, &bytes, bytes.count))
  }

  /// What libssh2 gets.
  func receive(_ count: Int = 100) -> String? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { wire.receive($0) }
    return got > 0 ? String(decoding: bytes[..<got], as: UTF8.self) : nil
  }
}

@Suite struct SSH2WireTests {
  /// libssh2 must never be told to wait with half a packet sent.
  @Test func whatIsSentIsTakenWhole() {
    let pair = Pair()
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    for _ in 0..<4 { #expect(piece.withUnsafeBytes { pair.wire.send($0) } == piece.count) }
    #expect(pair.wire.queued > 0)
    var heard = 0
    while pair.wire.queued > 0 {
      heard += pair.heard()
      pair.wire.flush()
    }
    var more = pair.heard()
    while more > 0 {
      heard += more
      more = pair.heard()
    }
    #expect(heard == 4 << 20)
  }

  @Test func whatHasComeIsGivenInPieces() {
    let pair = Pair()
    pair.say("SSH-2.0-x\r\n")
    pair.wire.now = 5
    #expect(pair.receive(1) == "S")
    #expect(pair.receive() == "SH-2.0-x\r\n")
    #expect(!pair.wire.isDrained)
    #expect(pair.receive() == nil)
    #expect(pair.wire.isDrained)
    #expect(pair.wire.lastInbound == 5)
    #expect(pair.wire.greeting == Array("SSH-2.0-x\r\n".utf8))
  }

  /// Without a word from poll(2) nothing is taken: what would be read on the side of a
  /// write would be looked at by nobody.
  @Test func nothingIsReadUnlessItIsSaidToBeThere() {
    let pair = Pair()
    #expect(pair.receive() == nil)
    pair.say("x")
    #expect(pair.receive() == nil)
    pair.wire.mayRead = true
    #expect(pair.receive() == "x")
  }

  /// A host that never stops talking is left alone until the next turn.
  @Test func aTurnHasItsBounds() {
    let pair = Pair()
    pair.say("x")
    pair.wire.budget = 0
    #expect(pair.receive() == nil)
    pair.wire.budget = 1
    #expect(pair.receive() == "x")
    #expect(pair.wire.budget == 0)
  }

  /// libssh2 keeps to itself what came before an end.
  @Test func theEndIsNotToldToLibssh2() {
    let pair = Pair()
    pair.say("last")
    shutdown(pair.other, 1)
    #expect(pair.receive() == "last")
    pair.wire.mayRead = true
    #expect(pair.receive() == nil)
    #expect(pair.wire.ending == "closed by the host")
  }

  @Test func aBrokenConnectionCanStillBeRead() {
    let pair = Pair()
    pair.say("last words")
    shutdown(pair.other, 0)
    #expect([1].withUnsafeBytes { pair.wire.send($0) } == 8)
    #expect(pair.receive() == "last words")
  }

  @Test func aSealedWireMovesNothing() {
    let pair = Pair()
    pair.say("x")
    pair.wire.seal()
    #expect(pair.receive() == nil)
    #expect([1, 2].withUnsafeBytes { pair.wire.send($0) } == 16)
    #expect(pair.heard() == 0)
  }
}
