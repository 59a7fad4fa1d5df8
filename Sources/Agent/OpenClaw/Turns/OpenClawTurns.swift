/// What the lines of a OpenClaw backend tell of turns.
public struct OpenClawTurns: TurnDecoder {
  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool { false }
}
