#!/bin/sh
# What bus-get prints of what an independent client published: where it begins and ends, what it
# wraps, what it refuses, whom it shares with.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=20
start_bus a
bus_client stream agents
rows 300 >"$tmp/in"
bus_client put actions.118.llm_call <"$tmp/in"
echo '{"type":"health"}' | bus_client put records.health

t 0 "-e --all prints all that is there" bus-get -s "$bus" -e --all 'actions.>'
ok "records come with the bytes that were published" cmp -s "$out" "$tmp/in"
err_empty "reading all that is there says nothing"
run bus-get -s "$bus" -n 2 --since-seq 300
is "$(cat "$out")" "$(tail -n 1 "$tmp/in")
{\"type\":\"health\"}" "reading begins behind a number and ends after a few"
run bus-get -s "$bus" -e -m 'records.*' --all
like "$(cat "$out")" '^\{"type":"bus_message","stream":"agents","seq":301,"subject":"records\.health","time":"2[^"]*Z","redelivered":false,"data":\{"type":"health"\}\}$' \
  "--meta wraps a record in what is known of it"
t 1 "without --all there is nothing from now on: status 1" bus-get -s "$bus" -e
out_empty "nothing is printed where there is nothing from now on"
run bus-get -s "$bus" -e -S 1h
is "$(lines "$out")" 301 "--since begins at a time"
t 1 "--idle ends with status 1 when nothing comes for so long" bus-get -s "$bus" --idle 0.3 -S 0s
t 1 "a subject of which there is nothing has status 1" bus-get -s "$bus" --all -e 'events.>'
run bus-get -s "$bus" --last 5 -e 'actions.>'
is "$(jq -r .content "$out" | xargs)" "296 297 298 299 300" "--last prints the newest few"
run bus-get -s "$bus" --last 400 -e
is "$(lines "$out")" 301 "--last prints all where there are fewer"
t 1 "--last of a subject of which there are none has status 1" \
  bus-get -s "$bus" --last 5 -e 'events.>'
# Some early, then none for long, then one.
bus_client stream sparse 'subjects=sparse.*'
rows 9000 | bus-put -s "$bus" -t sparse -u sparse.x --id none
rows 50 | bus-put -s "$bus" -t sparse -u sparse.y
rows 20000 | bus-put -s "$bus" -t sparse -u sparse.x --id none
rows 1 51 | bus-put -s "$bus" -t sparse -u sparse.y
run bus-get -s "$bus" -t sparse --last 3 -e sparse.y
is "$(jq -r .content "$out" | xargs)" "49 50 51" "a few are found among many others"
run bus-get -s "$bus" -t sparse --last 2000 -e sparse.x
is "$(head -n 1 "$out" | jq -r .content)-$(tail -n 1 "$out" | jq -r .content)" "18001-20000" \
  "many are found among many"
newest() { bus-get -s "$bus" -t sparse --last 3 --state "$tmp/newest" sparse.y "$@" | jq -r .content; }
is "$(newest -n 2 | xargs)" "49 50" "--last and --state keep a place"
is "$(newest -e)" 51 "--last with a place counts more later"
t 2 "--last is not for --durable" bus-get -s "$bus" -d work --last 3
t 2 "several subjects need a newer server" \
  bus-get -s "$bus" -e --all actions.118.llm_call records.health
err_like 'several subjects need a server of version 2.10' "the message names the version"

# A consumer that is shared.
for one in 1 2; do
  start "g$one" bus-get -s "$bus" -d work --all --idle 1
  eval "g$one=\$pid"
done
# shellcheck disable=SC2154
for process in "$g1" "$g2"; do finished "$process"; done
cat "$tmp/g1.out" "$tmp/g2.out" | sort >"$tmp/both"
is "$(lines "$tmp/both")" 301 "two getters share the records"
is "$(sort -u "$tmp/both" | wc -l)" 301 "no record comes to both of two getters"
is "$(bus_client consumer agents work | jq -c .)" '{"pending":0,"unacknowledged":0}' \
  "all that two getters read is acknowledged"
t 1 "nothing is left when two getters have read all" bus-get -s "$bus" -d work -e
t 2 "a consumer of other subjects is not taken for ours" bus-get -s "$bus" -d work 'events.>' -e
err_like 'it is for all subjects' "the message says that the consumer is for all subjects"
run bus-get -s "$bus" -d part 'records.>' --all -e
is "$(cat "$out")" '{"type":"health"}' "some subjects can be asked for"

# The place of a durable consumer that somebody else reads on from.
run bus-get -s "$bus" -d both --all -n 100
bus_client take agents both 201 >"$tmp/rest"
{ cat "$out" "$tmp/rest"; } >"$tmp/all"
{ cat "$tmp/in"; echo '{"type":"health"}'; } >"$tmp/want"
ok "another client goes on where we ended" cmp -s "$tmp/all" "$tmp/want"

# A place of one's own.
run bus-get -s "$bus" --all --state "$tmp/state" -n 7
cp "$out" "$tmp/file"
: >"$tmp/file"
rm "$tmp/state"
bus-get -s "$bus" --all --state "$tmp/state" -n 7 >>"$tmp/file"
is "$(jq -c 'del(.created)' "$tmp/state")" "{\"type\":\"bus_state\",\"stream\":\"agents\",\"seq\":7,\"offset\":$(wc -c <"$tmp/file")}" \
  "a state file has the place"
echo '{"half' >>"$tmp/file"
bus-get -s "$bus" --state "$tmp/state" -e >>"$tmp/file"
ok "what no state tells of is cut off, and each record is there once" \
  cmp -s "$tmp/file" "$tmp/want"
: >"$tmp/file"
t 2 "an output that is too short is refused" \
  sh -c "bus-get -s '$bus' --state '$tmp/state' -e >>'$tmp/file'"
err_like 'append to it by >>' "the message about a short output says what to do"
t 2 "another stream's place is refused" bus-get -s "$bus" -t other --state "$tmp/state" -e

# What is no record.
printf 'not json\n{"b":"\033[31m"}\n[1]\n' | bus_client put records.poison
t 2 "what is no record is named" bus-get -s "$bus" -d poison --all -e 'records.poison'
out_is "" "nothing is printed"
is "$(grep -c 'agents seq .* on records.poison: not a record: ' "$err")" 3 \
  "each line that is not a record is named"
unlike "$(cat "$err")" "$(printf '\033')" "no control byte of a bad record reaches the terminal"
is "$(bus_client consumer agents poison | jq -c .)" '{"pending":0,"unacknowledged":0}' \
  "what is not a record does not come again"
run bus-get -s "$bus" --raw -n 1 --since-seq 302
is "$(cat "$out")" '"not json"' "--raw shows what is not a record"

# A command for each record.
run bus-get -s "$bus" -d jobs --all -n 3 -x 'jq -r .content'
is "$(cat "$out")" "1
2
3" "a command gets each record"
run bus-get -s "$bus" -d jobs -n 1 --ack-wait 1 -x 'exit 75'
is "$(bus_client consumer agents jobs | jq .unacknowledged)" 1 \
  "status 75 of the command gives the record back for later"
t 2 "another status ends it" bus-get -s "$bus" -d jobs -n 1 -x 'cat >/dev/null; exit 3'
err_like 'agents seq 5: the command ended with status 3' "a record whose command failed is named"

t 2 "a stream that does not exist is an error" bus-get -s "$bus" -t missing --max-wait 0 -e
err_like 'stream missing: no such stream' "the stream is named"
mkdir "$tmp/plain"
start plain nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$tmp/plain"
wait_until 20 sh -c "grep -q nats '$tmp/plain'/*.ports"
t 75 "a server without JetStream has status 75" \
  bus-get -s "$(sed 's/.*"nats":\["\([^"]*\)".*/\1/' "$tmp/plain"/*.ports)" --max-wait 0 -e
err_like 'the server has no JetStream' "the message names JetStream"
t 2 "--exec is for --durable" bus-get -s "$bus" -x true
t 2 "a subject is checked before anything is asked" bus-get -s "$bus" 'a..b'
t 2 "two beginnings exclude each other" bus-get -s "$bus" --all -S 1h
done_testing
