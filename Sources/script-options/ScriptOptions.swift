import CLibc
import Core

/// script-options(1): what scripts that run the commands have in common.
public func scriptOptionsMain() {
  ScriptCommand.table.run(ScriptCommand()) { options, diagnostics in
    switch options.job {
    case .words: try print(words(options))
    case .tell:
      diagnostics.say(Visible.masked(options.words.joined(separator: " ")))
    case .give: try options.words.isEmpty ? copy(diagnostics) : print(options.words.joined())
    case .host: try print(hostWords(of: options.words.first))
    case .visible: try mask(diagnostics)
    case .section(let kind):
      let section = try ScriptSection(kind)
      guard let name = options.words.first else {
        try print(section.all)
        break
      }
      guard let members = try section.members(of: name) else { return .negative }
      try print(members)
    }
    return .success
  }
}

/// What a script evaluates. What is wrong in its words is told in its name, and ends us.
private func words(_ options: ScriptCommand) -> String {
  let help = CommandUsage.standardInput
  let diagnostics = Diagnostics(program: options.script)
  let asked = options.asked.map { AskedCommand(name: $0, help: help) }
  do {
    let base = asked?.isPassedOn == true ? try asked?.usage() : nil
    do {
      return try ScriptWords(help: help, asked: asked, base: base).words(of: options.words)
    } catch let error as UsageError where error.problem.hasPrefix("unknown option") {
      // It may be a letter of earlier versions, or say what an option has as an argument.
      let script = ScriptWords(help: help, asked: asked, base: try base ?? asked?.usage())
      do {
        return try script.words(of: options.words)
      } catch let error as UsageError {
        throw UsageError(error.problem + (try asked?.hint(for: error) ?? ""))
      }
    }
  } catch let error as UsageError {
    let usage = ScriptWords(help: help, asked: nil, base: nil).usage
    diagnostics.usage(UsageError(Visible.masked(error.problem)), usage)
  } catch let failure as CommandRun.Failure {
    let name = options.asked ?? ""
    switch failure {
    case .broken: diagnostics.fail("\(name) is not in PATH")
    case .interrupted(let signal): Process.die(by: signal)
    // What was wrong, it has told.
    case .ended: Process.exit(.failure)
    case .late, .tooLong: diagnostics.fail("\(name): \(failure.reason)")
    }
  } catch {
    diagnostics.fail("\(error)")
  }
}

private func print(_ text: String) throws(WriteFailure) {
  let writer = RecordWriter()
  try writer.write(FileName.bytes(text))
  try writer.flush()
}

private func copy(_ diagnostics: Diagnostics) throws(WriteFailure) {
  let writer = RecordWriter()
  try eachPiece(diagnostics) { piece throws(WriteFailure) in
    try writer.write(piece)
    try writer.flush()
  }
}

/// Line by line, so that no character is in two pieces.
private func mask(_ diagnostics: Diagnostics) throws(WriteFailure) {
  let writer = RecordWriter()
  var begun: [UInt8] = []
  func write(_ line: ArraySlice<UInt8>, _ end: String) throws(WriteFailure) {
    try writer.write(Visible.masked(FileName.text(Array(line))) + end)
  }
  try eachPiece(diagnostics) { piece throws(WriteFailure) in
    begun += piece
    while let end = begun.firstIndex(of: UInt8(ascii: "\n")) {
      try write(begun[..<end], "\n")
      begun.removeSubrange(...end)
    }
    try writer.flush()
  }
  if !begun.isEmpty { try write(begun[...], "") }
  try writer.flush()
}

private func eachPiece(
  _ diagnostics: Diagnostics, _ body: ([UInt8]) throws(WriteFailure) -> Void
) throws(WriteFailure) {
  var piece = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(0, &piece, piece.count)
    if count < 0 && systemError == EINTR { continue }
    if count < 0 { diagnostics.fail("standard input: \(systemReason(systemError))") }
    if count == 0 { return }
    try body(Array(piece[..<count]))
  }
}

struct ScriptCommand {
  enum Job {
    case words, tell, give, host, visible
    case section(ScriptSection.Kind)
  }

  var job = Job.words
  var asked: String?
  var script = ""
  var words: [String] = []

  static let table = OptionTable<ScriptCommand>(
    program: "script-options",
    summary: "Read the words of a script by its help, for the script to evaluate.",
    synopsis: "[--ask COMMAND] NAME [WORD ...]", operands: .none, endsAtOperand: true,
    options: [
      Option(
        nil, "ask", "COMMAND", "what the help has of COMMAND is asked of it", .word
      ) { $0.asked = $1 },
      Option(nil, "give", "print the words, or standard input") { $0.job = .give },
      Option(nil, "host", "print the host of a profile whose agent is at a terminal") {
        $0.job = .host
      },
      Option(
        nil, "section", "KIND", "print what a section of the configuration has",
        .choice(of: ScriptSection.Kind.self)
      ) { $0.job = .section($1) },
      Option(nil, "tell", "say the words on standard error") { $0.job = .tell },
      Option(nil, "visible", "print standard input with nothing hidden in it") {
        $0.job = .visible
      },
    ]
  ) { options, words throws(UsageError) in
    options.words = words.paths
    if case .section = options.job {
      if let word = words.paths.dropFirst().first { throw UsageError("\(word): one word too many") }
      if words.paths == [""] { throw UsageError("--section: nothing is named") }
    }
    if case .host = options.job, let word = words.paths.dropFirst().first {
      throw UsageError("\(word): one word too many")
    }
    guard case .words = options.job else { return }
    guard let name = words.paths.first else { throw UsageError("which script?") }
    options.script = name
    options.words.removeFirst()
  }
}
