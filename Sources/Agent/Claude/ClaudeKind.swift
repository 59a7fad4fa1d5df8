extension KindFacts {
  /// Claude Code at a terminal, here or on a host.
  public static let claude = KindFacts(
    name: "claude", line: "Claude Code in tmux, on this machine or a host", places: [.host])
}
