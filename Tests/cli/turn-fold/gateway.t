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
  3000 "of a turn that uses tools without end each call is told"

phase() {
  printf '{"event":"agent","id":"","data":{"runId":"r","sessionKey":"s","stream":"lifecycle","data":{"phase":"%s"}}}\n' "$@"
}
is "$(phase start waiting-approval approval-resolved end | turn-fold | jq -r .state | tr '\n' ' ')" \
  "running paused running completed " "a turn that waits for approval is paused, and goes on"

done_testing
