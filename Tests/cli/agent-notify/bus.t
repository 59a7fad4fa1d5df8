#!/bin/sh
# agent-notify --bus: what comes on a bus is told on one of the machines that ask, and none of it
# is lost, whoever is killed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq perl
needs_peers
bound=30
start_bus a
bus_client stream agents
printf '[bus local]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
# notices FIRST LAST: some that are known by their ids.
notices() {
  seq "$1" "$2" | sed 's/.*/{"id":"n&","urgency":"urgent","category":"job","title":"t&"}/' |
    bus_client put records.job
}
titles() { jq -r .title "$@" | sort; }
told() { [ "$(titles "$@" 2>/dev/null | uniq | wc -l)" -ge "$count" ]; }
consumer() { bus_client consumer agents agent-notify | jq -c .; }
settled() { [ "$(consumer)" = '{"pending":0,"unacknowledged":0}' ]; }

# --- what is new
notices 901 903
start told agent-notify --bus '>' --settle 0.2 --exec cat
told=$pid
ok "a consumer is made" wait_until 20 consumer
wait_until 20 settled
printf '%s\n' '{"kind":"llm_error","content":"now","created_at":"2026-03-14T08:00:00.000Z"}' \
  '{"kind":"sent_reply","content":"hello","created_at":"2026-03-14T08:00:01.000Z"}' |
  bus_client put actions.118.llm_error
ok "what comes on the bus is told" wait_until 20 has "$tmp/told.out" llm_error
notices 1 1
count=2
ok "what comes on the bus is told, whatever it is" wait_until 20 told "$tmp/told.out"
is "$(titles "$tmp/told.out" | xargs)" "llm_error t1" "nothing that was on the bus before is told"
ok "all that was told is acknowledged" wait_until 20 settled
t 2 "a second one on this machine is refused" agent-notify --bus '>'
err_is "agent-notify: $XDG_STATE_HOME/agentutils/notify+bus: in use by another agent-notify" "the message says that another is at work"

# --- a way that is not through with it
stop "$told"
status_is 143 "a signal ends agent-notify"
start slow agent-notify --bus '>' --settle 0.1 --exec 'cat; exec sleep 30'
slow=$pid
notices 2 3
ok "one record is being told by a slow way" wait_until 20 test -s "$tmp/slow.out"
ok "the records for a slow way are taken over" wait_until 20 settled
kill -9 "$slow"
finished "$slow"
start again agent-notify --bus '>' --settle 0.1 --to line
both() { [ "$(awk '{ print $NF }' "$tmp/again.out" | sort -u | xargs)" = "t2 t3" ]; }
ok "what a killed run was at, or what waited, is told by the next one" wait_until 20 both
stop "$pid"

# --- more than there are places for
state=$XDG_STATE_HOME/agentutils/notify+bus
waiting() { jq '.waiting | length' "$state"; }
start full agent-notify --bus '>' --settle 0.1 --exec 'exec sleep 50'
full=$pid
seq 1 300 |
  sed 's/.*/{"id":"e&","urgency":"emergency","category":"job","title":"e&"}/' >"$tmp/many"
bus_client put records.job <"$tmp/many"
is_full() { [ "$(waiting)" -ge 200 ]; }
ok "emergencies that wait are taken over" wait_until 20 is_full
is "$(waiting)" 200 "as many emergencies wait as have a place"
kill -9 "$full"
finished "$full"
start rest agent-notify --bus '>' --settle 0.1 --to line
all_told() { [ "$(awk '{ print $NF }' "$tmp/rest.out" | sort -u | grep -c '^e')" -eq 300 ]; }
ok "all emergencies are told by the next run" wait_until 60 all_told
wait_until 20 settled
stop "$pid"

# --- a way that fails
start fails agent-notify --bus '>' --settle 0.1 --exec 'exit 1'
notices 4 4
ok "a way that fails is told" wait_until 20 has "$tmp/fails.err" 'exit 1: status 1'
ok "the record of a way that fails is acknowledged" wait_until 20 settled
stop "$pid"
start next agent-notify --bus '>' --settle 0.1 --to line
notices 5 5
ok "the next run tells what is new" wait_until 20 has "$tmp/next.out" t5
is "$(awk '{ print $NF }' "$tmp/next.out" | sort | xargs)" "t4 t5" \
  "the next run tells what could not be told before"
stop "$pid"

# --- what is kept
start kept agent-notify --bus '>' --settle 0.1 --to line
echo '{"id":"k1","urgency":"info","category":"job","title":"later"}' | bus_client put records.job
in_file() { jq -e '.kept[0].title == "later"' "$XDG_STATE_HOME/agentutils/notify+bus"; }
ok "what is kept is on disk" wait_until 20 in_file
ok "what is kept is acknowledged when it is on disk" wait_until 20 settled
kill -9 "$pid"
finished "$pid"
start kept agent-notify --bus '>' --settle 0.1 --digest 0.1 --to line
ok "what is kept is told by the next run" wait_until 20 has "$tmp/kept.out" later
stop "$pid"

# --- killed at any moment, with bus-get or without it
: >"$tmp/all"
run bus-get -d quick --ack-wait 1 --idle 0.2 '>'
kills=20
i=0
while [ "$i" -lt "$kills" ]; do
  i=$((i + 1))
  notices $((i * 3 + 97)) $((i * 3 + 99))
  start one agent-notify --bus '>' --settle 0.1 --rate 1000 --exec "cat >>'$tmp/all'"
  perl -e 'select undef, undef, undef, rand 0.5'
  children=
  [ $((i % 5)) -ne 0 ] || children=$(ps -e -o pid= -o ppid= -o comm= |
    awk -v parent="$pid" '$2 == parent && $3 == "bus-get" { print $1 }')
  # shellcheck disable=SC2086
  kill -9 "$pid" $children
  finished "$pid"
done
start one agent-notify --bus '>' --settle 0.1 --rate 1000 --exec "cat >>'$tmp/all'"
one=$pid
count=$((3 * kills))
ok "each record was told after $kills kills" wait_until 60 told "$tmp/all"
ok "all records are acknowledged after $kills kills" wait_until 60 settled
twice=$(titles "$tmp/all" | uniq -d | wc -l | tr -d ' ')
ok "few records were told twice ($twice)" test "$twice" -le "$kills"

# --- two machines
XDG_STATE_HOME=$tmp/other start other agent-notify --bus '>' --settle 0.1 --rate 1000 \
  --exec "cat >>'$tmp/all-other'"
other=$pid
: >"$tmp/all"
: >"$tmp/all-other"
i=200
while [ "$i" -lt 240 ]; do
  notices "$i" $((i + 3))
  i=$((i + 4))
done
count=40
ok "two machines tell all records" wait_until 60 told "$tmp/all" "$tmp/all-other"
is "$(titles "$tmp/all" "$tmp/all-other" | uniq -d)" "" \
  "each record was told by one of two machines"
diag "$(lines "$tmp/all") and $(lines "$tmp/all-other")"
stop "$one"
stop "$other"

# --- filters, which take most of it
start told agent-notify --bus '>' --settle 0.1 --as urgent --exec cat -- -k voice_session_start -F reef
rows 5000 | bus_client put actions.118.llm_call
for content in elsewhere 'on the reef'; do
  echo '{"kind":"voice_session_start","content":"'"$content"'","created_at":"2026-03-14T08:00:00.000Z"}'
done | bus_client put actions.118.voice_session_start
ok "what the filter selects is told" wait_until 20 has "$tmp/told.out" reef
is "$(jq -r .text "$tmp/told.out")" "on the reef" "no other record is told"
ok "what the filter leaves out is acknowledged, too" wait_until 20 settled
stop "$pid"
t 2 "an option that the filter does not have is an error" agent-notify --bus '>' -- --no-such
err_like '^agent-notify: unknown option --no-such$' \
  "an unknown option is told before anything is asked for"

t 2 "a bus and a profile exclude each other" agent-notify --bus '>' -p x
t 2 "bus-get looks at the subject" agent-notify --bus 'a..b'
err_like '^agent-notify: a\.\.b: an empty word between dots$' "the message says what is wrong"
done_testing
