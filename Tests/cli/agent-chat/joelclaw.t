#!/bin/sh
# agent-chat with a joelclaw gateway: answers and whose they are, what is never said twice.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-chat jq python3

start_joelgate joel --token jc-secret
printf 'token-command = printf jc-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
chat() { run agent-chat -p joel --retry-wait 0.1 "$@"; }
states() { jq -r 'select(.type == "turn" or .role == "user") | .type + " " + .state' "$out"; }

# --- a question

chat how are you
status_is 0 "a question is answered"
out_is "You said: how are you" "an answer is printed once"
err_empty "nothing else is said beside an answer"
chat -o json tool
status_is 0 "a question with a tool is answered"
is "$(states)" 'message queued
turn queued
message sent
message final
turn running
turn completed' "a prompt waits, is sent and is taken, and the turn ends when all is quiet"
is "$(jq -r '[.type,.role,.tool,.state,.text] | map(. // "") | join(" ")' "$out" | grep -v ' user ' |
  grep -v '^turn' | grep -v ' partial ')" \
  'message assistant  final Looking.
tool_call  exec running 
tool_call  exec succeeded 
message assistant  final High at 06:12.' "each message ends by itself, and not the answer with it"
is "$(jq -r 'select(.type == "tool_call") | .stdout // empty' "$out")" 06:12 \
  "the record of a tool has what it printed"
is "$(jq -r '.turn // empty' "$out" | sort -u | wc -l | tr -d ' ')" 1 \
  "all records of a question are of one turn"
is "$(jq -r '.backend + " " + .profile' "$out" | sort -u)" "joelclaw joel" \
  "the records say whose they are"
chat early
out_is 'One.
Two.' "a status that comes too soon ends nothing"
chat silence
status_is 0 "silence is an answer"
out_empty "an empty answer prints nothing"
chat fail
status_is 1 "an error behind which nothing comes has status 1"
err_is "agent-chat: the agent failed: model overloaded" \
  "an error behind which nothing comes is told"
chat slip
status_is 0 "an error that the agent gets over has status 0"
out_is "Without the tool." "the answer comes after an error that the agent gets over"
err_is "agent-chat: the gateway says: the tool failed" \
  "an error that the agent gets over is told, too"
chat --timeout 0.5 open
status_is 75 "an answer whose end does not come has status 75"
out_empty "nothing is printed of an answer whose end does not come"
chat odd
run agent-chat -p joel --color never -o json --again odd
is "$(jq -r 'select(.state == "final") | .text' "$out" | tail -n 1 | od -An -c | grep -c 033)" 1 \
  "records hold what was said"
chat flash
is "$status: $(cat "$out")" "0: Quick" \
  "An answer that came before anybody could ask is ours, for the agent was idle."
begun=$(date +%s)
chat quiet flash
is "$status: $(cat "$out")" "0: " "An empty answer is an answer."
ok "An empty answer is not waited for half a minute." test $(($(date +%s) - begun)) -lt 10
chat tries
status_is 1 "Four tries without a word are a model that fails."
err_like 'the model failed 4 times' "The message says that the model failed four times."
tell joel mode redis_degraded
chat nobody hears
status_is 75 "A gateway without its Redis gets no message."
err_like 'has lost its Redis' "The message says that the gateway has lost its Redis."
is "$(jq -r '.frame | select(.type == "prompt") | .text' "$tmp/joel.log" | grep -c nobody)" 0 \
  "Nothing is sent to a gateway without its Redis."
tell joel mode normal

# --- what is never said twice

before=$(frames joel prompt | wc -l)
chat how '  are' you
status_is 75 "the same words have status 75 at once"
err_like "the same words were sent [0-9]+ s ago: the gateway would drop them; wait 1[01][0-9] s, or" \
  "the same words are not sent for two minutes"
is "$(frames joel prompt | wc -l)" "$before" "nothing is sent of the same words"
chat --again how are you
out_is "You said: how are you (again)" "--again marks the same words"
chat --again how are you
out_is "You said: how are you (again 2)" "--again marks each time"
book=$(find "$XDG_STATE_HOME/agentutils/joelclaw" -name "prompts-*")
is "$(find "$book" ! -perm 600)" "" "what was said is for its owner alone"
not_ok "the file of what was said keeps no more than digests" grep -q are "$book"
sed 's/^[0-9]*/1000/' "$book" >"$tmp/book" && cat "$tmp/book" >"$book"
chat count 3
is "$(lines "$book")" 1 "what was said long ago is forgotten"
printf 'rubbish\n9 9 9\n\377 x\n' >"$book"
chat count 2
status_is 0 "rubbish in the file of what was said is not an error"

# --- somebody else

tell joel busy telegram
chat --timeout 0.5 wait for me
status_is 75 "an agent that is busy with something else has status 75"
err_is "agent-chat: $url/: the agent is busy with a request of telegram; nothing was sent in 0.5 s" \
  "an agent that is busy is waited for, and its work is named"
is "$(frames joel prompt | grep -c 'wait for me')" 0 "nothing is sent to an agent that is busy"
start waits agent-chat -p joel -o json wait for me
wait_until 20 has "$tmp/waits.out" '"state":"queued"'
asked=$(frames joel status | wc -l)
wait_until 20 came_frames joel status $((asked + 2))
tell joel say for somebody else
tell joel busy
finished "$pid"
is "$status" 0 "a prompt that waited for a busy agent is answered"
is "$(jq -r 'select(.role == "assistant" and .state == "final") | (.turn != null | tostring) + " " + .text' \
  "$tmp/waits.out")" 'false for somebody else
true You said: wait for me' "what was said to others is of no turn"
tell joel other telegram hold
wait_until 20 came_frames joel status 1
start one agent-chat -p joel first of two
one=$pid
start two agent-chat -p joel second of two
two=$pid
tell joel go
finished "$one"
is "$status:$(cat "$tmp/one.out")" "0:You said: first of two" \
  "the first of two prompts that wait is answered"
finished "$two"
is "$status:$(cat "$tmp/two.out")" "0:You said: second of two" \
  "the second of two prompts that wait is sent when the agent is free"

# --- an end

start long agent-chat -p joel -o json forever
wait_until 20 has "$tmp/long.out" '"state":"partial"'
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C ends the command"
is "$(frames joel abort | wc -l | tr -d ' ')" 1 "^C ends what the agent does, too"
is "$(jq -r 'select(.type == "turn") | .state' "$tmp/long.out" | tail -n 1)" aborted "the end of what the agent does is awaited"
tell joel busy telegram
start long agent-chat -p joel not yet
wait_until 20 came_frames joel status 1
kill -INT "$pid"
finished "$pid"
is "$(frames joel abort | wc -l | tr -d ' ')" 1 "^C ends nothing that is somebody else's"
tell joel busy
chat --abort
status_is 1 "--abort has status 1 when nothing is active"
tell joel other telegram 'forever and ever'
chat -o json --threads
is "$(jq -r .id "$out")" sess-1 "the conversation has a name"
active() { agent-chat -p joel --abort >"$tmp/ended" 2>/dev/null; }
ok "--abort ends whatever the agent is at" wait_until 20 active
like "$(cat "$tmp/ended")" '^req-[0-9]+$' "--abort tells what it ended"

# --- what it has not

for words in '--agents' '--history' '--attach /dev/null/x x' '-a other x' '-t other x' '--key k x'; do
  # shellcheck disable=SC2086  # words
  run agent-chat -p joel $words
  [ "$status" -eq 2 ] || break
done
status_is 2 "agents, histories, files, other threads and keys are refused"
t 2 "a message of blanks is refused" agent-chat -p joel ' '
printf '[profile home]\nkind = pincer\nurl = http://127.0.0.1:9\n' >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "--again is for a gateway that drops the same words" agent-chat -p home --again hello
t 2 "--again is for a message" agent-chat -p joel --again --threads
not_ok "no message has the token" grep -rq jc-secret "$out" "$err" "$tmp/joel.log" "$book"
done_testing
