#!/bin/sh
# What bus-get does when it is killed, told to end, when its reader stands still or goes, when the
# link is cut and when the server restarts: each record is in a file once, and none is kept from
# others.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=30
start_bus a
rows 20000 >"$tmp/in"
bus-put -s "$bus" --create <"$tmp/in" || bail "no records"

# Killed again and again, with a place in a file.
: >"$tmp/file"
killed=$(kill_often 12 0.03 0.2 /dev/null "$tmp/file" bus-get -q -s "$bus" --all --state "$tmp/state")
ok "bus-get is killed in the middle" test "$killed" -ge 8
run sh -c "bus-get -s '$bus' --all -e --state '$tmp/state' >>'$tmp/file'"
ok "each record is in the file once, in order" cmp -s "$tmp/in" "$tmp/file"
is "$(jq .seq "$tmp/state")" 20000 "the place is the end of the file after the kills"

# The first kill may come before the first record: then, too, a state tells of the file.
echo before >"$tmp/other"
start first sh -c "exec bus-get -q -s nats://127.0.0.1:1 --all --state '$tmp/first' >>'$tmp/other'"
wait_until 20 test -s "$tmp/first"
stop "$pid" KILL
is "$(cat "$tmp/first")" '{"type":"bus_state","stream":"agents","seq":0,"offset":7}' \
  "a place is written before the first line"

# Told to end in the middle of a drain: what was in hand is given back at once.
: >"$tmp/all"
awk 'BEGIN {
  for (i = 1; i <= 300; i++) {
    printf "{\"content\":\"%d\",\"more\":\"", i
    for (k = 0; k < 400; k++) printf "0123456789"
    print "\"}"
  }
}' >"$tmp/large"
bus-put -s "$bus" -u records.large <"$tmp/large"
in_hand() { [ "$(bus_client consumer agents work | jq .unacknowledged)" -ge 10 ]; }
# At the last turn more is asked for than there is.
for turn in 1 2 3 4 5; do
  # The reader stands still until bus-get has ended.
  mkfifo "$tmp/hold$turn"
  start "g$turn" sh -c "
    { bus-get -s '$bus' -d work --all records.large & echo \$! >'$tmp/getter'; wait \$!
      echo \$? >'$tmp/ended'; } | { read -r x <'$tmp/hold$turn'; cat; }"
  reader=$pid
  wait_until 20 in_hand
  getter=$(cat "$tmp/getter")
  kill "$getter"
  wait_until 20 gone "$getter"
  wait_until 20 test -s "$tmp/ended"
  is "$(cat "$tmp/ended")" 143 "bus-get that is told to end ends by that signal"
  echo >"$tmp/hold$turn"
  finished "$reader"
  rm "$tmp/ended"
  # A line that was begun, and that nobody took the rest of, comes again whole.
  grep '}$' "$tmp/g$turn.out" >>"$tmp/all"
  [ "$turn" -ne 2 ] || bus-get -s "$bus" -d work -n "$((250 - $(lines "$tmp/all")))" >>"$tmp/all"
done
begun=$(date +%s)
bus-get -s "$bus" -d work -n "$((300 - $(lines "$tmp/all")))" --idle 20 >>"$tmp/all"
ok "nothing is kept back from the next reader" test $(($(date +%s) - begun)) -lt 12
is "$(sort "$tmp/all" | uniq -d | wc -l)" 0 "nothing comes twice"
is "$(sort -u "$tmp/all" | wc -l)" 300 "nothing is missing after bus-get was told to end"

# A reader that stands still for longer than the ack wait keeps what it has, and no more.
bus-get -s "$bus" -d slow --all --ack-wait 1 -n 20000 'actions.>' | {
  sleep 2.5
  cat
} >"$tmp/slow"
ok "a reader that stands still gets each record once" cmp -s "$tmp/in" "$tmp/slow"

# A reader that goes.
# shellcheck disable=SC2016
run bash -c 'bus-get -s "$1" -d gone --all | head -n 3 >"$2"; echo "${PIPESTATUS[0]}"' - \
  "$bus" "$tmp/three"
out_is 141 "a reader that goes ends it by SIGPIPE"
err_empty "nothing is said when the reader goes"
begun=$(date +%s)
bus-get -s "$bus" -d gone -n 19000 >"$tmp/rest"
ok "what a gone reader had is given back at once" test $(($(date +%s) - begun)) -lt 15

# Through a link that is cut, and one that hangs.
mkfifo "$tmp/control"
start_server relay python3 "$cli/servers/relay.py" "${bus#nats://}" "$tmp/control"
exec 7>"$tmp/control"
relay=$url
: >"$tmp/cut"
start cut sh -c "exec bus-get -s '$relay' --all -n 20000 --state '$tmp/cut.state' >>'$tmp/cut'"
cut=$pid
for at in 2000 6000 10000; do
  wait_until 20 at_least "$tmp/cut" "$at"
  echo cut >&7
done
finished "$cut"
is "$status" 0 "reading goes on over a link that is cut"
ok "each record is in the file once, in order, again" cmp -s "$tmp/in" "$tmp/cut"

start live bus-get -s "$relay"
live=$pid
start work bus-get -s "$relay" -d after
work=$pid
echo '{"probe":1}' >"$tmp/one"
wait_until 20 sh -c "bus-put -s '$bus' --id none <'$tmp/one'; test -s '$tmp/live.out' && test -s '$tmp/work.out'" ||
  :
echo close >&7
wait_until 20 has "$tmp/live.err" 'link lost'
rows 5 90001 | bus-put -s "$bus"
echo open >&7
wait_until 20 has "$tmp/live.out" 90005
wait_until 20 has "$tmp/work.out" 90005
is "$(grep -c '9000' "$tmp/live.out") $(grep -c '9000' "$tmp/work.out")" "5 5" \
  "what came meanwhile comes when the link is back"

# The server is killed and comes back: the consumer in its memory is gone.
kill -9 "$bus_pid"
wait_until 20 gone "$bus_pid"
restart_bus a
rows 3 90011 | bus-put -s "$bus"
wait_until 30 has "$tmp/live.out" 90013
wait_until 30 has "$tmp/work.out" 90013
is "$(grep -c '9001[123]' "$tmp/live.out")" 3 "what comes after the server was killed is read"
# It notes what a shared consumer delivered a moment later: then that comes again.
is "$(grep '9001[123]' "$tmp/work.out" | sort -u | wc -l | tr -d ' ')" 3 \
  "a shared consumer's records come after the server was killed, too"
is "$(grep -c . "$tmp/live.err")" 4 "two lines are told each time, link lost and link back"

# A link on which nothing arrives any more, though nobody closes it.
echo hang >&7
for one in live work; do
  ok "$one: a link that hangs is given up" wait_until 40 has "$tmp/$one.err" 'no answer for 10 s'
done
rows 2 90021 | bus-put -s "$bus"
echo open >&7
wait_until 30 has "$tmp/live.out" 90022
is "$(grep -c '9002' "$tmp/live.out")" 2 "what came while a link hung comes"
# What the server gave to the old link comes again after the ack wait.
stop "$live"
stop "$work"
is "$status" 143 "both readers end by the signal"
# A consumer that is deleted under a reader is made anew, and asked at once.
start deleted bus-get -s "$bus" -d under
deleted=$pid
under() { bus_client consumer agents under >/dev/null 2>&1; }
wait_until 20 under
bus_client forget agents under
begun=$(date +%s)
wait_until 20 under
rows 3 95001 | bus-put -s "$bus"
ok "the next records come when a consumer was deleted" wait_until 20 at_least "$tmp/deleted.out" 3
ok "reading does not wait long for a consumer that was deleted" \
  test "$(($(date +%s) - begun))" -lt 30
stop "$deleted"
done_testing
