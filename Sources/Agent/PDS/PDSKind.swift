extension KindFacts {
  /// A personal data server of the AT Protocol.
  public static let pds: KindFacts = {
    var facts = KindFacts(name: "pds", line: "a personal data server of the AT Protocol")
    facts.secret = "app password"
    facts.keys = [KindKey("identifier", "NAME", "who logs in: a handle or a DID")]
    var setup = SetupFacts()
    setup.address = "URL of the server (https://...)"
    setup.secret = "App password, not shown; none to read only"
    setup.word = ["login"]
    setup.next = ["pds-record describe", "agent-tail", "outbox list"]
    facts.setup = setup
    return facts
  }()
}
