/// Ids that came lately: at least the last `most` of them, and at most twice as many.
public struct RecentIDs: Sendable {
  private var ids: Set<String> = []
  private var older: Set<String> = []
  private let most: Int

  public init(most: Int = 1 << 16) { self.most = most }

  public func contains(_ id: String) -> Bool { ids.contains(id) || older.contains(id) }

  /// Whether it is new.
  public mutating func insert(_ id: String) -> Bool {
    if older.contains(id) || !ids.insert(id).inserted { return false }
    if ids.count >= most { (older, ids) = (ids, []) }
    return true
  }
}
