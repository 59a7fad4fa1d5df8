#!/bin/sh
# agent-status, agent-tail and agent-notify of Claude Code at the terminals of a host.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
unset AGENT_URL AGENT_PROFILE

t 1 "a machine where nothing runs has status 1" agent-status -p .
out_is "○ no agent
claude in tmux makes one: tmux-attach ." "the words say what makes an agent"
t 2 "an agent is missing where nothing is configured either" agent-status
err_like 'agent-setup' "the message names what configures an agent"
tmux-attach -N -s riff . >/dev/null
wait_until 20 stands riff '["idle",null,null]'
mkdir -p "$HOME/.claude/projects"
t 0 "this machine is the default where nothing is configured" agent-status
is "$(sed 's/ for .*//' "$out")" "● 1 idle
riff  idle" "the sessions of this machine are shown"

# --- its events and what is to be known of them
start tail agent-tail -L -p .
tail=$pid
opened() { grep -q '"type":"open"' "$tmp/tail.out"; }
wait_until 20 opened || bail "the transcripts are not followed"
start told agent-notify -p .: --settle 0.1 --to line
told=$pid
watched() { pgrep -P "$told" tmux-attach >/dev/null; }
wait_until 20 watched
agent-say . -- run make
ok "a session that waits is told" wait_until 20 has "$tmp/told.out" 'riff waits'
has "$tmp/told.out" 'permission prompt' || bail "no reason"
t 0 "agent-status tells a session that waits, too" agent-status -p .:
out_like '^○ 1 waiting' "the first line counts the sessions that wait"
out_like '^riff  waiting for [0-9]+s: permission prompt$' \
  "a session that waits is shown with the reason"
t 0 "-o small has status 0 for this machine" agent-status -o small -p .
out_is "○ 1 waiting" "-o small counts the sessions that wait"
t 0 "-o small has status 0 for one session" agent-status -o small -p .:riff
t 1 "a session that is not there has no agent" agent-status -p .:none
out_like '^○ no agent in session none' "a session that is not there is told"
run agent-status -p "$(printf '.:a\033[31m')"
out_like 'in session a.{1,3}\[31m' "a name with an escape is shown as text"
is "$(grep -c "$(printf '\033')" "$out")" 0 "a name with an escape is obeyed by no terminal"
t 0 "-o waybar has status 0 for this machine" agent-status -o waybar -p .
is "$(jq -r .alt "$out")" waiting "-o waybar has the block of tmux-attach"
agent-say --answer . -- no
typed() { jq -r '.data.message.content' "$tmp/tail.out" 2>/dev/null | grep -q '^run make'; }
ok "agent-tail has the transcript's lines" wait_until 20 typed
stop "$tail"
is "$status" 143 "a signal ends agent-tail"
stop "$told"
start count agent-tail -n 1 -p .:riff
sleep_until() { pgrep -P "$pid" transcript-tail >/dev/null; }
wait_until 20 sleep_until
agent-say --when-idle . -- hello
finished "$pid"
is "$status$(wc -l <"$tmp/count.out" | tr -d ' ')" 01 "-n ends agent-tail after so many events"
t 0 "--max-time ends agent-tail with status 0" agent-tail --max-time 0.3 -p .
t 2 "what only servers have is refused" agent-tail --state "$tmp/state" -p .
err_like '^agent-tail: --state: of no use for the transcripts of \.$' \
  "the message says that --state is of no use there"
t 1 "a session that is not there has no transcript" agent-tail -p .:none
done_testing
