#!/bin/sh
# What bus-put says became of each line, and records that bring their subjects and ids along:
# a stream that is copied to another bus.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=30
start_bus a
bus-put -s "$bus" --create </dev/null

# A record for each line, in the order of the lines; none for an empty one.
{
  rows 2
  echo
  echo 'nonsense'
  rows 1
  awk 'BEGIN { printf "{\"a\":\""; for (i = 0; i < 200000; i++) printf "0123456789"; print "\"}" }'
  rows 1 3
} >"$tmp/in"
t 2 "a bad line has status 2 with --confirm, too" bus-put -s "$bus" --confirm <"$tmp/in"
out_is '{"type":"bus_ack","line":1,"stream":"agents","seq":1,"duplicate":false}
{"type":"bus_ack","line":2,"stream":"agents","seq":2,"duplicate":false}
{"type":"bus_ack","line":4,"reason":"not a JSON object"}
{"type":"bus_ack","line":5,"stream":"agents","seq":3,"duplicate":false}
{"type":"bus_ack","line":6,"reason":"a record of 2000008 bytes is larger than the server takes (1048064)"}
{"type":"bus_ack","line":7,"stream":"agents","seq":4,"duplicate":false}' \
  "--confirm tells what became of each line"
rows 2 >"$tmp/two"
run bus-put -s "$bus" --confirm <"$tmp/two"
is "$(jq -c '[.seq, .duplicate]' "$out" | xargs)" "[1,true] [2,true]" \
  "--confirm tells that a record is there already, and where"
bus_client stream little subjects=little.x max_msg_size=200
{ echo '{"a":1}' && printf '{"a":"%300s"}\n' x && echo '{"a":2}'; } >"$tmp/in"
run bus-put -s "$bus" -t little -u little.x --confirm <"$tmp/in"
is "$(jq -c '[.line, .seq // .reason]' "$out" | xargs)" \
  "[1,1] [2,message size exceeds maximum allowed] [3,2]" "what the stream refuses is told in its turn"

# Who feeds it waits for the word on each line before the next one.
mkfifo "$tmp/feed" "$tmp/said"
start one sh -c "exec bus-put -s '$bus' --confirm <'$tmp/feed' >'$tmp/said'"
one=$pid
exec 7>"$tmp/feed" 8<"$tmp/said"
for number in 11 12 13; do
  rows 1 "$number" >&7
  read -r said <&8
  echo "$said"
done >"$tmp/words"
is "$(jq -c .line "$tmp/words" | xargs)" "1 2 3" "each line is confirmed at once"
# A reader that goes ends it, even while there is nothing to tell.
exec 8<&-
finished "$one"
is "$status" 141 "a reader that goes ends it"
exec 7>&-

# A reader that stands still: no more is read than is told, and nothing is lost for it.
bus_client stream slow subjects=slow.x
rows 20000 100 >"$tmp/many"
mkfifo "$tmp/slow"
start slow sh -c "exec bus-put -s '$bus' -t slow -u slow.x --confirm <'$tmp/many' >'$tmp/slow'"
slow=$pid
exec 8<"$tmp/slow"
read -r said <&8
still() {
  _before=$_now
  _now=$(bus_client info slow | jq .messages)
  [ "$_now" -gt 8 ] && [ "$_now" = "$_before" ]
}
_now=
ok "a reader that stands still stops it" wait_until 20 still
ok "a reader that stands still stops it long before the end" test "$_now" -lt 8000
cat <&8 >"$tmp/rest"
finished "$slow"
exec 8<&-
is "$status" 0 "bus-put goes on with its reader"
is "$(jq .line "$tmp/rest" | tail -n 1)" 20000 "bus-put comes to the last line with its reader"
ok "the confirmed lines are in order" sh -c "jq .line '$tmp/rest' | sort -nc"

# A server that is killed and comes back after the ids are forgotten: nothing is sent a second
# time without somebody having looked.
bus_client stream short subjects=short.x duplicate_window=1
rows 60000 >"$tmp/many"
start short sh -c "exec bus-put -s '$bus' -t short -u short.x --confirm <'$tmp/many'"
short=$pid
wait_until 20 at_least "$tmp/short.out" 1000
kill -9 "$bus_pid"
wait_until 20 has "$tmp/short.err" 'link lost'
# Longer than the ids are remembered.
sleep 1.2
restart_bus a
finished "$short"
is "$status" 75 "what may be stored is not sent again when its id is forgotten"
like "$(cat "$tmp/short.err")" 'stream short: what was sent [0-9]+ s ago may be stored: look before it is sent again' \
  "the message says what may be stored"
bus_client dump short >"$tmp/dump"
is "$(count_of "$tmp/dump")" "$(lines "$tmp/dump")" \
  "nothing is there twice after the ids are forgotten"
ok "what was confirmed is there" test "$(lines "$tmp/dump")" -ge "$(lines "$tmp/short.out")"

# A stream with all that can be in it, to another bus.
bus_client put actions.118.x 'my-id_1' <<'END'
{"kind":"k"  , "esc":"[31m\u001b[2J","n":12345678901234567890123,"f":1.10}
END
bus_client put records.odd <<'END'
{"subject":"other","id":"other","data":{"type":"bus_message"}}
END
first=$bus
bus-get -s "$first" --all -e -m >"$tmp/wrapped"
is "$(jq -r 'select(.id).seq' "$tmp/wrapped" | wc -l)" "$(bus_client ids agents | grep -cv '^-$')" \
  "bus-get -m tells the message ids"
bus_client ids agents >"$tmp/ids"
bus_client dump agents >"$tmp/dump"
start_bus b
bus-put -s "$bus" --create </dev/null
t 0 "a stream is copied to another bus" bus-put -m -s "$bus" <"$tmp/wrapped"
bus_client dump agents >"$tmp/copy"
ok "all subjects and all bytes are the same" cmp -s "$tmp/dump" "$tmp/copy"
bus_client ids agents | paste "$tmp/ids" - | awk '$1 != "-" && $1 != $2' >"$tmp/others"
is "$(cat "$tmp/others")" "" "all ids are the same"
run bus-put -m -s "$bus" <"$tmp/wrapped"
is "$(bus_client info agents | jq .messages)" "$(lines "$tmp/dump")" "a second time changes nothing"

before=$(bus_client info agents | jq .messages)
cat >"$tmp/in" <<'END'
{"type":"bus_message","subject":"actions.*.x","data":{"kind":"k"}}
{"type":"bus_message","subject":"actions.>","data":{"kind":"k"}}
{"type":"bus_message","subject":"actions.a b","data":{"kind":"k"}}
{"type":"bus_message","subject":"actions.a\r\nPUB x 0","data":{"kind":"k"}}
{"type":"bus_message","subject":"actions..x","data":{"kind":"k"}}
{"type":"bus_message","subject":"$JS.API.STREAM.DELETE.agents","data":{"kind":"k"}}
{"type":"bus_message","subject":7,"data":{"kind":"k"}}
{"type":"bus_message","id":"a b","data":{"kind":"k"}}
{"type":"bus_message","id":"a\r\nNats-Rollup: all","data":{"kind":"k"}}
{"type":"bus_message","id":"","data":{"kind":"k"}}
{"type":"bus_message","subject":"actions.a.b"}
{"type":"bus_message","data":"text"}
{"type":"bus_message","data":{"kind":"k",}}
{"kind":"k","data":{"kind":"k"}}
{"data":{"kind":"k"}}
END
printf '{"type":"bus_message","id":"%0129d","data":{"kind":"k"}}\n' 1 >>"$tmp/in"
t 2 "what cannot be published is refused" bus-put -m -s "$bus" --confirm <"$tmp/in"
is "$(jq -r 'select(.seq).line' "$out")" "" "each record that cannot be published is refused"
is "$(lines "$out")" 16 "each refused record has a reason"
is "$(bus_client info agents | jq .messages)" "$before" "nothing of what was refused is stored"
bus_client stream ada subjects='ada.>'
printf '%s\n' '{"type":"bus_message","subject":"x.y","data": {"kind":"k"} }' \
  '{"type":"bus_message","subject":null,"id":null,"data":{"kind":"k"}}' >"$tmp/in"
run bus-put -m -s "$bus" -t ada --prefix ada <"$tmp/in"
is "$(bus_client dump ada)" 'ada.x.y {"kind":"k"}
ada.actions.-.k {"kind":"k"}' "a name stands in front, and the subject comes from the record"
t 2 "--subject is not for --meta" bus-put -m -u x.y -s "$bus"
done_testing
