import CLibc
import CNats
import Core

/// A connection to a server, with the inboxes that answers and records come to. Nothing here
/// ever waits.
final class BusConnection {
  let server: BusServer
  /// Where answers are sent, with a dot and a token behind it.
  let inbox: String
  /// Where pulled records are sent, in the same way; empty when none are wanted.
  let pullBox: String
  private let connection: OpaquePointer
  private let loop: cnats_loop_ref
  private var answers: OpaquePointer?
  private var pulls: OpaquePointer?
  private let bin = BusBin()

  init(_ connection: OpaquePointer, _ dial: BusDial, pulling: Bool) {
    (self.connection, loop, server) = (connection, dial.loop, dial.server)
    inbox = Self.newInbox()
    pullBox = pulling ? Self.newInbox() : ""
    answers = subscribe(inbox)
    if pulling { pulls = subscribe(pullBox) }
    flush()
  }

  deinit {
    // Both must be gone before the connection, which tells its loop.
    if let answers { natsSubscription_Destroy(answers) }
    if let pulls { natsSubscription_Destroy(pulls) }
    natsConnection_Destroy(connection)
    cnats_loop_free(loop)
  }

  private static func newInbox() -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    var random = SystemRandomNumberGenerator()
    let name = (0..<22).map { _ in letters.randomElement(using: &random)! }
    return "_INBOX." + String(decoding: name, as: UTF8.self)
  }

  private func subscribe(_ inbox: String) -> OpaquePointer? {
    var made: OpaquePointer?
    guard natsConnection_SubscribeSync(&made, connection, inbox + ".*") == NATS_OK else {
      return nil
    }
    // We bound what we ask for; what the library would drop is lost.
    natsSubscription_SetPendingLimits(made, -1, -1)
    return made
  }

  var entry: pollfd {
    let events = (cnats_loop_reads(loop) ? POLLIN : 0) | (cnats_loop_writes(loop) ? POLLOUT : 0)
    return pollfd(fd: cnats_loop_socket(loop), events: Int16(events), revents: 0)
  }

  var isClosed: Bool { natsConnection_IsClosed(connection) }

  var reason: String {
    var text: UnsafePointer<CChar>?
    let status = natsConnection_GetLastError(connection, &text)
    if let text, text.pointee != 0 { return String(cString: text) }
    return status == NATS_OK ? "connection closed" : BusDial.words(of: status)
  }

  var refusal: String? {
    var text: UnsafePointer<CChar>?
    guard natsConnection_GetLastError(connection, &text) == NATS_NOT_PERMITTED else { return nil }
    return text.map { String(cString: $0) } ?? "not permitted"
  }

  /// The most that the server takes at once, bytes, headers too.
  var maxPayload: Int { Int(natsConnection_GetMaxPayload(connection)) }

  var told: [String] {
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count: Int32 = 0
    guard natsConnection_GetDiscoveredServers(connection, &list, &count) == NATS_OK, let list
    else { return [] }
    defer { cnats_free_list(list, count) }
    return (0..<min(Int(count), 64)).compactMap { list[$0].map { String(cString: $0) } }
  }

  var isFlushed: Bool { natsConnection_Buffered(connection) <= 0 }

  func read() { natsConnection_ProcessReadEvent(connection) }

  func flush() {
    if cnats_loop_writes(loop) { natsConnection_ProcessWriteEvent(connection) }
  }

  /// Publishes; it goes out with `flush`. Returns whether the connection took it.
  func publish(
    _ subject: String, reply: String?, _ bytes: UnsafeRawBufferPointer, id: String?
  ) -> Bool {
    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let id else {
      return natsConnection_PublishRequest(
        connection, subject, reply ?? "", start, Int32(bytes.count)) == NATS_OK
    }
    var message: OpaquePointer?
    guard
      natsMsg_Create(&message, subject, reply, start, Int32(bytes.count)) == NATS_OK, let message
    else { return false }
    defer { bin.put(message) }
    return natsMsgHeader_Set(message, BusMessage.idHeader, id) == NATS_OK
      && natsConnection_PublishMsg(connection, message) == NATS_OK
  }

  func publish(_ subject: String, _ text: String) -> Bool {
    natsConnection_PublishString(connection, subject, text) == NATS_OK
  }

  func answer() -> BusArrival? { next(answers) }

  func pulled() -> BusArrival? { next(pulls) }

  private func next(_ subscription: OpaquePointer?) -> BusArrival? {
    guard let subscription else { return nil }
    var message: OpaquePointer?
    let status = natsSubscription_NextMsg(&message, subscription, 0)
    if status == NATS_OK, let message { return .message(BusMessage(owning: message, bin: bin)) }
    return status == NATS_NO_RESPONDERS ? .noResponders : nil
  }

  /// Tells the server to send no more records; those under way still come.
  func stopPulls() { if let pulls { natsSubscription_Drain(pulls) } }
}

/// What came from the bus.
public enum BusArrival {
  case message(BusMessage)
  /// Nobody took something that was published: the library does not say what.
  case noResponders
}
