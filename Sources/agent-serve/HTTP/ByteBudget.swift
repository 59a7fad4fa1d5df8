/// Counts the bytes of bodies that are kept for all clients together: by what came, not by what
/// was announced, so that who sends nothing keeps nobody out.
final class ByteBudget: Sendable {
  private let limit: Int
  private let kept = Guarded(0)

  init(limit: Int) { self.limit = limit }

  func share() -> Share { Share(self) }

  /// What one request has of it, given back when nothing holds it any more.
  final class Share: Sendable {
    private let budget: ByteBudget
    private let kept = Guarded(0)

    fileprivate init(_ budget: ByteBudget) { self.budget = budget }

    deinit {
      let count = kept.withLock { $0 }
      budget.kept.withLock { $0 -= count }
    }

    /// Asks for room for so many more bytes. Returns false, and nothing changes, where there is
    /// none.
    func take(_ count: Int) -> Bool {
      let hasRoom = budget.kept.withLock { all in
        guard all + count <= budget.limit else { return false }
        all += count
        return true
      }
      if hasRoom { kept.withLock { $0 += count } }
      return hasRoom
    }
  }
}
