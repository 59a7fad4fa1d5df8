# shellcheck shell=sh
# lib.sh: sourced by the tests beside the real Claude Code, in the home of its box, where its folder
# is trusted and permissions are asked for.
#
#   claude_in FOLDER    a session riff with it, once its state is known
#   stands STATE        whether that session has this state and reason, as `waiting permission prompt`
#   keys KEY...         keys for it

# shellcheck disable=SC2034  # read by the tests
box_home=$HOME box_folder=$PWD
. "${0%/*}/../../cli/lib.sh"
: "${CLAUDE_BOX:?make real runs this}"
needs tmux jq claude
HOME=$box_home TMUX_TMPDIR=$tmp/sessions
unset XDG_CONFIG_HOME TMUX TMUX_PANE
export HOME TMUX_TMPDIR
mkdir -m 700 "$TMUX_TMPDIR"
# shellcheck disable=SC2034  # read by the tests
requests=$CLAUDE_BOX/log/requests.ndjson
at_end="$at_end end_claude"
end_claude() { for label in riff mine; do tmux -L "$label" kill-server 2>/dev/null; done; }

claude_in() {
  tmux -L riff -f /dev/null new-session -d -s riff -c "$1" -x 100 -y 40 claude
  known() { [ "$(state)" != unknown ]; }
  wait_until 60 known || bail "Claude Code does not start"
}
state() { tmux-attach -l . 2>/dev/null | jq -r 'select(.name == "riff" and .label == null) | .state + (if .reason then " " + .reason else "" end)'; }
stands() { [ "$(state)" = "$1" ]; }
keys() { tmux -L riff send-keys -t =riff: "$@"; }
