#!/bin/sh
# tmux-attach: in a session of several panes, text goes to the agent's, whichever is active.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; $attach_args is words
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
start_sshd
attach_args

# say WORDS OPTION...: types them.
say() {
  _words=$1
  shift
  run sh -c 'printf %s "$1" | { shift; exec tmux-attach "$@"; }' - "$_words" $attach_args -t "$@"
}
# shell SESSION [OPTION...]: a new pane there with cat, which is active; $pane is its id.
shell() {
  _session=$1
  shift
  pane=$(rtmux split-window -P -F '#{pane_id}' -t "=$_session:" "$@" cat)
}
# agent SESSION: sets $agent to the pane in which it was started.
agent() {
  wait_until 30 started_in "$1"
  agent=$(started_in "$1")
}
started_in() { rtmux show-options -v -t "=$1:" @agent_pane; }
# heard TEXT: the agent in the pane got exactly this; terminals are used again.
heard() {
  _log=$(rtmux display-message -p -t "$agent" '#{pane_tty}' | sed 's|/dev/||; s|/|-|g')
  # shellcheck disable=SC2012  # the names are ours
  _log=$(ls -t "$agents/$_log".* 2>/dev/null | head -n 1)
  [ -n "$_log" ] && [ "$(jq -r 'select(.what == "input").hex' "$_log" |
    perl -ne 'chomp; print pack "H*", $_')" = "$1" ]
}
shows() { rtmux capture-pane -p -t "$1" | grep -q -e "$2"; }
# stated PANE STATE: as agent-state(1) leaves it.
stated() {
  rtmux set-option -p -t "$1" @agent_state "$2" \; set-option -pF -t "$1" @agent_command \
    '#{pane_current_command}'
}

# --- panes and windows beside the agent's
run tmux-attach -q $attach_args -N -s riff
agent riff
wait_until 30 heard ''
shell riff
cats() { [ "$(rtmux display-message -p -t =riff: '#{pane_current_command}')" = cat ]; }
ok "another pane is active" wait_until 30 cats
say 'one' -s riff
status_is 0 "text is typed"
ok "text goes into the agent's pane" wait_until 30 heard 'one '
not_ok "text goes into no other pane" shows "$pane" one
run tmux-attach $attach_args --capture -s riff
out_like 'claude> one' "--capture shows the agent's pane"
rtmux new-window -t =riff: cat
say ' two' -s riff
ok "text goes to the agent when another window is active" wait_until 30 heard 'one two '
rtmux new-window -t =riff: cat
rtmux rename-window -t =riff: claude
rtmux select-window -t =riff:0
rtmux swap-pane -s =riff:0.0 -t =riff:0.1
say 'three' -s riff
ok "text goes to the agent whatever the order of the panes" wait_until 30 heard 'one two three '
rtmux break-pane -d -s "$agent"
say 'four' -s riff
ok "text goes to the agent in a window of its own" wait_until 30 heard 'one two three four '

# --- panes that a hook makes
rtmux set-hook -g session-created 'split-window cat'
run tmux-attach -q $attach_args -N -s hooked
rtmux set-hook -gu session-created
agent hooked
wait_until 30 heard ''
is "$(rtmux list-panes -t =hooked | wc -l | tr -d ' ')" 2 "a hook has made a second pane"
say 'five' -s hooked
ok "text goes to the agent beside the pane of a hook" wait_until 30 heard 'five '

# --- the agent's pane has gone
rtmux kill-pane -t "$agent"
say 'rm -rf build' -s hooked -r
status_is 1 "nothing is typed where the agent's pane has gone"
err_like 'session hooked: the pane in which its agent was started is gone' \
  "the message says that the agent's pane is gone"
not_ok "nothing is typed into the pane that is left" shows =hooked: rm
t 1 "--capture shows no other pane than the agent's" tmux-attach $attach_args --capture -s hooked

ln -s "$(command -v cat)" "$tmp/codex"
rtmux split-window -d -t =hooked: "exec $tmp/codex"
say 'six' -s hooked
status_is 0 "text is typed where another agent is in the session"
not_ok "text is not typed into the shell beside another agent" shows =hooked: six

# --- sessions that others have made
rtmux new-session -d -s plain cat
say 'seven' -s plain
ok "text goes into the only pane of a session" wait_until 30 shows =plain: seven
shell plain
say 'seven and a half' -s plain
status_is 1 "nothing is typed where two panes may be the agent's"
err_like 'session plain: in which of its 2 panes the agent is, nothing says' \
  "the message says that nothing tells the agent's pane"
first=$(rtmux list-panes -t =plain -F '#{pane_id}' | head -n 1)
stated "$first" idle
say 'eight' -s plain --when-idle
status_is 0 "text is typed into the pane whose agent tells its state"
ok "text goes to the agent that tells its state, whichever pane is active" \
  wait_until 30 shows "$first" eight
not_ok "text does not go to the pane without a state" shows "$pane" eight
stated "$pane" working
say 'nine' -s plain
ok "text goes to the active one of two agents" wait_until 30 shows "$pane" nine
say 'ten' -s plain --when-idle --max-wait 0.5
status_is 75 "the state of the active one of two agents is waited for"
rtmux select-pane -t "$first"
say 'eleven' -s plain --when-idle --max-wait 5
ok "text goes to an idle agent beside one that works" wait_until 30 shows "$first" eleven

# --- an agent that somebody else has started
rtmux new-session -d -s hand cat
pane=$(rtmux display-message -p -t =hand: '#{pane_id}')
AGENT_PANE=$pane@$(rtmux display-message -p '#{socket_path}') agent-state idle
is "$(rtmux show-options -v -t =hand: @agent_pane)" "$pane" "agent-state remembers the pane"
rtmux split-window -t =hand: cat
rtmux kill-pane -t "$pane"
say 'twelve' -s hand
status_is 1 "nothing is typed where a pane known from agent-state has gone"

# --- a tmux.conf that would have it otherwise
no_server
cat >"$remote_home/.tmux.conf" <<'END'
set -g detach-on-destroy off
set -g destroy-unattached on
set -g exit-unattached on
set -g remain-on-exit on
set -g synchronize-panes on
set -g key-table other
set -g default-command 'exec false'
set-hook -g client-attached 'split-window cat'
set-hook -g client-session-changed 'split-window cat'
set-hook -g pane-died 'respawn-pane'
END
t 0 "a session is made, and stays without a client" tmux-attach -q $attach_args -N -s own
agent own
prompts() { rtmux capture-pane -p -t "$agent" | grep -q 'claude>'; }
wait_until 30 prompts
run tmux-attach -q $attach_args -N -s other
ok "another session is made" test "$(rtmux list-sessions | wc -l)" -eq 2
say 'one' -s own
ok "text goes to the agent in spite of the tmux.conf" wait_until 30 heard 'one '
shell own
say ' two' -s own
ok "text goes to the agent in spite of synchronized panes" wait_until 30 heard 'one two '
not_ok "text goes to no other pane in spite of synchronized panes" shows "$pane" two
rtmux kill-pane -t "$pane"
attach seat -s own
seat=$pid
attached() { [ "$(rtmux list-clients -t =own | wc -l)" -eq 1 ]; }
wait_until 30 attached
is "$(rtmux list-panes -s -t =own | wc -l)" 1 "no hook adds a pane when one attaches"
rtmux send-keys -t "$agent" Enter
say 'exit 0' -s own -r

ok "tmux-attach ends when the agent ends" at seat end
is "$(rtmux list-clients)" "" "no client is left in another session"
stop "$seat"
is "$(rtmux list-sessions -F '#{session_name}')" "other" "the other session is still there"
rm "$remote_home/.tmux.conf"

# --- a socket that a cleaner of /tmp has removed
server=$(rtmux display-message -p '#{pid}')
for way in socket folder; do
  case $way in
  socket) rm "$remote_tmp"/tmux-*/riff ;;
  *) rm -r "$remote_tmp"/tmux-* ;;
  esac
  run tmux-attach $attach_args -l
  is "$(jq -r .name "$out")" other "the server makes its $way anew"
done
rm "$remote_tmp"/tmux-*/riff
attach again -s other
wait_until 30 sh -c "[ -S '$remote_tmp/tmux-$(id -u)/riff' ]"
stop "$pid"
rm "$remote_tmp"/tmux-*/riff
t 0 "riff-up finds a session whose socket was removed" \
  env HOME="$remote_home" TMUX_TMPDIR="$remote_tmp" riff-up -s other -H cat
is "$(rtmux display-message -p '#{pid}') $(rtmux list-sessions -F '#{session_name}')" "$server other" \
  "riff-up starts no second agent"
done_testing
