#!/bin/sh
# agent-approve with nothing else installed: agent-serve asks before it replies.
. "${0%/*}/../lib.sh"
needs agent-serve agent-approve agent-chat jq python3
TERM=xterm
export TERM

serve_agent serve --gateway 0 --approve-replies --reply-command 'echo ran >>'"$tmp"'/ran; tr a-z A-Z'
printf '[profile claw]\nkind = openclaw\nurl = %s\n' \
  "$(jq -r 'select(.type == "gateway") | .url' "$tmp/serve.out")" \
  >"$XDG_CONFIG_HOME/agentutils/config"
approve() { run agent-approve -p claw --retry-wait 0.1 "$@"; }
# Nobody waits for an answer that nobody could give: somebody is there all the time.
start watch agent-approve -p claw -w --retry-wait 0.1 -v
watch=$pid
ok "somebody who may answer is there" wait_until 20 has "$tmp/watch.err" 'link is open'
# ask NAME WORDS...: a question that waits for an approval; sets $id and $asked.
ask() {
  _name=$1
  shift
  _before=$(lines "$tmp/watch.out")
  start "$_name" agent-chat -p claw -t "$_name" "$@"
  asked=$pid
  wait_until 20 at_least "$tmp/watch.out" $((_before + 1)) || bail "nothing is asked: $(cat "$tmp/watch.err")"
  id=$(tail -n 1 "$tmp/watch.out" | jq -r .id)
}

approve -l
status_is 1 "nothing waits"
ask one hello
is "$(tail -n 1 "$tmp/watch.out" | jq -c '[.type, .state, .tool, .request.commandArgv[:2], .request.host]')" \
  '["approval","pending","exec",["/bin/sh","-c"],"gateway"]' "-w tells what would run"
approve -l
status_is 0 "-l tells it, too"
is "$(jq -r .id "$out")" "$id" "it has the same id"
not_ok "and it does not run yet" test -e "$tmp/ran"
approve --approve "$id"
status_is 0 "--approve succeeds"
is "$(jq -r '"\(.decision) \(.result)"' "$out")" "allow-once accepted" "the answer is accepted"
finished "$asked"
is "$status: $(cat "$tmp/one.out")" "0: HELLO" "and the answer comes"
ok "-w tells that it was approved" wait_until 20 has "$tmp/watch.out" '"id":"'"$id"'".*"approved"'
approve --approve "$id"
status_is 0 "a second time it is approved already"
like "$(cat "$out")" '"result":"already"' "the result says so"

ask two hello
approve --deny "$id"
status_is 0 "--deny succeeds"
finished "$asked"
is "$status: $(cat "$tmp/two.out")" "1: " "leaves the question without an answer"
is "$(cat "$tmp/two.err")" "agent-chat: the agent failed: refusal: the reply was denied" "the message says that it was denied"
is "$(cat "$tmp/ran")" ran "nothing ran"

ask three hello
run sh -c 'agent-approve -p claw -l |
  jq -c "select(.request.commandArgv[0] == \"/bin/sh\") | .decision = \"approve\"" |
  agent-approve -p claw'
status_is 0 "a policy answers with records"
finished "$asked"
is "$(cat "$tmp/three.out")" HELLO "lets it answer"

ask four hello
run python3 "$cli/talk.py" agent-approve -p claw -i --color never <<'END'
allow it once? y, n or later [n] |y
accepted|^D
END
status_is 0 "a person answers at the terminal"
like "$(cat "$out")" "^  runs     /bin/sh -c .*tr a-z A-Z" "sees the whole command"
finished "$asked"
is "$(cat "$tmp/four.out")" HELLO "the answer allows it"
ask five hello
run python3 "$cli/talk.py" agent-approve -p claw -i --color never <<'END'
allow it once? y, n or later [n] |
deny: accepted|^D
END
finished "$asked"
is "$status" 1 "Enter denies it"
is "$(lines "$tmp/ran")" 3 "what was allowed ran, and nothing else"

stop "$watch"
t 1 "when nobody could answer, nothing is asked" agent-chat -p claw hello
done_testing
