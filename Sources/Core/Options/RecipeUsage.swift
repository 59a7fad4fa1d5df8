extension CommandUsage {
  /// How a recipe, a script that runs the commands, is used. It declares its options in one
  /// place, its help, which looks as that of a command does: two blanks stand in front of
  /// an option and two between it and its meaning.
  ///
  ///     usage: agent-pulse [-p PROFILE,...] [FILTER-OPTION ...]
  ///     Show the agent's last actions, and each new one as it happens.
  ///
  ///       -p, --profile NAME,...  the profiles of the configuration
  ///
  ///     Other options are those of action-filter.
  ///
  /// An argument completes to what it does in the command that is asked; else one that is
  /// called FILE, FOLDER or DIR to file names, and one whose meaning begins with a choice,
  /// `small, medium or large`, to its words.
  ///
  /// - Parameters:
  ///   - help: what the recipe prints.
  ///   - base: the command that is asked; the recipe has its options, too, when the help
  ///     speaks of `those of` it or of `options of` it.
  ///   - isAlone: whether only its own options count.
  init(help: String, base: CommandUsage, isAlone: Bool = false) {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    var first = lines.first?.split(separator: " ").dropFirst()[...] ?? []
    let program = first.popFirst().map(String.init) ?? ""
    let hasMore =
      !isAlone && ["those of", "options of"].contains { help.holds("\($0) \(base.program)") }
    var entries = lines.compactMap { OptionEntry(help: $0, base: base) }
    if hasMore {
      entries += base.entries.filter { other in
        !entries.contains { $0.name == other.name || $0.letter == other.letter && $0.letter != nil }
      }
    }
    // The last word of the usage says what the operands are.
    let operand = first.last { $0 != "...]" }.map(String.init) ?? ""
    let isFile = ["FILE", "FOLDER", "DIR"].contains { operand.holds($0) }
    self.init(
      program: program, summary: lines.dropFirst().first.map(String.init) ?? "",
      synopsis: first.joined(separator: " "),
      operands: hasMore && !operand.holds("OPTION") ? base.operands : isFile ? .file : .none,
      all: entries)
  }
}

extension OptionEntry {
  /// What a line of a recipe's help declares.
  ///
  /// - Returns: nil for a line without an option.
  fileprivate init?(help line: Substring, base: CommandUsage) {
    let line = line.drop { $0 == " " }
    guard line.hasPrefix("-"), let end = line.indices.first(where: { line[$0...].hasPrefix("  ") })
    else { return nil }
    var letter: Character?
    var name = ""
    var argument: [Substring] = []
    for word in line[..<end].split(separator: " ") {
      let bare = word.last == "," ? word.dropLast() : word
      if bare.hasPrefix("--") {
        name = String(bare.dropFirst(2))
      } else if bare.hasPrefix("-") {
        letter = bare.last
      } else {
        argument.append(word)
      }
    }
    let meaning = String(line[end...].drop { $0 == " " })
    let value = argument.isEmpty ? nil : argument.joined(separator: " ")
    let known = base.entries.first { $0.name == name && $0.argument != nil }
    self.init(letter, name, value, meaning) {
      if let choice = Self.choice(meaning) { return .words(choice) }
      if let known { return known.completion }
      return ["FILE", "FOLDER", "DIR"].contains(value) ? .file : .none
    }
  }

  /// The words of `small, medium or large (medium)`.
  private static func choice(_ meaning: String) -> [String]? {
    let words = meaning.split(separator: " ").prefix { !$0.hasPrefix("(") }
    guard let or = words.firstIndex(of: "or"), or == words.count - 2 else { return nil }
    let choice = words.filter { $0 != "or" }.map { $0.last == "," ? $0.dropLast() : $0 }
    // But for those around "or", all have commas.
    guard words.prefix(max(or - 1, 0)).allSatisfy({ $0.last == "," }) else { return nil }
    return choice.map(String.init)
  }
}
