import Core
import Shell
import Turns

/// The program that runs on a host: it answers requests, which come as lines, from its
/// standard input, until that ends. It needs a POSIX shell, and awk, find, stat, dd, tail
/// and head as they are in Linux, macOS, the BSDs and BusyBox.
///
/// - `look`: `FILE SIZE TIME BORN PATH` for each transcript of which the last answer said
///   something else, or nothing, a line each, then `.`. The answer waits some seconds for
///   one. Times are in seconds, with a fraction where stat tells it. `! MESSAGE` is what find
///   said of a folder that may not be read. Without the place there is the line `?` alone
///   before the `.`.
/// - `read OFFSET COUNT PATH/`: exactly COUNT bytes, zeros where the file has no more, and
///   behind them the line `FILE SIZE STATE`, as it is afterwards; STATE is `bad` when it
///   cannot be read. What was cut or replaced meanwhile shows from that, too.
enum HostScript {
  /// In two pieces, so that a shell which shows its commands does not show a mark.
  private static let mark = "transcript-tail-"

  /// The line that the host says first, behind what login files say.
  static func greeting(_ nonce: String) -> [UInt8] { Array("\(mark)\(nonce)\n".utf8) }

  /// The most seconds that the answer to `look` waits.
  static let patience = 4.0

  /// `path`: empty for the usual folder; `nonce`: letters and digits that nobody can guess.
  static func command(path: String, nonce: String) -> String {
    ShellWord.login(
      script: """
        place=\(path.shellQuoted)
        suffix=\(ClaudeTranscripts.suffix.shellQuoted)
        sessions=\(ClaudeTranscripts.depthOfSessions)
        depth=\(ClaudeTranscripts.depth)
        patience=\(Int(patience))
        usual() { place="\(ClaudeTranscripts.folderOnHost)"; }
        printf '%s%s\\n' '\(mark)' '\(nonce)'
        \(body)
        """, hidesInput: true)
  }

  static let look = Array("look\n".utf8)

  /// Asks for a piece of one. The slash keeps blanks at the end of a name.
  static func read(_ piece: FollowPlan.Piece) -> [UInt8] {
    Array("read \(piece.offset) \(piece.count) ".utf8) + FileName.bytes(piece.path)
      + Array("/\n".utf8)
  }

  private static let body = #"""
    set -f
    LC_ALL=C
    export LC_ALL
    case $place in
    '') usual ;;
    '~') place=$HOME ;;
    '~/'*) place=$HOME/${place#??} ;;
    /*) ;;
    *) place=$HOME/$place ;;
    esac
    if stat -c %i / >/dev/null 2>&1; then
      form='%i %s %Y %W %n'
      case $(stat -c %.9Y / 2>/dev/null) in *[0-9].[0-9]*) form='%i %s %.9Y %.9W %n' ;; esac
      stats() { stat -L -c "$form" "$@"; }
      each='-c'
    else
      form='%i %z %m %B %N'
      case $(stat -f %Fm / 2>/dev/null) in *[0-9].[0-9]*) form='%i %z %Fm %FB %N' ;; esac
      stats() { stat -L -f "$form" "$@"; }
      each='-f'
    fi
    found() {
      find -L "$place" "$@" ! -path '*[[:cntrl:]]*' -type f -exec stat -L "$each" "$form" {} +
    }
    list() {
      if [ -d "$place" ]; then
        { bad=$({
          found -maxdepth "$sessions" -name "*$suffix"
          found -mindepth $((sessions + 1)) -maxdepth "$depth" -name "agent-*$suffix"
        } 2>&1 >&6 | sed -n '/^find: .*: Permission denied$/s/^/! /p'); } 6>&1
        [ -z "$bad" ] || printf '%s\n' "$bad"
      elif [ -e "$place" ]; then
        stats "$place"
      else
        echo '?'
      fi
    }
    look() {
      end=$(($(date +%s) + patience))
      tries=0
      while new=$(list); [ "$new" = "$old" ] && [ "$tries" -lt $((2 * patience)) ] &&
        [ "$(date +%s)" -lt "$end" ]; do
        tries=$((tries + 1))
        sleep 0.5 2>/dev/null || sleep 1
      done
      printf '%s\n.\n%s\n' "$old" "$new" | awk '
        behind { if ($0 != "" && !($0 in told)) print; next }
        $0 == "." { behind = 1; next }
        { told[$0] }'
      old=$new
      echo .
    }
    blocks() {
      [ -f "$path" ] && [ -r "$path" ] &&
        dd if="$path" bs=65536 skip=$((offset / 65536)) \
          count=$(((first + count + 65535) / 65536)) ||
        [ $? -gt 128 ] || echo bad >&5
    }
    piece() {
      first=$((offset % 65536))
      exec 4>&1
      state=$({ {
        if [ "$first" -eq 0 ]; then blocks; else blocks | tail -c +$((first + 1)); fi
        cat /dev/zero
      } | head -c "$count" >&4; } 5>&1 2>/dev/null)
      exec 4>&-
      after=$(stats "$path" 2>/dev/null) || after='0 0 0'
      set -- $after
      echo "$1 $2 ${state:-good}"
    }
    old=' '
    while IFS=' ' read -r what offset count path; do
      case $what in
      look) look </dev/null ;;
      read)
        path=${path%/}
        piece </dev/null
        ;;
      esac
    done
    """#
}
