import Core
import Screen
import Shell

extension AttachOptions {
  static let table = OptionTable(
    program: "tmux-attach",
    summary: "Attach to the agent's terminal on another machine, and stay attached.",
    synopsis: "[options] [HOST]",
    operands: .live(CompletionNames.hosts),
    options: [
      Option(
        "s", "session", "NAME", "the tmux session (default: riff)",
        completion: .live(SessionMemory.names)),
      Option("d", "directory", "DIR", "where a new session starts (default: the home)"),
      Option("H", "harness", "COMMAND", "what a new session runs (default: claude)"),
      Option(nil, "worktree", nil, "give a new session a git worktree of its own"),
      Option("l", "list", nil, "list the sessions"),
      Option("w", "watch", nil, "print each change of the list"),
      Option("N", "new", nil, "make another session, without attaching"),
      Option(
        "k", "close", "NAME", "close this session", completion: .live(SessionMemory.names)),
      Option(nil, "reconcile", nil, "compare the sessions known here with the host's"),
      Option("t", "type", nil, "type standard input into the session"),
      Option("r", "return", nil, "press Return after it"),
      Option(nil, "return-delay", "SECONDS", "how long before Return (default: 0.3)"),
      Option(nil, "raw", nil, "type control characters, too"),
      Option("c", "capture", nil, "print what the session shows"),
      Option(nil, "follow", nil, "with --capture: again whenever it changes"),
      Option(nil, "fingerprint", nil, "show the pinned host key"),
      Option(nil, "forget", nil, "drop the pinned host key"),
      Option(nil, "authorize", nil, "show our public key and how to let it in"),
      Option(nil, "check", nil, "check that everything is in place"),
    ] + ConnectOptions.table + [
      Option(nil, "max-retries", "COUNT", "give up after COUNT failed tries"),
      Option(nil, "max-time", "SECONDS", "for one answer of the host (default: 9)"),
      RowOutput.Form.option,
      LookOptions.colourOption,
      Option("q", "quiet", nil, "no records and no notes about the link"),
      Option("v", "verbose", nil, "notes about the transport and each try"),
    ])
}
