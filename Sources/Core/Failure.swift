import CLibc

/// What is wrong with an input, or what did not work, as a person is told.
public struct Failure: Reported, Equatable {
  /// One line, lower case, no full stop; nothing of a text that came from outside.
  public let reason: String
  /// What is at fault, a program, a file or an id; nil where whoever catches it knows.
  public let place: String?
  /// The error number of the system, 0 where no call of it failed.
  public let code: Int32
  /// Whether a later try may help.
  public let mayPass: Bool

  /// - Parameter reason: one line, lower case, no full stop.
  public init(_ reason: String, place: String? = nil, mayPass: Bool = false) {
    (self.reason, self.place, code, self.mayPass) = (reason, place, 0, mayPass)
  }

  /// What the system says of an error number.
  public init(code: Int32, place: String? = nil) {
    (reason, self.place, self.code, mayPass) = (systemReason(code), place, code, false)
  }

  /// Place and reason: `ssh: no such file or directory`.
  public var words: String { place.map { "\($0): \(reason)" } ?? reason }
  public var message: String { words }
  public var status: ExitStatus { .failure }

  /// Whether there is no such file: a home that is no folder holds none, either.
  public var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
}
