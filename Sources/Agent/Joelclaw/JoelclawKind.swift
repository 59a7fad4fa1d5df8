extension KindFacts {
  /// A joelclaw gateway.
  public static let joelclaw: KindFacts = {
    var facts = KindFacts(name: "joelclaw", line: "a joelclaw gateway")
    facts.defaultURL = "ws://127.0.0.1:3018"
    facts.keys = [
      KindKey("inngest-url", "URL", "where Inngest is"),
      KindKey("worker-url", "URL", "where the worker is"),
      KindKey("redis-url", "URL", "where Redis is"),
      KindKey("redis-password-file", "FILE", "a file with the password of Redis"),
      KindKey("qdrant-url", "URL", "where Qdrant is"),
      KindKey("kubectl-context", "NAME", "the context by which kubectl finds its Kubernetes"),
      KindKey(
        "pds", "PROFILE", "the profile of the server that keeps its records", staysElsewhere: true),
    ]
    var setup = SetupFacts()
    setup.address = "URL of the agent (ws://...); none for the gateway of this machine"
    (setup.scheme, setup.word, setup.mayBeEmpty) = ("ws", ["get", "health"], true)
    facts.setup = setup
    return facts
  }()
}
