#!/bin/sh
# Each of the two killed 200 times: what is stored, and what is in a file, is there once. A shared
# consumer whose getters are killed loses nothing.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=60
start_bus a
bus-put -s "$bus" --create </dev/null
bus-put -s "$bus" -t put --create -u put.x </dev/null

# Long enough that the last of the kills meets it alive, too.
rows 20000 >"$tmp/in"
bus-put -s "$bus" <"$tmp/in" || bail "no records"

# Both at once: they have nothing in common.
: >"$tmp/file"
kill_often 200 0.01 0.12 /dev/null "$tmp/file" \
  bus-get -q -s "$bus" --all --state "$tmp/state" >"$tmp/get.killed" &
getting=$!
kill_often 200 0.01 0.12 "$tmp/in" /dev/null \
  bus-put -q -s "$bus" -t put -u put.x --window 32 >"$tmp/put.killed"
wait "$getting"
stored=$(bus_client info put | jq .messages)
ok "bus-put was killed on its way" test "$stored" -gt 0
is "$(cat "$tmp/put.killed")" 200 "bus-put was killed 200 times"
run bus-put -s "$bus" -t put -u put.x <"$tmp/in"
bus_client dump put | cut -d ' ' -f 2- >"$tmp/got"
ok "all is stored once, in order, after the kills" cmp -s "$tmp/in" "$tmp/got"

ok "bus-get was killed on its way" test -s "$tmp/file"
is "$(cat "$tmp/get.killed")" 200 "bus-get was killed 200 times"
run sh -c "bus-get -s '$bus' --all -e --state '$tmp/state' >>'$tmp/file'"
ok "all is in the file once, in order, after the kills" cmp -s "$tmp/in" "$tmp/file"

# Getters that share: what a killed one had in hand comes again.
: >"$tmp/shared"
killed=$(kill_often 20 0.05 0.15 /dev/null "$tmp/shared" \
  bus-get -q -s "$bus" -d work --all --ack-wait 1)
ok "a getter of several is killed" test "$killed" -ge 10
bus-get -s "$bus" -d work --idle 3 >>"$tmp/shared"
is "$(count_of "$tmp/shared")" 20000 "no record is missing when getters that share are killed"
is "$(bus_client consumer agents work | jq -c .)" '{"pending":0,"unacknowledged":0}' \
  "nothing is left when getters that share are killed"
done_testing
