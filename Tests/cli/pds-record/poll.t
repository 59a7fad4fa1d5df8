#!/bin/sh
# pds-record watch where a server has no stream of events: it is polled, and tells the same.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me --page 2
write() { echo "{\"n\":$2}" | pds-record put "${3:-$task}" "$1" >"$tmp/written"; }
write a 1
write b 1
write c 1
none='{"method":"subscribeRepos","status":404,"text":"no such thing"}'
told() { jq -r 'select(.event).data | [.t, .by, (.ops[0] | .action, .path, .value.n)] | join(" ")' "$1"; }

# --- live

fault me "$none"
start watch pds-record watch -L --retry-wait 0.2
wait_until 20 has "$tmp/watch.out" '"type":"open"' || bail "not open"
is "$(cat "$tmp/watch.err")" \
  "pds-record: $url/: no stream of events: 404 Fault: no such thing; it is polled" \
    "one line says that a server is polled"
write d 1
write b 2
pds-record delete $task a >"$tmp/written"
write x 1 com.example.other
wait_until 20 has "$tmp/watch.out" com.example.other || bail "not told"
fault me '{"method":"getLatestCommit","status":503}'
fault me '{"method":"getLatestCommit","status":404,"text":"<html>log in first</html>"}'
wait_until 20 has "$tmp/watch.out" '"type":"resumed"'
write x 2 com.example.other
wait_until 20 has "$tmp/watch.out" '"update","path":"com.example.other'
stop "$pid" INT
status_is 130 "a signal ends polling"
is "$(told "$tmp/watch.out" | sort)" "#commit poll create com.example.other/x 1
#commit poll create $task/d 1
#commit poll delete $task/a 
#commit poll update com.example.other/x 2
#commit poll update $task/b 2" "polling tells what happens, and no more, whatever was lost"
is "$(jq -r 'select(.event).id' "$tmp/watch.out" | sort -u)" "" "polled events have no numbers"
is "$(jq -r 'select(.event).data | select(.ops[0].path | endswith("/b")) | .repo, .ops[0].cid' \
  "$tmp/watch.out" | xargs)" "did:web:alice.test $(pds-record get $task b | jq -r .cid)" \
  "polled events have repository and CID"
is "$(jq -r 'select(.type).type' "$tmp/watch.out" | xargs)" "open lost lost resumed end" \
  "polling tells of the link, too"

# --- what is there already, one collection

fault me '{"method":"subscribeRepos","status":501}'
run pds-record watch --from 0 -n 3 --max-time 20 $task
is "$(told "$out" | xargs -n 5)" "#commit poll create $task/b 2
#commit poll create $task/c 1
#commit poll create $task/d 1" "all records that are there are new when polling from 0"
is "$(asked me listRecords)" "$(jq -r 'select(.method == "listRecords").query' "$tmp/me.log" |
  grep -c 'limit=100')" "records are polled by pages"
fault me "$none"
t 2 "polled events that are too large have status 2" \
  pds-record watch --from 0 -n 1 --max-event-bytes 50 --max-time 1 --retry-wait 0.2 $task
err_like 'event of [0-9]+ bytes or more dropped' \
  "the message says that large polled events are dropped"
fault me "$none"
run pds-record watch --from 17 --max-time 1 --state "$tmp/state"
err_like 'polled, and not behind event 17' "the message says that polling ignores an event's number"
out_is "" "polling tells nothing twice"
is "$(jq -r .last_event_id "$tmp/state" 2>/dev/null || grep -o 17 "$tmp/state")" 17 \
  "polling does not change the state"

run pds-record watch --from 0 -n 1
is "$(jq -r .data.by "$out")" push "an event of a stream says that it was pushed"

# --- what is no such server

serve <<'END'
forever
status 404 text/plain none
END
printf '[profile raw]\nkind = pds\nurl = %s\nidentifier = did:web:a.test\n' "$url" \
  >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a server with neither a stream nor records is refused" pds-record watch
err_one_line pds-record "one line tells of a server with neither"
err_like ': 404 Status: none$' "the message says what a server with neither answered"

done_testing
