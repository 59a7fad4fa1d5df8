import Core
import NIOConcurrencyHelpers
import NIOCore

/// One WebSocket of a client, seen from the gateway: what is sent to it leaves in
/// order, and a client that does not read is cut off.
final class Peer: Sendable {
  /// What the connection is asked to send.
  enum Outgoing: Sendable {
    /// A message.
    case text(ByteBuffer)
    /// The end, and why.
    case close(Int, String)
  }

  private struct State {
    /// What was sent and has not left, bytes.
    var pending = 0
    var isClosed = false
    /// What came and was not looked at yet, bytes.
    var waiting = 0
    /// Whether nothing more is read until that has become less.
    var isHeld = false
    var isOpen = false
    var isGone = false
  }

  /// How much of a client waits to be looked at before no more is read, bytes.
  private static let inboxLimit = 1 << 20

  /// The connection's number, never used twice.
  let number: Int
  /// Whether the client is on this machine.
  let isLocal: Bool
  /// The client's address.
  let address: String
  /// What it was greeted with.
  let nonce = Base64.random(bytes: 24)
  /// When it was greeted, in milliseconds.
  let greeted = Timestamp.now().milliseconds
  private let channel: any Channel
  private let limit: Int
  private let state = NIOLockedValueBox(State())
  /// What the client sends, message by message, until the connection is closed; each
  /// is to be confirmed by `noteHandled`.
  let messages: AsyncStream<[UInt8]>
  private let inbox: AsyncStream<[UInt8]>.Continuation

  /// - Parameters:
  ///   - channel: the connection, past its HTTP.
  ///   - number: its number.
  ///   - limit: how many bytes may wait for the client.
  init(_ channel: any Channel, number: Int, limit: Int) {
    self.channel = channel
    self.number = number
    self.limit = limit
    (messages, inbox) = AsyncStream.makeStream(of: [UInt8].self)
    address = channel.remoteAddress?.ipAddress ?? ""
    isLocal = ListenAddress.isLoopback(address)
  }

  /// Whether the client has connected, and may send long messages.
  var isOpen: Bool {
    get { state.withLockedValue { $0.isOpen } }
    set { state.withLockedValue { $0.isOpen = newValue } }
  }

  /// Sends a message, without waiting. One that finds nothing before it is always
  /// taken; beyond the limit the client is cut off.
  func send(_ message: [UInt8]) {
    let fits = state.withLockedValue { state -> Bool? in
      if state.isClosed { return nil }
      if state.pending > 0 && state.pending + message.count > limit { return false }
      state.pending += message.count
      return true
    }
    guard let fits else { return }
    guard fits else { return close(CloseCode.policy, "slow consumer") }
    let count = message.count
    channel.writeAndFlush(Outgoing.text(ByteBuffer(bytes: message))).whenComplete { [state] _ in
      state.withLockedValue { $0.pending -= count }
    }
  }

  /// Ends the connection; what was sent before leaves first, if the client takes it.
  func close(_ code: Int, _ reason: String) {
    let isFirst = state.withLockedValue { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { channel.writeAndFlush(Outgoing.close(code, reason), promise: nil) }
  }

  /// The connection is no more.
  func noteGone() { state.withLockedValue { $0.isGone = true } }

  /// Whether it is no more.
  var isGone: Bool { state.withLockedValue { $0.isGone } }

  // MARK: - What comes in

  /// Takes a message of the client.
  func deliver(_ message: [UInt8]) {
    state.withLockedValue { $0.waiting += max(message.count, 1024) }
    inbox.yield(message)
  }

  /// Nothing more comes.
  func finish() {
    state.withLockedValue { $0.isClosed = true }
    inbox.finish()
  }

  /// Whether so much waits that no more is to be read for now.
  func holds() -> Bool {
    state.withLockedValue { state in
      state.isHeld = state.waiting > Self.inboxLimit
      return state.isHeld
    }
  }

  /// A message was looked at: there is room for another one.
  func noteHandled(_ message: [UInt8]) {
    let goesOn = state.withLockedValue { state in
      state.waiting -= max(message.count, 1024)
      guard state.isHeld && state.waiting <= Self.inboxLimit else { return false }
      state.isHeld = false
      return true
    }
    if goesOn { channel.read() }
  }
}
