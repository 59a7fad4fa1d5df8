#!/bin/sh
# What bus-put publishes, as an independent client sees it: subjects, ids, bytes, what it
# refuses, and how it makes a stream.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=20
start_bus a

t 0 "a stream is made" bus-put -s "$bus" --create
err_empty "nothing is said when a stream is made"
bus_client info agents >"$tmp/info"
is "$(jq -c '[.subjects, .retention, .discard, .storage, .duplicate_window]' "$tmp/info")" \
  '[["actions.>","events.>","records.>","voice.>"],"limits","old","file",600000000000]' \
  "a stream is made as the manual says"
run bus-put -s "$bus" --create --max-age 5 --replicas 1
is "$(bus_client info agents | jq .max_age)" "$(jq .max_age "$tmp/info")" \
  "a stream that is there is not changed"
first=$bus
start_bus b
t 0 "another stream on another server is taken" \
  bus-put -s "$bus" -t other --create --prefix ada --max-bytes 100000 --max-age 1h
is "$(bus_client info other | jq -c '[.subjects[0], .max_bytes, .max_age, .duplicate_window]')" \
  '["*.actions.>",100000,3600000000000,600000000000]' \
    "a new stream has the limits and the names in front"
other=$bus
t 2 "a stream for all would have the records of a group" \
  bus-put -s "$bus" -t west --create --prefix west.ada </dev/null
start_bus c
echo '{"kind":"k"}' >"$tmp/in"
for group in west east; do
  run bus-put -s "$bus" -t "$group" --create --prefix "$group.ada" --max-wait 10 <"$tmp/in"
done
is "$(bus_client info east | jq -c '[.subjects[0], .messages]')" '["east.*.actions.>",1]' \
  "each group has a stream"
is "$(bus_client dump west)" 'west.ada.actions.-.k {"kind":"k"}' "each agent is in its own"
for bad in a.b.c a. .a 'a.*'; do
  t 2 "$bad is no group and agent" bus-put -s "$bus" --prefix "$bad" </dev/null
done
bus=$first

cat >"$tmp/in" <<'END'
{"created_at":"2026-03-14T08:00:00.000Z","kind":"llm_call","guild_id":"118","content":"é \u00e9"}
{"event":"action_event","id":"3","data":{"kind":"a.b > *","guildId":null,"createdAt":"x"}}
{"type":"health","ok":  true}
 {"event":"stats_update","id":"","data":{"stats":{"total":1}}}
{"sessionId":"s","guildId":"9","participants":[]}
{"event":"activity_snapshot","id":"","data":{"actions":[]}}
END
t 0 "records are published" bus-put -s "$bus" <"$tmp/in"
bus_client dump agents >"$tmp/dump"
cut -d ' ' -f 1 "$tmp/dump" >"$tmp/subjects"
is "$(cat "$tmp/subjects")" "actions.118.llm_call
actions.-.a%2Eb%20%3E%20%2A
records.health
events.stats_update
voice.9
events.activity_snapshot" "subjects are made from what the records are about"
cut -d ' ' -f 2- "$tmp/dump" >"$tmp/bytes"
ok "records have the bytes that they had" cmp -s "$tmp/in" "$tmp/bytes"

run bus-put -s "$bus" -v <"$tmp/in"
is "$(bus_client info agents | jq .messages)" 6 "what is sent again is stored once"
echo '{"event":"action_event","id":"9","data":{"kind":"llm_call","createdAt":"2026-03-14T08:00:00.000Z","guildId":118,"content":"é é"}}' >"$tmp/live"
run bus-put -s "$bus" <"$tmp/live"
is "$(bus_client info agents | jq .messages)" 6 "an action's other spelling is the same action"
cat "$tmp/live" "$tmp/live" >"$tmp/twice"
run bus-put -s "$bus" <"$tmp/twice"
is "$(bus_client info agents | jq .messages)" 7 "two equal ones are two"
run bus-put -s "$bus" --id none <"$tmp/live"
is "$(bus_client info agents | jq .messages)" 8 "without ids every line is stored"
echo '{"kind":"k","n":{"id":"mine-1"}}' >"$tmp/one"
run bus-put -s "$bus" --id /n/id <"$tmp/one"
bus_client ids agents >"$tmp/ids"
is "$(tail -n 1 "$tmp/ids")" mine-1 "a member can be the id"
like "$(head -n 1 "$tmp/ids")" '^[0-9a-f]{24}\.1$' \
  "without a member the id is a digest and a number"

run bus-put -s "$other" -t other --prefix ada <"$tmp/live"
is "$(bus=$other && bus_client dump other | cut -d ' ' -f 1)" ada.actions.118.llm_call "a name stands in front"
echo '{"x":1}' >"$tmp/other"
run bus-put -s "$bus" -u records.mine <"$tmp/other"
is "$(bus_client dump agents | tail -n 1 | cut -d ' ' -f 1)" records.mine \
  "-u is the subject for all"

printf '{"a":1}\n\nnonsense\n[1]\n{"b":2}' >"$tmp/bad"
t 2 "what is no record is bad input" bus-put -s "$bus" -u records.bad <"$tmp/bad"
err_is "bus-put: standard input:3: not a JSON object
bus-put: standard input:4: not a JSON object" "bad input is named by its line"
is "$(bus_client dump agents | grep -c '^records.bad ')" 2 \
  "the good lines beside bad ones are stored"

{
  echo '{"a":1}'
  awk 'BEGIN { printf "{\"a\":\""; for (i = 0; i < 300000; i++) printf "0123456789"; print "\"}" }'
  awk 'BEGIN { printf "{\"a\":\""; for (i = 0; i < 104000; i++) printf "0123456789"; print "\"}" }'
  echo '{"a":3}'
} >"$tmp/large"
t 2 "a record can be too large" bus-put -s "$bus" -u records.large <"$tmp/large"
err_like '^bus-put: standard input:2: a record of 3000008 bytes is larger than the server takes \(1048064\)$' \
  "the line is named"
is "$(bus_client dump agents | grep '^records.large ' | wc -c)" 1040045 \
  "a record that just fits is stored"

mkdir "$tmp/state"
cat >"$tmp/in" <<'END'
{"event":"action_event","id":"41","data":{"kind":"k","createdAt":"2026-03-14T08:00:01.000Z"}}
{"event":"action_event","id":"42","data":{"kind":"k","createdAt":"2026-03-14T08:00:00.500Z"}}
END
run bus-put -s "$bus" --state "$tmp/state/file" <"$tmp/in"
is "$(cat "$tmp/state/file")" \
  '{"type":"sse_state","source":"","last_event_id":"42","newest":"2026-03-14T08:00:01.000Z"}' \
  "--state keeps the resume point of what is stored"

bus_client stream small max_msgs=2 discard=new subjects=small.x
rows 3 >"$tmp/three"
t 75 "a full stream is not waited for longer than --max-wait" \
  bus-put -s "$bus" -t small -u small.x --max-wait 0.5 <"$tmp/three"
err_like '^bus-put: stream small: maximum messages exceeded$' "the message says that it is full"
is "$(bus_client info small | jq .messages)" 2 "a full stream takes no more"

t 2 "a secret on the command line is refused" bus-put -s nats://user:hunter2@127.0.0.1:1
err_unlike hunter2 "a secret on the command line is not repeated"
t 2 "--replicas is for --create" bus-put -s "$bus" --replicas 3
run bus-put -s "$bus" -t queue -u queue.file --create --work-queue </dev/null
is "$status $(bus_client info queue | jq -r .retention)" "0 workqueue" "a queue of work is made"
t 75 "a queue of work takes no more when it is full" \
  bus-put -s "$bus" -t strict -u strict.x --create --work-queue --max-bytes 300 --max-wait 0.5 <"$tmp/three"
ok "no record of a full queue of work is forgotten" \
  jq -e '.messages < 3 and .first_seq == 1' "$(bus_client info strict >"$tmp/strict"; echo "$tmp/strict")"
t 2 "--work-queue is for --create" bus-put -s "$bus" --work-queue </dev/null
done_testing
