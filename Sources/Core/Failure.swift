import CLibc

/// What is wrong with an input, a setting or an answer, or what did not work: one line for the
/// user, and how the command ends. Never holds a byte of a secret.
public struct Failure: Reported, Equatable, Sendable {
  /// Lower case, no full stop; nothing of a text that came from outside, unless it was made visible.
  public let reason: String
  /// What is at fault, a program, a file, an address or an id; nil where whoever catches it knows.
  public let place: String?
  /// The error number of the system, 0 where no call of it failed.
  public let code: Int32
  /// `denied` for a credential that is missing or was refused, `temporary` where a later try may
  /// work, `negative` where a server refuses, else `failure`.
  public let status: ExitStatus
  /// Whether something else than the server answered, for all that is known: a page where people
  /// log in to a network, say.
  public let isStray: Bool

  private init(
    _ reason: String, _ place: String?, _ code: Int32 = 0, _ status: ExitStatus = .failure,
    isStray: Bool = false
  ) {
    (self.reason, self.place, self.code) = (reason, place, code)
    (self.status, self.isStray) = (status, isStray)
  }

  /// - Parameter reason: one line, lower case, no full stop.
  public init(_ reason: String, place: String? = nil, mayPass: Bool = false) {
    self.init(reason, place, 0, mayPass ? .temporary : .failure)
  }

  /// The same of a place.
  public init(_ place: String, _ reason: String, _ status: ExitStatus = .failure) {
    self.init(reason, place, 0, status)
  }

  /// The same, where whoever catches it knows the place, or the reason says it.
  public init(_ reason: String, _ status: ExitStatus, isStray: Bool = false) {
    self.init(reason, nil, 0, status, isStray: isStray)
  }

  /// What the system says of an error number.
  public init(code: Int32, place: String? = nil) {
    self.init(systemReason(code), place, code)
  }

  /// What went wrong at a place.
  public init(_ place: String, _ failure: Failure) {
    self.init(
      failure.message, place, failure.code, failure.status, isStray: failure.isStray)
  }

  /// Place and reason: `ssh: no such file or directory`.
  public var message: String { place.map { "\($0): \(reason)" } ?? reason }

  /// The same, of something that trust or access depends on.
  public var asDenied: Failure { Failure(reason, place, code, .denied, isStray: isStray) }

  /// Whether a later try may help.
  public var mayPass: Bool { status == .temporary }

  /// Whether there is no such file: a home that is no folder holds none, either.
  public var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
}
