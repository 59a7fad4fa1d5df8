public import Core

extension Harness {
  /// Claude Code.
  static let claude = Harness(name: "claude", rows: "claude_rows")
}

/// What a session of Claude Code tells of itself: CONTRACT.md, 8.
public struct ClaudeStatus: Equatable, Sendable {
  /// What it is doing.
  public enum Kind: String, Sendable { case busy, waiting, idle }

  /// What its transcript is named after.
  public let id: String
  /// What it is called; from anywhere.
  public let name: String
  /// What it is doing; nil for what is not known here.
  public let kind: Kind?
  /// Since when.
  public let since: Timestamp?
  /// What it waits for: `permission prompt`.
  public let waitingFor: String?
  /// When it was started.
  public let started: Timestamp?

  /// Words for sh: `agent_process PROCESS` sets `chain` to the process and those above it, `began`,
  /// `tty`, and `front` to 1 if it has its terminal. `claude_folders` sets `folders`, `claude_rows`
  /// prints a row for each session that lives, as `AgentProcess.parse` reads it. Where there is a
  /// /proc, the rows take no process but one for all.
  ///
  /// A row is `C|`, when its process began in ticks, `1` if it has the terminal, the processes, and
  /// the object, with `|` between. A file may be read while it is written: then once more.
  public static let script = #"""
    claude_folders() {
      folders=$(
        {
          printf '%s\n' "${CLAUDE_CONFIG_DIR:-$HOME/.claude}"
          grep -slx claude /proc/[0-9]*/comm | while IFS= read -r d; do
            # Whoever lives in another home is no session of this person.
            [ -O "$d" ] && tr '\000' '\n' <"${d%comm}environ" | grep -qxF "HOME=$HOME" || continue
            tr '\000' '\n' <"${d%comm}environ" | sed -n 's/^CLAUDE_CONFIG_DIR=//p'
          done
        } 2>/dev/null | sort -u
      )
    }
    agent_process() {
      own=$1 q=$1 began= front= tty= chain=
      while [ "${q:-0}" -gt 1 ]; do
        chain="$chain $q"
        if IFS= read -r line_of <"/proc/$q/stat"; then
          set -f
          set -- ${line_of##*) }
          set +f
          if [ "$q" = "$own" ]; then
            began=${20} tty=$5
            [ "$3" != "$6" ] || front=1
          fi
          q=$2
        else
          set -- $(ps -o ppid= -o tty= -o stat= -p "$q")
          [ "$q" != "$own" ] || tty=$2
          case $q:$3 in "$own":*+*) front=1 ;; esac
          q=$1
        fi
      done
    }
    claude_row() {
      f=$1 tries=0
      until IFS= read -r line <"$f"; case $line in '{'*'}') ;; *) [ "$tries" -ge 5 ] ;; esac; do
        tries=$((tries + 1))
        sleep 0.02 || sleep 1
      done
      agent_process "$2"
      [ -z "$line" ] || printf 'C|%s|%s|%s|%s\n' "$began" "$front" "${chain# }" "$line"
    }
    claude_rows() {
      printf '%s\n' "$folders" | while IFS= read -r d; do
        for f in "$d"/sessions/[0-9]*.json; do
          p=${f##*/}
          p=${p%.json}
          case $p in *[!0-9]*) continue ;; esac
          # Root sees everybody's processes, and believes nobody else's files.
          [ -f "$f" ] && [ -O "$f" ] || continue
          kill -0 "$p" && claude_row "$f" "$p"
        done
      done 2>/dev/null
    }

    """#

  /// Words for sh, behind `script`: `claude_state PROCESS` prints the status of the session that has
  /// the terminal of a pane's process, nothing where there is none; `claude_said PROCESS`, how its
  /// transcript stands: of a turn that is over at once its file need not tell.
  public static let stateScript = #"""
    claude_session() {
      claude_rows | while IFS='|' read -r line began front chain line; do
        case "$front $chain " in "1 "*" $1 "* | "1 $1 "*) ;; *) continue ;; esac
        case $line in
        *"\"procStart\":\"$began\""*) ;;
        *'"procStart":'*) [ -z "$began" ] || continue ;;
        esac
        printf '%s %s\n' "$(set -- $chain && echo $#)" "$line"
      done | sort -n | sed -n '1s/^[0-9]* //p'
    }
    claude_member() {
      line=$(claude_session "$1")
      case $line in *"\"$2\":\""*) ;; *) return ;; esac
      line=${line#*"\"$2\":\""}
      printf '%s\n' "${line%%'"'*}"
    }
    claude_state() { claude_member "$1" status; }
    claude_said() {
      id=$(claude_member "$1" sessionId)
      case $id in '' | *[!A-Za-z0-9-]*) return ;; esac
      printf '%s\n' "$folders" | while IFS= read -r d; do
        ls -l "$d"/projects/*/"$id.jsonl" 2>/dev/null
      done
    }

    """#

  /// The agent of a row, behind its first field.
  static func agent(row: ArraySlice<UInt8>) -> AgentProcess? {
    let fields = row.split(separator: 0x7c, maxSplits: 3, omittingEmptySubsequences: false)
    guard fields.count == 4,
      let object = JSONValue(Array(fields[3])),
      let status = ClaudeStatus(object, began: String(decoding: fields[0], as: UTF8.self))
    else { return nil }
    return AgentProcess(
      Harness.claude.name, front: fields[1], chain: fields[2], folder: object["cwd"]?.string ?? "",
      status)
  }

  private init?(_ object: JSONValue, began: String) {
    if let told = object["procStart"]?.string, !began.isEmpty, told != began { return nil }
    guard let id = object["sessionId"]?.string else { return nil }
    self.id = id
    name = object["name"]?.string ?? String(id.prefix(8))
    kind = object["status"]?.string.flatMap(Kind.init)
    waitingFor = kind == .waiting ? object["waitingFor"]?.string : nil
    since = object["statusUpdatedAt"]?.instant
    started = object["startedAt"]?.instant
  }
}
