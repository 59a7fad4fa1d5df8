extension CommandUsage {
  /// Answers `--completions SHELL`.
  ///
  /// - Parameter shell: `bash`, `zsh` or `fish` for its script, `list` for the option list.
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

  /// Answers the words behind `--completions`: `words WORD ...` is what the scripts of the
  /// shells ask, `-` what a recipe asks of one of the commands that it runs, whose standard
  /// input is the recipe's help:
  ///
  ///     --completions) shift; "$0" --help | sse-tail --completions - "$@"; exit ;;
  ///
  /// `near WORD` is what an error about an unknown option adds, see `NearestWord`, and
  /// `near WORD CHOICE ...` about a word that is none of these. `entries` is the option list with
  /// the letters of earlier versions, which script-options reads. Returns whose completions they
  /// are, and the answer; nil when it is one of a shell.
  func completions(
    _ words: ArraySlice<String>, help: () -> String
  ) -> (usage: CommandUsage, text: String?)? {
    switch words.first {
    case "entries": return (self, optionList(withFormer: true))
    case "words": return (self, completed(Array(words.dropFirst())))
    case "-":
      let rest = words.dropFirst()
      let recipe = CommandUsage(help: help(), base: self, isAlone: rest.first == "list")
      return recipe.completions(rest, help: { "" })
        ?? (recipe, recipe.completions(shell: rest.first ?? ""))
    case "near":
      let word = words.dropFirst().first ?? ""
      let choices = Array(words.dropFirst(2))
      let hint = choices.isEmpty ? hint(option: word) : NearestWord.hint(for: word, among: choices)
      return (self, hint.isEmpty ? "" : hint + "\n")
    default: return nil
    }
  }

  /// What the last of these words could become, a line each, see `Completer`.
  public func completed(_ words: [String]) -> String { Completer(usage: self).answer(words) }

  private var function: String { "_" + program.exchanging("-", for: "_") }

  /// Works in bash 3.2, which macOS has: neither mapfile nor compopt.
  private var bash: String {
    """
    # bash completion for \(program)
    \(function)() {
      local word=${COMP_WORDS[COMP_CWORD]} reply
      COMPREPLY=()
      while IFS= read -r reply; do
        reply=${reply%%$'\\t'*}
        [[ $word != = ]] || word=
        if [[ $reply == :file ]]; then
          while IFS= read -r reply; do
            COMPREPLY+=("$reply")
          done < <(compgen -f -- "$word")
        elif [[ $reply == "$word"* ]]; then
          COMPREPLY+=("$reply")
        fi
      done < <(\(program) --completions words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    }
    complete -o filenames -F \(function) \(program)

    """
  }

  private var zsh: String {
    """
    #compdef \(program)
    local reply
    local -a offered
    local -i files
    for reply in ${(f)"$(\(program) --completions words "${(@Q)words[2,CURRENT-1]}" "$PREFIX" \\
      2>/dev/null)"}; do
      if [[ $reply == :file ]]; then
        files=1
      elif [[ $reply == *$'\\t'* ]]; then
        offered+=("${${reply%%$'\\t'*}//:/\\\\:}:${reply#*$'\\t'}")
      else
        offered+=("${reply//:/\\\\:}")
      fi
    done
    (( ! $#offered )) || _describe \(program) offered
    if (( files )); then
      compset -P '--[^=]#='
      _files
    fi

    """
  }

  private var fish: String {
    """
    # fish completion for \(program)
    function _\(function)
      set -l word (commandline -ct)
      set -l words (commandline -opc)
      for reply in (\(program) --completions words $words[2..-1] $word 2>/dev/null)
        if test $reply = :file
          set -l start (string match -r -- '^--[^=]*=' $word)
          for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $word))
            echo "$start$path"
          end
        else
          echo $reply
        end
      end
    end
    complete -c \(program) -f -a '(_\(function))'

    """
  }
}

/// Answers a shell that asks what a word of a command line could become. The scripts of all
/// shells ask the command itself, so that this is the one place that knows.
struct Completer {
  let usage: CommandUsage

  /// A line for each word that is offered, fitting or not; behind a tab what it means.
  /// `:file` stands for the names of files.
  func answer(_ words: [String]) -> String {
    var words = words
    var isApart = false
    while let mark = words.indices.dropFirst().first(where: { index in
      words[index] == "=" && words[index - 1].hasPrefix("--")
    }) {
      isApart = mark >= words.count - 2
      words[mark - 1] += "=" + (mark + 1 < words.count ? words[mark + 1] : "")
      words.removeSubrange(mark..<min(mark + 2, words.count))
    }
    let word = words.popLast() ?? ""
    var operands: [String] = []
    var open: OptionEntry?
    var areOver = false
    for word in words {
      if open != nil {
        open = nil
      } else if areOver || word == "-" || !word.hasPrefix("-") {
        operands.append(word)
      } else if word == "--" {
        areOver = true
      } else if let option = usage.waiting(word), !option.isArgumentOptional {
        open = option
      }
    }
    if let open { return argument(of: open, word, in: "") }
    if areOver || !word.hasPrefix("-") {
      return lines(usage.operands.words(behind: operands), in: "")
    }
    if let mark = word.firstIndex(of: "="), word.hasPrefix("--") {
      guard let option = usage.waiting(String(word[..<mark])) else { return "" }
      let start = word.index(after: mark)
      return argument(of: option, String(word[start...]), in: isApart ? "" : String(word[..<start]))
    }
    if !word.hasPrefix("--"), word.utf8.count > 2,
      let end = word.indices.dropFirst(2).first(where: { usage.waiting(String(word[..<$0])) != nil }
      ),
      let option = usage.waiting(String(word[..<end]))
    {
      return argument(of: option, String(word[end...]), in: String(word[..<end]))
    }
    return usage.sorted.map { option in
      [option.letter.map { "-\($0)" }, option.name.isEmpty ? nil : "--\(option.name)"]
        .compactMap { $0.map { "\($0)\t\(option.help)\n" } }.joined()
    }.joined()
  }

  private func argument(of option: OptionEntry, _ word: String, in start: String) -> String {
    let words = option.completion.words(behind: [])
    guard option.isList, let comma = word.lastIndex(of: ",") else {
      return lines(words, in: start)
    }
    let chosen = word[...comma]
    let taken = chosen.split(separator: ",").map(String.init)
    return lines(words.filter { !taken.contains($0) }, in: start + chosen)
  }

  private func lines(_ words: [String], in start: String) -> String {
    words.map { $0 == Completion.files ? "\($0)\n" : "\(start)\($0)\n" }.joined()
  }
}
