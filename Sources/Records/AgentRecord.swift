public import Core

/// What an agent does, in words that are the same whatever its backend: a record of
/// agentutils-records(5).
///
/// Each is a whole and not a change: one with the type, backend and id of an earlier
/// one replaces it, and a text is all the text so far. So the last record of an id is
/// its present state, and a lost one does no lasting harm.
public protocol AgentRecord: Equatable, Sendable {
  /// What kind of record it is.
  static var type: RecordType { get }
  /// Whose it is.
  var origin: RecordOrigin { get set }
  /// What it is about, as the backend calls it.
  var id: String { get }
  /// Since when it is so; nil where nothing says.
  var time: Timestamp? { get set }
  /// Adds the members that stand between `origin` and `time`, in their order.
  func add(to record: consuming RecordText) -> RecordText
}

extension AgentRecord {
  /// All of the record, its members in the order of the manual.
  private var record: RecordText { add(to: origin.add(to: RecordText(Self.type))).time(time) }

  /// The record, without the LF.
  public var bytes: [UInt8] { record.bytes }

  /// The record and a LF.
  public var line: [UInt8] { record.line }
}

/// A record that is read again where it was written.
public protocol ReadableRecord: AgentRecord {
  /// Reads a record; members that are not known pass.
  init(reading fields: RecordFields) throws(RecordFields.Fault)
}

/// Whose a record is.
public struct RecordOrigin: Hashable, Sendable {
  /// What speaks for the agent.
  public enum Backend: String, CaseIterable, Sendable {
    /// The dashboard of a Clanky agent.
    case clanky
    /// An OpenClaw gateway.
    case openclaw
    /// A Pincer server.
    case pincer
    /// A joelclaw gateway.
    case joelclaw
    /// Claudio's own HTTP server.
    case claudio
    /// The transcript of Claude Code.
    case claude
  }

  /// What speaks for the agent.
  public let backend: Backend
  /// The name of the profile; nil when none was used.
  public let profile: String?

  /// - Parameter profile: the name of the profile; nil when none was used.
  public init(_ backend: Backend, profile: String? = nil) {
    (self.backend, self.profile) = (backend, profile)
  }

  func add(to record: consuming RecordText) -> RecordText {
    record.string("backend", backend.rawValue).string("profile", profile)
  }
}

/// How far something is. These are the states that are written; a reader lets others
/// pass, for a later version may have more.
public protocol RecordState: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  /// Whether it is over.
  var isEnd: Bool { get }
  /// Whether this state may follow: an end never turns back.
  func mayBecome(_ next: Self) -> Bool
}

extension RecordState {
  /// Any state may follow one that is no end.
  public func mayBecome(_ next: Self) -> Bool { !isEnd || next == self }
}
