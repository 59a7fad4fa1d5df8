# shellcheck shell=sh disable=SC2154
# browser.sh: for tests of agent-browse, in a tmux of their own. After lib.sh.
#
#   browse WORD...     agent-browse on a screen of 100x30, or of $wide and $high; what it prints, and its status,
#                      are in $tmp/printed and $tmp/status; it reads the pipe $tmp/feed
#                      where there is one
#   keys KEY...        as tmux send-keys names them
#   shows ERE          the screen has it            hides ERE
#   left               the browser has ended
needs fzf tmux less

# It is to make its folder there, and leave nothing.
mkdir "$tmp/made"
mux() { tmux -S "$tmp/tmux" -f /dev/null "$@"; }
end_mux() { mux kill-server 2>/dev/null; }
at_end="${at_end:-} end_mux"
mux new-session -d -s keep cat || bail "no tmux"

browse() {
  rm -f "$tmp/status"
  cat >"$tmp/browse" <<'END'
# An interrupt is for what it runs.
trap : INT
tmp=$1
shift
[ ! -p "$tmp/feed" ] || exec <"$tmp/feed"
# Whatever shell the user has: fzf is to ask another one.
SHELL=/bin/false
# Nor is what they want of fzf and less elsewhere for here.
FZF_DEFAULT_OPTS='--filter=x --exit-0 --print0 --header-lines=3 --bind enter:abort --color=bg:-1'
FZF_DEFAULT_COMMAND='echo mine'
LESS=-FEX
LESSOPEN='|echo opened'
export SHELL FZF_DEFAULT_OPTS FZF_DEFAULT_COMMAND LESS LESSOPEN
# What fzf draws goes to standard error.
TMPDIR=$tmp/made agent-browse "$@" >"$tmp/printed"
echo $? >"$tmp/status"
exec tail -f /dev/null
END
  mux kill-session -t =look 2>/dev/null
  mux new-session -d -x "${wide:-100}" -y "${high:-30}" -s look sh "$tmp/browse" "$tmp" "$@"
}
keys() { mux send-keys -t =look: "$@"; }
screen() { mux capture-pane -p -t =look: >"$tmp/screen" 2>/dev/null; }
shows() { screen && grep -Eq -e "$1" "$tmp/screen"; }
hides() { screen && ! grep -Eq -e "$1" "$tmp/screen"; }
left() { [ -s "$tmp/status" ]; }
nothing_left() { [ -z "$(ls -A "$tmp/made")" ]; }
