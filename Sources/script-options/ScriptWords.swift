import Core

struct ScriptWords {
  let usage: CommandUsage
  private let own: CommandUsage
  private var ownCount: Int { own.entries.count }
  private let help: String
  private let asked: AskedCommand?
  /// Whether the words behind `--` are no operands, but text or another command's.
  private let isCut: Bool

  init(help: String, asked: AskedCommand?, base: CommandUsage?) {
    (self.help, self.asked) = (help, asked)
    let nobody = CommandUsage(program: "", entries: "")
    usage = CommandUsage(help: help, base: base ?? nobody)
    own = CommandUsage(help: help, base: nobody)
    isCut = usage.synopsis.holds("[-- ") || usage.synopsis.holds("--]")
  }

  func words(of words: [String]) throws -> String {
    if words.first == "--completions" { return try completions(Array(words.dropFirst())) }
    let end = isCut ? words.firstIndex(of: "--") ?? words.count : words.count
    let parsed = try usage.parse(Array(words[..<end]))
    for item in parsed.items {
      switch usage.entries[item.index].name {
      case "help": return given(help)
      case "version": return given("\(usage.program) \(suiteVersion)\n")
      case "completions": return try completions([item.argument])
      default: break
      }
    }
    if !takesOperands, let path = parsed.paths.first {
      throw UsageError("\(path): one word too many")
    }
    try check(behind: words[end...].dropFirst())
    return try functions + assignments(parsed) + positional(parsed, Array(words[end...]))
  }

  /// Whether the usage line has more than options: `[FILE ...]`, `ROOM`, `[--done ID ...]`.
  private var takesOperands: Bool {
    var depth = 0
    let groups = usage.synopsis.split { character in
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      return depth == (character == "[" ? 1 : 0) && ["[", "]", " "].contains(character)
    }
    return groups.contains {
      !String($0).holds("OPTION") && ($0.first != "-" || $0.hasSuffix(" ..."))
    }
  }

  // MARK: Answers

  private func completions(_ words: [String]) throws -> String {
    guard words.first == "words" else { return given(try own.completions(for: words.first ?? "")) }
    let words = Array(words.dropFirst())
    if isCut, let mark = words.dropLast().firstIndex(of: "--") {
      let command = commandBehind()
      return given(try command?.completed(Array(words[(mark + 1)...]), asItself: true) ?? "")
    }
    return given(try asked?.completed(words) ?? usage.completed(words))
  }

  private func given(_ text: String) -> String {
    "\(speaking)exec script-options --give -- \(Self.quoted(text))\n"
  }

  // MARK: The words behind --

  /// The command of a help that has `after -- those of action-format`.
  private func commandBehind() -> AskedCommand? {
    let words = help.split { $0 == " " || $0 == "\n" }
    for index in words.indices.dropLast(3) where words[index] == "--" {
      guard words[index + 1] == "those", words[index + 2] == "of" else { continue }
      let name = words[index + 3].prefix { $0 != "." && $0 != "," }
      return AskedCommand(name: String(name), help: help)
    }
    return nil
  }

  private func check(behind words: ArraySlice<String>) throws {
    guard !words.isEmpty, let command = commandBehind() else { return }
    if let path = try command.usage().parse(Array(words)).paths.first {
      throw UsageError("\(path): one word too many")
    }
  }

  // MARK: What is set

  /// A variable for each option: what was given, 1 for a flag, empty without it.
  private func assignments(_ parsed: ParsedWords) throws -> String {
    var text = ""
    for (index, entry) in usage.entries.prefix(ownCount).enumerated()
    where !["help", "version", "completions"].contains(entry.name) {
      let given = parsed.items.filter { $0.index == index }.map(\.argument)
      let value = try entry.argument == nil ? given.isEmpty ? "" : "1" : value(entry, given)
      text += "\(entry.name.exchanging("-", for: "_"))=\(Self.quoted(value))\n"
    }
    return text
  }

  private func value(_ entry: OptionEntry, _ given: [String]) throws -> String {
    if given.contains("") { throw UsageError("option --\(entry.name): nothing is named") }
    if case .words(let choice) = entry.completion, !entry.isList {
      for word in given where !choice.contains(word) {
        throw OptionArgument(name: entry.name, path: word).fault(noneOf: choice)
      }
    }
    if entry.argument == "NAME,..." {
      var names: [String] = []
      for argument in given.map({ OptionArgument(name: entry.name, path: $0) }) {
        if argument.words.contains("") { throw argument.fault("an empty name") }
        for name in argument.words where !names.contains(name) { names.append(name) }
      }
      return names.joined(separator: ",")
    }
    if entry.isList { return given.joined(separator: ",") }
    if entry.name == "profile", let other = given.first(where: { $0 != given.first }) {
      throw UsageError("one profile at a time: \(other)")
    }
    return given.last ?? ""
  }

  private func positional(_ parsed: ParsedWords, _ behind: [String]) -> String {
    var words: [String] = []
    for item in parsed.items where item.index >= ownCount {
      let entry = usage.entries[item.index]
      if entry.isArgumentOptional {
        words.append("--\(entry.name)" + (item.argument.isEmpty ? "" : "=\(item.argument)"))
      } else {
        words.append(entry.letter.map { "-\($0)" } ?? "--\(entry.name)")
        if entry.argument != nil { words.append(item.argument) }
      }
    }
    if behind.isEmpty, ownCount < usage.entries.count,
      parsed.paths.contains(where: { $0.hasPrefix("-") && $0 != "-" })
    {
      words.append("--")
    }
    words += parsed.paths + behind
    return "set --\(words.map { " " + Self.quoted($0) }.joined())\n"
  }

  static func quoted(_ word: String) -> String {
    "'\(word.exchanging("'", for: "'\\''"))'"
  }

  /// Whatever goes wrong in what a script runs, goes wrong there.
  private var speaking: String {
    "AGENTUTILS_PROGRAM=${AGENTUTILS_PROGRAM:-\(usage.program)}\nexport AGENTUTILS_PROGRAM\n"
  }

  private var functions: String {
    let name = usage.program
    let hasProfiles = own.entries.contains { $0.name == "profile" && $0.isList }
    return speaking + (hasProfiles ? Self.eachProfile : "") + #"""
      dir=
      tell() { script-options --tell -- "$1"; }
      tell_person() { [ ! -t 1 ] || [ ! -t 2 ] || tell "$1"; }
      fail() { tell "$1"; exit "${2:-2}"; }
      misused() { tell "$1"; printf '%s\n' \#(Self.quoted(usage.line)) >&2; exit 2; }
      visible() { script-options --visible; }
      give() {
        script-options --give || {
          set -- "$?"
          [ "$1" -ne 141 ] || ended PIPE
          return "$1"
        }
      }
      finish() { [ -z "$dir" ] || rm -rf "$dir"; }
      interrupted() { ended INT; }
      ended() {
        trap '' HUP INT QUIT TERM
        trap - EXIT
        finish "$1"
        trap - "$1"
        kill -s "$1" $$
      }
      guard() {
        trap finish EXIT
        trap 'ended HUP' HUP
        trap interrupted INT
        trap 'ended QUIT' QUIT
        trap 'ended TERM' TERM
      }
      steady() { trap '' HUP INT; }
      scratch() {
        dir=$(mktemp -d "${TMPDIR:-/tmp}/\#(name).XXXXXX" 2>/dev/null) ||
          fail "${TMPDIR:-/tmp}: no folder can be made"
        guard
      }
      known() { sh -c 'echo "$PPID"' >"$dir/$1" || exit; shift; exec "$@"; }
      folder_in() {
        # A relative path counts for nothing (XDG Base Directory Specification).
        case $1 in
        /*) printf '%s/agentutils\n' "$1" ;;
        *) [ -n "${HOME:-}" ] && printf '%s/%s/agentutils\n' "$HOME" "$2" ;;
        esac
      }
      plain_fzf() {
        # With other settings than colors it would answer otherwise than it is asked.
        FZF_DEFAULT_OPTS=$(printf '%s\n' "${FZF_DEFAULT_OPTS:-}" | awk '
          { for (i = 1; i <= NF; i++) if ($i ~ /^--color=[A-Za-z0-9:,#_+-]+$/) printf "%s ", $i }')
        export FZF_DEFAULT_OPTS
        unset FZF_DEFAULT_OPTS_FILE FZF_DEFAULT_COMMAND
      }

      """#
  }

  /// For a script with the option `--profile NAME,...`.
  private static let eachProfile = #"""
    each_profile() {
      rest=$profile,
      while [ -n "$rest" ]; do
        name=${rest%%,*}
        rest=${rest#*,}
        "$@"
      done
    }
    named() {
      case $profile in
      *,*) name=$(printf %s "$name" | LC_ALL=C sed 's/[\"]/\\&/g; s/[\&/]/\\&/g') ;;
      *) cat; return ;;
      esac
      LC_ALL=C sed "s/}$/,\"profile\":\"$name\"}/"
    }
    telling() { agent-call ${name:+-p "$name"} --max-time 20 -o json names 2>/dev/null | named; }
    ask_names() {
      names=$dir/names
      each_profile telling >"$names"
      set -- "$("$@" </dev/null 2>&1 >/dev/null)"
      case $profile in
      # One name may be that of one person at several agents.
      *,*) set -- "$(printf '%s\n' "$1" | grep -v ': several have this name: ')" ;;
      esac
      [ -s "$names" ] && [ -n "$1" ] || return 0
      set -- "$1" ': no such id, and no record tells the name$'
      printf '%s\n' "$1" |
        sed "s/$2/: nobody tells this name; agent-call names prints all that are told/" >&2
      exit 2
    }

    """#
}

struct AskedCommand {
  let name: String
  let help: String

  var isPassedOn: Bool { ["those of", "options of"].contains { help.holds("\($0) \(name)") } }

  func usage() throws(CommandRun.Failure) -> CommandUsage {
    CommandUsage(program: name, entries: try Self.ask([name, "--completions", "entries"]))
  }

  /// What the last of a script's words could become, or of the command's own.
  func completed(_ words: [String], asItself: Bool = false) throws(CommandRun.Failure) -> String {
    try Self.ask([name, "--completions"] + (asItself ? [] : ["-"]) + ["words"] + words, help)
  }

  func hint(for error: UsageError) throws(CommandRun.Failure) -> String {
    let start = "unknown option --"
    let problem = error.problem
    guard problem.hasPrefix(start), !problem.holds(": did you mean ") else { return "" }
    let option = "--" + problem.dropFirst(start.count)
    let hint = try Self.ask([name, "--completions", "-", "near", option], help)
    return String(hint.prefix { $0 != "\n" })
  }

  private static func ask(_ words: [String], _ input: String = "") throws(CommandRun.Failure)
    -> String
  {
    let run = CommandRun(words, limit: 1 << 20, timeout: 60)
    let answer = try run.output(input: Array(input.utf8))
    return String(decoding: answer, as: UTF8.self)
  }
}
