#!/bin/sh
# agent-chat with a joelclaw gateway: answers as they were recorded from a real one, and a restart.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-chat jq python3

start_joelgate joel --recorded "$root/Tests/fixtures/joelclaw-gateway.ndjson"
chat() { run agent-chat -p joel --retry-wait 0.05 "$@"; }

chat echo hello there
is "$status: $(cat "$out")" "0: You said: hello there" "A recorded answer is printed."
chat "bash echo hi; sleep 1"
is "$status: $(xargs <"$out")" "0: I will run it. The command ran." \
  "Behind the end of a model's turn the answer goes on."
chat fail x1
is "$status: $(cat "$out")" "1: " "A model that fails four times is a failure."
err_like 'the model failed 4 times' "The message says that the model failed four times."
chat empty x2
is "$status: $(cat "$out")" "0: " "An empty answer is an answer."
chat echo after the empty
is "$status: $(cat "$out")" "0: You said: after the empty" \
  "An answer behind an empty one is printed."
chat words 100
is "$status" 0 "An answer that another client ends looks whole."
out_like '^word0 word1 word2' "What came of an answer that another client ends is printed."

start again agent-chat -p joel --retry-wait 0.5 -o json count 200
wait_until 20 has "$tmp/again.out" '"state":"partial"'
tell joel restart 800
finished "$pid"
is "$status" 0 "What a restarted gateway gives again is taken."
is "$(jq -r 'select(.role == "assistant" and .state == "final") | .text' "$tmp/again.out")" \
  "$(seq -s " " 0 199) " "The message behind the restart has the new words alone."
is "$(jq -r 'select(.role == "assistant") | .id' "$tmp/again.out" | sort -u | wc -l | tr -d ' ')" 2 \
  "The message behind the restart is another one than was cut off."
is "$(jq -r 'select(.type == "turn") | .state' "$tmp/again.out" | tail -n 1)" completed \
  "The turn behind the restart is completed."
done_testing
