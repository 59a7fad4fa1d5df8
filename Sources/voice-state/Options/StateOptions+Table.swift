import Agent
import Core
import Screen

extension StateOptions {
  /// The options of voice-state.
  static let table = OptionTable(
    program: "voice-state",
    summary: "Show what the agent does in voice, once or live.",
    synopsis: "[options] [FILE | - | history | replay SESSION]",
    options: [
      Option("w", "watch", nil, "follow: a live screen, or a line per change"),
      Option("g", "guild", "ID", "only the sessions of this guild"),
      Option("s", "session", "ID", "only this session; the beginning of its id is enough"),
      Option(
        nil, "panel", "NAME,...", "these panels (default: what fits the width)",
        completion: .words(Panels.all.map { $0.name } + ["all"])),
      Option(
        nil, "prompt", "NAME", "print one prompt whole: system, classifier, generation, bridge",
        completion: .words(PromptName.all)),
      Option(
        "o", "output", "FORM", "text, json, line, waybar, tmux or i3",
        completion: .words(OutputForm.allCases.map(\.rawValue))),
      Option("q", "quiet", nil, "print nothing; status 0 when a session is active, else 1"),
      Option("n", "count", "COUNT", "end after this many: states, lines, or past sessions"),
      Option(nil, "since", "TIME", "history: sessions that ended within TIME"),
      Option(nil, "speed", "FACTOR", "replay and records: FACTOR times as fast"),
      Option(nil, "max-time", "SECONDS", "end after this time"),
      Option(nil, "max-retries", "COUNT", "give up after this many tries without an event"),
      Option(nil, "retry-wait", "SECONDS", "the first wait before a reconnect (3)"),
      Option(nil, "idle-timeout", "SECONDS", "reconnect after silence (45); 0 never"),
      Option(
        "W", "width", "COLUMNS", "lay out for COLUMNS (default: the terminal's, else 80)"),
      LookOptions.colourOption,
    ] + AccessOptions.table + [
      Option("v", "verbose", nil, "notes about the link, always")
    ])
}
