/// What the lines of a Pincer backend tell of turns.
public struct PincerTurns: TurnDecoder {
  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool { false }
}
