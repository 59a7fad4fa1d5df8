/// Several commands in one program, which is whichever of them it is called: a link to the
/// program has a command's name.
public struct ProgramSet {
  private let name: String
  private let commands: KeyValuePairs<String, () -> Void>

  /// - Parameters:
  ///   - name: the program's own name.
  ///   - commands: what each command does, by the names of the commands.
  public init(_ name: String, _ commands: KeyValuePairs<String, () -> Void>) {
    self.name = name
    self.commands = commands
  }

  /// Does what the command does that the program is called, or else that its first word
  /// names. Where neither is one of the commands, it says which there are.
  public func run() -> Never {
    if let command = command(Process.name) {
      command()
    } else {
      guard let word = Process.arguments.first else { fail("which command?") }
      guard let command = command(word) else { fail("\(word): not a command of this program") }
      Process.takeCommand()
      command()
    }
    Process.exit(.success)
  }

  private func command(_ name: String) -> (() -> Void)? {
    commands.first { $0.key == name }?.value
  }

  private func fail(_ problem: String) -> Never {
    let names = commands.map(\.key).joined(separator: ", ")
    Diagnostics(program: name).fail("\(problem) (one of \(names))")
  }
}
