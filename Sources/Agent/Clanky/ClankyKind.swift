extension KindFacts {
  /// The dashboard of a Clanky agent, or agent-serve.
  public static let clanky: KindFacts = {
    var facts = KindFacts(name: "clanky", line: "the dashboard of a Clanky agent, or agent-serve")
    facts.keys = [KindKey("guild", "ID", "the guild that is meant where none is named")]
    facts.setup = SetupFacts()
    return facts
  }()
}
