#!/bin/sh
# agent-state: a state goes with the agent that told it, also where the pane's shell has no
# job control, so that tmux sees the same program before and after.
. "${0%/*}/../lib.sh"
needs tmux tmux-attach jq python3
unset TMUX TMUX_PANE AGENT_PANE

mkdir -m 700 "$tmp/sessions"
TMUX_TMPDIR=$tmp/sessions
export TMUX_TMPDIR
at_end="$at_end end_sessions"
end_sessions() { t kill-server 2>/dev/null; }
t() { tmux -u -L here -f /dev/null "$@"; }
cd "$tmp" || bail "no $tmp"

# An agent, and one that is a script of the shell: NOTE COMMAND...
cat >agent.py <<'END'
import os, subprocess, sys, time
subprocess.run(sys.argv[2:])
with open(sys.argv[1] + ".new", "w") as note: note.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
END
cat >agent.sh <<'END'
note=$1
shift
"$@"
echo $$ >"$note.new"
mv "$note.new" "$note"
while :; do sleep 1; done
END
agent="python3 agent.py"
state() { tmux-attach --label here -l . | jq -r "select(.name == \"$1\") | .state"; }
stands() { [ "$(state "$1")" = "$2" ]; }
# told NAME STATE COMMAND: a session in which an agent runs that has told its state.
told() {
  rm -f "$1.pid"
  t new-session -d -s "$1" "$3"
  ok "$1: the agent runs" wait_until 20 test -s "$1.pid"
  is "$(state "$1")" "$2" "$1: the state of the agent is known"
}
killed() {
  kill -9 "$(cat "$1.pid")"
  ok "$1: the state goes with the agent" wait_until 20 stands "$1" unknown
  is "$(t display-message -p -t "=$1:" '#{@agent_state}#{@agent_since}#{@agent_reason}#{@agent_command}#{@agent_process}')" \
    "" "$1: nothing of the state is left"
}

told keep idle "agent-state idle; echo 1 >keep.pid; exec cat"
told plain working "$agent plain.pid agent-state working; exec sh"
told hook waiting "$agent hook.pid sh -c 'agent-state waiting for it; true'; exec sh"
told helper idle "$agent helper.pid $(command -v env) python3 -c 'import os; os.system(\"agent-state idle\")'; exec sh"
told script working "sh agent.sh script.pid agent-state working; exec sh"
told other idle "$agent other.pid agent-state idle well; cat"
told nested working "sh -c \"$agent nested.pid agent-state working; sh\"; exec sh"
ok "states stay while their agents run" stands plain working
for name in plain hook helper script other nested; do killed "$name"; done
is "$(state keep)" idle "the state of a shell that told it itself is still there"

# Another agent in the same pane, which says the same.
t new-session -d -s again "$agent again.pid agent-state working; $agent second.pid agent-state working; exec sh"
ok "again: an agent runs" wait_until 20 test -s again.pid
kill -9 "$(cat again.pid)"
ok "another agent runs behind the first" wait_until 20 test -s second.pid
is "$(state again)" working "the state is the other agent's, though it is the same"
mv second.pid again.pid
killed again

# Whoever waits for it hears of it, and nothing is typed into the shell.
told watched idle "$agent watched.pid agent-state idle; exec sh"
start watch tmux-attach --label here -w .
heard() { jq -e -s "any(.[]; .name == \"watched\" and .state == \"$1\")" watch.out >/dev/null; }
ok "tmux-attach -w tells of a state" wait_until 20 heard idle
kill -9 "$(cat watched.pid)"
ok "tmux-attach -w tells when the agent has gone" wait_until 20 heard unknown
run sh -c 'echo "touch typed" | tmux-attach --label here -t -r --when-idle -s watched .'
status_is 1 "nothing is typed at a shell that stands where the agent was"
not_ok "what would run in the shell is not typed" test -e typed

# A process that is not of the pane is none that it goes with.
AGENT_PANE=$(t display-message -p -t =keep: '#{pane_id}')@$(t display-message -p '#{socket_path}')
export AGENT_PANE
sh -c 'agent-state waiting; true'
is "$(state keep)" waiting "a state that is told from elsewhere stays"
# What stands there need not be a number.
for process in 'x' '1;kill-server' '%1' '$(touch evil)' '-1' '99999999999999999999'; do
  t set-option -p -t =keep: @agent_process "$process"
  state keep >said
done
ok "an odd process ends nothing" t has-session -t =keep
not_ok "an odd process is not run as a command" test -e evil
done_testing
