import CLibc
import CSSH2
import Core

/// The socket under a libssh2 session, with a queue on either side.
///
/// What libssh2 sends is always taken whole: a session that is told to wait in the
/// middle of a packet refuses everything else until that packet is through. And it is
/// never told of the connection's end: it would keep to itself what came before.
final class SSH2Wire {
  let descriptor: Int32
  /// The time that is noted for what comes in; set before the session is called.
  var now: Double
  private(set) var lastInbound: Double
  private(set) var ending: String?
  /// How many bytes may still come before the loop must be let go on: a host that talks
  /// without end must not keep keys and time-outs waiting.
  var budget = turnBudget
  /// Whether there may be bytes in the socket: known from poll(2), so that a session
  /// that is only written to costs no calls of recv(2).
  var mayRead = true
  /// Whether libssh2 has got all there is, so that only the socket can bring more.
  private(set) var isDrained = false
  /// How the host's side began, while it is in the clear; see `KeyExchangeOffer`.
  private(set) var greeting: [UInt8] = []
  var keepsGreeting = true
  var farewell: Farewell?
  /// Whether a packet was another one than the host sent: nothing behind it counts.
  private(set) var isDamaged = false

  private var outgoing = ByteQueue()
  private var incoming = ByteQueue(keeps: receiveSize)
  private var sendFailed = false
  private var isSealed = false

  /// What one turn of the loop may bring, bytes.
  static let turnBudget = 4 << 20
  private static let receiveSize = 128 << 10
  private static let greetingLimit = 32 << 10

  init(descriptor: Int32, now: Double) {
    self.descriptor = descriptor
    self.now = now
    lastInbound = now
  }

  deinit { close(descriptor) }

  var queued: Int { outgoing.count }

  func wants(_ set: inout PollSet) { set.add(descriptor, reading: hasRoom, writing: queued > 0) }

  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard !sendFailed, !isSealed else { return bytes.count }
    let sent = outgoing.isEmpty ? push(bytes) : 0
    outgoing.append(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
    return bytes.count
  }

  func flush() {
    while !outgoing.isEmpty {
      let sent = push(outgoing.bytes)
      if sendFailed { return outgoing.removeAll() }
      guard sent > 0 else { return }
      outgoing.drop(sent)
    }
  }

  /// Gives libssh2 what has come; -EAGAIN when there is nothing.
  func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if isSealed { return Int(-ECONNRESET) }
    if isDamaged { return Int(-EAGAIN) }
    if incoming.isEmpty { fill() }
    let count = incoming.take(into: buffer)
    isDrained = count == 0
    return count > 0 ? count : Int(-EAGAIN)
  }

  /// Takes what has come out of the socket before anybody wants it, within bounds.
  func fill() {
    while mayRead, ending == nil, budget > 0, incoming.count < Self.receiveSize {
      let wanted = Self.receiveSize - incoming.count
      let room = incoming.room(wanted)
      let count = clibc_receive(descriptor, room.baseAddress, wanted)
      if count > 0 {
        if keepsGreeting {
          greeting.append(contentsOf: room.prefix(min(count, Self.greetingLimit - greeting.count)))
        }
        incoming.put(count)
        lastInbound = now
        budget -= count
        isDrained = false
        // Less than there was room for: the socket is empty.
        mayRead = count == wanted
        return
      }
      if count < 0 && systemError == EINTR { continue }
      mayRead = false
      if count == 0 {
        ending = "closed by the host"
      } else if systemError != EAGAIN && systemError != EWOULDBLOCK {
        ending = systemReason(systemError)
      }
    }
  }

  /// Whether there is room for bytes that nobody wants yet.
  var hasRoom: Bool { incoming.count < Self.receiveSize }

  func spoil() {
    isDamaged = true
    isDrained = true
    ending = Self.damage
    incoming.removeAll()
  }

  private static let damage = "damaged on the way"

  func dropGreeting() {
    keepsGreeting = false
    greeting = []
  }

  /// Nothing goes out or comes in from here on: what libssh2 still waits for fails.
  func seal() { isSealed = true }

  private func push(_ bytes: UnsafeRawBufferPointer) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = clibc_send(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
      if count > 0 {
        sent += count
      } else if count < 0 && systemError == EINTR {
        continue
      } else {
        // A connection that takes nothing more may still have something to say: what
        // became of it is found out by reading.
        if systemError != EAGAIN && systemError != EWOULDBLOCK {
          sendFailed = true
          return bytes.count
        }
        break
      }
    }
    return sent
  }
}

struct Farewell: Equatable {
  /// Of RFC 4253, section 11.1.
  var reason: Int
  /// Not escaped.
  var words: String

  var isRefusal: Bool {
    let words = words.lowercased()
    return 12...15 ~= reason || words.holds("authentication fail")
      || words.holds("authentication attempt")
  }
}
