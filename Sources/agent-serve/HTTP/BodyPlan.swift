struct BodyPlan: Sendable {
  /// The bodies of all clients together: thirty-six of the largest ones.
  static let budget = Budget(limit: 36 * RequestBody.limit)

  /// Whether it is kept; otherwise only its end is wanted.
  var keeps = false
  /// The longest one, bytes.
  var limit = RequestBody.limit
  /// Counts what is kept, until the request is answered; nil where nobody does.
  var share: Budget.Share?
  /// Whether the answer waits for something to happen: its task is cancelled when the client has
  /// gone, or says that it sends nothing more.
  var isHeld = false
}
