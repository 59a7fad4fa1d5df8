public import Core
import Records

/// The state file of `--state`, saved behind the output: never ahead of what
/// was printed, at most once a second while following, and at the end.
public struct ResumePoint {
  /// What the file says, or will say.
  public private(set) var state: FollowState
  private let file: StateFile
  private var saved: FollowState
  private var savedAt = -Double.infinity

  /// The shortest time between two saves, seconds.
  private static let interval = 1.0

  /// Reads the file, if it is there.
  ///
  /// - Parameters:
  ///   - path: the file, which need not exist.
  ///   - source: the stream that it must belong to.
  /// - Throws: `SettingsError` when it is not a state file, or another stream's.
  public init(path: String, source: String) throws(SettingsError) {
    file = StateFile(path: path)
    state = FollowState(source: source)
    if let bytes = try file.read(), !bytes.isEmpty {
      guard let found = FollowState(bytes) else {
        throw SettingsError(path, "not a state file of sse-tail")
      }
      guard found.source == source else {
        throw SettingsError(path, "holds the state of \(found.source), not of \(source)")
      }
      state = found
    }
    saved = state
  }

  /// Saves what changed, if it is time.
  ///
  /// - Parameter sync: called before that, to bring to disk what the state says was
  ///   printed; false when that failed.
  /// - Returns: when to be called again at the latest.
  mutating func save(
    lastEventID: String, newest: String?, now: Double, force: Bool,
    sync: () -> Bool = { true }
  ) throws(SettingsError) -> Double {
    state.lastEventID = lastEventID
    state.newest = newest ?? state.newest
    if state == saved { return .infinity }
    if !force && now < savedAt + Self.interval { return savedAt + Self.interval }
    guard sync() else { return .infinity }
    try file.replace(with: Array(state.record.utf8))
    saved = state
    savedAt = now
    return .infinity
  }
}

/// The resume point of a stream over restarts, as `--state FILE` keeps it.
public struct FollowState: Equatable {
  /// The stream it belongs to, as `ResumePoint` is told.
  public var source: String
  /// The last event id, empty for none.
  public var lastEventID = ""
  /// For activity: the `created_at` of the newest action printed.
  public var newest: String?

  /// The file's content, one record.
  var record: String {
    RecordText(.sseState).string("source", source).string("last_event_id", lastEventID)
      .string("newest", newest).text + "\n"
  }

  init(source: String) { self.source = source }

  /// Reads a file's content.
  ///
  /// - Returns: nil when it is not a state file.
  init?(_ bytes: [UInt8]) {
    func text(_ name: String) -> String? {
      bytes.withUnsafeBytes { buffer in
        guard let value = try? ScanMembers.value(of: name, in: buffer) else { return nil }
        return value.isString ? value.string : nil
      }
    }
    guard text("type") == "sse_state", let source = text("source") else { return nil }
    self.source = source
    lastEventID = text("last_event_id") ?? ""
    newest = text("newest")
  }
}
