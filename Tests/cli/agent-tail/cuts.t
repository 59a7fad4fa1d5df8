#!/bin/sh
# What an OpenClaw gateway kept while the connection was lost.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-tail turn-fold jq python3

came() { wait_until 20 has "$tmp/tail.out" "$1"; }
# turns: each turn that ended, with its text, in the order of their ends.
turns() {
  turn-fold "$tmp/tail.out" | jq -rs '(map(select(.type == "message" and .role == "assistant"))
    | map({key: .id, value: .text}) | from_entries) as $texts
    | map(select(.type == "turn" and .state != "running")) | map(.id as $id
    | "\($id) \(.state) \($texts[$id] // "" | if length > 60 then length else . end)") | .[]'
}
# away GATEWAY: nobody gets in, and who is there is thrown out. back: all is well again.
away() { tell "$1" door busy; tell "$1" drop; wait_until 20 lost_again; }
lost_again() { [ "$(grep -c '"type":"lost"' "$tmp/tail.out")" -gt "${lost:-0}" ]; }
back() {
  tell "$1" door
  wait_until 20 is_back
  lost=$(grep -c '"type":"lost"' "$tmp/tail.out")
}
is_back() { [ "$(jq -rs 'map(.type // empty) | last' "$tmp/tail.out")" = resumed ]; }

start_gateway claw
start tail agent-tail -p claw -L --retry-wait 0.1
tail=$pid
came '"type":"open"'
came_frames claw sessions.subscribe 1
tell claw say near count 3
came '"runId":"said-1","sessionKey":"agent:heron:near","seq":[0-9]*,"state":"final"'
ok "a conversation that was heard is marked" wait_until 20 came_frames claw chat.history 1
is "$(frames claw chat.history | head -n 1 | jq -c .)" '{"sessionKey":"agent:heron:near","limit":1}' \
  "the last row of a conversation is its mark"
not_ok "nothing is printed of a mark" has "$tmp/tail.out" 'chat.history'

away claw
tell claw say near short words
tell claw say far wide 20000
tell claw say near tool
tell claw rest
back claw
ok "what was said in a loss is fetched" came '"event":"chat.history".*"said-4"'
ok "what was said in a conversation that was not heard is fetched, too" \
  came '"event":"chat.history".*"said-3"'
not_ok "no gap is told where nothing is missing" has "$tmp/tail.out" '"type":"gap"'
is "$(frames claw chat.history | jq -r 'select(.cursor) | .sessionKey')" "agent:heron:near" \
  "a conversation with a mark is fetched from behind it"
is "$(turns | sort)" "said-1 completed 0 1 2 
said-2 completed You said: short words
said-3 completed 20000
said-4 completed Looking. High at 06:12." "each turn over a loss is told once, with all of its text"
is "$(turn-fold "$tmp/tail.out" | jq -r 'select(.role == "user") | "\(.turn) \(.text)"' | sort)" \
  "said-1 count 3
said-2 short words
said-3 wide 20000
said-4 tool" "what was said to the agent in a loss is told"

# A reply that is under way.
tell claw say near slow 6 0.3
came '"runId":"said-5".*"deltaText":"0 "'
away claw
back claw
ok "the text of a reply under way is fetched" came '"chat.history".*"inFlightRun":{"runId":"said-5"'
came '"runId":"said-5".*"state":"final"'
is "$(turns | grep said-5)" "said-5 completed 0 1 2 3 4 5 " \
  "nothing of a reply under way is missing or twice"

# A hole in the numbers, in which there was a row.
tell claw skip 1
tell claw say quiet hold silent
tell claw event news 1
ok "a hole is told, and what was kept is fetched" came '"chat.history".*"sessionKey":"agent:heron:quiet"'
ok "the hole has its numbers" has "$tmp/tail.out" '"type":"gap","from"'
tell claw go
came '"runId":"said-6".*"state":"final"'

# Marks that do not hold.
away claw
tell claw compact
tell claw say near after the marks
tell claw rest
back claw
ok "the last rows are fetched where the mark does not hold" came '"chat.history".*after the marks'
is "$(turns | grep said-7)" "said-7 completed You said: after the marks" \
  "only new rows count where the mark does not hold"
is "$(turns | sort | uniq -d)" "" "no turn is told twice"
is "$(jq -r 'select(.type == "gap" and .unreached)' "$tmp/tail.out")" "" \
  "no conversation is told as out of reach"
away claw
tell claw compact
for number in $(seq 101); do tell claw say near "$number"; done
tell claw rest
back claw
ok "more than can be had is a gap" came '"type":"gap",.*"unreached":\[{"thread":"agent:heron:near"}\]'
ok "the tail goes on behind a gap" came '"chat.history".*You said: 101'

# What the gateway does not give.
away claw
tell claw short
tell claw say far wide 30000
tell claw rest
back claw
ok "a text that is not to be had whole is named" \
  wait_until 20 has "$tmp/tail.err" 'agent-tail: agent:heron:far: the gateway gave a part of a message'
came '"chat.history".*truncated'
is "$(turn-fold "$tmp/tail.out" | jq -r 'select(.role == "assistant" and .reason) | "\(.id) \(.state) \(.reason) \(.text|length)"')" \
  "said-109 final the gateway gave a part of it 8018" \
  "a turn of which a part was given is known as such"
stop "$tail"

# One conversation alone.
start_gateway one
start tail agent-tail -p one -L --retry-wait 0.1 near
came '"type":"open"'
came_frames one sessions.messages.subscribe 1
wait_until 20 came_frames one chat.history 1
tell one say far elsewhere
tell one event cron '{"job":"tides"}'
tell one event heartbeat '{"ts":1}'
tell one event exec.approval.requested '{"id":"a","request":{"command":"ls","sessionKey":"agent:heron:far"}}'
tell one event exec.approval.requested '{"id":"b","request":{"command":"ls","sessionKey":"agent:heron:near"}}'
came '"id":"b"'
is "$(jq -r '.event // empty' "$tmp/tail.out" | sort -u)" exec.approval.requested \
  "neither others nor the clock are told of one conversation"
away one
tell one say near within
tell one say far elsewhere
tell one rest
back one
ok "what was said in one conversation is fetched" came '"chat.history".*You said: within'
not_ok "nothing of another conversation is fetched" has "$tmp/tail.out" elsewhere
stop "$pid"

# A gateway that is just starting.
start_gateway slow
tell slow refuse '{"code":"UNAVAILABLE","message":"gateway starting; retry shortly","details":{"reason":"startup-sidecars"},"retryable":true,"retryAfterMs":200}'
start tail agent-tail -p slow -L
wait_until 20 has "$tmp/slow.log" '"connection": 3'
tell slow refuse
came '"type":"open"'
not_ok "a gateway that starts is tried again when it asks for that" has "$tmp/tail.out" '"type":"lost"'
stop "$pid"

# Twenty cuts.
start_gateway torn --drops 20 --seed 7 --pace 20
start tail agent-tail -p torn -L --retry-wait 0.1
came '"type":"open"'
came_frames torn sessions.subscribe 1
for number in $(seq 40); do tell torn say "c$((number % 4))" "count $((number % 7 + 2))"; done
all() { [ "$(turns | grep -c completed)" -ge 40 ]; }
ok "a tail over twenty cuts has every turn" wait_until 60 all
want=$(for number in $(seq 40); do
  printf 'said-%s completed %s \n' "$number" "$(seq 0 $((number % 7 + 1)) | tr '\n' ' ' | sed 's/ $//')"
done | sort)
is "$(turns | sort)" "$want" "each turn over twenty cuts is there once, with its whole text"
is "$(jq -r 'select(.type == "gap") | .unreached' "$tmp/tail.out" | grep -vc null)" 0 \
  "no gap over twenty cuts names a thread out of reach"
stop "$pid"
done_testing
