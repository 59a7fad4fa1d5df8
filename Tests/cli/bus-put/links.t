#!/bin/sh
# What bus-put does without a server, without JetStream, without a stream, when the server goes
# and comes back, when a stream is full, and when it is killed: nothing is lost, nothing is there
# twice.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=30

t 75 "without a server the status is 75" bus-put -s nats://127.0.0.1:1 --max-wait 0 </dev/null
err_one_line bus-put "a missing server is told of in one line"
t 75 "--max-wait 0.3 waits no longer for a server" \
  bus-put -s nats://127.0.0.1:1 --max-wait 0.3 </dev/null
run python3 "$cli/terminal.py" 24x80 bus-put -s nats://127.0.0.1:1 --max-wait 0.2
out_like 'bus-up starts a server' "a person is told what starts a server"
run bus-put --max-wait 0 </dev/null
err_like '127\.0\.0\.1:4222|stream agents' "without -s the server of this machine is asked"

start plain nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$tmp"
wait_until 20 sh -c "grep -q nats '$tmp'/*.ports"
plain=$(sed 's/.*"nats":\["\([^"]*\)".*/\1/' "$tmp"/*.ports)
t 75 "a server without JetStream has status 75" bus-put -s "$plain" --max-wait 0.5 </dev/null
err_like 'the server has no JetStream' "the message names JetStream"

start_bus a
t 2 "a stream that does not exist is an error" bus-put -s "$bus" --max-wait 0 </dev/null
err_like 'stream agents: no such stream; bus-put --create makes one' \
  "a stream that does not exist is told with the remedy"
t 75 "a stream that may yet come has status 75" bus-put -s "$bus" --max-wait 0.5 </dev/null
t 0 "the second server of a list is taken" \
  bus-put -s "nats://127.0.0.1:1,$bus" --create --max-wait 5 </dev/null
first=$bus
first_pid=$bus_pid

# A link on which nothing arrives any more, though nobody closes it: looked at in the end, for it
# takes its time.
start_bus h
bus-put -s "$bus" --create </dev/null
hung=$bus
mkfifo "$tmp/control" "$tmp/drops"
start_server relay python3 "$cli/servers/relay.py" "${bus#nats://}" "$tmp/control"
exec 6>"$tmp/control"
start hung sh -c "exec bus-put -s '$url' <'$tmp/drops'"
hanging=$pid
exec 8>"$tmp/drops"
echo '{"drop":1}' >&8
run bus-get -s "$hung" --all -n 1
echo hang >&6
echo '{"drop":2}' >&8
exec 8>&-
bus=$first

# The server is killed in the middle and comes back.
rows 30000 >"$tmp/in"
mkfifo "$tmp/go"
start put sh -c "{ sed -n 1,15000p '$tmp/in'; read -r x <'$tmp/go'; sed -n '15001,\$p' '$tmp/in'; } |
  bus-put -s '$bus'"
put=$pid
run bus-get -s "$bus" --since-seq 5000 -n 1
kill -9 "$first_pid"
wait_until 20 has "$tmp/put.err" 'link lost'
echo >"$tmp/go" &
restart_bus a
finished "$put"
is "$status" 0 "bus-put goes on when its server is killed in the middle"
bus_client dump agents | cut -d ' ' -f 2- >"$tmp/got"
ok "all is there once, in order, after the server was killed" cmp -s "$tmp/in" "$tmp/got"
is "$(grep -c . "$tmp/put.err")" 2 "one line is told when the link is lost, and one when it is back"

# bus-put is killed again and again, and its source starts it again.
rows 15000 50001 >"$tmp/more"
killed=$(kill_often 15 0.03 0.25 "$tmp/more" /dev/null bus-put -q -s "$bus" --window 16)
ok "bus-put is killed in the middle" test "$killed" -ge 8
t 0 "bus-put that was killed is run to its end" bus-put -s "$bus" <"$tmp/more"
bus_client dump agents | cut -d ' ' -f 2- | tail -n +30001 >"$tmp/got"
ok "all is there once, in order, after bus-put was killed" cmp -s "$tmp/more" "$tmp/got"

# A stream that is full takes the rest when there is room, in order.
bus_client stream small max_msgs=20 discard=new subjects=small.x retention=workqueue
rows 60 >"$tmp/sixty"
start full sh -c "exec bus-put -v -s '$bus' -t small -u small.x <'$tmp/sixty'"
full=$pid
wait_until 20 has "$tmp/full.err" 'not stored yet'
run bus-get -s "$bus" -t small -d work --all -n 60
cp "$out" "$tmp/taken"
finished "$full"
is "$status" 0 "a full stream is waited for"
ok "a full stream takes all in order" cmp -s "$tmp/sixty" "$tmp/taken"

# Whoever is told to end says how far it came.
mkfifo "$tmp/slow"
start ended sh -c "exec bus-put -s '$bus' --state '$tmp/state' <'$tmp/slow'"
ended=$pid
exec 7>"$tmp/slow"
echo '{"event":"action_event","id":"77","data":{"kind":"k","createdAt":"x"}}' >&7
wait_until 20 has "$tmp/state" '"last_event_id":"77"'
stop "$ended"
is "$status" 143 "a signal ends it by that signal"
exec 7>&-

wait_until 20 has "$tmp/hung.err" 'link lost: no answer for 10 s'
echo open >&6
finished "$hanging"
is "$status" 0 "a link that hangs is given up"
run bus-get -s "$hung" --all -e
out_is '{"drop":1}
{"drop":2}' "what was on a link that hung is sent again"
is "$(grep -c . "$tmp/hung.err")" 2 \
  "a link that hangs has a line when it is lost, and one when it is back"

# sse-tail goes on from what is stored, not from what it printed.
start_server events python3 "$cli/servers/numbered.py"
printf '{"type":"sse_state","source":"","last_event_id":"5"}\n' >"$tmp/resume"
cp "$tmp/resume" "$tmp/before"
run sse-tail --resume "$tmp/resume" -n 1 "$url/events"
is "$(jq -r .id "$out")" 6 "sse-tail goes on from what is stored"
ok "sse-tail --resume leaves the file alone" cmp -s "$tmp/resume" "$tmp/before"
t 2 "--resume and --state on one file exclude each other" \
  sse-tail --resume "$tmp/resume" --state "$tmp/resume" http://127.0.0.1:1/
done_testing
