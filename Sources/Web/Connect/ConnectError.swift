public import Core

/// What a Connect server refuses with: in the body of a single answer, or in the last
/// envelope of a stream.
public struct ConnectError: Error, Equatable, Sendable {
  /// The codes of the protocol ("Error codes").
  public enum Code: String, CaseIterable, Sendable {
    case canceled, unknown
    case invalidArgument = "invalid_argument"
    case deadlineExceeded = "deadline_exceeded"
    case notFound = "not_found"
    case alreadyExists = "already_exists"
    case permissionDenied = "permission_denied"
    case resourceExhausted = "resource_exhausted"
    case failedPrecondition = "failed_precondition"
    case aborted
    case outOfRange = "out_of_range"
    case unimplemented
    case `internal`
    case unavailable
    case dataLoss = "data_loss"
    case unauthenticated

    /// How a command ends that was refused so: what a later try may better is temporary,
    /// as it is with an HTTP status of 5xx.
    public var status: ExitStatus {
      switch self {
      case .unauthenticated, .permissionDenied: .denied
      case .canceled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted, .internal,
        .unavailable:
        .temporary
      case .notFound, .alreadyExists, .failedPrecondition: .negative
      case .invalidArgument, .outOfRange, .unimplemented, .dataLoss: .failure
      }
    }

    /// Whether a request that is refused so was certainly not carried out.
    public var meansUndone: Bool { status != .temporary || self == .resourceExhausted }
  }

  /// What kind of refusal it is.
  public let code: Code
  /// The server's words; may be empty, and hold anything.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Reads `{"code":"not_found","message":"..."}`.
  ///
  /// - Returns: nil for what has no code. One that is not known counts as `unknown`.
  public init?(reading value: JSONValue?) {
    guard let word = value?["code"]?.string else { return nil }
    self.init(Code(rawValue: word) ?? .unknown, value?["message"]?.string ?? "")
  }

  /// `not_found: no such thread`, quoted as any text of the answer.
  public func line(_ head: ResponseHead) -> String {
    message.isEmpty ? code.rawValue : "\(code.rawValue): \(head.quoted(message))"
  }
}
