#!/bin/sh
# agent-chat with Claude Code at a terminal: what is said is typed once, the answer is that of its
# transcript, and what it asks is told.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"

t 1 "without a session there is nobody to talk to" agent-chat -p . hello
err_like 'no Claude Code runs there in tmux; --new begins one' \
  "the message says what begins a session"
tmux-attach -N -s riff . >/dev/null
wait_until 20 stands riff '["idle",null,null]'
mkdir -p "$HOME/.claude/projects"

t 0 "the only session is talked to" agent-chat -p . hello there
out_is "hello there" "the answer is printed"
t 0 "a session is named behind the colon" agent-chat -p .:riff again
out_is again "a session that is named behind the colon answers"
t 0 "a session is named by -t" agent-chat -p . -t riff 'and again'
out_is "and again" "a session that is named by -t answers"
t 1 "a session that is not there is an error" agent-chat -p .:rif hello
err_like 'no session rif: did you mean riff' "the message names the session that was meant"
t 0 "what it says before it calls a tool is not the answer" agent-chat -p . tool ls
out_is "Done: ls" "only the text behind the tool is the answer"
run agent-chat -p . -o json tool ls
is "$(jq -r 'select(.type == "tool_call") | .state' "$out" | tail -n 1)" succeeded \
  "the tools of a turn are told as records"
is "$(jq -r 'select(.type == "turn") | .state' "$out" | tail -n 1)" completed \
  "the end of a turn is told as a record"
awk 'BEGIN { for (i = 0; i < 300; i++) print "line " i }' >"$tmp/long"
run agent-chat -p . <"$tmp/long"
is "$status$(cksum <"$out")" "0$(cksum <"$tmp/long")" "a long text is answered as it was typed"
t 1 "an error of the API has status 1" agent-chat -p . fail
err_is "agent-chat: the agent failed: API Error: 529 overloaded" \
  "an error of the API is told with its words"

# --- what it asks
t 75 "a permission that it asks for ends the wait" agent-chat -p . run make
err_is "agent-chat: the agent waits for a person: permission prompt" \
  "the message says what the agent waits for"
out_empty "nothing is printed when a permission is asked for"
t 75 "nothing more is said to an agent that asks for a permission" agent-chat -p . Yes
is "$(grep -c '"said":"Yes' "$tmp/told")" 0 \
  "the word for an agent that asks for a permission is not typed"
run agent-say --answer . -- yes
wait_until 20 stands riff '["idle",null,null]'
start chat agent-chat -w -p . run make install
ok "a permission is waited for with -w" \
  wait_until 20 stands riff '["waiting","permission prompt",null]'
agent-say --answer . -- yes
finished "$pid"
is "$status$(cat "$tmp/chat.out")" "0Done: make install" "the answer comes when it was allowed"
start chat agent-chat -p . slow 60
ok "a turn is under way for --abort" wait_until 20 stands riff '["working",null,null]'
t 0 "--abort ends a turn that is under way" agent-chat -p . --abort
finished "$pid"
is "$status" 1 "a command that waits for an aborted turn ends"
like "$(cat "$tmp/chat.err")" 'aborted' "a command that waits for an aborted turn says why it ends"

start chat agent-chat -p . slow 61
ok "a turn is under way for ^C" wait_until 20 stands riff '["working",null,null]'
began() { grep -q '"slow 61"' "$HOME"/.claude/projects/*/*.jsonl; }
wait_until 20 began
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C ends the command as that signal does"
ok "^C ends the turn, too, before its time" wait_until 2 stands riff '["idle",null,null]'
is "$(tail -n 1 "$HOME"/.claude/projects/*/*.jsonl | jq -r '.message.content[0].text')" "[Request interrupted by user]" \
  "the transcript says that ^C interrupted the turn"
agent-say . -- slow 3
wait_until 20 stands riff '["working",null,null]'
start chat agent-chat -p . never said
typing() { pgrep -P "$pid" tmux-attach >/dev/null; }
wait_until 20 typing
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C before the words are typed ends the wait alone"
ok "what was under way goes on to its end" wait_until 20 stands riff '["idle",null,null]'
is "$(grep -c 'slept 3' "$HOME"/.claude/projects/*/*.jsonl)" 1 \
  "the turn that was under way ends as it would have"
is "$(grep -c 'never said' "$tmp/told")" 0 "nothing is typed after ^C"
start chat agent-chat -w -p . run make never
ok "a permission is waited for before ^C" \
  wait_until 20 stands riff '["waiting","permission prompt",null]'
told() { grep -q 'paused\|waits' "$tmp/chat.err" || pgrep -P "$pid" transcript-tail >/dev/null; }
wait_until 20 told
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C while the agent asks ends the wait"
ok "^C while the agent asks answers nothing" stands riff '["waiting","permission prompt",null]'
agent-say --answer . -- no
wait_until 20 stands riff '["idle",null,null]'

# --- lists
t 0 "what was said is listed" agent-chat -p . --history -n 3
out_like '^user: run make never' "the history has what the person said"
run agent-chat -p . --history -n 1000 -o json
is "$(jq -rs 'map(select(.text == "hello there") | .role) | join(" ")' "$out")" "user assistant" \
  "the history is listed from its beginning"
run agent-chat -p . --threads
out_like '^riff	idle' "the sessions are its conversations"
t 0 "a new session is begun" agent-chat -p . --new hello
out_is hello "a new session answers"
is "$(tmux-attach -l . | jq -r .name | xargs)" "riff riff-2" "a new session is there"
t 1 "a message is an error where there are several sessions" agent-chat -p . hello
err_like 'several sessions: name one with -t: riff, riff-2' \
  "the message names the sessions to choose from"
t 2 "no file goes with a message" agent-chat -p .:riff --attach "$tmp/long" look
err_like 'share-inbox hands files' "the message says what takes a file"

# --- as a profile
printf '[profile box]\nkind = claude\nhost = .:riff\n' >"$XDG_CONFIG_HOME/agentutils/config"
t 0 "a profile may name the place" agent-chat hello
out_is hello "a profile that names the place is the default one"

# --- a conversation at a terminal, in which it asks
cp "$root/bin/agent-ask" "$HOME/bin"
cat >"$HOME/.claude/settings.json" <<'END'
{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"agent-ask","timeout":86400}]}]}}
END
run python3 "$cli/talk.py" agent-chat -i -p .:riff --color never <<'END'
> |run make talk
allow it once? y, n, e to change it or later [n] |y
allow: accepted|-
Done: make talk|-
> |ask
answer? 1 to 2, or your own words; deny or later: |2
You mean: Outer|-
> |^D
END
status_is 0 "a permission and a question are answered in the conversation itself"
done_testing
