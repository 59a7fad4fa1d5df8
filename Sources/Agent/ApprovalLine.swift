public import Records

/// Told what waits for an answer, from within `WebClient.perform` or the line's `tick`.
public protocol ApprovalListener: AnyObject {
  /// How the link is.
  func approvalLink(_ news: LinkNews)
  /// Something waits, or does not wait any more.
  func approvalChanged(_ approval: ApprovalRecord)
  /// All that waited when the line was opened, for the first time or again, was told.
  func approvalsListed()
  /// They cannot be listed.
  func approvalsFailed(_ failure: CallFailure)
}

/// An open line to an agent whose questions a person answers. It stays open while it is
/// followed: a backend may give up at once what nobody listens to.
public protocol ApprovalLine: AnyObject {
  /// Told what happens; set before the first `tick`.
  var listener: (any ApprovalListener)? { get set }
  /// Whose the records are.
  var origin: RecordOrigin { get }
  /// Answers, once the line is open.
  ///
  /// - Parameters:
  ///   - decision: what to answer; `approve` and `deny` are what the backend calls so.
  ///   - then: told what came of it.
  func answer(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void)
  /// Does what the time asks for.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double
  /// Ends the line without a word.
  func stop()
}
