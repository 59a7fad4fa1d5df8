import Core
import Records

/// The options of action-filter(1).
enum FilterOptions {
  static let table = OptionTable(
    program: "action-filter", summary: "Select actions and write the lines they came in.",
    synopsis: "[options] [FILE ...]",
    options: [
      Option(
        "k", "kind", "KIND,...", "of these kinds; * ? [...] match as in the shell",
        completion: .words(ActionKind.all)),
      Option(
        "d", "domain", "DOMAIN,...", "of these domains; tool and error go across all",
        completion: .words(ActionDomain.allCases.map(\.rawValue) + ["tool", "error"])),
      Option(nil, "profile", "NAME,...", "records of these profiles"),
      Option("g", "guild", "ID", "of this guild"),
      Option("c", "channel", "ID", "of this channel"),
      Option("U", "user", "ID", "of this user"),
      Option("M", "message", "ID", "of this message"),
      Option("S", "since", "TIME", "not older than a time, or than 90s, 15m, 2h, 3d"),
      Option("B", "before", "TIME", "older than a time, or than 90s, 15m, 2h, 3d"),
      Option("x", "min-cost", "USD", "that cost at least this much"),
      Option(nil, "max-cost", "USD", "that cost at most this much"),
      Option("F", "text", "TEXT", "with this text in the content"),
      Option("E", "regex", "REGEX", "whose content matches an extended regular expression"),
      Option("i", "ignore-case", nil, "upper and lower case are the same in -F and -E"),
      Option("w", "where", "PATH=VALUE", "with this value at a JSON pointer into the metadata"),
      Option("v", "invert", nil, "select what the other options do not"),
      Option("u", "unique", nil, "each action once, across rows and live events"),
      Option("n", "max-count", "COUNT", "stop after COUNT actions"),
      Option("a", "others", nil, "also pass records that are not actions"),
      Option(
        "o", "output", "FIELD,...", "print these members; canonical: each action as a row",
        completion: .words(["canonical"] + Projection.names)),
      Option("N", "count", nil, "print only the number of selected actions"),
      Option(
        nil, "by", "MEMBER", "print counts and cost by kind, domain, guild, user, hour or profile",
        completion: .words(Grouping.allCases.map(\.rawValue))),
      Option(nil, "strict", nil, "check all of the grammar and UTF-8 of every line"),
      Option(nil, "fast", nil, "do not read lines that cannot match, nor report their faults"),
      Option("R", "rejects", "FILE", "write the bad lines to a file", completion: .file),
      Option("q", "quiet", nil, "print nothing; the status tells whether anything was selected"),
    ])
}
