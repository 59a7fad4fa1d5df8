#!/bin/sh
# share-inbox --bus: files that are put in on one machine and delivered by whichever machine is
# awake, each exactly once, whatever is killed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"
. "${0%/*}/../bus.sh"
needs jq python3
needs_peers
echo "max_payload: 8MB" >"$tmp/conf"
start_bus a -c "$tmp/conf"
printf '[bus local]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
waiting() { bus_client info inbox | jq .messages; }
none_waits() { [ "$(waiting)" = 0 ]; }

# --- one file
mkdir "$tmp/got"
# shellcheck disable=SC2016
take='cat >"'$tmp'/got/$INBOX_NAME"'
head -c 70000 /dev/urandom >"$tmp/shot one.png"
t 0 "a file is put on the bus" share-inbox add --bus "$tmp/shot one.png"
is "$(jq -c '[.type, .name, .size, .state, .path]' "$out")" \
  '["inbox_item","shot-one.png",70000,"queued",null]' \
    "a record tells the file that was put on the bus"
id=$(jq -r .id "$out")
is "$(waiting) $(left)" "1 0" "a file on the bus is in the stream, and not in the folder"
is "$(bus_client info inbox | jq -c '[.retention, .subjects]')" '["workqueue",["inbox.file"]]' \
  "the stream of an inbox is a queue of work"
run bus-get -t inbox -d share-inbox --all --ack-wait 1 -n 1 -x "cat >'$tmp/dump'" inbox.file
bus_client put inbox.file <"$tmp/dump"
is "$(jq -c '[.type, .id, .name, .size, .sha256]' "$tmp/dump")" \
  "[\"inbox_file\",\"$id\",\"shot-one.png\",70000,\"$(sums "$tmp/shot one.png")\"]" "the record has its digest"
t 0 "another machine takes a file from the bus" share-inbox drain --bus --exec "$take"
is "$(jq -c '[.id, .state]' "$out")" "[\"$id\",\"delivered\"]" \
  "a file is delivered on the other machine"
ok "a file from the bus is the same, byte for byte" \
  cmp "$tmp/shot one.png" "$tmp/got/$id-shot-one.png"
is "$(waiting) $(left)" "0 0" "nothing is left on the bus when a file was taken"
t 0 "an empty queue is no error" share-inbox drain --bus --exec "$take"
out_empty "an empty queue prints nothing"

# --- a machine that is killed with a file: the queue's acknowledgements have a second
echo held >"$tmp/held.log"
run share-inbox add -q --bus "$tmp/held.log"
mkfifo "$tmp/silent"
exec 5<>"$tmp/silent"
start holder sh -c "exec bus-get --confirm -t inbox -d share-inbox inbox.file <'$tmp/silent'"
ok "a machine has a file" wait_until 20 test -s "$tmp/holder.out"
t 75 "a file that another machine has is not given twice" share-inbox drain --bus --exec "$take"
err_is "share-inbox: stream inbox: 1 record is with another reader, or given back until later" "the message says where the record is"
kill -9 "$pid"
exec 5>&-
comes_again() {
  run share-inbox drain --bus --exec "$take"
  [ "$status" -eq 0 ]
}
ok "a file comes again when its machine was killed" wait_until 30 comes_again
is "$(cat "$tmp"/got/*-held.log) $(waiting)" "held 0" \
  "the file of a killed machine comes to the other"

# --- what cannot be added
echo text >"$tmp/move.txt"
run share-inbox add -q -m -x md --bus "$tmp/move.txt"
not_ok "-m takes a file from its place" test -e "$tmp/move.txt"
head -c 7000000 /dev/urandom >"$tmp/large.bin"
t 2 "a file that the server does not take is an error" share-inbox add --bus "$tmp/large.bin" "$tmp"
err_like "^share-inbox: $tmp/large\\.bin: too large for the bus \\(7000000 bytes > 62[0-9]{5} bytes\\)$" \
  "a file that the server does not take is named"
run share-inbox add --bus --max-size 1K "$tmp/large.bin"
err_is "share-inbox: $tmp/large.bin: too large (7000000 B > 1024 B); --max-size allows more" \
  "a file over --max-size is named"
is "$(waiting)" 1 "nothing of files that are too large is sent"
t 0 "standard input is added" sh -c "echo said | share-inbox add -q --bus -"
run share-inbox drain -q --bus --exec "$take"
is "$(cat "$tmp"/got/*-move.md "$tmp"/got/*.txt)" "text
said" "a moved file and standard input come, too"

# --- what strangers publish
good=$(jq -c '.id = "1700000000-019cce2e-8f2a-7c01-9d3e-4b5a6c7d8e9f"' "$tmp/dump")
change() { printf '%s\n' "$good" | jq -c "$1"; }
{
  change '.name = "../../x.png"'
  change '.id = "../x"'
  change '.id = "1700000000-019cce2e-8f2a-7c01-9d3e-4b5a6c7d8e9f\u001b[31m"'
  change '.name = ".profile"'
  change '.data = "AAAA" + .data'
  change '.data = "!!!!"'
  change '.size = 2'
  change 'del(.sha256)'
  change '.sha256 = "0"'
  change '.type = "x"'
  echo 'no record'
  printf '%s\n' "$good"
} | bus_client put inbox.file
: >"$tmp/delivered"
t 2 "records that are not files are an error" \
  share-inbox drain --bus --exec 'cat >>"'"$tmp/delivered"'"'
ok "the file behind records that are not files comes" cmp "$tmp/delivered" "$tmp/shot one.png"
is "$(grep -c 'refused with status 65' "$err") $(grep -c 'seq 16 on inbox.file: not a record: ' "$err") $(tail -n 1 "$err")" \
  "9 1 share-inbox: 1 more bad event" "the place of a record that is not a file is told"
is "$(grep -cE '^share-inbox: (17000|[.][.]/x).*: (not a |its data is not )' "$err")" 10 \
  "ten records that are not files are told"
unlike "$(cat "$err")" "$(printf '\033')" "bad records are told in plain text"
is "$(waiting) $(left)" "0 0" "a record that is not a file does not come again"
is "$(find "$tmp" -name 'x*.png' -o -name .profile)" "" "a name in a record leads nowhere else"
printf '%s\n' "$good" | bus_client put inbox.file
run share-inbox drain --bus --exec "$take"
is "$status $(cat "$out") $(waiting)" "0  0" "a file whose id came before is not delivered again"
big=$(printf '%s\n' "$good" | jq -c '.id = "1700000001-019cce2e-8f2a-7c01-9d3e-4b5a6c7d8e9f"')
printf '%s\n' "$big" | bus_client put inbox.file
run share-inbox drain --bus --max-size 10K --exec "$take"
is "$status $(waiting) $(grep -c 'too large (70000 B > 10240 B)' "$err")" "2 0 1" \
  "a file from the bus over --max-size is refused"

# --- two days on the bus
old=$(($(date +%s) - 172800))-019cce2e-8f2a-7c01-9d3e-4b5a6c7d8e9f
printf '%s\n' "$good" | jq -c --arg id "$old" '.id = $id' | bus_client put inbox.file
run share-inbox drain --bus --exec 'exit 75'
is "$status $(waiting) $(left)" "75 0 1" "what could not be delivered stays, however long it was on the way"
touch -t 202001010000 "$folder/.taken-$old"
run share-inbox purge
is "$(jq -r .id "$out") $(left)" "$old 0" "a file of the bus is purged when it is old here, too"

# --- killed, and two machines
start_box
direct=$port
transport=${transports%% *}
port=$direct
inbox_args
mkdir "$tmp/made"
forget_typed
# shellcheck disable=SC2086
bound=300 run python3 "$cli/clients/killer.py" 20 7 "$tmp/made" \
  share-inbox add -q --bus -- share-inbox drain --bus $inbox_args
diag "$(tail -n 3 "$err")"
cp "$out" "$tmp/files"
# shellcheck disable=SC2086
start watch share-inbox watch -q --bus $inbox_args
watch=$pid
ok "all files are taken from the bus after 20 kills" wait_until 60 none_waits
nothing_left() { [ "$(left)" -eq 0 ]; }
ok "all files are delivered after 20 kills" wait_until 60 nothing_left
# shellcheck disable=SC2046
came_once killed $(cat "$tmp/files")
forget_typed
# shellcheck disable=SC2086
XDG_STATE_HOME=$tmp/other start second share-inbox watch -q --bus -s riff --pins "$tmp/pins" $inbox_args
second=$pid
set --
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  head -c $((i * 20000)) /dev/urandom >"$tmp/both-$i.bin"
  set -- "$@" "$tmp/both-$i.bin"
  share-inbox add -q --bus "$tmp/both-$i.bin"
done
came_once "two machines" "$@"
kill -9 "$(ps -e -o pid= -o ppid= -o comm= | awk -v p="$watch" '$2 == p && $3 == "bus-get" { print $1 }')"
stop "$second"
forget_typed
share-inbox add -q --bus "$tmp/both-1.bin"
came_once "bus-get was killed" "$tmp/both-1.bin"
stop "$watch"
# --- a link that is always cut comes up, and is as good as none
head -c 100000 /dev/urandom >"$tmp/large.png"
share-inbox add -q --bus "$tmp/large.png" || bail "no large file"
bus-put -s "$bus" -t plain --create <"$root/Tests/fixtures/sample-day.ndjson" || bail "no records"
port=${bus##*:}
start_proxy early
early=nats://127.0.0.1:$port
printf '[bus local]\nservers = %s\n' "$early" >"$XDG_CONFIG_HOME/agentutils/config"
for bytes in 1200 20000; do
  link pass
  link cut "$bytes"
  t 75 "a link that brings nothing ends a drain: cut after $bytes bytes" \
    timeout 60 share-inbox drain --bus --exec "$take"
done
link pass
link cut 1200
t 75 "bus-get gives up a link that brings nothing, too" \
  timeout 20 bus-get -s "$early" -t plain --all -e -q --max-wait 2
err_like 'link lost' "the message says that the link was lost"
t 75 "--max-wait 0 tries such a link once" \
  timeout 20 bus-get -s "$early" -t plain --all -e -q --max-wait 0
link pass
link cut 20000 up
head -c 100000 /dev/zero | tr '\0' x | sed 's/.*/{"content":"&"}/' >"$tmp/large"
t 75 "bus-put gives up a link that takes nothing" \
  timeout 20 bus-put -s "$early" -t inbox -u inbox.file -q --max-wait 2 <"$tmp/large"
link pass
t 0 "a link that is whole again has status 0" timeout 60 share-inbox drain --bus --exec "$take"
is "$(waiting)" 0 "a link that is whole again brings the file"
printf '[bus local]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
stop "$bus_pid"
t 75 "without a server the status is 75" share-inbox drain --bus --exec "$take"
start waiting share-inbox drain --bus --exec "$take"
drain=$pid
child_of() { [ -n "$(ps -e -o ppid= -o comm= | awk -v p="$drain" '$1 == p { print $2 }')" ]; }
wait_until 30 child_of
began=$(date +%s)
stop "$drain"
took=$(($(date +%s) - began))
is "$status" 143 "a signal ends the wait for a server"
ok "a signal ends the wait at once ($took s)" test "$took" -le 4
done_testing
