#!/bin/sh
# outbox: changes that were made from something that is not known, and the same commands given
# twice: what others wrote is neither deleted nor turned back, and nothing is said to be done that
# is not.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl timeout
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
AGENT_PROFILE=me
export AGENT_PROFILE
pds() { run pds-record --queue --timeout 5 "$@"; }
other() { printf '%s\n' "$2" | pds-record put $task "$1" >"$tmp/other" || bail "the other writer"; }
value() { pds-record get $task "$1" 2>"$tmp/other" | jq -cS '.value | del(."$type")'; }
forget() { rm -rf "$XDG_STATE_HOME/agentutils/pds/copies"; }
# line OP KEY REST: an entry.
line() { printf '{"op":"%s","collection":"%s","rkey":"%s"%s}\n' "$1" $task "$2" "${3-}"; }
none=bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4

# --- deletions

other later '{"title":"theirs"}'
forget
{
  line put later ',"record":{"title":"x"}'
  line delete later ",\"base\":\"$none\""
} | outbox add >"$tmp/other"
t 1 "a deletion keeps its own base behind an edit that has none" outbox flush
is "$(jq -r '.state + " " + .reason' "$out")" "dropped changed" \
  "a deletion is not done to another record"
is "$(value later)" '{"title":"theirs"}' "the record of others is still there"
outbox drop --all >"$tmp/other"

other anew '{"title":"old"}'
fault me '{"method":"deleteRecord","lose":true}'
timeout -s KILL 0.9 pds-record --queue delete $task anew >"$tmp/other" 2>&1
is "$(value anew)" "" "a deletion whose answer is lost is done"
other anew '{"title":"new of others"}'
: >"$tmp/me.faults"
t 1 "a deletion whose answer is lost is not done again" outbox flush
is "$(value anew)" '{"title":"new of others"}' "what others made anew is not deleted"
outbox drop --all >"$tmp/other"

other again '{"title":"a","notes":"secret"}'
forget
{
  line delete again
  line put again ',"record":{"title":"b"}'
} | outbox add >"$tmp/other"
run outbox flush
is "$? $(jq -r .state "$out") $(value again)" '0 done {"title":"b"}' \
  "what is deleted and written anew is as it was written"

# --- edits

other lost '{"title":"a","status":"done"}'
forget
given '{"title":"b","status":"open"}' pds-record --queue put $task lost
status_is 1 "an edit of which nothing is left has status 1"
is "$(jq -r '.state + " " + .conflicts[0].of' "$out") $(value lost)" \
  'merged ours {"status":"done","title":"a"}' "the record says that an edit lost to others"
forget
line put lost ',"record":{"title":"b","status":"open"}' | outbox add >"$tmp/other"
t 1 "flush refuses an edit of which nothing is left, too" outbox flush
outbox drop --all >"$tmp/other"
forget
line put lost ',"record":{"title":"a","n":1}' | outbox add >"$tmp/other"
run outbox flush
is "$? $(jq -r .state "$out")" "0 merged" "what others added does an edit no harm"

other stale '{"title":"a","n":1,"updatedAt":"2026-01-01T00:00:00Z"}'
pds list $task
cp "$out" "$tmp/then"
other stale '{"title":"a","n":2,"updatedAt":"2026-01-02T00:00:00Z"}'
pds list $task
jq -c 'select(.uri | endswith("/stale")) | .value.title = "b" |
  .value.updatedAt = "2026-01-03T00:00:00Z"' "$tmp/then" >"$tmp/given"
run sh -c "pds-record --queue put <$tmp/given"
is "$(value stale | jq -c '[.title, .n]')" '["b",2]' "an edit of an older copy turns nothing back"

size() { wc -c <"$XDG_STATE_HOME/agentutils/pds/copies/me/$task.ndjson"; }
before=$(size)
for round in 1 2 3; do pds get $task stale; done
is "$round $(size)" "3 $before" "a record that is as it was is not copied again"

# --- created again

echo '{"title":"n","due":"x"}' >"$tmp/new"
create() { run sh -c "pds-record --queue create --state $tmp/book $task <$tmp/new"; }
create
key=$(jq -r '.uri | split("/")[-1]' "$out")
other "$key" '{"title":"n"}'
forget
create
is "$? $(jq -r '.uri | split("/")[-1]' "$out") $(value "$key" | jq -c .due)" "0 $key null" \
  "what was created once is not created again"
pds-record delete $task "$key" >"$tmp/other"
create
is "$? $(value "$key")" "0 " "what was created and is gone is not created again"
jq -c 'select(.state == null)' "$tmp/book" >"$tmp/older"
cp "$tmp/older" "$tmp/book"
other "$key" '{"title":"m"}'
forget
create
is "$(value "$key")" '{"title":"m"}' "what was perhaps created is looked at before it is created"

done_testing
