import CLibc
import CNats
import Core

/// A connection to a server, with the inboxes that answers and records come to. Nothing here
/// ever waits.
public final class BusConnection {
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

  /// What the server forbade; nil for nothing.
  public var refusal: String? {
    var text: UnsafePointer<CChar>?
    guard natsConnection_GetLastError(connection, &text) == NATS_NOT_PERMITTED else { return nil }
    return text.map { String(cString: $0) } ?? "not permitted"
  }

  /// The most that the server takes, or sends, at once, bytes, headers too.
  public var maxPayload: Int { Int(natsConnection_GetMaxPayload(connection)) }

  /// The longest record that the server takes, bytes.
  public var largest: Int { min(max(maxPayload - 512, 0), Self.mostStored) }

  /// The longest record that a stream in files keeps, bytes: servers acknowledge what is larger
  /// than 32 MB with its subject and headers, and cannot read it again.
  private static let mostStored = (32 << 20) - 4096

  var told: [String] {
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count: Int32 = 0
    guard natsConnection_GetDiscoveredServers(connection, &list, &count) == NATS_OK, let list
    else { return [] }
    defer { cnats_free_list(list, count) }
    return (0..<min(Int(count), 64)).compactMap { list[$0].map { String(cString: $0) } }
  }

  /// Whether all that was published has gone to the system.
  public var isFlushed: Bool { natsConnection_Buffered(connection) <= 0 }

  func read() { natsConnection_ProcessReadEvent(connection) }

  /// Sends as much as the system takes.
  public func flush() {
    if cnats_loop_writes(loop) { natsConnection_ProcessWriteEvent(connection) }
  }

  /// Sends a request whose answer comes to `answer` under a token.
  public func ask(_ request: BusRequest, answerTo token: String) {
    request.body.withUnsafeBytes { _ = publish(request.subject, answerTo: token, $0) }
    flush()
  }

  /// Publishes a request for records, which come to `pulled`.
  public func pull(_ request: BusRequest, token: Int) {
    request.body.withUnsafeBytes {
      _ = publish(request.subject, reply: "\(pullBox).\(token)", $0, id: nil)
    }
  }

  /// Publishes; it goes out with `flush`.
  ///
  /// - Parameters:
  ///   - token: of the inbox that the answer goes to, see `answer`.
  ///   - id: the message id; nil for none.
  /// - Returns: whether the connection took it.
  public func publish(
    _ subject: String, answerTo token: String, _ bytes: UnsafeRawBufferPointer, id: String? = nil
  ) -> Bool {
    publish(subject, reply: "\(inbox).\(token)", bytes, id: id)
  }

  private func publish(
    _ subject: String, reply: String, _ bytes: UnsafeRawBufferPointer, id: String?
  ) -> Bool {
    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let id else {
      return natsConnection_PublishRequest(
        connection, subject, reply, start, Int32(bytes.count)) == NATS_OK
    }
    var message: OpaquePointer?
    guard
      natsMsg_Create(&message, subject, reply, start, Int32(bytes.count)) == NATS_OK, let message
    else { return false }
    defer { bin.put(message) }
    return natsMsgHeader_Set(message, BusMessage.idHeader, id) == NATS_OK
      && natsConnection_PublishMsg(connection, message) == NATS_OK
  }

  /// Publishes what asks for no answer. Returns whether the connection took it.
  @discardableResult
  public func tell(_ subject: String, _ text: String) -> Bool {
    natsConnection_PublishString(connection, subject, text) == NATS_OK
  }

  /// The next answer; nil when there is none.
  public func answer() -> BusArrival? { next(answers) }
  /// The next record, or word about a pull; nil when there is none.
  public func pulled() -> BusArrival? { next(pulls) }

  private func next(_ subscription: OpaquePointer?) -> BusArrival? {
    guard let subscription else { return nil }
    var message: OpaquePointer?
    let status = natsSubscription_NextMsg(&message, subscription, 0)
    if status == NATS_OK, let message { return .message(BusMessage(owning: message, bin: bin)) }
    return status == NATS_NO_RESPONDERS ? .noResponders : nil
  }

  /// Tells the server to send no more records; those under way still come.
  public func stopPulls() { if let pulls { natsSubscription_Drain(pulls) } }
}

/// What came from the bus.
public enum BusArrival {
  case message(BusMessage)
  /// Nobody took something that was published: the library does not say what.
  case noResponders
}
