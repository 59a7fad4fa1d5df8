extension KindFacts {
  /// A personal data server of the AT Protocol.
  public static let pds = KindFacts(
    name: "pds", line: "a personal data server of the AT Protocol", secret: "app password",
    keys: [KindKey("identifier", "NAME", "who logs in: a handle or a DID")],
    setup: SetupFacts(
      address: "URL of the server (https://...)",
      secret: "App password, not shown; none to read only", word: ["login"],
      next: ["pds-record describe", "agent-tail", "outbox list"]))
}
