import Core

/// A table with one of everything.
let sampleTable = OptionTable(
  program: "sample", summary: "do nothing", synopsis: "[options] [file ...]",
  operands: .words(["activity", "voice"]),
  options: [
    Option("e", "event", "NAME", "keep events of this name (it's [repeatable])"),
    Option("o", "output", "FORM", "output form", completion: .words(["text", "json"])),
    Option("l", "listen", "HOST:PORT", "where to listen"),
    Option("f", "file", "FILE", "read this", completion: .file),
    Option("q", "quiet", nil, "say nothing"),
    Option("v", "verbose", nil, "say more"),
    Option(nil, "max-time", "SECONDS", "stop after this"),
    Option(nil, "max-retries", "COUNT", "stop after so many"),
    Option(nil, "max", nil, "as it is"),
  ])
