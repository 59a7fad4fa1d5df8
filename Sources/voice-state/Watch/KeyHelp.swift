import Screen

enum KeyHelp {
  private static let always = [
    ("q", "quit"), ("p", "choose panels"), ("/", "search in what is shown"),
    ("n, N", "the next line found, the one before"), ("Esc", "end the search"),
    ("t", "times by the clock, or ages"), ("Up, Down, k, j", "move by a line"),
    ("PgUp, PgDn", "move by a window"), ("Home, End, g, G", "go to the beginning, the end"),
    ("Ctrl-L", "redraw the screen"), ("Ctrl-Z", "suspend; fg goes on"), ("?", "these keys"),
  ]

  private static let replay = [
    ("Space", "stop the time, let it go on"), ("+, -", "double the speed, halve it"),
    ("n", "the next event"),
  ]

  static func lines(isReplay: Bool) -> [Line] {
    let keys = isReplay ? always + replay : always
    return [Line("Keys", .bold), Line()]
      + keys.map { key, words in
        var line = Line("  " + Fit.padEnd(key, to: 17), .bold)
        line.add(words)
        return line
      }
  }
}
