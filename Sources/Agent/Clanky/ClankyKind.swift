extension KindFacts {
  /// The dashboard of a Clanky agent, or agent-serve.
  public static let clanky = KindFacts(
    name: "clanky", line: "the dashboard of a Clanky agent, or agent-serve",
    keys: [KindKey("guild", "ID", "the guild that is meant where none is named")],
    setup: SetupFacts(next: ["agent-pulse", "agent-status", "voice-state -w"]))
}
