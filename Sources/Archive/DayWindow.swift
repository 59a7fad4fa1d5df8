public import Core

/// The time for which actions are wanted, as it decides which files of an archive are read.
///
/// A file of a day has what was received on that day. An action may be told late, after an
/// outage, and clocks differ a little.
public struct DayWindow: Sendable {
  private let since, before: Timestamp?

  /// - Parameters:
  ///   - since: the first instant that is wanted; nil without a bound.
  ///   - before: the first that is not wanted any more; nil without a bound.
  public init(since: Timestamp?, before: Timestamp?) { (self.since, self.before) = (since, before) }

  /// Whether nothing bounds it.
  public var isOpen: Bool { since == nil && before == nil }

  /// Whether a file may hold actions of this time, by the day that it is named for: from the
  /// day of an hour before the time to the day after it.
  public func mayHold(_ day: DayFile) -> Bool {
    guard let start = Timestamp(rfc3339: day.name.prefix(10) + "T00:00:00Z") else { return true }
    if let since, start.adding(.seconds(86_400)) <= since.adding(.seconds(-3600)) { return false }
    if let before, start > before.adding(.seconds(86_400)) { return false }
    return true
  }

  /// Whether a file holds actions of this time, by what is known of them.
  ///
  /// - Parameters:
  ///   - oldest: when the first action was; nil when none has a time.
  ///   - newest: when the last one was.
  public func mayHold(oldest: Timestamp?, newest: Timestamp?) -> Bool {
    if isOpen { return true }
    guard let oldest, let newest else { return false }
    if let since, newest < since { return false }
    if let before, oldest >= before { return false }
    return true
  }
}
