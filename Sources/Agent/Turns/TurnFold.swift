/// Folds events to what is so now: conversations, turns, calls of tools, messages and
/// approvals. Pure: no clock, no network.
public struct TurnFold {
  public init() {}

  /// Takes an event.
  ///
  /// - Returns: what it changed, whole, in the order in which it is to be told.
  public mutating func take(_ event: TurnEvent) -> [TurnEntity] { [] }
}
