public import Core

/// What a session of Claude Code tells of itself: CONTRACT.md, 8.
public struct ClaudeStatus: Equatable, Sendable {
  /// What it is doing.
  public enum Kind: String, Sendable { case busy, waiting, idle }

  /// Its process and those above it, itself first.
  public let processes: [Int]
  /// Whether it has the terminal that it was started in: one that was stopped there has not.
  public let isInFront: Bool
  /// What its transcript is named after.
  public let id: String
  /// What it is called; from anywhere.
  public let name: String
  /// Its working folder.
  public let folder: String
  /// What it is doing; nil for what is not known here.
  public let kind: Kind?
  /// Since when.
  public let since: Timestamp?
  /// What it waits for: `permission prompt`.
  public let waitingFor: String?
  /// When it was started.
  public let started: Timestamp?

  /// Words for sh: `claude_folders` sets `folders`, `claude_rows` prints a row for each session that
  /// lives, as `parse` reads it. Where there is a /proc, the rows take no process but one for all.
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
    claude_row() {
      f=$1 p=$2 began= front= chain= tries=0
      until IFS= read -r line <"$f"; case $line in '{'*'}') ;; *) [ "$tries" -ge 5 ] ;; esac; do
        tries=$((tries + 1))
        sleep 0.02 || sleep 1
      done
      q=$p
      while [ "${q:-0}" -gt 1 ]; do
        chain="$chain $q"
        if IFS= read -r line_of <"/proc/$q/stat"; then
          set -f
          set -- ${line_of##*) }
          set +f
          [ "$q" != "$p" ] || [ "$3" != "$6" ] || front=1
          [ "$q" != "$p" ] || began=${20}
          q=$2
        else
          set -- $(ps -o ppid= -o stat= -p "$q")
          case $q:$2 in "$p":*+*) front=1 ;; esac
          q=$1
        fi
      done
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
  /// the terminal of a pane's process, nothing where there is none.
  public static let stateScript = #"""
    claude_state() {
      claude_rows | while IFS='|' read -r line began front chain line; do
        case "$front $chain " in "1 "*" $1 "* | "1 $1 "*) ;; *) continue ;; esac
        case $line in
        *"\"procStart\":\"$began\""*) ;;
        *'"procStart":'*) [ -z "$began" ] || continue ;;
        esac
        case $line in *'"status":"'*) ;; *) continue ;; esac
        line=${line#*'"status":"'}
        printf '%s %s\n' "$(set -- $chain && echo $#)" "${line%%'"'*}"
      done | sort -n | sed -n '1s/.* //p'
    }

    """#

  /// The rows that bytes begin with; what cannot be read is left out. Each session once, and none of
  /// a process that has its number from another.
  public static func parse(_ bytes: inout ArraySlice<UInt8>) -> [ClaudeStatus] {
    var found: [ClaudeStatus] = []
    while bytes.starts(with: [0x43, 0x7c]) {
      let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
      if let status = ClaudeStatus(row: bytes[bytes.startIndex + 2..<end]),
        !found.contains(where: { $0.processes[0] == status.processes[0] })
      {
        found.append(status)
      }
      bytes = bytes[min(end + 1, bytes.endIndex)...]
    }
    // What another session runs, `claude -p` in a tool, is that one's work.
    let all = Set(found.map { $0.processes[0] })
    return found.filter { all.isDisjoint(with: $0.processes.dropFirst()) }
  }

  private init?(row: ArraySlice<UInt8>) {
    let fields = row.split(separator: 0x7c, maxSplits: 3, omittingEmptySubsequences: false)
    guard fields.count == 4,
      let object = try? fields[3].withUnsafeBytes({ try JSONValue.parse($0) })
    else { return nil }
    processes = fields[2].split(separator: 0x20).compactMap {
      Int(String(decoding: $0, as: UTF8.self))
    }
    let began = String(decoding: fields[0], as: UTF8.self)
    if let told = object["procStart"]?.string, !began.isEmpty, told != began { return nil }
    guard !processes.isEmpty, let id = object["sessionId"]?.string else { return nil }
    self.id = id
    isInFront = fields[1].elementsEqual([0x31])
    folder = object["cwd"]?.string ?? ""
    name = object["name"]?.string ?? String(id.prefix(8))
    kind = object["status"]?.string.flatMap(Kind.init)
    waitingFor = kind == .waiting ? object["waitingFor"]?.string : nil
    since = object["statusUpdatedAt"]?.number.flatMap(Self.time)
    started = object["startedAt"]?.number.flatMap(Self.time)
  }

  private static func time(_ milliseconds: Double) -> Timestamp? {
    guard milliseconds > 0, milliseconds < 1e16 else { return nil }
    let whole = Int64(milliseconds)
    return Timestamp(seconds: whole / 1000, nanoseconds: Int32(whole % 1000) * 1_000_000)
  }
}

extension [ClaudeStatus] {
  /// The session that has the terminal of a process: a pane's.
  public func session(at process: Int) -> ClaudeStatus? {
    // The nearest to it: what that one runs is its work.
    filter { $0.isInFront && $0.processes.contains(process) }
      .min { $0.processes.count < $1.processes.count }
  }
}
