#!/bin/sh
# The prompts of outbox flush to a joelclaw gateway, which knows no keys: what was perhaps said is
# never said again by itself.
. "${0%/*}/../lib.sh"
needs outbox agent-chat jq python3
. "${0%/*}/../joelgate.sh"

config=$XDG_CONFIG_HOME/agentutils/config
start_joelgate joel --pace 1
gateway=$url
away() { sed -i "s|^url = .*|url = ws://127.0.0.1:9|" "$config"; }
back() { sed -i "s|^url = .*|url = $gateway|" "$config"; }
states() { jq -r '.text + " " + .state' "$out"; }
taken() { jq -r 'select(.taken).taken' "$tmp/joel.out"; }

away
for words in one two three; do agent-chat -p joel --queue "$words" 2>"$tmp/why"; done
is "$(cat "$tmp/why")" "agent-chat: ws://127.0.0.1:9/: others wait before it; it is kept" \
  "prompts are kept while the gateway is away"
back
t 0 "prompts are said when the gateway is there" outbox -p joel flush
is "$(jq -r '.text + "|" + .answer' "$out")" "one|You said: one
two|You said: two
three|You said: three" "prompts are said one after the other"
is "$(taken | xargs)" "one two three" "prompts are said in the order in which they were written"

# --- the same words, which the gateway would drop

echo '{"op":"prompt","text":"one"}' | outbox -p joel add >"$tmp/added"
t 75 "the same words wait when they come too soon" outbox -p joel flush
is "$(states)" "one queued" "the same words are still queued"
err_like 'the same words were sent [0-9]+ s ago' "the message says why the same words wait"
run outbox -p joel drop --all

# --- killed

number=0
away
while [ "$number" -lt 6 ]; do
  number=$((number + 1))
  agent-chat -p joel --queue "count $number" 2>"$tmp/why"
done
back
for pause in 0.02 0.04 0.06 0.08 0.1; do
  outbox -p joel flush >"$tmp/killed" 2>&1 &
  killed=$!
  sleep "$pause"
  kill -9 "$killed" 2>"$tmp/why"
  wait "$killed" 2>"$tmp/why"
done
echo '{"op":"prompt","text":"count 7"}' | outbox -p joel add >"$tmp/added"
tell joel "other telegram hold"
busy() { taken | grep -q hold; }
wait_until 10 busy || bail "the agent is not busy"
before=$(frames joel prompt | wc -l)
outbox -p joel --max-time 0.4 flush >"$tmp/killed" 2>&1
is "$(frames joel prompt | wc -l)" "$before" "nothing is sent while the agent is busy"
tell joel go
run outbox -p joel flush
# Killed between the note of its words and its own mark, a prompt was not said, and waits until
# the gateway would take the words; what stands behind it waits with it.
early=$(grep -c 'the same words were sent' "$err")
run outbox -p joel list
if [ "$early" -eq 0 ]; then
  is "$(jq -r 'select(.state != "unconfirmed").text' "$out")" "" "only what was perhaps said waits"
else
  is "$(jq -r 'select(.state != "unconfirmed").text' "$out" | head -n 1 |
    grep -cxF "$(taken)")" 0 "what waits for its words was not said"
fi
is "$(taken | sort | uniq -d)" "" "no prompt is said twice after the kills"
is "$(taken | grep count | sort)" "$(taken | grep count)" \
  "all prompts are said in order after the kills"
jq -r .text "$out" >"$tmp/waits"
{
  taken | grep count
  cat "$tmp/waits"
} | sort -u >"$tmp/known"
is "$(cat "$tmp/known")" "$(seq 7 | sed 's/^/count /')" "no prompt is lost after the kills"

# --- a link that is lost behind the words

run outbox -p joel drop --all
echo '{"op":"prompt","text":"into the dark"}' | outbox -p joel add >"$tmp/added"
tell joel lose
before=$(frames joel prompt | wc -l)
run outbox -p joel --max-time 3 flush
run outbox -p joel flush
is "$(states)" "into the dark unconfirmed" "a prompt that may have arrived is unconfirmed"
status_is 75 "a prompt that may have arrived has status 75"
err_like 'it was perhaps said, and is not said again by itself' \
  "the message says that a prompt was perhaps said"
is "$(frames joel prompt | wc -l)" "$((before + 1))" "a prompt that may have arrived was sent once"
t 0 "a prompt that may have arrived keeps no other waiting" agent-chat -p joel --queue and now

done_testing
