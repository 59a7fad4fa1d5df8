import CLibc
import CNats

/// A message from the bus, as it lies in the library's memory.
public final class BusMessage {
  private let message: OpaquePointer
  private let bin: BusBin

  init(owning message: OpaquePointer, bin: BusBin) { (self.message, self.bin) = (message, bin) }

  deinit { bin.put(message) }

  /// What it was published under; of an answer, the inbox that it came to.
  public var subject: String { natsMsg_GetSubject(message).map { String(cString: $0) } ?? "" }

  /// Where an answer goes; empty for nowhere.
  public var reply: String { natsMsg_GetReply(message).map { String(cString: $0) } ?? "" }

  /// The token that it was sent to, of an inbox: the last of the subject.
  public var token: String {
    guard let subject = natsMsg_GetSubject(message), let dot = strrchr(subject, 0x2e) else {
      return ""
    }
    return String(cString: dot + 1)
  }

  /// How many bytes it holds.
  public var count: Int { Int(natsMsg_GetDataLength(message)) }

  /// Reads what it holds.
  public func withBytes<Result, Fault: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count))
  }

  /// The header that holds the message id.
  public static let idHeader = "Nats-Msg-Id"

  /// The first value of a header; nil when it has none of this name.
  public func header(_ name: String) -> String? {
    var value: UnsafePointer<CChar>?
    guard natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { return nil }
    return String(cString: value)
  }

  /// What a server says beside messages: 100 that it is alive, 408 that a request is over.
  public var serverStatus: Int? { header("Status").flatMap { Int($0) } }
}
