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
  /// Behind `those of action-filter without --by, --count` these are left out: to the recipe
  /// they are unknown. A line `STATE is working, idle or unknown` has the words of an operand.
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
  public init(help: String, base: CommandUsage, isAlone: Bool = false) {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    var first = lines.first?.split(separator: " ").dropFirst()[...] ?? []
    let program = first.popFirst().map(String.init) ?? ""
    let hasMore =
      !isAlone && !base.program.isEmpty
      && ["those of", "options of"].contains { help.holds("\($0) \(base.program)") }
    var entries = lines.compactMap { OptionEntry(help: $0, base: base) }
    if hasMore {
      let absent = Self.absent(help, base)
      let own = entries
      for other in base.entries where !absent.contains(other.name) {
        if own.contains(where: { $0.letter == other.letter && $0.letter != nil }) { continue }
        if !own.contains(where: { $0.name == other.name }) {
          entries.append(other)
        } else if let letter = other.letter {
          // The script took its long name for something else.
          entries.append(OptionEntry(letter, "", other.argument, other.help) { other.completion })
        }
      }
    }
    // The last word of the usage says what the operands are.
    let operand = first.last { $0 != "...]" }.map(String.init) ?? ""
    let isFile = ["FILE", "FOLDER", "DIR"].contains { operand.holds($0) }
    let operands: Completion
    if let words = Self.operandWords(lines) {
      operands = .verbs(words.map { Completion.Verb($0) })
    } else {
      operands = hasMore && !operand.holds("OPTION") ? base.operands : isFile ? .file : .none
    }
    self.init(
      program: program, summary: lines.dropFirst().first.map(String.init) ?? "",
      synopsis: first.joined(separator: " "), operands: operands, entries: entries)
  }

  /// A command's options by what it answers to `--completions entries`; for the rest it is asked.
  ///
  /// - Parameters:
  ///   - program: its name.
  ///   - entries: nothing for a command that is not known.
  public init(program: String, entries: String) {
    self.init(
      program: program, summary: "", synopsis: "", operands: .none,
      entries: entries.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        guard words.count >= 4, let last = words.last else { return nil }
        let argument = words[2..<(words.count - 1)].joined(separator: " ")
        var entry = OptionEntry(
          words[0] == "-" ? nil : words[0].last, String(words[1].dropFirst(2)),
          argument == "-" ? nil : argument, "")
        entry.formerLetter = last == "-" ? nil : last.last
        return entry
      })
  }

  private static func absent(_ help: String, _ base: CommandUsage) -> [String] {
    let words = help.split { $0 == " " || $0 == "\n" }
    for index in words.indices.dropLast(2) where words[index] == "of" {
      guard words[index + 1] == base.program, words[index + 2] == "without" else { continue }
      var names: [String] = []
      for word in words[(index + 3)...] where word != "and" {
        guard word.hasPrefix("--") else { break }
        names.append(String(word.dropFirst(2).prefix { $0 != "," && $0 != ";" && $0 != "." }))
      }
      return names
    }
    return []
  }

  /// The words of `STATE is working, idle or unknown (to forget it).`, where a line says so.
  private static func operandWords(_ lines: [Substring]) -> [String]? {
    for line in lines {
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, words[1] == "is", words[0].count > 1,
        words[0].allSatisfy({ $0.isUppercase })
      else { continue }
      if let choice = OptionEntry.choice(String(words[2])) { return choice }
    }
    return nil
  }
}

extension OptionEntry {
  /// What a line of a recipe's help declares. Returns nil for a line without an option.
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
    let (isProfile, isCompletions) = (name == "profile", name == "completions")
    self.init(letter, name, value, meaning) {
      if let choice = Self.choice(meaning) { return .words(choice) }
      if let known { return known.completion }
      if isProfile { return CompletionNames.profiles }
      if isCompletions { return .words(["bash", "zsh", "fish", "list"]) }
      return ["FILE", "FOLDER", "DIR"].contains(value) ? .file : .none
    }
    formerLetter = known?.formerLetter
  }

  /// The words of `small, medium or large (medium)`.
  fileprivate static func choice(_ meaning: String) -> [String]? {
    let words = meaning.split(separator: " ").prefix { !$0.hasPrefix("(") }
    guard let or = words.firstIndex(of: "or"), or == words.count - 2 else { return nil }
    let choice = words.filter { $0 != "or" }.map { $0.last == "," ? $0.dropLast() : $0 }
    // But for those around "or", all have commas.
    guard words.prefix(max(or - 1, 0)).allSatisfy({ $0.last == "," }) else { return nil }
    return choice.map(String.init)
  }
}
