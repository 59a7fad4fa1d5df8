public import Core
import Records

/// A request to JetStream: where it is sent and what it says.
///
/// The calls of libnats for it, `js_GetStreamInfo` and its like, wait for the answer in the
/// thread that calls. Here that is the one whose loop reads the connection (`cnats_drive`), so
/// that each of them would only end by its timeout.
public struct BusRequest: Equatable, Sendable {
  /// The subject.
  public let subject: String
  /// JSON, empty for none.
  public let body: [UInt8]

  private init(_ subject: String, _ body: [UInt8] = []) {
    (self.subject, self.body) = ("$JS.API." + subject, body)
  }

  /// What the stream is and holds.
  public static func streamInfo(_ stream: String) -> BusRequest {
    BusRequest("STREAM.INFO.\(stream)")
  }

  /// Makes a stream.
  public static func createStream(_ stream: String, _ plan: BusStreamPlan) -> BusRequest {
    BusRequest("STREAM.CREATE.\(stream)", plan.body(stream))
  }

  /// What a consumer is, and how far.
  public static func consumerInfo(_ stream: String, _ consumer: String) -> BusRequest {
    BusRequest("CONSUMER.INFO.\(stream).\(consumer)")
  }

  /// Makes a consumer.
  public static func createConsumer(_ stream: String, _ plan: BusConsumerPlan) -> BusRequest {
    let body = RecordText().string("stream_name", stream).object("config", plan.config).bytes
    guard let name = plan.durable else { return BusRequest("CONSUMER.CREATE.\(stream)", body) }
    return BusRequest("CONSUMER.DURABLE.CREATE.\(stream).\(name)", body)
  }

  /// Forgets a consumer.
  public static func deleteConsumer(_ stream: String, _ consumer: String) -> BusRequest {
    BusRequest("CONSUMER.DELETE.\(stream).\(consumer)")
  }

  /// Asks for records.
  ///
  /// - Parameters:
  ///   - count: how many at most.
  ///   - bytes: how many of them at most.
  ///   - expires: when the request is over, seconds.
  ///   - heartbeat: how often the server says that it is alive, seconds.
  public static func next(
    _ stream: String, _ consumer: String, count: Int, bytes: Int, expires: Double, heartbeat: Double
  ) -> BusRequest {
    BusRequest(
      "CONSUMER.MSG.NEXT.\(stream).\(consumer)",
      RecordText().number("batch", count).number("max_bytes", bytes)
        .number("expires", Int(expires * 1e9)).number("idle_heartbeat", Int(heartbeat * 1e9)).bytes)
  }
}

/// What a stream is to be that is made.
public struct BusStreamPlan: Equatable, Sendable {
  /// The subjects that it keeps; none for one that only sources.
  public var subjects: [String]
  /// The streams that it takes its records from.
  public var sources: [BusSource] = []
  /// How many servers keep a copy.
  public var replicas = 1
  /// When a record goes, seconds; nil for never.
  public var maxAge: Double?
  /// When the oldest records go, or a queue of work takes no more, bytes; nil for never.
  public var maxBytes: Int?
  /// Whether a record goes when it is acknowledged.
  public var isWorkQueue = false

  /// The longest time that fits into nanoseconds, some 280 years, seconds.
  public static let longest = 8.9e9
  /// How long message ids are remembered, seconds.
  static let window = 600.0

  /// - Parameters:
  ///   - prefixed: whether an agent's name stands before the subjects.
  ///   - group: whose agents alone it is for; what stands before their names.
  public init(prefixed: Bool, group: String? = nil) {
    let front = (group.map { $0 + "." } ?? "") + (prefixed ? "*." : "")
    subjects = ["actions", "events", "records", "voice"].map { "\(front)\($0).>" }
  }

  private var retention: String { isWorkQueue ? "workqueue" : "limits" }

  /// How long ids are remembered, nanoseconds: no longer than records.
  private var idLife: Int { Int(min(Self.window, maxAge ?? Self.window) * 1e9) }

  func body(_ name: String) -> [UInt8] {
    RecordText().string("name", name).strings("subjects", subjects.isEmpty ? nil : subjects)
      .objects("sources", sources.isEmpty ? nil : sources.map(\.config))
      .string("storage", "file").string("retention", retention)
      .string("discard", isWorkQueue ? "new" : "old")
      .number("num_replicas", replicas).number("duplicate_window", idLife)
      .number("max_age", maxAge.map { Int($0 * 1e9) }).number("max_bytes", maxBytes).bytes
  }

  /// What a stream that was made by it has otherwise, as JetStream calls it; nil for nothing.
  /// Servers ignore what they do not know.
  func difference(in answer: BusAnswer) -> String? {
    let config = answer.value?["config"]
    func has(_ name: String, _ number: Int?) -> Bool {
      // 0 and -1 stand for no limit.
      max(config?[name]?.integer ?? 0, 0) == Int64(number ?? 0)
    }
    if config?["subjects"]?.elements.compactMap(\.string) ?? [] != subjects { return "subjects" }
    let made = config?["sources"]?.elements.map { BusSource($0) } ?? []
    if Set(made) != Set(sources) { return "sources" }
    if config?["storage"]?.string != "file" { return "storage" }
    if config?["retention"]?.string != retention { return "retention" }
    if !has("num_replicas", replicas) { return "num_replicas" }
    if !has("duplicate_window", idLife) { return "duplicate_window" }
    if !has("max_age", maxAge.map { Int($0 * 1e9) }) { return "max_age" }
    return has("max_bytes", maxBytes) ? nil : "max_bytes"
  }
}

/// What a consumer is to be that is made: one of a name that getters share, or one of our own
/// that goes when nobody asks it.
public struct BusConsumerPlan: Equatable, Sendable {
  /// Where a consumer begins.
  public enum Start: Equatable, Sendable {
    case new, all
    case sequence(Int)
    case time(Timestamp)
  }

  /// The name; nil for one of our own, which needs no acknowledgements.
  public var durable: String?
  /// The subjects; none for all.
  public var subjects: [String] = []
  /// Where it begins.
  public var start = Start.new
  /// When a record comes again that nobody acknowledged, seconds.
  public var ackWait = 30.0

  static let mostPending = 4096
  /// When a consumer of our own goes that nobody asks, seconds.
  static let lifetime = 60.0

  /// Nothing in particular.
  public init() {}

  var config: RecordText {
    var config = RecordText().string("durable_name", durable)
      .string("ack_policy", durable == nil ? "none" : "explicit")
      .string("replay_policy", "instant")
    switch start {
    case .new: config = config.string("deliver_policy", "new")
    case .all: config = config.string("deliver_policy", "all")
    case .sequence(let number):
      config = config.string("deliver_policy", "by_start_sequence")
        .number("opt_start_seq", max(number, 1))
    case .time(let time):
      config = config.string("deliver_policy", "by_start_time").time(time, as: "opt_start_time")
    }
    if subjects.count == 1 { config = config.string("filter_subject", subjects[0]) }
    if subjects.count > 1 { config = config.strings("filter_subjects", subjects) }
    guard durable != nil else {
      return config.number("inactive_threshold", Int(Self.lifetime * 1e9)).bool("mem_storage", true)
        .number("num_replicas", 1)
    }
    return config.number("ack_wait", Int(ackWait * 1e9))
      .number("max_ack_pending", Self.mostPending)
  }
}
