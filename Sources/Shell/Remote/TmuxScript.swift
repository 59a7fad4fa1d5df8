/// What the scripts that call tmux on the host have in common.
enum TmuxScript {
  /// The statuses with which they end when tmux could not do it.
  static let noTmux: Int32 = 70
  static let refused: Int32 = 71
  static let noFolder: Int32 = 72
  static let noHarness: Int32 = 73
  static let noInbox: Int32 = 74

  /// The first lines. They take `$1`, the label, away: `t` is tmux with it, `has`
  /// looks for a session, `fail` says why and ends.
  static let opening = """
    unset TMUX TMUX_PANE
    command -v tmux >/dev/null 2>&1 || exit 70
    label=$1
    shift
    t() { tmux -u -L "$label" "$@"; }
    fail() {
      printf '%s\\n' "$1"
      exit 71
    }
    has() { say=$(t has-session -t "$1" 2>&1) || fail "$say"; }

    """

  static let list =
    opening + """
      say=$(t list-sessions -F "$1" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// The pane's text: `$1` is the target.
  static let capture =
    opening + """
      has "$1"
      say=$(t capture-pane -p -t "$1" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// `$1` is the target, `$2` the name. What the worktree's script says is the answer.
  static let close =
    opening + """
      has "$1"
      tree=$(t show-environment -t "$1" RIFF_WORKTREE 2>/dev/null)
      folder=$(t show-environment -t "$1" RIFF_START_DIR 2>/dev/null)
      say=$(t kill-session -t "$1" 2>&1) || fail "$say"
      if [ "$tree" = RIFF_WORKTREE=1 ] && command -v riff-worktree-remove >/dev/null 2>&1; then
        riff-worktree-remove "$2" "${folder#RIFF_START_DIR=}" </dev/null 2>&1
      fi
      exit 0
      """

  /// A new session, and then the list. Its program need not have begun when tmux
  /// answers: up to half a second is waited until it has.
  ///
  /// `$1` is the target, `$2` the list's format.
  static func new(_ start: SessionStart) -> String {
    let harness = start.firstWord.map { "command -v \($0) >/dev/null 2>&1 || exit \(noHarness)\n" }
    return opening + "cd -- \(start.folderWord) 2>/dev/null || exit \(noFolder)\n"
      + (harness ?? "") + start.preparation + "\n"
      + "say=$(t new-session -d \(start.arguments) 2>&1) || fail \"$say\"\n"
        + """
        i=0
        while [ "$i" -lt 25 ]; do
          case $(t list-panes -t "$1" -F '#{pane_current_command}' 2>/dev/null) in
          '' | tmux* | env | sh) sleep 0.02 || break ;;
          *) break ;;
          esac
          i=$((i + 1))
        done
        say=$(t list-sessions -F "$2" 2>&1) || fail "$say"
        printf '%s\\n' "$say"
        """
  }
}
