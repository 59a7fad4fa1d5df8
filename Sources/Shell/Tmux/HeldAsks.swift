import Core
public import Records
import Turns

extension RemoteTmux {
  /// Seconds that a look waits for a change.
  private static let patience = 4

  /// What agents on the host ask permission for, as agent-ask(1) holds it there, as soon as it is other than what is known, or after some seconds.
  ///
  /// - Parameters:
  ///   - known: ids; nil does not wait.
  ///   - host: what the machine is called here.
  /// - Returns: the ids of all that can be answered, and what was not known before.
  public func asks(
    known: [String]?, host: String
  ) throws(HostFailure) -> (ids: [String], new: [ApprovalRecord]) {
    let answer = try self.answer(
      ControlRequest(
        AskScript.look,
        [known?.sorted().joined(separator: " ") ?? "-", String(Self.patience)]),
      session: nil, more: Double(Self.patience) + 1)
    var lines = answer.output.split(separator: 10, omittingEmptySubsequences: false)[...]
    let ids = (lines.popFirst() ?? []).split(separator: 32).map {
      String(decoding: $0, as: UTF8.self)
    }
    var new: [ApprovalRecord] = []
    while lines.count >= 4 {
      let parts = (0..<4).map { _ in Array(lines.removeFirst()) }
      let name = String(decoding: parts[1], as: UTF8.self)
      if let one = ClaudeAsk.requested(
        id: String(decoding: parts[0], as: UTF8.self), parts[3], session: parts[2], host: host,
        name: name.isEmpty ? nil : name, RecordOrigin(.claude))
      {
        new.append(one)
      }
    }
    return (ids, new)
  }

  /// Gives an answer to what is held.
  ///
  /// - Parameter output: what its hook is to print.
  /// - Returns: `taken` where the agent was told, `late` where somebody else was faster, `over`,
  ///   `notFound`, or `silent` where who holds it does not take it.
  public func answer(_ id: String, with output: [UInt8]) throws(HostFailure) -> String {
    // It is a path on the host.
    guard id.utf8.count == 32, id.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
      return "notFound"
    }
    let answer = try self.answer(
      ControlRequest(AskScript.answer, [id, String(output.count)], input: .bytes(output)),
      session: nil, more: 7)
    let known = ["taken", "late", "over", "notFound"].contains(answer.text)
    return known ? answer.text : "silent"
  }
}

/// Words for sh, behind a login shell: see agent-ask for what is in its folder.
private enum AskScript {
  /// `lives FOLDER`: whether the hook that holds it does; what is left of another goes.
  private static let opening = #"""
    asks=$HOME/.local/state/agentutils/asks
    lives() {
      process= since= start=
      { read -r process && read -r since; } <"$1/about"
      case $process in '' | *[!0-9]*) return 1 ;; esac
      if IFS= read -r line <"/proc/$process/stat"; then
        set -f
        set -- "$1" ${line##*) }
        set +f
        start=${21}
      fi
      if kill -0 "$process" && [ "$start" = "$since" ]; then return 0; fi
      rm -rf "$1"
      return 1
    }

    """#

  /// `$1` are the ids that are known, `$2` the seconds to wait. The answer is the ids, and four lines
  /// for each of the others: the id, the session's name, what it tells, the request.
  static let look =
    opening + #"""
      held() {
        ids=
        for d in "$asks"/[0-9a-f]*; do
          if [ -d "$d" ] && [ -O "$d" ] && lives "$d"; then ids="$ids ${d##*/}"; fi
        done
        ids=${ids# }
      }
      exec 2>/dev/null
      held
      i=0
      while [ "$ids" = "$1" ] && [ "$i" -lt "$(($2 * 5))" ]; do
        sleep 0.2 || sleep 1
        i=$((i + 1))
        held
      done
      printf '%s\n' "$ids"
      for id in $ids; do
        case " $1 " in *" $id "*) continue ;; esac
        { read -r name && read -r name && IFS= read -r name; } <"$asks/$id/about"
        printf '%s\n%s\n' "$id" "$name"
        for part in session request; do
          head -n 1 "$asks/$id/$part" | tr -d '\n'
          echo
        done
      done
      """#

  /// `$1` is the id, `$2` how many bytes the answer has.
  static let answer =
    opening + #"""
      exec 2>/dev/null
      umask 077
      d=$asks/$1
      if [ ! -d "$d" ] || ! lives "$d"; then echo notFound && exit; fi
      # It goes with the folder; what is said behind it is read all the same.
      own=$d/.answer-$$
      # Without command(1) a shell may end where there is no such file.
      if ! cat >"$own" || ! command exec 3<"$own"; then echo over && exit; fi
      [ "$(wc -c <&3)" -eq "$2" ] || exit 1
      if ! command exec 3<"$own"; then echo over && exit; fi
      if ! ln "$own" "$d/answer"; then
        if [ -e "$d/answer" ]; then echo late; else echo over; fi
        rm -f "$own"
        exit
      fi
      rm -f "$own"
      i=0
      while [ -d "$d" ] && lives "$d" && [ "$i" -lt 60 ]; do
        sleep 0.1 || sleep 1
        i=$((i + 1))
      done
      case $(tail -n 1 <&3) in
      *taken) echo taken ;;
      *)
        if [ -d "$d" ] && lives "$d"; then
          echo silent
        else
          rm -rf "$d"
          echo over
        fi
        ;;
      esac
      """#
}
