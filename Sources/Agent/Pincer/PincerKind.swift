extension KindFacts {
  /// A Pincer server.
  public static let pincer = KindFacts(
    name: "pincer", line: "a Pincer server",
    setup: SetupFacts(
      secret: "Pairing code or token, not shown; none to ask the server for a code",
      word: ["threads"], mayBeEmpty: true,
      next: ["agent-chat -i", "agent-tail", "agent-approve -l"]))
}
