#!/bin/sh
# Consumers of others: what they allow to be asked for, and how one goes on that has gone.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs_peers
bound=40
start_bus a
rows 60 | bus-put -s "$bus" --create

# --- limits
# made NAME JSON: a consumer with these.
made() {
  printf '{"stream_name":"agents","config":{"durable_name":"%s","ack_policy":"explicit","max_ack_pending":1000,%s}}' \
    "$1" "$2" | bus_client api "CONSUMER.DURABLE.CREATE.agents.$1" >"$tmp/made"
}
for limit in '"max_batch":5' '"max_expires":2000000000' '"max_bytes":2000' '"max_waiting":1' \
  '"max_batch":3,"max_expires":1000000000,"max_bytes":1500,"max_waiting":1'; do
  name=limit$(printf '%s' "$limit" | cksum | cut -d ' ' -f 1)
  made "$name" "$limit"
  begun=$(date +%s)
  t 0 "a consumer with the limits $limit is read" bus-get -v -s "$bus" -d "$name" -n 60
  is "$(lines "$out")" 60 "a consumer with the limits $limit brings all"
  err_unlike 'xceeded' "nothing that is refused is asked for: $limit"
  ok "reading a consumer with limits does not wait: $limit" test "$(($(date +%s) - begun))" -lt 10
done
start idle bus-get -v -s "$bus" -d "$name"
# Three of its requests end meanwhile, of which nothing tells.
sleep 3
rows 3 101 | bus-put -s "$bus"
ok "a reader that waits with short requests gets what is new" \
  wait_until 20 at_least "$tmp/idle.out" 3
err_of() { not_ok "$2" grep -q "$1" "$tmp/idle.err"; }
err_of xceeded "a reader that waits asks for no more than it may"
stop "$pid"

python3 -c 'print("{\"type\":\"log\",\"text\":\"" + "x" * 5000 + "\"}")' | bus-put -s "$bus" -u records.large
made small '"max_bytes":2000,"deliver_policy":"last"'
t 2 "a record that no request may bring is an error" bus-get -s "$bus" -d small -n 1 --max-wait 5
err_like '^bus-get: consumer small: the next record is larger than its max_bytes of 2000' \
  "the message names the limit"

# --- one that goes while it is read
start going bus-get -s "$bus" -d going --all 'actions.>'
going=$pid
ok "a durable is read" wait_until 20 at_least "$tmp/going.out" 63
acknowledged() { [ "$(bus_client consumer agents going | jq .unacknowledged)" -eq 0 ]; }
ok "all that a durable read is acknowledged" wait_until 20 acknowledged
bus_client forget agents going
there() { bus_client consumer agents going >/dev/null 2>&1; }
ok "a durable consumer that was deleted is made anew" wait_until 30 there
rows 5 201 | bus-put -s "$bus"
ok "what comes is read after the consumer was made anew" wait_until 20 at_least "$tmp/going.out" 68
is "$(sort "$tmp/going.out" | uniq -d | wc -l | tr -d ' ')" 0 \
  "nothing comes twice after the consumer was made anew"
stop "$going"

# What is in hand then is acknowledged to the new one.
cat >"$tmp/judge" <<'END'
read -r line
printf '%s\n' "$line" >>"$1"
[ -e "$2" ] || { : >"$2"; sleep 3; }
END
start held bus-get -s "$bus" -d held --all --ack-wait 10 -x "sh $tmp/judge $tmp/judged $tmp/first" 'actions.>'
held=$pid
ok "a command is at a record" wait_until 20 test -e "$tmp/first"
bus_client forget agents held
ok "all records are judged though the consumer was deleted" wait_until 40 at_least "$tmp/judged" 68
is "$(sort -u "$tmp/judged" | wc -l | tr -d ' ')" 68 \
  "no record is missing when its consumer was deleted"
is "$(sort "$tmp/judged" | uniq -d | wc -l | tr -d ' ')" 0 \
  "no record is judged twice when its consumer was deleted"
stop "$held"

start remade bus-get -s "$bus" -d remade --all 'actions.>'
ok "a durable reads a stream that is then made anew" wait_until 20 at_least "$tmp/remade.out" 68
bus_client delete agents
rows 2 301 | bus-put -s "$bus" --create
finished "$pid"
is "$status" 2 "a stream that is another one by now ends it with status 2"
ok "the message says that the stream is another one" \
  grep -q 'stream agents: it ends at [12], and what was read at' "$tmp/remade.err"
done_testing
