#!/bin/sh
# Where bus-get begins and ends: a place that was only begun, an output that another one has, a
# stream that was made anew, and an end that moves on.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
start_bus a
bus-put -s "$bus" --create </dev/null
get() { run sh -c "bus-get -s '$bus' $1 >>'$tmp/$2'"; }

# Begun on an empty stream: what comes later is behind the place.
get "--state '$tmp/empty' -e" f
status_is 1 "an empty stream has status 1"
rows 5 | bus-put -s "$bus"
get "--state '$tmp/empty' -e" f
is "$(lines "$tmp/f")" 5 "what came since a place was begun on an empty stream is read"

# Begun, written to and killed before the place was saved again.
start one sh -c "exec bus-get -s '$bus' --state '$tmp/place' >>'$tmp/o'"
begun() { grep -q '"seq":5' "$tmp/place"; }
ok "a place is saved when it is known" wait_until 20 begun
rows 10 101 | bus-put -s "$bus"
ok "records are written" wait_until 20 at_least "$tmp/o" 10
get "--state '$tmp/other' -e" o
status_is 2 "an output has one bus-get at a time"
err_is "bus-get: standard output: another bus-get is at work on it" \
  "the message says that another is at work"
stop "$pid" KILL
rows 10 201 | bus-put -s "$bus"
get "--state '$tmp/place' -e" o
is "$(jq -r .content "$tmp/o" | xargs)" "$(seq -s ' ' 101 110) $(seq -s ' ' 201 210)" \
  "each record is there once after a kill"

# What is stored while it reads is not of this run.
rows 2000 301 | bus-put -s "$bus"
mkfifo "$tmp/go"
bus-get -s "$bus" --all -e | {
  read -r line
  echo "$line"
  read -r _ <"$tmp/go"
  cat
} >"$tmp/all" &
reader=$!
ok "a reader waits" wait_until 20 test -s "$tmp/all"
rows 500 9001 | bus-put -s "$bus"
echo >"$tmp/go"
wait "$reader"
is "$(count_of "$tmp/all")" 2025 "-e ends with what was the last record at the start"

# Bytes that are no UTF-8 stay what they are.
printf '{"a":"\377\376"}\n' >"$tmp/odd"
bus-put -s "$bus" -u records.odd <"$tmp/odd"
bus-put -s "$bus" -t copy -u copy.odd --create </dev/null
bus-get -s "$bus" --all -e -m records.odd | LC_ALL=C sed 's/"records.odd"/"copy.odd"/' |
  bus-put -s "$bus" -t copy -m
bus-get -s "$bus" -t copy --all -e >"$tmp/copy"
ok "bytes that are not UTF-8 are copied as they are" cmp -s "$tmp/odd" "$tmp/copy"

# The subject is another stream's.
t 2 "a record that another stream stores is an error" \
  bus-put -s "$bus" -t copy --max-wait 5 <"$tmp/odd"
err_is "bus-put: standard input:1: its subject is another stream's, agents" "the line is named"

# A stream that was made anew.
kill -9 "$bus_pid"
wait_until 20 gone "$bus_pid"
rm -r "$tmp/a.store"
restart_bus a
rows 3 | bus-put -s "$bus" --create
get "--state '$tmp/place' -e" o
status_is 2 "a state that is of another stream of that name is an error"
err_is "bus-get: stream agents: it ends at 3, and the state at 25" "the message tells both numbers"

# Nobody there is not the same as nothing there.
t 75 "--idle counts from when there is a server" \
  bus-get -s nats://127.0.0.1:1 -d x --idle 1 -q --max-wait 2
for words in "bus-put --create --max-age 1000000d" "bus-get -d x --ack-wait 1000000d"; do
  t 2 "$words is refused" sh -c "$words -s '$bus' </dev/null"
done
done_testing
