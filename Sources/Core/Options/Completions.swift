extension CommandUsage {
  /// The completion script of a shell, or the option list.
  ///
  /// - Parameter shell: `bash`, `zsh`, `fish` or `list`, or the name of words that
  ///   are looked up.
  /// - Returns: nil for any other word.
  public func completions(shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    case "list": list
    default: live(shell)?.lines
    }
  }

  /// The words of this name that are looked up.
  private func live(_ name: String) -> Completion.Live? {
    for completion in [operands] + entries.map(\.completion) {
      if case .live(let live) = completion, live.name == name { return live }
    }
    return nil
  }

  private func asking(_ live: Completion.Live) -> String {
    "$(\(program) --completions \(live.name) 2>/dev/null)"
  }

  private var function: String { "_" + program.exchanging("-", for: "_") }

  private static func names(_ option: OptionEntry) -> [String] {
    [option.letter.map { "-\($0)" }, "--\(option.name)"].compactMap { $0 }
  }

  /// Works in bash 3.2, which macOS has: neither mapfile nor compopt.
  private var bash: String {
    func offer(_ completion: Completion) -> String {
      switch completion {
      case .none: "return"
      case .file: "set -- -f"
      case .words(let words): "set -- -W '\(words.joined(separator: " "))'"
      case .live(let live): "set -- -W \"\(asking(live))\""
      }
    }
    var cases = ""
    for option in sorted where option.argument != nil {
      let names = Self.names(option).joined(separator: "|")
      cases += "    \(names)) \(offer(option.completion)) ;;\n"
    }
    let all = sorted.flatMap(Self.names)
    return """
      # bash completion for \(program)
      \(function)() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} reply
        if [[ $word == = ]]; then
          word=
        elif [[ $before == = && $COMP_CWORD -gt 1 ]]; then
          before=${COMP_WORDS[COMP_CWORD-2]}
        fi
        COMPREPLY=()
        case $before in
      \(cases)    *)
            case $word in
              -*) \(offer(.words(all))) ;;
              *) \(offer(operands)) ;;
            esac ;;
        esac
        while IFS= read -r reply; do
          COMPREPLY+=("$reply")
        done < <(compgen "$@" -- "$word")
      }
      complete -o filenames -F \(function) \(program)

      """
  }

  private var zsh: String {
    let lines = sorted.map { option -> String in
      let help = quoteZsh(option.help)
      guard let argument = option.argument else {
        let names = option.letter.map { "{-\($0),--\(option.name)}" } ?? "--\(option.name)"
        return "  '*'\(names)'[\(help)]'"
      }
      let names = option.letter.map { "{-\($0)+,--\(option.name)=}" } ?? "--\(option.name)="
      let colon = option.isArgumentOptional ? "::" : ":"
      return
        "  '*'\(names)'[\(help)]\(colon)\(quoteZsh(argument)):\(action(option.completion))'"
    }
    return """
      #compdef \(program)
      _arguments -s -S \\
      \(lines.joined(separator: " \\\n")) \\
        '*:operand:\(action(operands))'

      """
  }

  private func action(_ completion: Completion) -> String {
    switch completion {
    case .none: " "
    case .file: "_files"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .live(let live): "{compadd -- \(asking(live))}"
    }
  }

  private func quoteZsh(_ text: String) -> String {
    var out = ""
    for character in text {
      switch character {
      case "'": out += "'\\''"
      case "[", "]", ":", "\\": out += "\\\(character)"
      default: out.append(character)
      }
    }
    return out
  }

  private var fish: String {
    var text = "# fish completion for \(program)\n"
    switch operands {
    case .none: text += "complete -c \(program) -f\n"
    case .file: break
    case .words(let words):
      text += "complete -c \(program) -f -a '\(words.joined(separator: " "))'\n"
    case .live(let live): text += "complete -c \(program) -f -a '\(asking(live).dropFirst())'\n"
    }
    for option in sorted {
      var line = "complete -c \(program)"
      if let short = option.letter { line += " -s \(short)" }
      line += " -l \(option.name)"
      if option.argument != nil {
        switch option.completion {
        case .none: line += " -x"
        case .file: line += option.isArgumentOptional ? " -F" : " -r -F"
        case .words(let words): line += " -x -a '\(words.joined(separator: " "))'"
        case .live(let live): line += " -x -a '\(asking(live).dropFirst())'"
        }
      }
      let help = option.help.exchanging("\\", for: "\\\\").exchanging("'", for: "\\'")
      text += line + " -d '\(help)'\n"
    }
    return text
  }
}
