#!/bin/sh
# agent-approve beside the real gateway: what runs of our own device and of another one ask.
. "${0%/*}/lib.sh"
needs agent-approve agent-chat jq
bound=200

# What waits is allowed as it comes: the gateway runs few at a time.
start watch sh -c 'agent-approve -p claw -w --all | tee "$0" |
  jq -c --unbuffered "select(.state == \"pending\") | .decision = \"allow-once\"" |
  agent-approve -p claw --all' "$tmp/seen"
watching=$pid
for n in $(seq 10); do
  agent-chat -p claw -w --max-time 150 -t "$run-own$n" "run echo own $n" >"$tmp/own.$n" 2>"$tmp/err.$n" &
done
# shellcheck disable=SC2046  # one word each
as_box -t 100 -k "$tmp/other.pem" $(for n in $(seq 10); do
  printf 'chat.send {"sessionKey":"agent:main:%s-far%s","message":"run\\u0020echo\\u0020far","idempotencyKey":"%s-far%s"} ' \
    "$run" "$n" "$run" "$n"
done) wait 100 >"$tmp/far" 2>&1 &
far=$!
answered() { [ "$(jq -r 'select(.result).id' "$tmp/watch.out" | sort -u | wc -l)" -ge 20 ]; }
ok "twenty are answered, ten of another device" wait_until 140 answered
is "$(jq -r 'select(.result).result' "$tmp/watch.out" | sort | uniq -c | xargs)" "20 accepted" \
  "each once"
over() { [ "$(jq -r 'select(.state == "approved").id' "$tmp/seen" | sort -u | wc -l)" -ge 20 ]; }
ok "and each is told to be approved" wait_until 30 over
done_() { [ "$(cat "$tmp"/own.* | grep -c Done)" -ge 10 ]; }
ok "our own conversations go on" wait_until 60 done_
kill "$far" 2>/dev/null
stop "$watching"
done_testing
