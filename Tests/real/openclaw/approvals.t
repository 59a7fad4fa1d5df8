#!/bin/sh
# agent-approve beside the real gateway: what runs of our own device, of another one, of the gateway's
# terminal and of its clock ask.
. "${0%/*}/lib.sh"
needs agent-approve agent-chat jq tmux
bound=400

# What waits is allowed as it comes: the gateway runs few at a time.
start watch sh -c 'agent-approve -p claw -w --all | tee "$0" |
  jq -c --unbuffered "select(.state == \"pending\") | .decision = \"allow-once\"" |
  agent-approve -p claw --all' "$tmp/seen"
watching=$pid
# approved WORDS COUNT: whether so many commands that begin with these words were told to be approved.
approved() {
  [ "$(jq -r --arg words "echo $1" 'select(.state == "approved")
    | select(.request.command | startswith($words)).id' "$tmp/seen" | sort -u | wc -l)" -ge "$2" ]
}

for n in $(seq 10); do
  agent-chat -p claw -w --max-time 150 -t "$run-own$n" "run echo own $n" >"$tmp/own.$n" 2>"$tmp/err.$n" &
done
# shellcheck disable=SC2046  # one word each
as_box -t 100 -k "$tmp/other.pem" $(for n in $(seq 10); do
  printf 'chat.send {"sessionKey":"agent:main:%s-far%s","message":"run\\u0020echo\\u0020far","idempotencyKey":"%s-far%s"} ' \
    "$run" "$n" "$run" "$n"
done) wait 100 >"$tmp/far" 2>&1 &
far=$!
ok "ten of our own runs are answered" wait_until 140 approved own 10
ok "ten of another device are answered" wait_until 140 approved far 10
done_() { [ "$(cat "$tmp"/own.* | grep -c Done)" -ge 10 ]; }
ok "our own conversations go on" wait_until 60 done_
kill "$far" 2>/dev/null

# The terminal of the gateway: one conversation, a turn after the other.
HOME=$box_home tmux -L "$run" new -d -x 120 -y 40 openclaw tui --session "agent:main:$run-tui"
ready() { tmux -L "$run" capture-pane -p | grep -q 'connected.*'; }
wait_until 60 ready || bail "the terminal of the gateway does not connect"
said() { [ "$(rows "$run-tui" | jq -r 'select(.role == "assistant") | .content | tostring' | grep -c Done)" -ge "$1" ]; }
for n in $(seq 10); do
  tmux -L "$run" send-keys -l "run echo tui $n"
  tmux -L "$run" send-keys Enter
  wait_until 40 approved tui "$n" || break
  wait_until 40 said "$n" || break
done
ok "ten of the gateway's terminal are answered" approved tui 10
ok "the terminal goes on behind each" said 10
tmux -L "$run" kill-server

# The clock of the gateway, which is told to run at once; the first as a person tells it.
job=$(HOME=$box_home openclaw cron add --name "$run-1" --cron '0 0 1 1 *' --message 'run echo clock 1' \
  --agent main --session isolated --no-deliver --json | jq -r .id)
# shellcheck disable=SC2046  # one word each
jobs=$(as_box -q -t 0 $(for n in $(seq 2 10); do
  printf 'cron.add {"name":"%s-%s","agentId":"main","schedule":{"kind":"cron","expr":"0\\u00200\\u00201\\u00201\\u0020*"},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"run\\u0020echo\\u0020clock\\u0020%s"},"delivery":{"mode":"none"}} ' \
    "$run" "$n" "$n"
done) | jq -r 'select(.m.type == "res") | .m.payload.schedule as $it | select($it) | .m.payload.id')
# shellcheck disable=SC2086  # one word each
is "$(printf '%s\n' "$job" $jobs | wc -l | tr -d ' ')" 10 "the clock has ten jobs"
# shellcheck disable=SC2046,SC2086  # one word each
as_box -q -t 0 $(printf 'cron.run {"id":"%s"} ' "$job" $jobs) >"$tmp/clock"
ok "ten of the gateway's clock are answered" wait_until 140 approved clock 10
is "$(jq -r 'select(.state == "approved") | select(.request.command | startswith("echo clock"))
  | .thread | split(":")[2]' "$tmp/seen" | sort -u)" cron "the clock has conversations of its own"

is "$(jq -r 'select(.result).result' "$tmp/watch.out" | sort | uniq -c | xargs)" "40 accepted" \
  "each of the forty is answered once"
stop "$watching"
done_testing
