extension TmuxScript {
  /// Ends a session and what runs in it, and removes its worktree if nothing runs on: `$1` is the
  /// target, `$2` the name. What is left, and what the worktree's script says, is the answer.
  static let close =
    opening + members + """
      has "$1"
      tree=$(x show-environment -t "$1" RIFF_WORKTREE 2>/dev/null)
      folder=$(x show-environment -t "$1" RIFF_START_DIR 2>/dev/null)
      # The name that it had when it was made.
      name=$(x show-environment -t "$1" RIFF_SESSION 2>/dev/null)
      name=${name#RIFF_SESSION=}
      members=$(members "$1")
      # From inside of the session, too, whose terminal goes.
      trap '' 1 13
      say=$(x kill-session -t "$1" 2>&1) || fail "$say"
      # A window may be another session's, too.
      members=$(printf '%s\\n' "$members" | p=$(x list-panes -a -F '#{pane_id}' 2>/dev/null) awk '
        BEGIN { n = split(ENVIRON["p"], word); for (i = 1; i <= n; i++) stays[word[i]] = 1 }
        !($2 in stays) { print $1 }')
      # Most end by themselves when their terminal goes.
      i=0
      while living=$(living) && [ -n "$living" ] && [ "$i" -lt 40 ]; do
        if [ "$i" -eq 4 ]; then
          left=$(printf '%s\\n' "$living" | sed 's/ .*//')
          kill $left
          # One that is stopped cannot end.
          kill -CONT $left
        fi 2>/dev/null
        sleep 0.05 || { sleep 1; i=$((i + 9)); }
        i=$((i + 1))
      done
      [ "$tree" = RIFF_WORKTREE=1 ] || tree=
      if [ -n "$living" ]; then
        printf '%s\\n' "$living" | end=${tree:+; the worktree is kept} awk '
          NR < 21 { list = list (NR > 1 ? ", " : "") $0 }
          END { print "still running: " list (NR > 20 ? " and " (NR - 20) " more" : "") ENVIRON["end"] }'
      elif [ -n "$tree" ] && command -v riff-worktree-remove >/dev/null 2>&1; then
        riff-worktree-remove "${name:-$2}" "${folder#RIFF_START_DIR=}" </dev/null 2>&1
      fi
      exit 0
      """

  /// `members TARGET` tells the processes of a session, with the pane of each: what descends from
  /// its panes and what has one for its terminal; and on Linux what is neither any more, as behind
  /// setsid when its shell has ended, by what its environment says. A daemon that has gone to the
  /// root folder is on its own then. Neither tmux nor we are of them. `living` tells those of
  /// `$members` that live.
  private static let members = """
    members() {
      panes=$(x list-panes -s -t "$1" -F '#{?pane_dead,,#{pane_pid} #{pane_id} #{pane_tty}}' 2>/dev/null)
      say=$(x display-message -p -t "$1" '#{session_created} #{pid} #{session_id} #{socket_path}')
      made=${say%% *}
      say=${say#* }
      server=${say%% *}
      say=${say#* }
      strays=$(strays "${say#* }" "${say%% *}")
      ps -e -o pid= -o ppid= -o tty= -o comm= 2>/dev/null | p=$panes s=$strays awk \\
        -v me=$$ -v server="$server" '
        BEGIN {
          n = split(ENVIRON["p"], word)
          for (i = 1; i + 2 <= n; i += 3) {
            pane[word[i]] = word[i + 1]
            at[substr(word[i + 2], 6)] = word[i + 1]
          }
          n = split(ENVIRON["s"], word)
          for (i = 1; i <= n; i++) stray[word[i]] = 1
        }
        {
          parent[$1] = $2
          tty[$1] = $3
          sub(".*/", "", $4)
          if ($4 ~ "^tmux") own[$1] = 1
        }
        END {
          for (process in parent) {
            found = at[tty[process]]
            if (found == "" && process in stray) found = "-"
            steps = 0
            for (up = process; up in parent && steps++ < 999; up = parent[up]) {
              # A closed pane leaves its process to the server.
              if (up == server && up != process) break
              if (up in own || up == me) found = "own"
              if (up in pane && found != "own") found = pane[up]
              if (up in pane || up in own || up == me) break
            }
            if (found != "" && found != "own") found_in[process] = found
          }
          steps = 0
          for (up = me; up in parent && steps++ < 999; up = parent[up]) delete found_in[up]
          for (process in found_in) print process, found_in[process]
        }'
    }
    strays() {
      [ -r /proc/self/environ ] || return 0
      # A pane may have had the number of one of an earlier server.
      most=$(($(date +%s) - ${made:-0} + 1))
      grep -lzxF -e "$(printf 'TMUX=%s\\n' "$1,$server,${2#?}"
        printf '%s\\n' "$panes" | socket=$1 awk 'NF { print "AGENT_PANE=" $2 "@" ENVIRON["socket"] }')" \\
        /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ process _; do
        case $(readlink "/proc/$process/cwd") in / | '') continue ;; esac
        age=$(ps -o etimes= -p "$process" 2>/dev/null)
        [ "${age:-$((most + 1))}" -gt "$most" ] || echo "$process"
      done
    }
    living() {
      ps -e -o pid= -o stat= -o comm= 2>/dev/null | m=$members awk '
        BEGIN { n = split(ENVIRON["m"], word); for (i = 1; i <= n; i++) is[word[i]] = 1 }
        $1 in is && $2 !~ "^Z" {
          process = $1
          sub("^ *[^ ]+ +[^ ]+ +", "")
          sub(".*/", "")
          print process " " $0
        }'
    }

    """
}
