/// What becomes of a request's body, decided before it comes.
struct BodyPlan: Sendable {
  /// Whether it is kept; otherwise only its end is wanted.
  var keeps = false
  /// The longest one, bytes.
  var limit = RequestBody.limit
  /// What is read of a longer one, and thrown away, before the connection is given up.
  var patience = 64 * 1024 * 1024
  /// The answer, where the body does not matter: nothing of it is read.
  var refusal: WholeAnswer?
  /// Held until the request is answered.
  var place: Ticket?
}
