extension KindFacts {
  /// An OpenClaw gateway.
  public static let openclaw = KindFacts(
    name: "openclaw", line: "an OpenClaw gateway, or the server of the Claudio app",
    setup: SetupFacts(
      scheme: "ws", word: ["agents"], mayBeEmpty: true,
      next: ["agent-chat -i", "agent-tail", "agent-approve -l"]))
}
