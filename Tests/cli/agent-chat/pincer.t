#!/bin/sh
# agent-chat with a Pincer server: answers, pauses, ends, losses; a message is sent once.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-chat agent-approve curl jq python3

start_pincer pin
thread=$(new_thread pin)
chat() { run agent-chat -p pin --retry-wait 0.05 -t "$thread" "$@"; }
sent() { calls pin TurnsService/StartTurn | wc -l | tr -d ' '; }
# once TITLE: what was said since the last time was sent once.
before=0
once() {
  is "$(sent)" $((before + 1)) "$1"
  before=$(sent)
}
waiting() { ask pin ApprovalsService/ListApprovals '{}' | jq -r '.items[]?.actionId'; }
asked() { [ -n "$(waiting)" ]; }

# --- answers

chat how are you
status_is 0 "a question is answered"
out_is "You said: how are you" "its answer"
err_empty "nothing else is said"
is "$(calls pin TurnsService/StartTurn | jq -c '[.threadId, .userText, .triggerType, (.clientMessageId | length > 0)]')" \
  "[\"$thread\",\"how are you\",\"CHAT_MESSAGE\",true]" "it is sent with its trigger and a key"
once "once"
chat read x
out_is "High water at 06:12." "tools say nothing in a pipe"
run sh -c 'printf "from a pipe\n" | agent-chat -p pin -t "$1" -' - "$thread"
out_is "You said: from a pipe" "standard input is asked"
chat think
out_is "High water at 06:12." "thoughts are no answer"
before=$(sent)

chat -o json read x
status_is 0 "the answer comes as records"
is "$(jq -r '[.type, .role, .tool, .state] | map(. // empty) | join(" ")' "$out" | sort -u)" \
  'message assistant aborted
message assistant final
message assistant partial
message user final
tool_call read_file planned
tool_call read_file running
tool_call read_file succeeded
turn completed
turn running' "each change, whole"
is "$(jq -r 'select(.type == "tool_call") | .stdout // empty' "$out" | sort -u | xargs)" \
  "06:12 4.1 m, café" "with what the tool said"
is "$(jq -r '.backend + " " + .profile' "$out" | sort -u)" "pincer pin" "whose they are"
is "$(jq -r 'select(.type == "message") | .thread' "$out" | sort -u)" "$thread" "they say where"
is "$(jq -r 'select(.type == "turn") | .state' "$out" | tail -n 1)" completed "the end comes last"
before=$(sent)

run python3 "$cli/terminal.py" agent-chat -p pin -t "$thread" escape
out_like 'red .e\[31malert' "what a terminal would obey is made visible"
before=$(sent)
t 0 "a question without a thread makes one" agent-chat -p pin -o json a new one
is "$(jq -r 'select(.type == "thread") | .id' "$out")" \
  "$(ask pin ThreadsService/ListThreads '{}' | jq -r '.items[0].threadId')" "a new one is made, and named"

# --- ends

chat fail
status_is 1 "a turn that fails has status 1"
out_empty "nothing is printed"
err_is "agent-chat: the agent failed: FAILED_MODEL_OUTPUT: the model said nothing of use" \
  "the reason is told"
tell pin race before
chat fail INVALID_ARGUMENT
status_is 1 "one whose stream ends before its event has status 1"
err_like 'INVALID_ARGUMENT' "is told from the thread"
chat --timeout 1 die
status_is 75 "one that ends without a word has a limit"
err_like 'the turn is over, and how it ended is not said$' \
  "the message says that the end is unknown"
before=$(sent)
chat --timeout 1 hang
status_is 75 "and so has one that never ends"
err_like 'nothing of the answer came for 1 s' "the message says how long nothing came"
once "it was said once"

# --- losses: what was sent is found in the thread, and never sent twice

for fate in lose close mute; do
  tell pin "$fate" TurnsService/StartTurn
  if [ "$fate" = close ]; then
    chat --timeout 1.5 "$fate" it
    status_is 75 "$fate: what never arrived has status 75"
    err_like 'whether it arrived is not known' "$fate: the message says so"
  else
    chat --timeout 10 --idle-timeout 1 "$fate" it
    status_is 0 "$fate: what arrived is answered"
    out_is "You said: $fate it" "$fate: the answer is found"
  fi
  once "$fate: and said once"
done
tell pin split 3
for how in clean bare short half reset "error unavailable going away" "error internal odd"; do
  tell pin hold middle
  start cut agent-chat -p pin --retry-wait 0.05 -t "$thread" read "$how"
  wait_until 20 came_calls pin TurnsService/StartTurn $((before + 1))
  tell pin cut "$how"
  wait_until 20 has "$tmp/pin.log" "\"fromSequence\"" || true
  tell pin release middle
  finished "$pid"
  is "$status: $(cat "$tmp/cut.out")" "0: High water at 06:12." "cut, $how: the answer is found"
  once "and was said once"
done
tell pin split 0
# Somebody else talks in the thread meanwhile.
tell pin hold start
ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"theirs\"}" >"$tmp/theirs" &
wait_until 20 has "$tmp/pin.log" '"theirs"'
start other agent-chat -p pin --retry-wait 0.05 -t "$thread" mine
wait_until 20 came_calls pin TurnsService/StartTurn $((before + 1))
tell pin cut short
tell pin release start
finished "$pid"
is "$(cat "$tmp/other.out")" "You said: mine" "among others' turns one's own is found"
once "said once"
ended() { ! kill -0 "$1" 2>/dev/null; }
start gone agent-chat -p pin -t "$thread" hang
wait_until 20 came_calls pin TurnsService/StartTurn $((before + 1))
stop "$pid" INT
is "$status" 130 "^C ends it"
like "$(cat "$tmp/gone.err")" 'the turn goes on' "and says that it does not end the turn"
before=$(sent)

# --- pauses

thread=$(new_thread pin)
chat ask
status_is 75 "a turn that waits for an approval has status 75"
err_like 'waits for a person: bash \(HIGH\) \{"command":"tide --port KIL --day 0"\}, approval tc_[0-9a-f]+$' "says for what"
err_unlike "the model.s own words|Ask for the tides" "the model's words are not shown"
err_one_line agent-chat "it is told in a line"
once "sent once"
run python3 "$cli/terminal.py" agent-chat -p pin --retry-wait 0.05 -t "$thread" ask
is "$(tr -d '\r' <"$out" | grep '^agent-chat: in')" \
  "agent-chat: in another terminal: agent-approve -p pin -i" \
  "A terminal is told which command gives the approval."
run agent-approve -p pin --deny "$(waiting | tail -n 1)"
before=$(sent)
start wait agent-chat -p pin --retry-wait 0.05 -t "$(new_thread pin)" --wait ask 2
wait_until 20 sh -c "[ \$(agent-approve -p pin -l 2>/dev/null | wc -l) -eq 3 ]"
tell pin cut reset
# shellcheck disable=SC2046  # two words each
run agent-approve -p pin $(waiting | sed 's/^/--approve /')
finished "$pid"
is "$status: $(sort -u "$tmp/wait.out")" "0: High water at 06:12.
I need a tool." "--wait goes on behind the answers"
before=$(sent)
start deny agent-chat -p pin -o json -t "$thread" --wait ask
wait_until 20 asked
run agent-approve -p pin --deny "$(waiting)" not today
finished "$pid"
is "$status" 0 "a denial is an answer, too"
is "$(jq -r 'select(.type == "approval") | .state + " " + (.reason // "")' "$tmp/deny.out" | tail -n 1)" \
  "rejected not today" "its reason is told"
is "$(jq -r 'select(.type == "tool_call") | .state' "$tmp/deny.out" | tail -n 1)" rejected \
  "and the call of the tool is rejected"
start stuck agent-chat -p pin --retry-wait 0.05 -t "$thread" --wait --timeout 4 ask
wait_until 20 asked
tell pin expire "$(waiting)"
finished "$pid"
isnt "$status" 0 "a turn whose approval expired is not waited for until the end of time"
like "$(cat "$tmp/stuck.err")" 'expired' "the message says that it expired"

# --- lists

run agent-chat -p pin --threads
is "$(cut -f 1 "$out" | sort | head -n 1)" thr_0000000000000001 "the threads are listed"
thread=thr_0000000000000001
chat --history -n 2
is "$(lines "$out")" 2 "the last of a history is shown"
chat --history
is "$(grep -c 'user: ' "$out")" \
  "$(ask pin ThreadsService/GetThreadSnapshot "{\"threadId\":\"$thread\"}" |
    jq '[.messages[] | select(.role == "user")] | length')" "all of it is fetched, page by page"
chat --history -o json
is "$(jq -r '.state + " " + .backend' "$out" | sort -u)" "final pincer" "it is shown as records"
t 2 "a history needs a thread" agent-chat -p pin --history
t 2 "a turn cannot be ended" agent-chat -p pin --abort -t "$thread"
t 2 "a key is refused by a server without keys" agent-chat -p pin --key k hello
err_like 'cannot tell a second try from a new message' "the message says why"
t 2 "nor does it take files" agent-chat -p pin --attach "$out" hello
is "$(calls pin TurnsService/StartTurn | grep -c hello)" 0 "nothing was sent"

# --- refusals

tell pin refuse TurnsService/StartTurn unauthenticated unauthorized
chat hello
status_is 77 "a token that is refused has status 77"
err_one_line agent-chat "one line says it"
tell pin answer TurnsService/StartTurn 401 application/json '{"error":"unauthorized"}'
chat hello
status_is 77 "a refusal may have another shape"
tell pin refuse ThreadsService/ListThreadMessages not_found "thread not found"
chat hello
isnt "$status" 0 "a thread that there is not"
err_like 'thread not found' "the thread is said to be missing"
tell pin answer TurnsService/StartTurn 200 text/html '<html>'
chat hello
status_is 2 "something else than a Pincer server is an error"
tell pin refuse ThreadsService/ListThreadMessages unavailable later
chat hello
status_is 0 "what was not sent may be tried again"
before=$(sent)
tell pin hold middle
start revoked agent-chat -p pin --retry-wait 0.05 -t "$(new_thread pin)" read on
wait_until 20 came_calls pin TurnsService/StartTurn $((before + 1))
tell pin revoke
tell pin cut reset
finished "$pid"
is "$status $(lines "$tmp/revoked.err")" "77 1" "a token that is revoked in the middle of a turn"
like "$(cat "$tmp/revoked.err")" 'the turn may go on$' "which goes on without us"
tell pin release middle
before=$(sent)
chat hello
status_is 77 "a token that was revoked is refused"
is "$(sent)" "$before" "is noticed before anything is sent"
not_ok "no token in what was said" grep -rq "${pincer_token#*.}" "$out" "$err" "$tmp"/*.err "$tmp"/*.out
done_testing
