import CLibc

/// Several commands in one program, which is whichever of them it is called: a link to the
/// program has a command's name.
public struct ProgramSet {
  private let name: String
  private let commands: KeyValuePairs<String, () -> Void>

  public init(_ name: String, _ commands: KeyValuePairs<String, () -> Void>) {
    (self.name, self.commands) = (name, commands)
  }

  /// Does what the command does that the program is called, or else that its first word
  /// names. Where neither is one of the commands, it says which there are: `--help` prints
  /// their names, one in a line, and `--version` the program's own.
  ///
  /// A link of any other name that leads to a command's link is that command, too, and so is a
  /// login shell's name, which begins with a dash.
  public func run() -> Never {
    let name = Process.name
    if let command = command(name) ?? command(String(name.drop { $0 == "-" })) ?? linked() {
      command()
    } else {
      guard let word = Process.arguments.first else { fail("which command?") }
      switch word {
      case "-h", "--help": print(commands.map { $0.key + "\n" }.joined())
      case "-V", "--version": print("\(name) \(suiteVersion)\n")
      default: break
      }
      guard let command = command(word) else { fail("\(word): not a command of this program") }
      Process.takeCommand()
      command()
    }
    Process.exit(.success)
  }

  private func command(_ name: String) -> (() -> Void)? {
    if let command = commands.first(where: { $0.key == name })?.value { return command }
    guard let former = FormerName.all.first(where: { $0.name == name }),
      let command = commands.first(where: { $0.key == former.words[0] })?.value
    else { return nil }
    return {
      former.become()
      command()
    }
  }

  private func linked() -> (() -> Void)? {
    guard var path = Process.startedPath else { return nil }
    for _ in 0..<Self.mostLinks {
      if let command = path.split(separator: "/").last.flatMap({ command(String($0)) }) {
        return command
      }
      guard let target = readlink(path) else { return nil }
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      path = target.hasPrefix("/") ? target : folder + target
    }
    return nil
  }

  /// As many links as Linux follows.
  private static let mostLinks = 40

  private func print(_ text: String) -> Never {
    StandardFiles.ensure()
    Diagnostics(program: name).answer(text)
  }

  private func fail(_ problem: String) -> Never {
    let names = commands.map(\.key).joined(separator: ", ")
    Diagnostics(program: name).fail("\(problem) (one of \(names))")
  }
}
