extension KindFacts {
  /// A Pincer server.
  public static let pincer: KindFacts = {
    var facts = KindFacts(name: "pincer", line: "a Pincer server")
    var setup = SetupFacts()
    setup.secret = "Pairing code or token, not shown; none to ask the server for a code"
    (setup.word, setup.mayBeEmpty) = (["threads"], true)
    setup.next = ["agent-chat -i", "agent-tail", "agent-approve -l"]
    facts.setup = setup
    return facts
  }()
}
