#!/bin/sh
# agent-chat beside the real gateway: twenty conversations over twenty cuts and five kills.
. "${0%/*}/lib.sh"
needs agent-chat jq

killed=0
for n in $(seq 5); do
  # A gateway that was killed three times in five minutes leaves parts of its start out.
  while [ "$(($(date +%s) - killed))" -lt 160 ]; do sleep 1; done
  each=1
  for words in "say number $n" "slow 14" "big 30" "lines 400"; do
    agent-chat -p taped --retry-wait 0.2 --max-retries 1000 --max-time 300 -t "$run$n$each" "$words" \
      >"$tmp/out.$n$each" 2>"$tmp/err.$n$each" &
    eval "chat$each=\$!"
    each=$((each + 1))
  done
  for each in 1 2 3 4; do
    sleep 1 # what is cut is at work
    link deny
    sleep "0.$((n + each))"
    link go
  done
  killed=$(date +%s)
  restart
  for each in 1 2 3 4; do
    eval "wait \$chat$each"
    is "$?" 0 "conversation $n$each has its answer over four cuts and a kill"
    cat "$tmp/err.$n$each" >&2
    stored "$run$n$each" >"$tmp/stored"
    ok "it has words" grep -q . "$tmp/stored"
    ok "the answer is what the gateway keeps, byte for byte" cmp "$tmp/stored" "$tmp/out.$n$each"
  done
done
done_testing
