import CLibc

/// What is wrong with an input, a setting or an answer, or what did not work: one line for the
/// user, and how the command ends. Never holds a byte of a secret.
public struct Failure: Reported, Equatable, Sendable {
  /// One word in the code of whoever throws it.
  private let facts: Facts

  private final class Facts: Sendable {
    let (reason, place): (String, String?)
    let code: Int32
    let status: ExitStatus
    let isStray: Bool

    init(_ reason: String, _ place: String?, _ code: Int32, _ status: ExitStatus, _ isStray: Bool) {
      (self.reason, self.place, self.code) = (reason, place, code)
      (self.status, self.isStray) = (status, isStray)
    }
  }

  /// Lower case, no full stop; nothing of a text that came from outside, unless it was made visible.
  public var reason: String { facts.reason }
  /// What is at fault, a program, a file, an address or an id; nil where whoever catches it knows.
  public var place: String? { facts.place }
  /// The error number of the system, 0 where no call of it failed.
  public var code: Int32 { facts.code }
  /// `denied` for a credential that is missing or was refused, `temporary` where a later try may
  /// work, `negative` where a server refuses, else `failure`.
  public var status: ExitStatus { facts.status }
  /// Whether something else than the server answered, for all that is known: a page where people
  /// log in to a network, say.
  public var isStray: Bool { facts.isStray }

  public static func == (one: Failure, other: Failure) -> Bool {
    one.reason == other.reason && one.place == other.place && one.code == other.code
      && one.status == other.status && one.isStray == other.isStray
  }

  private init(
    _ reason: String, _ place: String?, _ code: Int32 = 0, _ status: ExitStatus = .failure,
    isStray: Bool = false
  ) {
    facts = Facts(reason, place, code, status, isStray)
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

  /// The same, of what something else than the server may have answered; whoever denied access
  /// is the server.
  public var asStray: Failure {
    status == .denied ? self : Failure(reason, place, code, .failure, isStray: true)
  }

  /// Whether a later try may help.
  public var mayPass: Bool { status == .temporary }

  /// Whether there is no such file: a home that is no folder holds none, either.
  public var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
}

extension Error {
  /// What an action gives whose failure is one of these; it is thrown as another error.
  public static func rethrowing<Value, Other: Error>(
    _ action: @autoclosure () throws(Self) -> Value, as other: (Self) -> Other
  ) throws(Other) -> Value {
    do throws(Self) { return try action() } catch { throw other(error) }
  }
}

/// Thrown where nothing more is wanted: no failure. Swift's own `CancellationError` would bring the
/// runtime of its tasks along, a megabyte in each program.
public struct Enough: Error {
  public init() {}
}
