/// What the lines of a Joelclaw backend tell of turns.
public struct JoelclawTurns: TurnDecoder {
  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool { false }
}
