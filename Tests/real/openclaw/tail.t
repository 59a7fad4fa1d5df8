#!/bin/sh
# agent-tail beside the real gateway: no turn is missing over twenty cuts.
. "${0%/*}/lib.sh"
needs agent-tail turn-fold jq

start tail agent-tail -p taped -L --retry-wait 0.2
tail=$pid
wait_until 20 has "$tmp/tail.out" '"type":"open"' || bail "not open"
(for i in $(seq 10); do
  for each in a b c d; do
    as_box -q -t 0 chat.send "{\"sessionKey\":\"agent:main:$run$each\",\"message\":\"say word $i of $each\",\"idempotencyKey\":\"$run$each$i\"}"
  done
  sleep 1 # turns that begin between the cuts and in them
done >"$tmp/sent") &
saying=$!
for i in $(seq 20); do
  sleep 1
  link deny
  sleep "0.$((i % 7))"
  link go
done
wait "$saying"
said() { turn-fold -f "$tmp/tail.out" | jq -r "select(.role == \"$1\") | .text"; }
all() { [ "$(said user | wc -l)" -ge 40 ] && [ "$(said assistant | grep -c word)" -ge 40 ]; }
ok "each of 40 messages has its answer" wait_until 60 all
for each in a b c d; do stored "$run$each"; done | grep . | sort >"$tmp/stored"
said assistant | grep . | sort >"$tmp/told"
ok "byte for byte what the gateway keeps, and once" cmp "$tmp/stored" "$tmp/told"
is "$(turn-fold -f "$tmp/tail.out" | jq -r 'select(.type == "turn").state' | sort -u)" completed \
  "every turn has ended"
is "$(jq -c 'select(.type == "gap")' "$tmp/tail.out")" "" "and no gap is told"
stop "$tail"
done_testing
