/// What is wrong with an input, or what did not work, as a person is told.
public struct Failure: Error, Equatable, Sendable {
  /// One line, lower case, no full stop; nothing of a text that came from outside.
  public let reason: String

  /// - Parameter reason: one line, lower case, no full stop.
  public init(_ reason: String) { self.reason = reason }
}
