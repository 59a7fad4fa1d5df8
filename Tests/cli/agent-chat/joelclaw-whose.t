#!/bin/sh
# agent-chat with a joelclaw gateway: what is said to others before, behind and between.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-chat jq python3

start_joelgate joel
chat() { run agent-chat -p joel --retry-wait 0.1 "$@"; }
finals() {
  jq -r 'select(.role == "assistant" and .state == "final") | (.turn != null | tostring) + " " + .text' \
    "$out"
}

# --- somebody else's words

for words in 'next 0' 'next 100' 'swift 400'; do
  chat "$words"
  is "$status $(cat "$out")" "0 Mine." "an answer to somebody else behind ours is not ours: $words"
done
chat after a while
is "$status $(cat "$out")" "0 You said: after a while" "an answer in front of ours is not ours"
chat -o json after all
is "$(finals)" "true You said: after all" "the final records of our turn have our answer alone"
is "$(jq -r 'select(.text == "SECRET ") | .turn' "$out" | sort -u)" null \
  "the words for somebody else are of no turn"

# --- what is lost

chat deep
out_is "Do not now reboot" "a piece is not lost to what stands beside it"
chat -o json tooled
status_is 0 "a tool that is called before the request is seen"
is "$(jq -r 'select(.type == "tool_call") | .state + " " + (.turn != null | tostring)' "$out" | xargs)" \
  "running true succeeded true" "the tool that is called before the request is told"
chat --timeout 1 -o json behind
status_is 75 "a gateway whose clock is far behind has status 75"
err_like "the gateway's clock seems to be (89|9[0-9]) s behind$" "the message tells how far behind"
is "$(jq -r 'select(.type == "turn") | .state' "$out" | tail -n 1)" failed \
  "the turn at a gateway whose clock is behind has an end"

# --- one prompt in flight

port=${url##*:}
printf '[profile same]\nkind = joelclaw\nurl = ws://LOCALHOST:%s/ws\n' "$port" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
start one agent-chat -p joel late 600 one
one=$pid
wait_until 20 came_frames joel prompt 1
start two agent-chat -p same late 0 two
two=$pid
finished "$one"
is "$status:$(cat "$tmp/one.out")" "0:You said: late 600 one" \
  "the first prompt to one gateway by two names is answered"
finished "$two"
is "$status:$(cat "$tmp/two.out")" "0:You said: late 0 two" \
  "one gateway by two names takes one prompt at a time"
t 75 "one gateway by two names has one memory of prompts" agent-chat -p same late 600 one
chat --max-time 0.4 late 1200 three
status_is 75 "a prompt that is given up while it waits in the gateway has status 75"
chat late 0 four
is "$status:$(cat "$out")" "0:You said: late 0 four" \
  "a prompt behind one that was given up is answered"
ok "a prompt that was given up is taken all the same" \
  has "$tmp/joel.out" '"taken":"late 1200 three"'
start_joelgate other
for number in 1 2; do
  start left agent-chat -p joel "left $number"
  left=$pid
  start right agent-chat -p other "right $number"
  finished "$left"
  finished "$pid"
done
is "$(find "$XDG_STATE_HOME/agentutils/joelclaw" -name 'prompts-*' -exec cat {} + | wc -l | tr -d ' ')" \
  "$(($(frames joel prompt | wc -l) + $(frames other prompt | wc -l)))" "two gateways have a memory each"

# --- no status

start_joelgate silent --silent
for words in --threads --abort; do
  run agent-chat -p silent --timeout 0.5 $words
  [ "$status" -eq 75 ] || break
done
status_is 75 "a gateway that says nothing of itself has status 75"
err_like 'no status came in time$' \
  "a gateway that says nothing of itself is not waited for without end"
done_testing
