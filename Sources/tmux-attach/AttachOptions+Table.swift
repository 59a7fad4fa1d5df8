import Core
import Screen
import Shell

extension AttachOptions {
  static let table = OptionTable(
    program: "tmux-attach",
    summary: "Sit down at the agent's terminal on another machine, and stay seated.",
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
      Option("w", "watch", nil, "tell each change of the list"),
      Option("N", "new", nil, "make another session, without attaching"),
      Option(
        "k", "close", "NAME", "close this session", completion: .live(SessionMemory.names)),
      Option(nil, "reconcile", nil, "hold the sessions known here against the host's"),
      Option("t", "type", nil, "type standard input into the session"),
      Option("r", "return", nil, "press Return behind it"),
      Option(nil, "return-delay", "SECONDS", "how long before Return (default: 0.3)"),
      Option(nil, "raw", nil, "type control characters, too"),
      Option("c", "capture", nil, "print what the session shows"),
      Option(nil, "follow", nil, "with --capture: again whenever it changes"),
      Option(nil, "fingerprint", nil, "show the pinned host key"),
      Option(nil, "forget", nil, "drop the pinned host key"),
      Option(nil, "authorize", nil, "show our public key and how to let it in"),
      Option(nil, "check", nil, "look whether everything is in place"),
    ] + ConnectOptions.table + [
      Option(nil, "max-retries", "COUNT", "give up after so many failed tries"),
      Option(nil, "max-time", "SECONDS", "for one answer of the host (default: 9)"),
      RowOutput.Form.option,
      LookOptions.colourOption,
      Option("q", "quiet", nil, "no records, and no word about the link"),
      Option("v", "verbose", nil, "notes about the transport and each try"),
    ])
}
