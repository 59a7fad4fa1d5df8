/// Ids that came lately: at least the last `most` of them, and at most twice as many.
public struct RecentIDs<ID: Hashable & Sendable>: Sendable {
  private var ids: Set<ID> = []
  private var older: Set<ID> = []
  private let most: Int

  public init(most: Int = 1 << 16) { self.most = most }

  public func contains(_ id: ID) -> Bool { ids.contains(id) || older.contains(id) }

  /// Whether it is new.
  public mutating func insert(_ id: ID) -> Bool {
    if older.contains(id) || !ids.insert(id).inserted { return false }
    if ids.count >= most { (older, ids) = (ids, []) }
    return true
  }
}
