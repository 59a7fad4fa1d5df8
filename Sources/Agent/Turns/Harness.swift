/// A program at whose terminal an agent runs: the one place that says how its process is known, and
/// where it tells of itself. CONTRIBUTING.md says what belongs to a new one.
public struct Harness: Equatable, Sendable {
  /// What its process and its command are called: `codex`.
  public let name: String
  /// The package of its script, where an interpreter runs that: `@google/gemini-cli`.
  var package: String?
  /// The function of sh in `AgentProcess.script` that prints what its sessions tell of themselves, a
  /// row each. Nil where they tell nothing: their processes alone are known, and of their states what
  /// agent-state(1) was told.
  var rows: String?

  /// All that are known.
  static let all = [
    claude, Harness(name: "aider"), Harness(name: "amp"),
    Harness(name: "codex", package: "@openai/codex"), Harness(name: "cursor-agent"),
    Harness(name: "gemini", package: "@google/gemini-cli"), Harness(name: "goose"),
    Harness(name: "opencode", package: "opencode-ai"),
  ]

  /// The name of the one whose command this is; nil for any other command.
  public static func of(command: String) -> String? { all.first { $0.name == command }?.name }
}

/// The process of an agent at a terminal.
public struct AgentProcess: Equatable, Sendable {
  /// The name of its harness.
  public let harness: String
  /// The process and those above it, itself first.
  public let processes: [Int]
  /// Whether it has the terminal that it was started in: one that was stopped there has not.
  public let isInFront: Bool
  /// Its working folder; empty where that is not known.
  public let folder: String
  /// What it tells of itself; nil for a harness that tells nothing.
  public let claude: ClaudeStatus?

  /// Words for sh, behind `ClaudeStatus.script`: `agent_find` looks for those that tell nothing of
  /// themselves, which takes longer than a state may; `agent_rows` prints a row for each agent, as
  /// `parse` reads it: what its harness prints, or `A|`, the harness, `1` if it has the terminal, the
  /// processes, and its folder, with `|` between.
  public static let script = #"""
    agent_name() {
      IFS= read -r word || return
      case ${word##*/} in
      node* | bun | deno | python*)
        while IFS= read -r word; do case $word in -*) ;; *) break ;; esac; done
        ;;
      esac
      case $word in
      \#(packages)
      *) name=${word##*/} name=${name%.*} ;;
      esac
      case $name in \#(names.joined(separator: " | "))) ;; *) return ;; esac
      # A server at a terminal is no agent at it.
      IFS= read -r word
      case $word in
      app-server | mcp | mcp-server | serve | web | acp | --acp) ;;
      *) echo "$name" ;;
      esac
    }
    agent_processes() {
      if [ -r /proc/self/cmdline ]; then
        grep -salzE '\#(pattern)$' /proc/[0-9]*/cmdline | while IFS= read -r d; do
          d=${d%/cmdline}
          [ -O "$d" ] && tr '\000' '\n' <"$d/environ" | grep -qxF "HOME=$HOME" || continue
          echo "${d#/proc/} $(tr '\000' '\n' <"$d/cmdline" | agent_name)"
        done
      else
        ps -U "$(id -u)" -o pid= -o args= |
          sed 's/^ *\([0-9]*\) */\1\//' | grep -E '\#(pattern)( |$)' | sed 's/\// /' | while read -r p words; do
          set -f
          echo "$p $(printf '%s\n' $words | agent_name)"
        done
      fi
    }
    agent_find() {
      agents=$(
        agent_processes 2>/dev/null | while read -r p name; do
          [ -n "$name" ] || continue
          agent_process "$p"
          d=$(readlink "/proc/$p/cwd")
          case $d in *[[:cntrl:]]*) d= ;; esac
          case $tty in
          0 | '' | '?'* | -) ;;
          *) printf 'A|%s|%s|%s|%s\n' "$name" "$front" "${chain# }" "$d" ;;
          esac
        done 2>/dev/null
      )
    }
    agent_rows() {
      \#(all.compactMap(\.rows).joined(separator: "\n  "))
      [ -z "$agents" ] || printf '%s\n' "$agents"
    }

    """#

  private static let all = Harness.all
  /// Those that are found by their processes alone.
  private static let silent = all.filter { $0.rows == nil }
  private static let names = silent.map(\.name)
  private static let packages = silent.compactMap { harness in
    harness.package.map { "*/\($0)/*) name=\(harness.name) ;;" }
  }.joined(separator: "\n  ")
  /// Of an argument that such a process has.
  private static let pattern =
    "(/(\(silent.compactMap(\.package).joined(separator: "|")))/.*|"
    + "(^|/)(\(names.joined(separator: "|")))(\\.[a-z]+)?)"

  /// The rows that bytes begin with; what cannot be read is left out. Each process once, and none that
  /// has its number from another.
  public static func parse(_ bytes: inout ArraySlice<UInt8>) -> [AgentProcess] {
    var found: [AgentProcess] = []
    while let first = bytes.first, first == 0x41 || first == 0x43, bytes.dropFirst().first == 0x7c {
      let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
      let row = bytes[bytes.startIndex + 2..<end]
      let agent = first == 0x43 ? ClaudeStatus.agent(row: row) : AgentProcess(row: row)
      if let agent, !found.contains(where: { $0.processes[0] == agent.processes[0] }) {
        found.append(agent)
      }
      bytes = bytes[min(end + 1, bytes.endIndex)...]
    }
    // What another one runs, as `claude -p` in a tool, is that one's work.
    let processes = Set(found.map { $0.processes[0] })
    return found.filter { processes.isDisjoint(with: $0.processes.dropFirst()) }
  }

  private init?(row: ArraySlice<UInt8>) {
    let fields = row.split(separator: 0x7c, maxSplits: 3, omittingEmptySubsequences: false)
    guard fields.count == 4,
      let harness = Harness.of(command: String(decoding: fields[0], as: UTF8.self))
    else { return nil }
    self.init(
      harness, front: fields[1], chain: fields[2],
      folder: String(decoding: fields[3], as: UTF8.self))
  }

  /// - Parameter chain: the processes, with blanks between.
  init?(
    _ harness: String, front: ArraySlice<UInt8>, chain: ArraySlice<UInt8>, folder: String,
    _ claude: ClaudeStatus? = nil
  ) {
    processes = chain.split(separator: 0x20).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    if processes.isEmpty { return nil }
    isInFront = front.elementsEqual([0x31])
    (self.harness, self.folder, self.claude) = (harness, folder, claude)
  }
}

extension [AgentProcess] {
  /// The agent that has the terminal of a process: a pane's.
  public func agent(at process: Int) -> AgentProcess? {
    // The nearest to it: what that one runs is its work.
    filter { $0.isInFront && $0.processes.contains(process) }
      .min { $0.processes.count < $1.processes.count }
  }
}
