#!/bin/sh
# Agents that tell nothing of themselves are known by their processes: what runs is listed, and how it
# stands is unknown until agent-state says it.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
unset AGENT_URL AGENT_PROFILE

cp "$(perl -e "print \$^X")" "$HOME/bin/codex"
mkdir -p "$tmp/node_modules/@google/gemini-cli/dist" "$tmp/one folder"
for script in "$tmp/node_modules/@google/gemini-cli/dist/index.js" "$HOME/bin/opencode" "$tmp/codexer"; do
  echo 'import time; time.sleep(600)' >"$script"
done
PATH=$HOME/bin:$PATH
nap=$tmp/nap
echo 'sleep 600' >"$nap"
begin() { # SESSION COMMAND: in a server of the person's own
  tmux -L mine -f /dev/null new-session -d -s "$1" -c "$tmp/one folder" "$2"
}
agents() { tmux-attach -l . 2>/dev/null | jq -r '[.name, .agent, .state, .label] | map(. // "-") | join(" ")' | sort; }
listed() { [ "$(agents)" = "$1" ]; }

t 1 "a machine on which no agent runs has status 1" tmux-attach -l .
begin native "codex $nap"
ok "a program of its own name is known by that" wait_until 20 listed "native codex unknown mine"
begin script "python3 -u '$tmp/node_modules/@google/gemini-cli/dist/index.js' --model x"
begin plain "python3 '$HOME/bin/opencode'"
ok "a script that an interpreter runs is known by its package, or its name" wait_until 20 listed "native codex unknown mine
plain opencode unknown mine
script gemini unknown mine"
is "$(tmux-attach -l . | jq -r 'select(.name == "script") | .directory')" "$tmp/one folder" \
  "the folder of an agent is told"
begin other "python3 '$tmp/codexer'"
begin named "tail -f '$HOME/bin/codex'"
begin daemon "sh -c 'python3 $HOME/bin/opencode serve; :'"
begin inner "sh -c 'codex $nap; :'"
ok "what only has such a word is none, nor is a server at a terminal; a shell may stand before it" \
  wait_until 20 listed "inner codex unknown mine
native codex unknown mine
plain opencode unknown mine
script gemini unknown mine"
tmux -L mine kill-server

# --- in the server that is asked for
tmux -L riff -f /dev/null new-session -d -s site -c "$tmp" "codex $nap"
ok "an agent in the server that is asked for is known, too" \
  wait_until 20 listed "site codex unknown -"
start watch tmux-attach -w .
AGENT_PANE=$(tmux -L riff list-panes -t =site: -F '#{pane_id}')@$(tmux -L riff display-message -p '#{socket_path}') \
  agent-state waiting 'asks for permission: ls'
ok "what agent-state says is the state of an agent" wait_until 20 listed "site codex waiting -"
last() { [ "$(jq -r .state "$tmp/watch.out" | tail -n 1)" = "$1" ]; }
ok "what agent-state says is told at once" wait_until 20 last waiting
t 0 "agent-status shows an agent that waits" agent-status -p .
out_like '^site  waiting .*: asks for permission: ls$' "agent-status shows what an agent waits for"
tmux -L riff new-session -d -s more "codex $nap"
t 0 "agent-status shows an agent whose state is unknown" agent-status -p .
out_like '^more  unknown \(codex\)$' "agent-status shows which program an unknown agent is"
t 1 "agent-chat talks to Claude Code alone" agent-chat -p . hello
err_like 'no Claude Code runs there' "the message says that no Claude Code runs there"
t 1 "--when-idle does not wait for an agent that never says so" \
  sh -c 'echo x | tmux-attach -t --when-idle -s more .'
stop "$pid"

# --- outside tmux, beside Claude Code
tmux -L riff kill-server
start outside python3 -c 'import os, pty, sys
child, fd = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
print(child, flush=True)
os.read(fd, 1)' codex "$nap"
ok "an agent outside tmux is listed with its process" wait_until 20 listed "codex codex unknown -"
is "$(tmux-attach -l . | jq .process)" "$(cat "$tmp/outside.out")" \
  "the process of an agent outside tmux is its own"
t 0 "agent-status shows an agent outside tmux" agent-status -p .
out_like '^codex  unknown \(codex\) \(outside tmux\)$' \
  "agent-status shows that an agent is outside tmux"
t 0 "agentutils shows an agent outside tmux" agentutils
out_like 'running +1 agent outside tmux +agent-status -p \.$' \
  "agentutils shows which command shows more"
run agentutils doctor
out_like '^ok +agents +1 runs here \(codex\): agent-status -p \. shows them$' \
  "agentutils doctor shows which command shows more"
tmux -L mine -f /dev/null new-session -d -s work -c "$tmp" "$HOME/bin/claude"
both() { agentutils | grep -q 'running  *2 agents elsewhere  *agent-status -p \.$'; }
ok "agentutils counts an agent in a third server of tmux, too" wait_until 20 both
ok "Claude Code beside another agent is as exact as ever" \
  wait_until 20 listed "codex codex unknown -
work claude idle mine"
stop "$pid"
mkdir "$tmp/strange home"
start strange env HOME="$tmp/strange home" python3 -c 'import os, pty, sys
child, fd = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(fd, 1)' codex "$nap"
sleeps() { pgrep -P "$pid" >/dev/null; }
wait_until 20 sleeps
ok "an agent of another home is not listed" listed "work claude idle mine"
done_testing
