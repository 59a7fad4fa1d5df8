import Core

/// A table with one of everything, whose values are what was given, in its order: an
/// option as `name=argument`, then the operands.
let sampleTable = OptionTable<[String]>(
  program: "sample", summary: "do nothing", synopsis: "[options] [file ...]",
  operands: .words(["activity", "voice"]),
  options: [
    Option(
      "e", "event", "NAME", "keep events of this name (it's [repeatable])", .argument, effect: note),
    Option(
      "o", "output", "FORM", "output form", .argument.offering(.words(["text", "json"])),
      effect: note),
    Option("l", "listen", "HOST:PORT", "where to listen", .argument, effect: note),
    Option("f", "file", "FILE", "read this", .argument.offering(.file), effect: note),
    Option("q", "quiet", "say nothing") { $0.append("quiet=") },
    Option("v", "verbose", "say more") { $0.append("verbose=") },
    Option(nil, "max-time", "SECONDS", "stop after this", .argument, effect: note)
      .formerly("T"),
    Option(nil, "max-retries", "COUNT", "stop after so many", .argument, effect: note),
    Option(nil, "max", "as it is") { $0.append("max=") },
  ]
) { $0 += $1.operands }

/// Notes an option that was given with its argument.
@Sendable func note(_ given: inout [String], _ argument: OptionArgument) {
  given.append("\(argument.name)=\(argument.value)")
}

extension Reading<OptionArgument> {
  static var argument: Reading { Reading { $0 } }
}
