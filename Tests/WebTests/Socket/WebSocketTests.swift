import Core
import Frames
import Testing

@testable import Web

/// One connection with its other side, and what it tells.
@Suite struct WebSocketTests {
  /// Keeps what is told, and does what a test wants when it is.
  private final class Log: SocketHandler {
    var told: [String] = []
    var onMessage: (String) -> Void = { _ in }

    func socketOpened(_ place: String, subprotocol: String?) { told.append("open") }

    func socketMessage(_ message: SocketMessage) {
      let text = String(decoding: message.bytes, as: UTF8.self)
      told.append(text)
      onMessage(text)
    }

    func socketOversize(bytes: Int) { told.append("over \(bytes)") }

    func socketEnded(_ end: SocketEnd) {
      switch end {
      case .closed(let code, let reason):
        told.append("closed \(code.map(String.init) ?? "-") \(reason)")
      case .violated(let code, _): told.append("violated \(code)")
      case .network(let reason): told.append(reason)
      case .refused, .redirects, .notSocket: told.append("refused")
      }
    }
  }

  private let client = WebClient(agent: "test/1")!
  private let log = Log()
  private let peer: SocketPeer

  init() throws { peer = try SocketPeer() }

  private func open(
    _ options: SocketOptions = SocketOptions(), with more: [UInt8] = []
  ) -> WebSocket {
    let socket = WebSocket(client, Request(peer.address), options: options, handler: log)
    peer.accept(client, with: more)
    return socket
  }

  private func told(_ count: Int) -> Bool { peer.wait(client) { log.told.count >= count } }

  @Test func messagesWithTheAnswerAndBehindIt() {
    let socket = open(with: frame(0x81, "a") + [0x81])
    #expect(told(2))
    #expect(socket.isOpen)
    peer.send([1] + Array("b".utf8))
    #expect(told(3))
    #expect(log.told == ["open", "a", "b"])
  }

  @Test func holdingKeepsTheRest() {
    let socket = open(
      with: frame(0x81, "a") + frame(0x81, "b") + frame(0x81, "c") + [0x81, 2, 100])
    log.onMessage = { if $0 == "a" || $0 == "b" { socket.hold() } }
    #expect(told(2))
    peer.send(Array("d".utf8) + frame(0x81, "e"))
    #expect(peer.isQuiet(client) { log.told.count > 2 })
    socket.release()
    #expect(told(3))
    socket.release()
    #expect(told(6))
    #expect(log.told == ["open", "a", "b", "c", "dd", "e"])
  }

  @Test func holdingAndReleasingWithinAMessage() {
    let socket = open(with: frame(0x81, "a") + frame(0x81, "b"))
    log.onMessage = { _ in
      socket.hold()
      socket.release()
    }
    #expect(told(3))
    #expect(log.told == ["open", "a", "b"])
  }

  @Test func sendingWithinAMessage() {
    let socket = open(with: frame(0x81, "a"))
    log.onMessage = {
      socket.send(text: Array("re \($0)".utf8))
      socket.send(binary: [1, 2])
      socket.ping()
    }
    #expect(peer.wait(client) { peer.received.count >= 10 + 8 + 6 })
    let first = unmasked(peer.received)
    #expect(first?.first == 0x81)
    #expect(first?.payload == Array("re a".utf8))
    let second = unmasked(first?.rest ?? [])
    #expect(second?.first == 0x82)
    #expect(second?.payload == [1, 2])
    #expect(unmasked(second?.rest ?? [])?.first == 0x89)
    #expect(socket.unsent == 0)
  }

  @Test func cancellingWithinAMessage() {
    var socket: WebSocket? = open(with: frame(0x81, "a") + frame(0x81, "b"))
    log.onMessage = { _ in socket?.cancel() }
    #expect(told(2))
    #expect(peer.isQuiet(client) { log.told.count > 2 })
    #expect(socket?.isOpen == false)
    socket = nil
  }

  @Test func lettingGoWithinAMessage() {
    var socket: WebSocket? = open(with: frame(0x81, "a") + frame(0x81, "b"))
    log.onMessage = { _ in
      socket?.cancel()
      socket = nil
    }
    #expect(told(2))
    #expect(peer.isQuiet(client) { log.told.count > 2 })
    #expect(socket == nil)
  }

  @Test func closingInOrder() {
    let socket = open()
    #expect(told(1))
    socket.close(4000, "enough")
    #expect(!socket.isOpen)
    // Until the other side says so, messages come.
    peer.send(frame(0x81, "last"))
    #expect(told(2))
    #expect(unmasked(peer.received)?.payload == [15, 160] + Array("enough".utf8))
    peer.send(frame(0x88, [15, 160]))
    #expect(peer.isQuiet(client) { log.told.count > 2 })
    peer.hangUp()
    #expect(told(3))
    #expect(log.told == ["open", "last", "closed 4000 "])
  }

  @Test func closingWithoutAnAnswer() {
    var options = SocketOptions()
    options.closeWait = 0.1
    let socket = open(options)
    #expect(told(1))
    let began = Clock.monotonic
    socket.close(1000, "")
    #expect(
      peer.wait(client) {
        _ = socket.tick(now: Clock.monotonic)
        return log.told.count > 1
      })
    #expect(log.told == ["open", "closed - "])
    #expect(Clock.monotonic - began >= 0.1)
  }

  @Test func aCloseIsEchoedAndTheEndAwaited() {
    let socket = open(with: frame(0x88, [3, 233] + Array("bye".utf8)) + frame(0x81, "late"))
    #expect(peer.wait(client) { unmasked(peer.received) != nil })
    #expect(unmasked(peer.received)?.payload == [3, 233])
    #expect(log.told == ["open"])
    peer.hangUp()
    #expect(told(2))
    #expect(log.told == ["open", "closed 1001 bye"])
    #expect(!socket.isOpen)
  }

  @Test func aBreachIsToldOnce() {
    let socket = open(with: frame(0x81, "a") + frame(0xc1, "b") + frame(0x81, "c"))
    #expect(peer.wait(client) { unmasked(peer.received) != nil })
    #expect(unmasked(peer.received)?.payload.prefix(2) == [3, 234])
    peer.send(frame(0x81, "d"))
    peer.hangUp()
    #expect(told(3))
    #expect(log.told == ["open", "a", "violated 1002"])
    #expect(!socket.isOpen)
  }

  @Test func anEndWithoutAClose() {
    let socket = open(with: frame(0x01, "half"))
    #expect(told(1))
    peer.hangUp()
    #expect(told(2))
    #expect(log.told.last == "the connection ended without a close frame")
    #expect(!socket.isOpen)
  }

  @Test func eachOfManyPingsIsAnswered() {
    let pings = (0..<100).flatMap { frame(0x89, [UInt8($0)]) }
    let socket = open(with: pings)
    // Six bytes of head and mask, one of payload.
    #expect(peer.wait(client) { peer.received.count >= 700 })
    #expect(peer.received.count == 700)
    #expect(unmasked(peer.received)?.payload == [0])
    #expect(socket.isOpen)
  }

  @Test func floodsTakeTurns() throws {
    // Both have more to read than a turn allows; neither waits for the other's end.
    let other = try SocketPeer()
    let second = Log()
    let socket = open()
    let another = WebSocket(
      client, Request(other.address), options: SocketOptions(), handler: second)
    other.accept(client)
    #expect(told(1))
    #expect(other.wait(client) { !second.told.isEmpty })
    let flood = (0..<500).flatMap { _ in frame(0x81, "0123456789") }
    peer.send(flood)
    other.send(flood)
    #expect(peer.wait(client) { log.told.count > 1 && second.told.count > 1 })
    #expect(told(501))
    #expect(other.wait(client) { second.told.count >= 501 })
    #expect(socket.isOpen && another.isOpen)
  }
}
