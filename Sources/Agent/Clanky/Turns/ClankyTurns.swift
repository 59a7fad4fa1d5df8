/// What the lines of a Clanky backend tell of turns.
public struct ClankyTurns: TurnDecoder {
  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool { false }
}
