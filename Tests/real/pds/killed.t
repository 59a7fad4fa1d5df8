#!/bin/sh
# pds-record beside the reference server: 500 writes over 10 kills, each there once and told.
. "${0%/*}/lib.sh"
needs pds-record outbox jq
bound=300

start watch pds-record watch --from 0 --retry-wait 0.2 "$c"
watching=$pid
(for _ in 1 2 3 4 5 6 7 8 9 10; do
  sleep 3
  pds kill
  sleep 0.3
  pds start
done) &
killing=$!
seq 500 | while read -r n; do
  echo "{\"n\":$n}"
  sleep 0.08
done | pds-record create --timeout 120 --max-retries 100 --state "$tmp/keys" "$c" >"$tmp/made" 2>"$err" ||
  diag "$(cat "$err")"
wait "$killing"
is "$(wc -l <"$tmp/made")" 500 "500 writes over 10 kills are answered"
pds-record list "$c" >"$tmp/there"
is "$(wc -l <"$tmp/there") $(jq .value.n "$tmp/there" | sort -n | uniq | wc -l)" "500 500" \
  "and each is there once"
is "$(jq -r .uri "$tmp/there" | sort | cksum)" "$(jq -r .uri "$tmp/made" | sort | cksum)" \
  "under the key that was told"
told() { jq -r 'select(.event == "#commit").data.ops[].value.n' "$tmp/watch.out" | sort -n | uniq; }
all_told() { [ "$(told | grep -c '^[0-9]')" -eq 500 ]; }
wait_until 30 all_told
ok "each was watched" all_told
stop "$watching" INT

# --- an outbox, over a lost answer and a kill

seq 20 | while read -r n; do
  echo "{\"op\":\"put\",\"collection\":\"$c\",\"rkey\":\"q$n\",\"base\":null,\"record\":{\"q\":$n}}"
done | outbox add >"$tmp/other"
link drop-answer 3
(sleep 0.2 && pds kill && pds start) &
killing=$!
t 0 "an outbox over lost answers and a kill" outbox flush
wait "$killing"
is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "20 done" "is sent"
is "$(pds-record list "$c" | jq -c 'select(.value.q).value.q' | wc -l)" 20 "once"

done_testing
