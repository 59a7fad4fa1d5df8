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
out_is "You said: how are you" "the answer of the server is printed"
err_empty "nothing else is said beside an answer"
is "$(calls pin TurnsService/StartTurn | jq -c '[.threadId, .userText, .triggerType, (.clientMessageId | length > 0)]')" \
  "[\"$thread\",\"how are you\",\"CHAT_MESSAGE\",true]" \
  "a question is sent with its trigger and a key"
once "a question is sent once"
chat read x
out_is "High water at 06:12." "tools say nothing in a pipe"
run sh -c 'printf "from a pipe\n" | agent-chat -p pin -t "$1" -' - "$thread"
out_is "You said: from a pipe" "standard input is asked"
chat think
out_is "High water at 06:12." "thoughts are not part of an answer"
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
turn running' "each change has its record, and is whole"
is "$(jq -r 'select(.type == "tool_call") | .stdout // empty' "$out" | sort -u | xargs)" \
  "06:12 4.1 m, café" "the record of a tool has what the tool said"
is "$(jq -r '.backend + " " + .profile' "$out" | sort -u)" "pincer pin" \
  "the records say whose they are"
is "$(jq -r 'select(.type == "message") | .thread' "$out" | sort -u)" "$thread" \
  "the records say in which thread they are"
is "$(jq -r 'select(.type == "turn") | .state' "$out" | tail -n 1)" completed \
  "the end of a turn comes last"
before=$(sent)

run python3 "$cli/terminal.py" agent-chat -p pin -t "$thread" escape
out_like 'red .e\[31malert' "what a terminal would obey is made visible"
before=$(sent)
t 0 "a question without a thread makes one" agent-chat -p pin -o json a new one
is "$(jq -r 'select(.type == "thread") | .id' "$out")" \
  "$(ask pin ThreadsService/ListThreads '{}' | jq -r '.items[0].threadId')" \
  "a new thread is made and named"

# --- ends

chat fail
status_is 1 "a turn that fails has status 1"
out_empty "nothing is printed of a turn that fails"
err_is "agent-chat: the agent failed: FAILED_MODEL_OUTPUT: the model said nothing of use" \
  "the reason of a turn that fails is told"
tell pin race before
chat fail INVALID_ARGUMENT
status_is 1 "a turn whose stream ends before its event has status 1"
err_like 'INVALID_ARGUMENT' "the reason of a turn whose stream ends is told from the thread"
chat --timeout 1 die
status_is 75 "a turn that ends without a word has status 75"
err_like 'the turn is over, and how it ended is not said$' \
  "the message says that the end is unknown"
before=$(sent)
chat --timeout 1 hang
status_is 75 "a turn that never ends has status 75"
err_like 'nothing of the answer came for 1 s' "the message says how long nothing came"
once "a question whose turn never ends is sent once"

# --- losses: what was sent is found in the thread, and never sent twice

for fate in lose close mute; do
  tell pin "$fate" TurnsService/StartTurn
  if [ "$fate" = close ]; then
    chat --timeout 1.5 "$fate" it
    status_is 75 "$fate: what never arrived has status 75"
    err_like 'whether it arrived is not known' "$fate: the message says that it is not known"
  else
    chat --timeout 10 --idle-timeout 1 "$fate" it
    status_is 0 "$fate: what arrived is answered"
    out_is "You said: $fate it" "$fate: the answer is found"
  fi
  once "$fate: the question is sent once"
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
  once "cut, $how: the question is sent once"
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
is "$(cat "$tmp/other.out")" "You said: mine" "a turn of one's own is found among those of others"
once "a question among those of others is sent once"
ended() { ! kill -0 "$1" 2>/dev/null; }
start gone agent-chat -p pin -t "$thread" hang
wait_until 20 came_calls pin TurnsService/StartTurn $((before + 1))
stop "$pid" INT
is "$status" 130 "^C ends the command by that signal"
like "$(cat "$tmp/gone.err")" 'the turn goes on' "the message says that ^C does not end the turn"
before=$(sent)

# --- pauses

thread=$(new_thread pin)
chat ask
status_is 75 "a turn that waits for an approval has status 75"
err_like 'waits for a person: bash \(HIGH\) \{"command":"tide --port KIL --day 0"\}, approval tc_[0-9a-f]+$' \
  "the message says what the turn waits for"
err_unlike "the model.s own words|Ask for the tides" "the model's words are not shown"
err_one_line agent-chat "a turn that waits for an approval is told in a line"
once "a question that waits for an approval is sent once"
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
I need a tool." "--wait goes on behind the approvals"
before=$(sent)
start deny agent-chat -p pin -o json -t "$thread" --wait ask
wait_until 20 asked
run agent-approve -p pin --deny "$(waiting)" not today
finished "$pid"
is "$status" 0 "a denial is an answer, too"
is "$(jq -r 'select(.type == "approval") | .state + " " + (.reason // "")' "$tmp/deny.out" | tail -n 1)" \
  "rejected not today" "the reason of a denial is told"
is "$(jq -r 'select(.type == "tool_call") | .state' "$tmp/deny.out" | tail -n 1)" rejected \
  "the call of a tool is rejected by a denial"
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
    jq '[.messages[] | select(.role == "user")] | length')" \
  "all of a history is fetched, page by page"
chat --history -o json
is "$(jq -r '.state + " " + .backend' "$out" | sort -u)" "final pincer" \
  "a history is shown as records"
t 2 "a history needs a thread" agent-chat -p pin --history
t 2 "a turn cannot be ended" agent-chat -p pin --abort -t "$thread"
t 2 "a key is refused by a server without keys" agent-chat -p pin --key k hello
err_like 'cannot tell a second try from a new message' "the message says why a key is refused"
t 2 "a server without files refuses a file" agent-chat -p pin --attach "$out" hello
is "$(calls pin TurnsService/StartTurn | grep -c hello)" 0 "nothing was sent with a key or a file"

# --- refusals

tell pin refuse TurnsService/StartTurn unauthenticated unauthorized
chat hello
status_is 77 "a token that is refused has status 77"
err_one_line agent-chat "a token that is refused is told in one line"
tell pin answer TurnsService/StartTurn 401 application/json '{"error":"unauthorized"}'
chat hello
status_is 77 "a refusal may have another shape"
tell pin refuse ThreadsService/ListThreadMessages not_found "thread not found"
chat hello
isnt "$status" 0 "a thread that does not exist is an error"
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
is "$status $(lines "$tmp/revoked.err")" "77 1" \
  "a token that is revoked in the middle of a turn has status 77"
like "$(cat "$tmp/revoked.err")" 'the turn may go on$' "the message says that the turn may go on"
tell pin release middle
before=$(sent)
chat hello
status_is 77 "a token that was revoked is refused"
is "$(sent)" "$before" "a token that was revoked is noticed before anything is sent"
not_ok "the token is nowhere in what was said" \
  grep -rq "${pincer_token#*.}" "$out" "$err" "$tmp"/*.err "$tmp"/*.out
done_testing
