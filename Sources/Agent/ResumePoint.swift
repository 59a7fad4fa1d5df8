public import Core
public import Records

/// A file with a resume point.
public struct ResumeFile: Sendable {
  /// Where it is; it need not exist.
  public let path: String
  /// Whether it is only read, and never saved: who stores what we print says how far that is.
  public let isFixed: Bool

  /// - Parameters:
  ///   - path: the argument of `--state` or `--resume`.
  ///   - isFixed: whether another command keeps it.
  public init(_ path: String, isFixed: Bool = false) {
    (self.path, self.isFixed) = (path, isFixed)
  }
}

/// The state file of `--state`, saved behind the output: never ahead of what
/// was printed, at most once a second while following, and at the end.
public struct ResumePoint {
  /// What the file says, or will say.
  public private(set) var state: FollowState
  private let file: StateFile
  private var saved: FollowState
  private var savedAt = -Double.infinity
  private let isFixed: Bool

  /// The shortest time between two saves, seconds.
  private static let interval = 1.0

  /// Reads the file, if it is there.
  ///
  /// - Parameters:
  ///   - source: the stream that it must belong to; it may say none, as bus-put does.
  ///   - spare: told why a file is none, where something else says how far the output is; nil
  ///     where nothing does.
  /// - Throws: `Failure` when it is not a state file, or another stream's.
  public init(
    _ place: ResumeFile, source: String, spare: ((Failure) -> Void)? = nil
  ) throws(Failure) {
    let path = place.path
    file = StateFile(path: path)
    isFixed = place.isFixed
    state = FollowState(source: source)
    if let bytes = try file.read(), !bytes.isEmpty {
      let found = FollowState(bytes)
      if let found, found.source == source || found.source.isEmpty {
        state = found
        state.source = source
      } else if let found {
        throw Failure(path, "holds the state of \(found.source), not of \(source)")
      } else {
        let fault = Failure(path, "not a resume point")
        guard let spare else { throw fault }
        spare(fault)
      }
    }
    saved = state
  }

  /// Takes what the output itself says of its end.
  ///
  /// - Parameter time: when that event was; nil where it does not say.
  public mutating func receive(_ id: String, newest time: String?) {
    state.lastEventID = id
    guard let time, let found = Timestamp(rfc3339: time) else { return }
    let known = state.newest.flatMap { Timestamp(rfc3339: $0) }
    if known.map({ $0 < found }) ?? true { state.newest = time }
  }

  mutating func news(lastEventID: String, newest: String?) -> String? {
    state.lastEventID = lastEventID
    state.newest = newest ?? state.newest
    if state == saved { return nil }
    saved = state
    return state.record
  }

  /// Saves what changed when it is time: `sync` first brings to disk what the state says of it.
  mutating func save(
    lastEventID: String, newest: String?, now: Double, force: Bool,
    sync: () -> Bool = { true }
  ) throws(Failure) -> Double {
    state.lastEventID = lastEventID
    state.newest = newest ?? state.newest
    if state == saved || isFixed { return .infinity }
    if !force && now < savedAt + Self.interval { return savedAt + Self.interval }
    guard sync() else { return .infinity }
    try file.replace(with: Array(state.record.utf8))
    saved = state
    savedAt = now
    return .infinity
  }
}
