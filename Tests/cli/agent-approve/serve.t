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
status_is 1 "-l has status 1 when nothing waits"
ask one hello
is "$(tail -n 1 "$tmp/watch.out" | jq -c '[.type, .state, .tool, .request.commandArgv[:2], .request.host]')" \
  '["approval","pending","exec",["/bin/sh","-c"],"gateway"]' "-w tells what would run"
approve -l
status_is 0 "-l has status 0 for what -w tells"
is "$(jq -r .id "$out")" "$id" "-l tells the same id as -w"
not_ok "a command that waits does not run yet" test -e "$tmp/ran"
approve --approve "$id"
status_is 0 "--approve succeeds"
is "$(jq -r '"\(.decision) \(.result)"' "$out")" "allow-once accepted" "the answer is accepted"
finished "$asked"
is "$status: $(cat "$tmp/one.out")" "0: HELLO" "the answer of the agent comes when it is approved"
ok "-w tells that it was approved" wait_until 20 has "$tmp/watch.out" '"id":"'"$id"'".*"approved"'
approve --approve "$id"
status_is 0 "a second --approve has status 0"
like "$(cat "$out")" '"result":"already"' "a second --approve has the result already"

ask two hello
approve --deny "$id"
status_is 0 "--deny succeeds"
finished "$asked"
is "$status: $(cat "$tmp/two.out")" "1: " "--deny leaves the question without an answer"
is "$(cat "$tmp/two.err")" "agent-chat: the agent failed: refusal: the reply was denied" \
  "the message says that the reply was denied"
is "$(cat "$tmp/ran")" ran "nothing runs when it is denied"

ask three hello
run sh -c 'agent-approve -p claw -l |
  jq -c "select(.request.commandArgv[0] == \"/bin/sh\") | .decision = \"approve\"" |
  agent-approve -p claw'
status_is 0 "a policy answers with records"
finished "$asked"
is "$(cat "$tmp/three.out")" HELLO "an approval by a policy lets the agent answer"

ask four hello
run python3 "$cli/talk.py" agent-approve -p claw -i --color never <<'END'
allow it once? y, n or later [n] |y
accepted|^D
END
status_is 0 "a person answers at the terminal"
like "$(cat "$out")" "^  runs     /bin/sh -c .*tr a-z A-Z" "a person sees the whole command"
finished "$asked"
is "$(cat "$tmp/four.out")" HELLO "a yes at the terminal lets the agent answer"
ask five hello
run python3 "$cli/talk.py" agent-approve -p claw -i --color never <<'END'
allow it once? y, n or later [n] |
deny: accepted|^D
END
finished "$asked"
is "$status" 1 "Enter at the terminal denies the request"
is "$(lines "$tmp/ran")" 3 "what was allowed ran, and nothing else"

stop "$watch"
t 1 "when nobody could answer, nothing is asked" agent-chat -p claw hello
done_testing
