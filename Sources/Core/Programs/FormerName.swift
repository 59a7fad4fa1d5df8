import CLibc

/// A name that a command had in earlier versions. It is a link still, and does what it did.
public struct FormerName: Sendable {
  /// What it was called.
  public let name: String
  /// The command that does it now, and its first words.
  let words: [String]
  /// A letter that the command has for something else, and its long name.
  var letter: (short: String, long: String)?

  /// All of them.
  public static let all = [
    FormerName(
      name: "mem-pick", words: ["mem-search", "--pick"], letter: ("-f", "--filter")),
    FormerName(name: "notify-route", words: ["agent-notify", "--route"]),
    FormerName(name: "task-add", words: ["task", "add"]),
    FormerName(name: "task-format", words: ["task", "format"]),
    FormerName(name: "task-list", words: ["task", "list"]),
  ]

  /// From now on the command line is that of the new name.
  func become() {
    let given = Process.arguments
    // A shell that completes shows no line.
    if given.first == "--completions" { return Process.mean(given) }
    tell()
    let end = given.firstIndex(of: "--") ?? given.endIndex
    let own = given[..<end].map { word in
      guard let letter, word.hasPrefix(letter.short) else { return word }
      let value = word.dropFirst(letter.short.count)
      return letter.long + (value.isEmpty ? "" : "=\(value)")
    }
    Process.mean(words.dropFirst() + own + given[end...])
  }

  /// Says the new name, the first time alone: a file remembers it. Where none can be made, a
  /// script is told nothing, for it would be told each time.
  private func tell() {
    StandardFiles.ensure()
    let path = try? Folders().stateFile("former-name-\(name)")
    let file = path.map { clibc_create_in(AT_FDCWD, $0) } ?? -1
    if file >= 0 { close(file) } else if systemError == EEXIST || isatty(2) != 1 { return }
    Diagnostics(program: name).say(
      "this is now '\(words.joined(separator: " "))'; the old name goes on working")
  }
}
