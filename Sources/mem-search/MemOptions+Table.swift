import Agent
import Core
import Screen

extension MemOptions {
  static let table = OptionTable(
    program: "mem-search",
    summary: "Search, browse and correct what the agent remembers.",
    synopsis: "[options] QUERY ... | -f [TEXT] | -S | -R [RUN] | --delete ID ...",
    operands: .none,
    options: [
      Option("f", "facts", nil, "list all facts, or those with a text in them"),
      Option("S", "subjects", nil, "list the subjects, how many facts each has"),
      Option("R", "reflections", nil, "list reflections, or show the RUN named"),
      Option("P", "fact-profile", "USER", "show what is loaded about a user"),
      Option("M", "markdown", nil, "print the memory as markdown"),
      Option(nil, "snapshot", nil, "show what a turn would be told"),
      Option(nil, "edit", "ID", "correct a fact, in $EDITOR unless an option says how"),
      Option(nil, "delete", nil, "delete the facts named; - reads ids from standard input"),
      Option(nil, "undo", nil, "list what was deleted, or put the facts named back"),
      Option(nil, "mirror", nil, "keep a copy of all facts on this machine"),
      Option(nil, "offline", nil, "look into that copy"),
      Option("g", "guild", "ID", "of this guild (default: the profile's, or all)"),
      Option("c", "channel", "ID", "as seen from this channel"),
      Option("u", "user", "ID", "of the snapshot: the user who speaks"),
      Option(
        nil, "mode", "MODE", "of the snapshot: text or voice (default: text)",
        completion: .words(["text", "voice"])),
      Option(
        "t", "type", "TYPE,...", "facts of these types; with --edit, the new type",
        completion: .words([
          "preference", "profile", "relationship", "project", "guidance", "behavioral", "other",
        ])),
      Option("s", "subject", "SUBJECT", "facts of this subject; with --edit, the new subject"),
      Option("k", "limit", "COUNT", "ask for COUNT hits (default: 10; with -t or -s, 24)"),
      Option(nil, "min-score", "SCORE", "hits with this score or a better one"),
      Option("1", "best", nil, "only the best hit, or the newest fact"),
      Option("n", "count", "COUNT", "only the first COUNT records"),
      Option(nil, "fact", "TEXT", "with --edit: the fact"),
      Option(nil, "confidence", "NUMBER", "with --edit: from 0 to 1"),
      Option(nil, "evidence", "TEXT", "with --edit: the evidence; empty for none"),
      Option("y", "yes", nil, "do not ask"),
      RowOutput.Form.option,
      Option(
        "W", "width", "COLUMNS", "break rows at COLUMNS, 0 nowhere (default: the terminal's)"),
      LookOptions.colourOption,
      Option(nil, "max-time", "SECONDS", "give up after this time, 0 never (default: 30)"),
    ] + AccessOptions.table + [
      Option("q", "quiet", nil, "print nothing; the status tells"),
      Option("v", "verbose", nil, "notes about each request"),
    ])
}
