#!/bin/sh
# `agent-tail -p a,b`: several agents in one stream of records, each with its name.
. "${0%/*}/../lib.sh"
needs agent-tail agent-serve action-filter action-format jq curl


config=$XDG_CONFIG_HOME/agentutils/config
serve_on() { # NAME LISTEN [OPTION...]
  _as=$1
  _at=$2
  shift 2
  start_server "$_as" agent-serve --listen "$_at" --database "$tmp/$_as.sqlite" "$@"
}
# post URL FROM TO: actions with these numbers as content.
post() {
  seq "$2" "$3" | sed 's/.*/{"kind":"llm_call","content":"n&"}/' |
    curl -sf --data-binary @- "$1/api/actions" >/dev/null
}
serve_on a 127.0.0.1:0
a=$url a_pid=$pid a_port=$port
serve_on b 127.0.0.1:0
b=$url
printf '[profile a]\nurl = %s\n[profile b]\nurl = %s\n' "$a" "$b" >"$config"

# --- one profile: what sse-tail prints, to the byte
post "$a" 1 5
run sse-tail -n 1 -p a activity
cp "$out" "$tmp/want"
t 0 "one profile is followed" agent-tail -n 1 -p a
ok "agent-tail of one profile prints what sse-tail does" cmp "$tmp/want" "$out"
err_empty "nothing is said beside the events of one profile"
run agent-tail -n 1 -p a,a
ok "a profile that is named twice is followed once" cmp "$tmp/want" "$out"
run env AGENT_URL="$a" agent-tail -n 1
ok "a URL without a profile prints the same" cmp "$tmp/want" "$out"

# --- two
t 0 "two profiles are followed" agent-tail -L -n 2 -p a -p b
is "$(grep activity_snapshot "$out" | cut -c 1-64 | sort)" \
  '{"event":"activity_snapshot","id":"0","profile":"b","data":{"act
{"event":"activity_snapshot","id":"5","profile":"a","data":{"act' \
  "the profile of an event is behind the id"
is "$(grep '"type":"open"' "$out" | sed 's/"time".*//' | sort)" \
  "{\"type\":\"open\",\"profile\":\"a\",\"url\":\"$a/api/activity/events\",
{\"type\":\"open\",\"profile\":\"b\",\"url\":\"$b/api/activity/events\"," \
  "the profile of a record is behind the type"
is "$(grep '"type":"end"' "$out" | sed 's/"time".*//' | sort)" \
  '{"type":"end","profile":"a","reason":"count",
{"type":"end","profile":"b","reason":"count",' "the end of each profile is told"
run agent-tail -T -n 2 -p a,b
is "$(head -n 1 "$out" | jq -c keys_unsorted)" '["event","id","profile","received_at","data"]' \
  "the profile of an event comes before the time"

# --- killed in the middle, restarted on the same port and database
start tail agent-tail -L --retry-wait 0.1 -p a,b
tail=$pid
wait_until 30 has "$tmp/tail.out" '"snapshot.*"profile":"b"|activity_snapshot.*"profile":"b"'
wait_until 30 has "$tmp/tail.out" 'activity_snapshot.*"profile":"a"'
post "$a" 101 110
post "$b" 101 110
wait_until 30 has "$tmp/tail.out" '"profile":"a".*"n110"'
stop "$a_pid" KILL
wait_until 30 has "$tmp/tail.out" '"type":"lost","profile":"a"'
post "$b" 111 120
wait_until 30 has "$tmp/tail.out" '"profile":"b".*"n120"'
ok "a profile that is down holds up no other" has "$tmp/tail.out" '"profile":"b".*"n120"'
serve_on a "127.0.0.1:$a_port"
post "$a" 111 120
post "$b" 121 130
wait_until 30 has "$tmp/tail.out" '"type":"resumed","profile":"a"'
post "$a" 121 130
wait_until 30 has "$tmp/tail.out" '"profile":"a".*"n130"'
wait_until 30 has "$tmp/tail.out" '"profile":"b".*"n130"'
# numbers NAME: of the actions of a profile, each as often as it passes.
action-filter -u -a "$tmp/tail.out" >"$tmp/passed"
numbers() {
  grep "\"profile\":\"$1\"" "$tmp/passed" | grep -o '"content":"n1[0-9][0-9]"' | tr -dc '0-9\n' | sort -n
}
seq 101 130 >"$tmp/wanted"
for name in a b; do
  numbers "$name" >"$tmp/numbers"
  ok "$name: nothing is lost or doubled" cmp "$tmp/numbers" "$tmp/wanted"
done
action-format --color never "$tmp/passed" >"$tmp/rows"
is "$(grep -c llm_call "$tmp/rows")" 65 "each action has a row"
is "$(grep llm_call "$tmp/rows" | grep -vc '^[ab]  ')" 0 "each row has the name of its profile"
ok "a lost stream has the name of its profile" has "$tmp/rows" '^a  .*! stream lost'
is "$(jq -r 'select(.event) | .profile' "$tmp/tail.out" | sort -u | tr '\n' ' ')" "a b " \
  "each event has its name"
not_ok "b was never lost" has "$tmp/tail.out" '"type":"lost","profile":"b"'
stop "$tail" TERM
is "$status" 143 "a signal ends agent-tail"
is "$(tail -n 2 "$tmp/tail.out" | jq -r '[.type,.profile,.reason] | join(" ")' | sort)" \
  "end a signal 15
end b signal 15" "a signal ends each profile with a record"

# --- states, one for each
t 0 "--state has status 0 for two profiles" agent-tail -n 2 --state "$tmp/states" -p a,b
is "$(jq -r .source "$tmp/states/a.state" "$tmp/states/b.state")" "activity of a
activity of b" "--state is a file for each profile in the folder"
post "$a" 201 202
post "$b" 201 201
run agent-tail -n 3 --state "$tmp/states" -p a,b
is "$(jq -r '"\(.profile) \(.data.content)"' "$out" | sort)" "a n201
a n202
b n201" "each profile goes on where it ended"
# What a process has read and nobody has printed is not lost, and what was printed not told again.
post "$a" 301 340
post "$b" 301 340
count=0
: >"$tmp/all"
while [ "$count" -lt 16 ]; do
  agent-tail -n 5 --state "$tmp/states" -p a,b >>"$tmp/all" || break
  count=$((count + 1))
done
is "$(jq -r '"\(.profile) \(.data.content)"' "$tmp/all" | sort | uniq -c | sort -u -k 1,1 | wc -l) \
$(wc -l <"$tmp/all")" "1 80" "each of 80 events is told once, 5 at a time"
post "$a" 203 203
run agent-tail -n 1 --state "$tmp/states" -p a
is "$(jq -r .data.content "$out")" "n203" \
  "the state in the folder is used for one profile alone, too"
run agent-tail -n 1 --state "$tmp/one.state" -p a
ok "one profile keeps its state in the file itself" test -f "$tmp/one.state"
t 2 "the state of another profile is refused" agent-tail -n 1 --state "$tmp/one.state" -p b
err_one_line agent-tail "the state of another profile is told in one line"
cp "$tmp/states/a.state" "$tmp/states/b.state"
run agent-tail -n 1 --max-time 5 --state "$tmp/states" -p a,b
err_is "agent-tail: b: $tmp/states/b.state: holds the state of activity of a, not of activity of b" \
  "a wrong state is told with the name of the profile"
printf '[profile ../x/y]\nurl = %s\n' "$a" >>"$config"
run agent-tail -n 2 --state "$tmp/odd" -p a,../x/y
ok "the name of a profile leads out of no folder" test -f "$tmp/odd/%2E.%2Fx%2Fy.state"
done_testing
