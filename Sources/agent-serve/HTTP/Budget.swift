import Synchronization

/// Counts what all clients together have of something: the bytes of bodies that are kept, by what
/// came and not by what was announced, so that who sends nothing keeps nobody out; or requests.
final class Budget: Sendable {
  private let limit: Int
  private let state = Guarded((used: 0, isClosed: false))

  init(limit: Int = .max) { self.limit = limit }

  var count: Int { state.withLock { $0.used } }

  /// Gives nothing more.
  func close() { state.withLock { $0.isClosed = true } }

  func share() -> Share { Share(self) }

  /// So much of it; nil where there is no room.
  func share(_ count: Int) -> Share? {
    let share = share()
    return share.take(count) ? share : nil
  }

  /// What one has of it, given back when nothing holds it any more.
  final class Share: Sendable {
    private let budget: Budget
    private let taken = Atomic(0)

    fileprivate init(_ budget: Budget) { self.budget = budget }

    deinit {
      let count = taken.load(ordering: .relaxed)
      budget.state.withLock { $0.used -= count }
    }

    /// Asks for so much more. Returns false, and nothing changes, where there is no room.
    func take(_ count: Int) -> Bool {
      let hasRoom = budget.state.withLock { state in
        guard !state.isClosed, state.used + count <= budget.limit else { return false }
        state.used += count
        return true
      }
      if hasRoom { taken.add(count, ordering: .relaxed) }
      return hasRoom
    }
  }
}
