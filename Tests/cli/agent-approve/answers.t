#!/bin/sh
# What waits, and answers to it: by id, by records, against an OpenClaw gateway.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve jq python3

resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
asks() { tell claw ask "$1" "$2"; }
listed() { agent-approve -p claw -l 2>/dev/null | grep -q "\"id\":\"$1\""; }

start_gateway claw --token gw-secret
printf 'token-command = printf gw-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"

t 1 "nothing waits" agent-approve -p claw -l
out_empty "nothing is printed when nothing waits"
err_empty "nothing is said when nothing waits"
is "$(frames claw connect | jq -c .scopes)" '["operator.read","operator.approvals","operator.questions"]' \
  "no more is asked for than reading and answering, also questions"

asks a1 '{"command":"rm -rf build","commandArgv":["rm","-rf","build dir"],"cwd":"/srv/site","host":"gateway","agentId":"heron","sessionKey":"agent:heron:main","commandPreview":"tidy up","n":1.10}'
ok "what waits is listed" wait_until 20 listed a1
t 0 "-l has status 0 when something waits" agent-approve -p claw -l
is "$(jq -c '[.type, .backend, .profile, .id, .thread, .tool, .summary, .decisions, .state]' "$out")" \
  '["approval","openclaw","claw","a1","agent:heron:main","exec","tidy up",["allow-once","allow-always","deny"],"pending"]' \
  "what waits is listed as a record"
out_like '"request":\{"command":"rm -rf build","commandArgv":.*"n":1.1' \
  "the record has the gateway's object"
t 0 "-q tells by the status" agent-approve -q -p claw -l
out_empty "-q prints nothing"
run agent-approve -p claw -l -o tsv
is "$(cut -f 1-4 "$out")" "a1	pending	exec	agent:heron:main" "-o tsv prints fields"
run agent-approve -p claw -l -o tsv --header
is "$(cut -f 1-4 "$out")" "id	state	tool	thread
a1	pending	exec	agent:heron:main" "--header names the fields"

t 0 "--approve has status 0 for what waits" agent-approve -p claw --approve a1
is "$(jq -c '[.type, .backend, .profile, .id, .decision, .result]' "$out")" \
  '["approval_answer","openclaw","claw","a1","allow-once","accepted"]' \
  "the answer of --approve is accepted"
is "$(resolved)" "a1 allow-once" "--approve is sent once"
t 1 "--approve of what does not wait has status 1" agent-approve -p claw --approve a1
is "$(jq -r .result "$out")" not_found "the result of what does not wait is not_found"
is "$(resolved)" "a1 allow-once" \
  "what does not wait is not sent: earlier gateways take a part of an id"

asks a2 '{"command":"make"}'
asks a3 '{"command":"make","allowedDecisions":["allow-once","deny"]}'
ok "another approval waits for --deny" wait_until 20 listed a3
t 0 "--deny with a reason has status 0" agent-approve -p claw --deny a2 not on a Sunday
is "$(jq -r '.result + ": " + .reason' "$out")" \
  "accepted: a gateway takes no reason: yours was not sent" "a reason that is not sent is told"
is "$(resolved | tail -n 1)" "a2 deny" "--deny sends no more than the decision"

# Decisions on standard input, one result a line, in their order.
asks a4 '{"command":"make"}'
asks a5 '{"command":"make"}'
ok "more of them wait" wait_until 20 listed a5
agent-approve -p claw -l | jq -c 'select(.id == "a5") | .decision = "approve"' >"$tmp/five"
{
  echo '{"id":"a4","decision":"allow-always"}'
  echo '{"id":"a3","decision":"allow-always"}'
  echo 'no JSON'
  echo '{"id":"gone","decision":"deny"}'
  echo '{"id":"a4"}'
  echo
  cat "$tmp/five"
  echo '{"id":"a5","decision":"deny"}'
  echo '{"id":"a3","decision":"approve","profile":"other"}'
  printf '{"id":"a3","decision":"reject"}'
} >"$tmp/decisions"
t 2 "bad input among decisions has status 2" sh -c 'agent-approve -p claw <"$1"' - "$tmp/decisions"
is "$(jq -r '"\(.id) \(.decision) \(.result)"' "$out")" "a4 allow-always accepted
a3 allow-always refused
gone deny not_found
a5 allow-once accepted
a5 deny late
a3 approve refused
a3 deny accepted" "each decision has a result on a line, in their order"
err_like '^agent-approve: standard input:3: not JSON: ' "a bad line is named"
err_like '^agent-approve: standard input:5: has no decision$' \
  "another bad line is named, and the rest goes on"
is "$(resolved | tail -n 3 | sort)" "a3 deny
a4 allow-always
a5 allow-once" "only what may be answered was sent"
is "$(sed -n 2p "$out" | jq -r .reason)" "the gateway takes: allow-once, deny" \
  "the decisions that the gateway takes are told"

# A live pipe: each decision goes out when it comes.
asks b1 '{"command":"make"}'
ok "another approval waits for the pipe" wait_until 20 listed b1
mkfifo "$tmp/policy"
start live sh -c 'exec agent-approve -p claw - <"$1"' - "$tmp/policy"
live=$pid
exec 3>"$tmp/policy"
came_frames claw connect 1
echo '{"id":"b1","decision":"approve"}' >&3
ok "a decision is answered while the pipe is open" wait_until 20 has "$tmp/live.out" '"id":"b1".*accepted'
asks b2 '{"command":"make"}'
ok "another approval is listed while the pipe is open" wait_until 20 listed b2
echo '{"id":"b2","decision":"approve"}' >&3
ok "a decision for an approval that comes later is answered, too" \
  wait_until 20 has "$tmp/live.out" '"id":"b2".*accepted'
exec 3>&-
finished "$live"
is "$status" 0 "the end of the input is the end"

# Bad command lines, bad agents.
for words in "-l -w" "--approve a -l" "-l x" "word" "--approve a --deny b why" "--approve a --deny a" "--deny '' x" "-i"; do
  t 2 "agent-approve $words is refused" sh -c "agent-approve -p claw $words </dev/null"
done
printf '[profile home]\nurl = http://127.0.0.1:9\n' >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a dashboard asks for no approvals" agent-approve -p home -l
err_is "agent-approve: home: a Clanky dashboard asks for no approvals" \
  "the message says that there is nothing to approve"
printf '[profile dead]\nkind = openclaw\nurl = ws://127.0.0.1:9\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 75 "a gateway that is not there may be there later" agent-approve -p dead -l
err_one_line agent-approve "a gateway that is not there is told in one line"
start_gateway poor --grant operator.read
t 77 "without the scope nothing can be approved" agent-approve -p poor -l
err_like 'does not grant operator.approvals to this device' "the message names the scope"
start_gateway shy --pair
t 77 "a device that is not paired is refused" agent-approve -p shy -l
err_like 'run on the gateway: openclaw devices approve pr-9' \
  "a device that is not paired is told what to do"
start waits agent-approve -p shy --wait -l
wait_until 20 came_frames shy connect 2
tell shy pair
finished "$pid"
is "$status" 1 "--wait waits until it is paired"

# How the link is made and kept.
echo gw-secret >"$tmp/token"
chmod 600 "$tmp/token"
asks f1 '{"command":"make"}'
ok "an approval waits for --token-file" wait_until 20 listed f1
t 0 "--token-file lets in" \
  agent-approve -v -l -p claw --token-file "$tmp/token" --idle-timeout 5 --max-time 10
err_like '^agent-approve: link is open: ' "-v tells of the link"
t 75 "--max-retries gives up later" agent-approve -v -l -p dead --max-retries 1 --retry-wait 0.1
is "$(grep -c 'link is down' "$err")" 1 "--max-retries gives up after so many tries"
t 75 "decisions for a gateway that is not there have status 75" \
  sh -c 'echo "{\"id\":\"x\",\"decision\":\"deny\"}" | agent-approve -p dead --max-time 0.5'
is "$(jq -r '"\(.result) \(.reason)"' "$out")" "refused it was not sent: the link was never open" \
  "decisions for a gateway that is not there are told as not sent"
t 2 "authorities that cannot be read are an error" agent-approve -l -p claw --cacert "$tmp/nothing"
printf '[profile far]\nkind = openclaw\nurl = ws://gateway.invalid:1\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "nothing goes to another machine in clear text" agent-approve -l -p far
t 75 "--allow-plaintext lets clear text go to another machine" \
  agent-approve -l -p far --allow-plaintext
not_ok "no secret is printed or said" \
  grep -rqE 'gw-secret|dt-[0-9a-f]' "$out" "$err" "$tmp/live.out" "$tmp/live.err"

# --- the reply is read
for version in early late; do
  start_gateway "$version" --approvals "$version"
  method=exec.approval.resolve
  [ "$version" = early ] || method=approval.resolve
  count=0
  # reply WORD JSON STATUS RESULT: what is decided, what is said to that, what it means.
  reply() {
    count=$((count + 1))
    tell "$version" ask "r$count" '{"command":"make"}'
    tell "$version" reply "$method" "$(printf '%s' "$2" | sed "s/ID/r$count/")"
    run agent-approve -p "$version" "--$1" "r$count"
    is "$status $(jq -r .result "$out")" "$3 $4" "$version: $1, and the reply is $2"
  }
  reply approve '{"ok":true}' 0 accepted
  reply approve '{"ok":false}' 1 refused
  reply approve '{"ok":true,"id":"ID"}' 0 accepted
  reply approve '{"ok":true,"id":"other"}' 75 unknown
  reply approve '{"ok":true,"decision":"deny"}' 1 late
  reply deny '{"ok":true,"decision":"allow-once"}' 1 late
  reply approve '{"applied":true,"approval":{"id":"ID","status":"allowed"}}' 0 accepted
  reply deny '{"applied":true,"approval":{"id":"ID","status":"denied"}}' 0 accepted
  reply approve '{"applied":true,"approval":{"id":"ID","status":"denied"}}' 1 late
  reply deny '{"applied":true,"approval":{"id":"ID","status":"allowed"}}' 1 late
  reply approve '{"applied":true,"approval":{"id":"ID","status":"expired"}}' 1 late
  reply approve '{"applied":true,"approval":{"id":"other","status":"allowed"}}' 75 unknown
  reply approve '{"status":"cancelled"}' 1 late
  unlike "$(jq -r .reason "$out")" null "$version: a reason is told"
done
done_testing
