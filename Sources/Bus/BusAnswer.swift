public import Core

/// What JetStream said to a request.
public struct BusAnswer: Sendable {
  /// Why it did not do what it was asked.
  public struct Fault: Equatable, Sendable {
    /// As of HTTP: 4xx for what is our fault, 5xx for what may pass.
    public let code: Int
    /// JetStream's own number, 0 for none.
    public let number: Int
    /// Its words.
    public let reason: String

    /// Whether a later try may do.
    public var mayPass: Bool { code >= 500 || Self.passing.contains(number) }

    /// Limits of an account, resources of a server, and servers of a cluster that have not come
    /// yet, which have the codes of bad requests.
    private static let passing = [10002, 10005, 10023, 10028, 10047]
    /// No such stream.
    public static let noStream = 10059
    /// No such consumer.
    public static let noConsumer = 10014
    /// A stream of this name and another configuration is there.
    public static let streamExists = 10058
    /// Nobody leads yet.
    public static let noLeader = 10008
    /// JetStream is not for this account, or not on this server.
    public static let notEnabled = [10039, 10076]
  }

  /// All of it; nil when it was no JSON.
  public let value: JSONValue?

  public init(_ message: BusMessage) {
    value = message.withBytes { bytes in try? JSONValue.parse(bytes) }
  }

  init(text: String) { value = try? JSONValue.parse(text: text) }

  /// What went wrong; nil for nothing.
  public var fault: Fault? {
    guard let value else { return Fault(code: 500, number: 0, reason: "an answer that is no JSON") }
    guard let error = value["error"], error.isObject else { return nil }
    return Fault(
      code: Self.number(error["code"]) ?? 500, number: Self.number(error["err_code"]) ?? 0,
      reason: error["description"]?.string(bytes: 200) ?? "no reason given")
  }

  /// A consumer's name.
  public var consumer: String? { value?["name"]?.string }

  /// The subjects that a consumer has; none for all.
  public var filters: [String] {
    let config = value?["config"]
    if let one = config?["filter_subject"]?.string, !one.isEmpty { return [one] }
    return (config?["filter_subjects"]?.elements ?? []).compactMap(\.string)
  }

  /// How many records a consumer has not delivered yet.
  public var pending: Int? { Self.number(value?["num_pending"]) }

  /// How many records a consumer delivered that nobody has acknowledged, whoever has them.
  public var unacknowledged: Int? { Self.number(value?["num_ack_pending"]) }

  /// The stream's number of the record that a consumer delivered last.
  public var delivered: Int? { Self.number(value?["delivered"]?["stream_seq"]) }

  /// The number of a stream's last record.
  public var lastSequence: Int? { Self.number(value?["state"]?["last_seq"]) }

  /// When a stream's last record was stored.
  public var lastTime: Timestamp? {
    value?["state"]?["last_ts"]?.string.flatMap { Timestamp(rfc3339: $0) }
  }

  /// When a stream was made, as the server writes it: another one of its name has another time.
  public var created: String? { value?["created"]?.string }

  /// Whether other servers have copies of it, which may be behind.
  public var hasCopies: Bool { value?["cluster"]?["replicas"]?.elements.isEmpty == false }

  /// Whether servers of a cluster have it: a consumer may be at one whose copy is behind.
  public var isOfCluster: Bool { value?["cluster"]?.isNull == false }

  /// Whether a consumer sends without being asked.
  public var pushes: Bool { value?["config"]?["deliver_subject"]?.string != nil }

  /// When a consumer delivers a record again that nobody acknowledged, seconds.
  public var ackWait: Double? {
    Self.number(value?["config"]?["ack_wait"]).map { Double($0) / 1e9 }
  }

  /// What a consumer lets be asked for.
  public var limits: BusPull.Limits {
    let config = value?["config"]
    func limit(_ name: String) -> Int? { Self.number(config?[name]).flatMap { $0 > 0 ? $0 : nil } }
    var limits = BusPull.Limits()
    (limits.batch, limits.bytes) = (limit("max_batch"), limit("max_bytes"))
    limits.requests = limit("max_waiting")
    limits.expires = limit("max_expires").map { Double($0) / 1e9 }
    return limits
  }

  /// How long a stream remembers message ids, seconds.
  public var idWindow: Double? {
    Self.number(value?["config"]?["duplicate_window"]).map { Double($0) / 1e9 }
  }

  private static func number(_ value: JSONValue?) -> Int? {
    value?.integer.flatMap { Int(exactly: $0) }
  }

  /// Where a record is stored that was published, and whether it was there before; nil where the
  /// answer does not say.
  public static func place(
    ofPublished message: BusMessage
  ) -> (stream: String, sequence: Int, isDuplicate: Bool)? {
    guard let value = BusAnswer(message).value, let stream = value["stream"]?.string,
      let sequence = number(value["seq"])
    else { return nil }
    return (stream, sequence, value["duplicate"]?.bool ?? false)
  }

  /// What became of a record that was published: nil when it is stored. Without parsing where
  /// nothing went wrong, which is nearly always.
  ///
  /// - Parameter stream: the stream that was to store it; a subject may be another one's.
  public static func fault(ofPublished message: BusMessage, by stream: String) -> Fault? {
    message.withBytes { bytes in
      do throws(ScanFault) {
        guard try ScanMembers.value(of: "error", in: bytes).isNull else { return nil }
        let other = try ScanMembers.value(of: "stream", in: bytes).string
        if other == stream { return .some(nil) }
        let name = other.map { ", \($0)" } ?? ""
        return Fault(code: 400, number: 0, reason: "its subject is another stream's\(name)")
      } catch {
        return nil
      }
    } ?? BusAnswer(message).fault
  }
}

/// Where a record that was pulled stands, by the subject that it is acknowledged at:
/// `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQ.CONSUMERSEQ.NANOSECONDS.PENDING`, since 2.10 with a
/// domain and an account behind `ACK`.
public struct BusPlace: Equatable, Sendable {
  /// The stream's name.
  public let stream: String
  /// How often it was delivered.
  public let deliveries: Int
  /// Its number in the stream.
  public let sequence: Int
  /// Its number among those that the consumer delivered.
  public let order: Int
  /// When it was stored, nanoseconds since 1970.
  public let nanoseconds: Int64
  /// How many the consumer still has.
  public let pending: Int

  /// - Returns: nil when it is none of these.
  public init?(_ reply: String) {
    var words = reply.split(separator: ".", omittingEmptySubsequences: false)[...]
    guard words.starts(with: ["$JS", "ACK"]) else { return nil }
    words = words.dropFirst(2)
    // A domain and an account stand in front, and something behind.
    if words.count >= 9 { words = words.dropFirst(2) }
    guard words.count >= 7 else { return nil }
    let numbers = words.dropFirst(2).prefix(5).compactMap { Int64($0) }
    guard numbers.count == 5 else { return nil }
    stream = String(words[words.startIndex])
    deliveries = Int(numbers[0])
    sequence = Int(numbers[1])
    order = Int(numbers[2])
    nanoseconds = numbers[3]
    pending = Int(numbers[4])
  }

  /// When it was stored.
  public var time: Timestamp {
    Timestamp(
      seconds: nanoseconds / 1_000_000_000, nanoseconds: Int32(nanoseconds % 1_000_000_000))
  }
}
