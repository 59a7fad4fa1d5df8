extension KindFacts {
  /// The dashboard of a Clanky agent, or agent-serve.
  public static let clanky: KindFacts = {
    var facts = KindFacts(name: "clanky", line: "the dashboard of a Clanky agent, or agent-serve")
    facts.keys = [KindKey("guild", "ID", "the guild that is meant where none is named")]
    var setup = SetupFacts()
    setup.next = ["agent-pulse", "agent-status", "voice-state -w"]
    facts.setup = setup
    return facts
  }()
}
