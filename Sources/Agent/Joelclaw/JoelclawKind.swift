extension KindFacts {
  /// A joelclaw gateway.
  public static let joelclaw = KindFacts(
    name: "joelclaw", line: "a joelclaw gateway", defaultURL: "ws://127.0.0.1:3018",
    keys: [
      KindKey("inngest-url", "URL", "where Inngest is"),
      KindKey("worker-url", "URL", "where the worker is"),
      KindKey("redis-url", "URL", "where Redis is"),
      KindKey("redis-password-file", "FILE", "a file with the password of Redis"),
      KindKey("qdrant-url", "URL", "where Qdrant is"),
      KindKey("kubectl-context", "NAME", "the context by which kubectl finds its Kubernetes"),
      KindKey(
        "pds", "PROFILE", "the profile of the server that keeps its records", staysElsewhere: true),
    ],
    setup: SetupFacts(
      address: "URL of the agent (ws://...); none for the gateway of this machine", scheme: "ws",
      word: ["get", "health"], mayBeEmpty: true))
}
