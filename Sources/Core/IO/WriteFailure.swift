import CLibc

/// The error number that the last failed call of libc left (errno).
public var systemError: Int32 { clibc_errno() }

/// Why bytes could not be written.
public struct WriteFailure: Error, Equatable, Sendable {
  /// The error number of write(2).
  public let code: Int32

  /// - Parameter code: an errno value.
  public init(code: Int32) { self.code = code }

  /// Whether the reader went away.
  public var isClosedPipe: Bool { code == EPIPE }

  /// The system's words, in lower case.
  public var reason: String { systemReason(code) }
}

/// Why bytes could not be read.
public struct ReadFailure: Error, Equatable, Sendable {
  /// Lower case, no full stop: the system's words, or those of what was read.
  public let reason: String

  /// - Parameter code: the error number of open(2) or read(2).
  public init(code: Int32) { reason = systemReason(code) }

  /// - Parameter reason: lower case, no full stop.
  public init(reason: String) { self.reason = reason }
}
