import CLibc
import Core
import Kinds

/// agent-setup(1): asks for an agent's URL and token, checks them, and writes a profile for the
/// commands of the suite.
///
/// The token is never a word of a command or a variable of its environment: it goes through
/// pipes.
public func agentSetupMain() {
  umask(0o077)
  SetupOptions.table.run(SetupOptions()) { options, diagnostics in
    EndSignals.watch()
    let file = try ProfileFile()
    let talk = SetupTalk(diagnostics)
    defer { talk.clean() }
    let code: Int32
    if options.isFinding {
      code = try Finding(file, talk).write()
    } else {
      // It is an addition: what hinders it is no fault of the dialogue.
      if options.isEmpty, isatty(0) == 1 { try? Finding(file, talk).show() }
      var setup = Setup(options, file, talk)
      code = try setup.run()
    }
    talk.clean()
    Process.exit(code: code)
  }
}

struct SetupOptions {
  var kind: KindFacts?
  var profile: String?
  var isFinding = false

  /// Whether nothing says what is to be set up.
  var isEmpty: Bool { kind == nil && profile == nil }

  static let kinds: [KindFacts] = KindFacts.all.filter { $0.setup != nil }

  static let table = OptionTable<SetupOptions>(
    program: "agent-setup",
    summary: "Ask for an agent's URL and token, check them, and write a profile.",
    synopsis: "[-k KIND] [-p NAME] | --found", operands: .none,
    options: [
      Option(
        "k", "kind", "KIND",
        "\(KindFacts.list(kinds)) (default: by the URL)", .kind
      ) { $0.kind = $1 },
      Option(
        "p", "profile", "NAME", "the profile to write (default: asked for)",
        .text.offering(CompletionNames.profiles)
      ) { $0.profile = $1 },
      Option(
        nil, "found", "write what is found here: gateways, agents in tmux, hosts of ~/.ssh/config"
      ) { $0.isFinding = true },
    ]
  ) { options, words throws(UsageError) in
    if options.isFinding, !options.isEmpty {
      throw UsageError("--found takes neither --kind nor --profile")
    }
    if let word = words.operands.first { throw UsageError("no operand is taken: \(word)") }
  }
}

extension Reading<KindFacts> {
  fileprivate static var kind: Reading {
    let words = SetupOptions.kinds.map(\.name)
    return Reading(
      { argument throws(UsageError) in
        if let kind = KindFacts.named(argument.value), SetupOptions.kinds.contains(kind) {
          return kind
        }
        throw UsageError(
          "option --kind: not \(KindFacts.list(SetupOptions.kinds)): \(argument.value)"
            + NearestWord.hint(for: argument.value, among: words))
      }, completion: .words(words))
  }
}
