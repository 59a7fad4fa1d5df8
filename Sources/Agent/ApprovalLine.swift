public import Core
public import Records
import Web

/// Waits while approvals are followed, and is told what waits for an answer.
open class ApprovalWaiter: LinkWaiter {
  /// Something waits, or does not wait any more.
  open func changed(_ approval: ApprovalRecord) {}
  /// All that waited when the line was opened, for the first time or again, was told.
  open func listed() {}
  /// What came of the answer of this number.
  open func answered(_ answer: ApprovalAnswer, number: Int) {}
  /// They cannot be listed.
  open func failed(_ failure: Failure) {}
}

/// A line to an agent whose questions a person answers. It stays open while it is followed: a
/// backend may give up at once what nobody listens to.
public protocol ApprovalLine: AnyObject {
  /// Whose the records are.
  var origin: RecordOrigin { get }
  /// Answers, once the line is open; the waiter is told what came of it.
  ///
  /// - Parameters:
  ///   - decision: what to answer; `approve` and `deny` are what the backend calls so.
  ///   - number: by which the waiter knows it.
  func answer(_ decision: ApprovalDecision, number: Int)
  /// Follows what waits until the waiter has enough. It may be called again.
  func follow(_ waiter: ApprovalWaiter)
  /// Ends the line without a word.
  func stop()
}
