#!/bin/sh
# The turns of an OpenClaw gateway: what its chat says of a reply, to the last character.
. "${0%/*}/../lib.sh"
needs turn-fold jq

# chat FRAME...: the last text of the run, and its state.
chat() {
  for payload in "$@"; do
    printf '{"event":"chat","id":"","data":{"runId":"r","sessionKey":"agent:heron:main",%s}}\n' \
      "$payload"
  done | turn-fold | jq -rs 'map(select(.type == "message")) | last | "\(.state) \(.text)"'
}
delta='"state":"delta","deltaText":"kept"'
for content in '""' '[]' '[{"type":"text","text":""}]'; do
  is "$(chat "$delta" "\"state\":\"final\",\"message\":{\"content\":$content}")" "final kept" \
    "an end whose message is $content takes no words back"
done
is "$(chat '"state":"delta","deltaText":"a\ud83d"' '"state":"delta","deltaText":"\ude00"' \
  '"state":"final"')" "final a😀" "a character that is cut between pieces is whole"
is "$(chat '"state":"delta","deltaText":"a\ud83d"' '"state":"final"')" "final a�" \
  "half a character at the end is shown as what cannot be read"
is "$(printf '{"event":"chat","id":"","data":{"runId":"r","sessionKey":"s","state":"final","message":{"content":""}}}\n' |
  turn-fold | jq -rs 'map(.type + " " + .state) | join(", ")')" "turn completed" \
  "an agent that chose silence said nothing"
seq 3000 | jq -c '{event: "agent", id: "", data: {runId: "r", sessionKey: "s", stream: "tool",
  data: {phase: "start", name: "exec", toolCallId: "c\(.)"}}}' >"$tmp/calls"
is "$(turn-fold "$tmp/calls" | jq -r 'select(.type == "tool_call").id' | sort -u | wc -l | tr -d ' ')" \
  3000 "each call of a turn that uses tools without end is told"

phase() {
  printf '{"event":"agent","id":"","data":{"runId":"r","sessionKey":"s","stream":"lifecycle","data":{"phase":"%s"}}}\n' "$@"
}
is "$(phase start waiting-approval approval-resolved end | turn-fold | jq -r .state | tr '\n' ' ')" \
  "running paused running completed " "a turn that waits for approval is paused, and goes on"
tool() {
  printf '{"event":"agent","id":"","data":{"runId":"r","sessionKey":"s","stream":"tool","data":{"name":"%s","toolCallId":"c","phase":"%s"}}}\n' \
    "$1" start "$1" result
}
is "$({ phase start; tool ask_user; phase end; } | turn-fold | jq -r 'select(.type == "turn").state' | tr '\n' ' ')" \
  "running paused running completed " "a turn that asks a person is paused, and goes on"
is "$({ phase start; tool exec; phase end; } | turn-fold | jq -r 'select(.type == "turn").state' | tr '\n' ' ')" \
  "running completed " "a turn that uses another tool is not paused"
asked='{"event":"question.requested","id":"","data":{"id":"ask_1","questions":[{"questionId":"q","question":"Which?","options":[{"label":"A"},{"label":"B"}]}],"sessionKey":"s","runId":"r","status":"pending"}}'
over='{"event":"question.resolved","id":"","data":{"id":"ask_1","status":"answered","answers":{"answers":{"q":["B"]}}}}'
is "$(printf '%s\n' "$asked" "$over" | turn-fold | jq -r '[.type, .tool, .state, .turn // "-", .decision // "-"] | join(" ")')" \
  "approval question pending r -
approval question approved r B" "what a turn asks is an approval, and the answer its decision"

# What a gateway (2026.9.6) said, frame by frame.
recorded() { turn-fold -f "$cli/../fixtures/recorded/openclaw-$1.ndjson"; }
is "$(recorded tail | jq -r '[.type, .role // .tool // "", .state, .text // .stdout // ""] | join(" ")')" \
  "message user final run uname -s
tool_call exec succeeded Linux
turn  completed 
message assistant final Done after 1 step(s): run" \
  "a recorded turn with an approval has its question, its call, its end and its answer, each once"
is "$(recorded chat | jq -r 'select(.type == "turn") | "\(.id[:4]) \(.state) \(.reason // "")"')" \
  "5d0c completed 
d0a3 completed 
296d aborted stop
b6e6 failed LLM request failed: provider rejected the request schema or tool payload.
f41d aborted rpc
6849 completed 
fu-1 completed 
086c completed 
5550 completed " "recorded turns end as the gateway says"
is "$(recorded chat | jq -r 'select(.role == "assistant") | "\(.id[:4]) \(.state) \(.text | .[-12:])"')" \
  "5d0c final step(s): run
d0a3 final 8 word9 end.
f41d aborted  word6 word7
086c final  word19 end.
5550 final third" "each recorded answer is told once"

is "$(turn-fold "$cli/../fixtures/recorded/openclaw-approvals.ndjson" |
  jq -rs 'map(select(.type == "approval")) | group_by(.id) | map(last) | .[]
    | "\(.id[:6]) \(.state) \(.request.command)"')" "0e9b93 approved uname -s
316aad cancelled uname -s
50b54f approved uname -s
6d0ede expired make test
817063 approved null
9a26d7 pending uname -p" \
  "each recorded approval has its end and an answered one is not rejected"

# Rows that were fetched.
rows() {
  printf '{"event":"chat.history","id":"","data":{"sessionKey":"s","messages":[%s],%s}}\n' \
    "$1" "${2:-\"sessionInfo\":{\"hasActiveRun\":false\}}"
}
row() { printf '{"role":"%s","content":"%s","__openclaw":{"id":"%s","runId":"r"}%s}' "$@"; }
told() { turn-fold -f | jq -r '[.type, .id, .state, .text // .stdout // .reason // ""] | join(" ")'; }
is "$(rows "$(row assistant one a ''),$(row assistant two b '')" | told)" "message r final one

two
turn r completed " "what a run said in two rows is one answer"
is "$({ rows "$(row assistant one a '')" && rows "$(row assistant one a '')"; } | told | wc -l | tr -d ' ')" \
  2 "a row that was fetched twice is told once"
is "$(rows "$(row assistant Looking. a ''),$(printf '{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"exec","arguments":{"command":"ls"}}],"__openclaw":{"id":"a","runId":"r"}}'),$(row toolResult tides b ',"toolCallId":"c","toolName":"exec"'),$(row assistant Done. c '')" | told)" \
  "tool_call c succeeded tides
message r final Done.
turn r completed " "what was said beside a call is no part of it, and the call is told"
is "$(rows "$(row assistant half a ',"openclawAbort":{"aborted":true}')" | told)" "message r aborted half
turn r aborted " "a run that was ended is aborted"
is "$(rows "$(row assistant 'rate limit' a ',"stopReason":"error"')" | told)" "turn r failed rate limit" \
  "a run that failed said nothing"
is "$(rows "$(row assistant 'a part' a '')" '"inFlightRun":{"runId":"r","text":"a part and"}' | told)" "" \
  "a run that is at work is not over"
is "$({ phase start && rows '' '"sessionInfo":{"activeRunIds":[]}'; } | told)" "turn r completed " \
  "a run that is no longer at work is over also where no row of it was kept"
is "$({ phase start && rows '' '"sessionInfo":{"hasActiveRun":true}'; } | told)" "" \
  "a run is not over where nobody says so"
person='{"role":"user","content":"hello","idempotencyKey":"r:user","__openclaw":{"id":"a"}}'
own='{"role":"user","content":"go on","provenance":{"kind":"internal_system"},"__openclaw":{"id":"b"}}'
is "$(rows "$person,$own" | told)" \
  "message a final hello" "what the gateway says to the agent by itself is none of a person"
is "$({ rows "$person" && printf '{"event":"sessions.changed","id":"1","data":{"kind":"direct"}}\n' &&
  printf '{"event":"action_event","id":"2","data":{"id":1,"kind":"x","created_at":"2026-11-29T05:53:56Z"}}\n' &&
  printf '{"event":"session.message","id":"3","data":{"sessionKey":"s","kind":"direct","createdAt":1,"message":%s}}\n' \
    '{"role":"user","content":"more","__openclaw":{"id":"b"}}'; } | told)" "message a final hello
message b final more" "what is said of the conversation beside a row makes no action of it"
for odd in null 7 '"x"' '{}' '[null,7,{"role":7},{"role":"user"}]'; do
  printf '{"event":"chat.history","id":"","data":{"sessionKey":"s","messages":%s}}\n' "$odd"
  printf '{"event":"session.message","id":"","data":{"sessionKey":"s","message":%s}}\n' "$odd"
done >"$tmp/odd"
t 0 "rows of odd types have status 0" turn-fold "$tmp/odd"
out_is "" "nothing is made of rows of odd types"
done_testing
