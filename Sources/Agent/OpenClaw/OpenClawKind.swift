extension KindFacts {
  /// An OpenClaw gateway.
  public static let openclaw: KindFacts = {
    var facts = KindFacts(
      name: "openclaw", line: "an OpenClaw gateway, or the server of the Claudio app")
    var setup = SetupFacts()
    (setup.scheme, setup.word, setup.mayBeEmpty) = ("ws", ["agents"], true)
    setup.next = ["agent-chat -i", "agent-tail", "agent-approve -l"]
    facts.setup = setup
    return facts
  }()
}
