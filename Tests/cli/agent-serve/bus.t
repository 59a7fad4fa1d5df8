#!/bin/sh
# agent-serve --bus: each action that is stored is on the bus once, whoever is killed. The stream
# remembers ids for a tenth of a second, so that they are no help.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs agent-serve curl jq pgrep python3
needs_peers
bound=60
database=$tmp/actions.sqlite
serve() { start_server serve agent-serve -l 127.0.0.1:0 -D "$database" "$@" && server=$pid; }
post() { curl -s --data-binary @- "$url/api/actions"; }
# The ids that are stored, and those on the bus, each as often as it is there.
stored() {
  python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM actions WHERE id > 2 ORDER BY id"):
    print(row[0])' "$database"
}
published() { bus_client dump agents | cut -d ' ' -f 2- | jq .data.id; }
all_are_there() {
  stored >"$tmp/stored"
  published >"$tmp/published"
  [ "$(sort -u "$tmp/published" | wc -l)" -ge "$(lines "$tmp/stored")" ]
}
each_once() {
  wait_until 30 all_are_there
  sort -n "$tmp/published" >"$tmp/sorted"
  ok "$1: each of $(lines "$tmp/stored") actions is on the bus once" \
    cmp -s "$tmp/stored" "$tmp/sorted"
}
# Posts actions, fifty at a time, until the server is gone.
number=1000
load() {
  number=$((number + 10000))
  start load sh -c 'number=$1
    while awk -v n="$number" "BEGIN { for (i = n; i < n + 50; i++)
      printf \"{\\\"kind\\\":\\\"llm_call\\\",\\\"guild_id\\\":\\\"%d\\\",\\\"content\\\":\\\"%d\\\"}\\n\", i % 7, i }" |
      curl -sf -m 20 -o /dev/null --data-binary @- "$2/api/actions" && [ "$number" -lt "$3" ]; do
      number=$((number + 50))
    done' sh "$number" "$url" "$((number + ${1-8000}))"
  load=$pid
}
# A moment, each time another one.
moment() { perl -e 'srand shift; select undef, undef, undef, $ARGV[0] + rand $ARGV[1]' "$@"; }

start_bus a
bus_client stream agents duplicate_window=0.1
cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[bus box]
servers = $bus
[bus crew]
servers = $bus
stream = crew
END

# --- what is published
t 2 "a bus that is not configured is refused" agent-serve -l 127.0.0.1:0 --bus bax
err_like '^agent-serve: bus bax: not in .*box' "the nearest name is told"
t 2 "an agent's name is one word" agent-serve -l 127.0.0.1:0 --bus box/a.b
serve
rows 2 | post >/dev/null
stop "$server"
serve --bus box
start tail sse-tail "$url/api/activity/events"
tail=$pid
wait_until 20 has "$tmp/tail.out" activity_snapshot
cat >"$tmp/in" <<'END'
{"kind":"llm_call","guildId":"118","content":"a\u001b[31m\u001b]0;x\u0007 \u202e $(date) `date`","metadata":{"x":1.10},"level":"warn","createdAt":"2026-03-14T08:00:00.000Z"}
{"kind":"a.b > *","guild_id":"> * . $JS","content":"wild","type":"bus_message","subject":"x.y","actions":[1],"data":{"kind":"k"},"event":"e"}
{"kind":"voice_turn","usd_cost":"0.0010"}
END
post <"$tmp/in" >/dev/null
awk 'BEGIN { printf "{\"kind\":\"large\",\"content\":\""; for (i = 0; i < 100000; i++) printf "0123456789"; print "\"}" }' |
  post >/dev/null
awk 'BEGIN { printf "{\"kind\":\"larger\",\"content\":\""; for (i = 0; i < 120000; i++) printf "0123456789"; print "\"}" }' |
  post >/dev/null
echo '{"kind":"last"}' | post >/dev/null
wait_until 20 has "$tmp/tail.out" '"kind":"last"'
run bus-get -b box --all -n 5
grep '^{"event":"action_event"' "$tmp/tail.out" | grep -v '"kind":"larger"' >"$tmp/want"
ok "what sse-tail prints is what comes by the bus" cmp -s "$tmp/want" "$out"
bus_client dump agents | cut -d ' ' -f 1 >"$tmp/subjects"
is "$(xargs <"$tmp/subjects")" "actions.118.llm_call actions.%3E%20%2A%20%2E%20%24JS.a%2Eb%20%3E%20%2A actions.-.voice_turn actions.-.large actions.-.last" \
  "names of strangers make no level and no wildcard"
is "$(action-filter -k llm_call "$out" | jq -c '.data | [.id, .level]')" '[3,"warn"]' \
  "action-filter knows an action of the bus"
is "$(bus_client ids agents | sed 's/^[A-Za-z0-9_-]\{16\}-\([0-9]*\)-[A-Za-z0-9_-]\{12\}$/\1/' | xargs)" "3 4 5 6 8" \
  "what was there before is not published"
like "$(cat "$tmp/serve.err")" \
  '^agent-serve: action 7: not published: a record of [0-9]+ bytes is larger than the server takes' \
  "what is too large for the bus is named, and kept"
unlike "$(cat "$tmp/serve.err")" "$(printf '\033')" \
  "nothing of an action too large reaches a terminal"
stop "$tail"
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db: db.execute("DELETE FROM actions WHERE id = 7")' "$database"

# --- kill -9 of agent-serve, quickly
stop "$server"
killed=0
while [ "$killed" -lt 20 ]; do
  serve --bus box
  load
  moment "$killed" 0 0.4
  kill -9 "$server"
  finished "$server"
  finished "$load"
  killed=$((killed + 1))
done
serve --bus box
each_once "agent-serve killed 20 times"

# --- kill -9 of bus-put
load 5000
for round in 1 2 3 4 5 6; do
  child() { child=$(pgrep -P "$server" -x bus-put); }
  wait_until 20 child && kill -9 "$child"
  moment "$round" 0.2 0.4
done
finished "$load"
each_once "bus-put killed"

# --- kill -9 of the server
load 5000
for round in 1 2; do
  moment "$round" 0.2 0.3
  kill -9 "$bus_pid"
  wait_until 20 has "$tmp/serve.err" 'link lost|refused'
  restart_bus a
done
finished "$load"
each_once "nats-server killed"
stop "$server"
is "$status" 0 "a signal ends agent-serve with a bus"

# --- a bus that is down: nothing happens to serving
kill -9 "$bus_pid"
serve --bus box
rows 500 | post >"$tmp/answer"
is "$(jq .stored "$tmp/answer")" 500 "actions are stored without a bus"
wait_until 20 has "$tmp/serve.err" 'waiting'
is "$(lines "$tmp/serve.err")" 1 "a bus that is down is told in one line"
child=$(pgrep -P "$server" -x bus-put)
kill -9 "$server"
finished "$server"
ok "bus-put ends with agent-serve" wait_until 20 gone "$child"
serve --bus box
wait_until 20 has "$tmp/serve.err" 'waiting'
stop "$server"
is "$status" 0 "agent-serve ends without a bus all the same"
serve --bus box
wait_until 20 has "$tmp/serve.err" 'waiting'
restart_bus a
each_once "a bus that comes later"
is "$(lines "$tmp/serve.err")" 2 "a bus that comes later is told in one line more"
stop "$server"

# --- a stream that is full, and an agent's name
bus_client stream crew subjects='ada.actions.>' max_msgs=20 discard=new retention=workqueue
serve --bus crew/ada
rows 60 5000 >"$tmp/sixty"
post <"$tmp/sixty" | jq -c .stored >"$tmp/answer"
is "$(cat "$tmp/answer")" 60 "a full stream does not stop anything"
wait_until 20 has "$tmp/serve.err" 'maximum messages exceeded; waiting'
run bus-get -b crew -d work --all -n 60 'ada.>'
is "$(jq -r .data.content "$out")" "$(jq -r .content "$tmp/sixty")" \
  "a full stream has all actions in the end, in order"
stop "$server"

# --- whoever may not look, or finds too little, says so once and goes on
cat >"$tmp/user.conf" <<'END'
authorization { users: [
  { user: root, password: r00t },
  { user: writer, password: w, permissions: { publish: ["actions.>"], subscribe: "_INBOX.>" } },
] }
END
start_bus doors -c "$tmp/user.conf"
umask 077
for pair in root:r00t writer:w; do
  echo "$pair" >"$tmp/${pair%:*}"
  printf '[bus %s]\nservers = %s\nuser-file = %s\n' "${pair%:*}" "$bus" "$tmp/${pair%:*}"
done >>"$XDG_CONFIG_HOME/agentutils/config"
bus-put -b root --create </dev/null
bus=nats://root:r00t@${bus#nats://}
for user in writer root; do
  serve --bus "$user"
  echo '{"kind":"first"}' | post >/dev/null
  wait_until 20 sh -c "bus-get -q -b root --all -e | grep -q first"
  stop "$server"
  serve
  rows 3 | post >/dev/null
  stop "$server"
  if [ "$user" = root ]; then bus_client purge agents; fi
  serve --bus "$user"
  run bus-get -b root --all -n "$([ "$user" = root ] && echo 3 || echo 4)"
  is "$(jq -r .data.content "$out" | tail -n 3 | xargs)" "1 2 3" "what was stored without a bus comes later"
  stop "$server"
  cp "$tmp/serve.err" "$tmp/$user.err"
  if [ "$user" = writer ]; then bus_client purge agents; fi
done
is "$(grep -c 'bus writer: it does not let us look what is there: ' "$tmp/writer.err")" 1 \
  "a user who may not look at the bus is told once"
is "$(grep -c 'bus root: the stream no longer holds what was sent last: ' "$tmp/root.err")" 1 \
  "a stream that forgot is told once"
done_testing
