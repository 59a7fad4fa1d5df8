import Core

/// The resume point of a stream over restarts, as `--state FILE` keeps it.
public struct FollowState: Equatable, Sendable {
  /// The stream it belongs to, as `ResumePoint` is told.
  public var source: String
  /// The last event id, empty for none.
  public var lastEventID = ""
  /// For activity: the `created_at` of the newest action printed.
  public var newest: String?

  /// The file's content, one record.
  public var record: String {
    RecordText(.sseState).string("source", source).string("last_event_id", lastEventID)
      .string("newest", newest).text + "\n"
  }

  /// Nothing seen yet.
  public init(source: String) { self.source = source }

  /// Reads a file's content.
  ///
  /// - Returns: nil when it is not a state file.
  public init?(_ bytes: [UInt8]) {
    let text = { ScanMembers.text(of: $0, in: bytes) }
    guard text("type") == "sse_state", let source = text("source") else { return nil }
    self.source = source
    lastEventID = text("last_event_id") ?? ""
    newest = text("newest")
  }
}
