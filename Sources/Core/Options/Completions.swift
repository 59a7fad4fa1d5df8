extension OptionTable {
  /// The completion script of a shell, or the option list.
  ///
  /// - Parameter shell: `bash`, `zsh`, `fish` or `list`.
  /// - Returns: nil for any other word.
  public func completions(shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    case "list": list
    default: nil
    }
  }

  private var function: String { "_" + program.replacing("-", with: "_") }

  private var bash: String {
    var cases = ""
    for option in options where option.argument != nil {
      let names = [option.short.map { "-\($0)" }, "--\(option.long)"].compactMap { $0 }
      let action: String
      switch option.completion {
      case .none: action = "COMPREPLY=()"
      case .file: action = "COMPREPLY=($(compgen -f -- \"$word\"))"
      case .words(let words):
        action = "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\"))"
      }
      cases += "    \(names.joined(separator: "|"))) \(action); return ;;\n"
    }
    let names = options.flatMap { option in
      [option.short.map { "-\($0)" }, "--\(option.long)"].compactMap { $0 }
    }
    let rest: String
    switch operands {
    case .none: rest = "COMPREPLY=()"
    case .file: rest = "COMPREPLY=($(compgen -f -- \"$word\"))"
    case .words(let words):
      rest = "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\"))"
    }
    return """
      # bash completion for \(program)
      \(function)() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
        case $before in
      \(cases)  esac
        case $word in
          -*) COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- "$word")) ;;
          *) \(rest) ;;
        esac
      }
      complete -o filenames -F \(function) \(program)

      """
  }

  private var zsh: String {
    let lines = options.map { option -> String in
      let help = quoteZsh(option.help)
      let names =
        option.short.map { "'(-\($0) --\(option.long))'{-\($0),--\(option.long)}" }
        ?? "--\(option.long)"
      guard let argument = option.argument else { return "  \(names)'[\(help)]'" }
      return "  \(names)'[\(help)]:\(argument):\(action(option.completion))'"
    }
    return """
      #compdef \(program)
      _arguments -s -S \\
      \(lines.joined(separator: " \\\n")) \\
        '*::operand:\(action(operands))'

      """
  }

  private func action(_ completion: Option.Completion) -> String {
    switch completion {
    case .none: " "
    case .file: "_files"
    case .words(let words): "(\(words.joined(separator: " ")))"
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
    }
    for option in options {
      var line = "complete -c \(program)"
      if let short = option.short { line += " -s \(short)" }
      line += " -l \(option.long)"
      if option.argument != nil {
        switch option.completion {
        case .none: line += " -x"
        case .file: line += " -r -F"
        case .words(let words): line += " -x -a '\(words.joined(separator: " "))'"
        }
      }
      let help = option.help.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
      text += line + " -d '\(help)'\n"
    }
    return text
  }
}
