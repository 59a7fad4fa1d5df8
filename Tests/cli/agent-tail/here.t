#!/bin/sh
# With nothing configured, the agents at the terminals of this machine are meant; and who waits at a
# terminal is told for what.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
unset AGENT_URL AGENT_PROFILE
at_terminal() { run python3 "$cli/terminal.py" 24x200 "$@"; }

# --- where nothing runs
t 2 "agent-tail has nothing to follow" agent-tail
err_is "agent-tail: no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)" \
  "the message names what configures an agent"
at_terminal agent-tail
is "$status" 2 "agent-tail has nothing to follow at a terminal, too"
out_like 'agent-tail: no agent runs here in tmux: tmux-attach \. begins one' \
  "a terminal is told what makes an agent"
t 2 "agent-chat has nobody to talk to" agent-chat hello
t 0 "agent-notify reads what is handed over" agent-notify </dev/null
at_terminal agent-notify --max-time 0.3
out_like 'agent-notify: waits for records on standard input; -p NAME follows an agent' \
  "agent-notify at a terminal says that it waits, and for what"
at_terminal agent-say
is "$status" 2 "agent-say does not wait for a text that it could not type"
out_like "a HOST is needed.*" "agent-say says that a host is missing"
out_like "'\\.' as HOST is this machine" "agent-say says what this machine is called"
at_terminal agent-tail --max-time 0.3 -p .
out_like 'agent-tail: \.: no Claude Code runs there yet: tmux-attach \. begins one' "agent-tail of a host says that nobody is there yet"
at_terminal typing "x\\n$(printf '\004')" agent-say -s riff .
out_like 'agent-say: waits for the text to type; Ctrl-D ends it' "agent-say waits for its text with a word"

# --- where one runs
tmux-attach -N -s riff . >/dev/null
wait_until 20 stands riff '["idle",null,null]'
t 0 "agent-chat talks to an agent that runs here" agent-chat hello there
out_is "hello there" "agent-chat has the answer of an agent that runs here"
at_terminal agent-tail --max-time 0.5
out_like 'agent-tail: \.: waits for what is said in riff' "agent-tail says what it waits for"
rm -rf "$HOME/.claude/projects"
start tail agent-tail -L -n 1
# Its stand-in makes the folder when it begins; the real one, when it is first told something.
opened() { grep -q '"type":"open"' "$tmp/tail.out"; }
wait_until 20 opened || bail "the transcripts are not followed"
mkdir -p "$HOME/.claude/projects/$(printf '%s' "$(tmux -L riff display-message -p -t =riff: '#{pane_current_path}')" | tr -c 'A-Za-z0-9' -)"
agent-say --when-idle . -- more
finished "$pid"
is "$(jq -r 'select(.event) | .event' "$tmp/tail.out")" user \
  "agent-tail prints what is said in the session"
start told agent-notify --settle 0.1 --to line
told=$pid
watched() { pgrep -P "$told" tmux-attach >/dev/null; }
ok "agent-notify watches the session where nobody hands records over" wait_until 20 watched
agent-say --when-idle . -- run make
ok "agent-notify tells that the session waits" wait_until 20 has "$tmp/told.out" 'riff waits'
stop "$told"
echo '{"urgency":"emergency","category":"x","title":"fire"}' >"$tmp/fire"
t 0 "what is handed over comes first" agent-notify --to line <"$tmp/fire"
out_like fire "what is handed over is told"
agent-say --answer . -- no
wait_until 20 stands riff '["idle",null,null]'
t 2 "a profile that is configured is meant" env AGENT_URL=localhost:1 agent-tail
err_like 'AGENT_URL: not an http or https url' "mistakes of the profile that is configured are told"

# --- in the person's own server of tmux
tmux -L riff kill-server
tmux -L default -f /dev/null new-session -d -s work -c "$tmp" "$HOME/bin/claude"
ok "an agent in the person's own tmux is found" wait_until 20 stands work '["idle",null,"default"]'
t 0 "an agent in the person's own tmux is talked to" agent-chat hello you
out_is "hello you" "an agent in the person's own tmux answers"
t 0 "an agent in the person's own tmux is talked to by its name" agent-chat -p .:work again
t 1 "two agents are an error until one is named" \
  sh -c "tmux -L default new-session -d -s play -c '$tmp' '$HOME/bin/claude'
  until tmux-attach -l . | grep -q '\"play\"'; do sleep 0.1; done; agent-chat hello"
err_like 'several sessions: name one with -t: play, work|work, play' \
  "two agents are told by their names"
done_testing
