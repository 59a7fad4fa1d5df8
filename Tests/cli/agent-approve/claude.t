#!/bin/sh
# agent-approve with Claude Code at a terminal: what it asks is held by agent-ask, and answered from
# elsewhere or at the desk, whoever is first.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"

asks=$HOME/.local/state/agentutils/asks
mkdir -p "$HOME/.claude/projects"
# On a host the script is all that is needed.
cp "$root/bin/agent-ask" "$HOME/bin"
cat >"$HOME/.claude/settings.json" <<'END'
{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"agent-ask","timeout":86400}]}]}}
END
held() { agent-approve -p . -l -o json 2>/dev/null; }
has() { [ "$(held | jq -s length)" = "$1" ]; }
clean() { [ -z "$(ls -A "$asks" 2>/dev/null)" ] && ! pgrep -f "$HOME/bin/agent-ask" >/dev/null; }
# asks WORDS...: the session is told that, and what it asks is held.
asks() {
  agent-say -q --when-idle . -- "$@"
  wait_until 20 has 1
  id=$(held | jq -r .id)
}
idle() { wait_until 20 stands riff '["idle",null,null]'; }
said() { jq -rs 'map(select(.type == "assistant")) | last | .message.content[0].text' "$HOME"/.claude/projects/*/*.jsonl; }

tmux-attach -N -s riff . >/dev/null
idle
t 1 "where nothing is asked nothing is listed" agent-approve -p . -l
out_empty "nothing is printed where nothing is asked"

# --- one that waits
asks run make install
t 0 "what it asks permission for is listed" agent-approve -p . -l -o json
is "$(jq -c '[.tool, .state, .profile, .decisions, .request.host, .request.session, .request.tool_input.command]' "$out")" \
  '["Bash","pending",".",["allow","always","deny"],".","riff","make install"]' \
  "a request is listed with the tool, the session and the command"
is "$(jq -r '.request | keys_unsorted[:3] | join(" ")' "$out")" "host session title" \
  "a request has the host, the session and the session's title"
like "$(jq -r '.request.cwd' "$out")" "^/" "a request has its folder"
t 0 "a request is shown to a person" agent-approve -p . -l -o table
out_like '^  runs     make install$' "a person is shown the whole command"
out_like '^  always   allow Bash\(make install\), in this session$' \
  "a person is shown what always would allow, word by word"
ok "the dialog is on the screen meanwhile" stands riff '["waiting","permission prompt",null]'
is "$(stat -c %a "$asks" 2>/dev/null || stat -f %Lp "$asks")" 700 "what is held is nobody else's to read"
t 0 "--approve allows a request" agent-approve -p . --approve "$id" -o json
is "$(jq -c '[.decision, .result]' "$out")" '["allow","accepted"]' \
  "the answer of --approve is accepted"
idle
is "$(said)" "Done: make install" "the tool runs when it is allowed"
ok "nothing is left behind by an answered request" wait_until 5 clean
t 1 "an answer to a request that is over has status 1" agent-approve -p . --approve "$id" -o json
is "$(jq -r .result "$out")" not_found "an answer to a request that is over finds nothing"

# --- other answers
asks run make check
t 0 "--deny may have words" agent-approve -p . --deny "$id" not now, says ada
idle
is "$(said)" "Not done: not now, says ada" "the agent is told the words of --deny"
asks run make always
held | jq -c '{id, decision: "always"}' >"$tmp/decision"
t 0 "a request is allowed from now on" agent-approve -p . <"$tmp/decision"
idle
agent-say -q --when-idle . -- run make always
idle
is "$(said)" "Done: make always" "what is allowed from now on is not asked again"
asks run make what
t 1 "a word that it does not offer is refused" agent-approve -p . <<END
{"id":"$id","decision":"always-2"}
END
is "$(jq -r .reason "$out")" "the agent takes: allow, always, deny" \
  "the reason says which words a request takes"
t 0 "another command can be allowed instead" agent-approve -p . <<END
{"id":"$id","decision":"allow","input":{"command":"make other"}}
END
idle
is "$(said)" "Done: make other" "the command that was allowed instead runs"
asks run make edited
cat >"$tmp/editor" <<'END'
#!/bin/sh
sed 's/edited/better/' "$1" >"$1.new" && cat "$1.new" >"$1" && rm "$1.new"
END
chmod +x "$tmp/editor"
echo y | EDITOR=$tmp/editor agent-approve -p . --edit "$id" -o json >"$tmp/edit.out" 2>"$tmp/edit.err"
is "$?" 0 "--edit changes a command in an editor"
like "$(cat "$tmp/edit.err")" '\- make edited' "--edit shows the command as it was"
like "$(cat "$tmp/edit.err")" '[+] make better' "--edit shows the command as it is to be"
idle
is "$(said)" "Done: make better" "the command that was edited runs"
asks ask
t 0 "a question is answered by the number of a choice" agent-approve -p . --answer "$id" 2
idle
is "$(said)" "You mean: Outer" "the agent is told the choice of that number"
asks ask
t 0 "a question is answered in other words" agent-approve -p . --answer "$id" 'the old one'
idle
is "$(said)" "You mean: the old one" "the agent is told the other words"
asks ask
t 1 "a question is not answered by approving it" agent-approve -p . --approve "$id"
t 0 "--deny of a question may have words" agent-approve -p . --deny "$id" ask me later
idle
is "$(said)" "Not said: ask me later" "the agent is told the words of a denied question"

asks run make once
run python3 "$cli/talk.py" agent-approve -p . -i --once --color never <<'END'
allow it once? y, n, e to change it or later [n] |no not like this
deny: accepted|-
END
status_is 0 "-i --once asks a person, and ends when nothing waits any more"
idle
is "$(said)" "Not done: not like this" "words behind no are for the agent"

# --- at the desk
start watch agent-approve -p . -w -o json
asks run make local
agent-say --answer . -- yes
idle
is "$(said)" "Done: make local" "a Yes at the desk counts"
ok "a Yes at the desk withdraws the request within a second" wait_until 1 clean
gone() { jq -r .state "$tmp/watch.out" 2>/dev/null | grep -q cancelled; }
ok "-w tells that a request was cancelled" wait_until 5 gone
asks run make no
agent-say --answer . -- no
idle
ok "a No at the desk withdraws the request within a second" wait_until 1 clean
asks run make late
(agent-say --answer . -- yes)
agent-approve -p . --approve "$id" -o json >"$tmp/late.out" 2>/dev/null
is "$?" 1 "an answer that comes later does not count"
like "$(jq -r .result "$tmp/late.out")" '^(late|not_found)$' \
  "an answer that comes later is told as late or not found"
idle
stop "$pid"

# --- several at once
asks run make two
start one agent-approve -p . --approve "$id" -o json
start other agent-approve -p . --deny "$id" -o json
wait "$pid" 2>/dev/null
finished_both() { [ -s "$tmp/one.out" ] && [ -s "$tmp/other.out" ]; }
ok "both of two people who answer at once get a result" wait_until 20 finished_both
is "$(jq -rs 'map(select(.result == "accepted")) | length' "$tmp/one.out" "$tmp/other.out")" 1 \
  "the answer of only one of two people is accepted"
idle

# --- it never stands in the way
asks run make killed
pkill -KILL -f "$HOME/bin/agent-ask"
t 1 "a hook that was killed holds nothing" agent-approve -p . -l
ok "a hook that was killed leaves nothing behind" wait_until 5 clean
ok "the dialog is there after the hook was killed" \
  stands riff '["waiting","permission prompt",null]'
agent-say --answer . -- yes
idle
asks run make damaged
printf '{"hookSpecificOutput":{"hookEventName"' >"$asks/$id/answer"
gone_answer() { [ ! -e "$asks/$id/answer" ]; }
ok "half an answer is taken away" wait_until 5 gone_answer
t 0 "a whole answer counts after half a one" agent-approve -p . --approve "$id"
idle
agent-say -q --when-idle . -- sub make sub
wait_until 20 has 1
id=$(held | jq -r .id)
t 0 "what a subagent asks can be answered" agent-approve -p . --approve "$id"
idle
is "$(said)" "Done: make sub" "the tool of a subagent runs when it is allowed"
agent-say -q --when-idle . -- sub make slow
ok "a subagent's request is held for some seconds, and then asked at the desk" \
  wait_until 15 stands riff '["waiting","permission prompt",null]'
agent-say --answer . -- yes
idle
ok "nothing is left of a request that was asked at the desk" wait_until 5 clean
agent-say -q --when-idle . -- run make end
wait_until 20 has 1
tmux-attach -q --close riff .
ok "a session that ends leaves nothing behind" wait_until 5 clean

# --- by hand
t 0 "what is no request is let be" agent-ask -v <<'END'
{"hook_event_name":"Stop"}
END
err_like 'no session of Claude Code' "agent-ask -v says why nothing was decided"
t 2 "agent-ask refuses words" agent-ask now
err_like '^agent-ask: takes no words: now$' "agent-ask names the words it refuses"

done_testing
