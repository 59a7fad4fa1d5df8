#!/bin/sh
# bus-up on an empty home: one command, and records go in and come out; it keeps what it made, and
# takes its server along.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
bound=30
port=$(free_ports)

start_server up bus-up --port "$port"
up=$pid
is "$url" "nats://127.0.0.1:$port" "bus-up says where it is"
echo '{"type":"health","ok":true}' >"$tmp/in"
t 0 "records go in without naming the bus" bus-put <"$tmp/in"
run bus-get --all -e
ok "the records come out again" cmp -s "$tmp/in" "$out"
state=$XDG_STATE_HOME/agentutils/bus
conf=$XDG_CONFIG_HOME/agentutils
is "$(find "$state" "$conf/bus-token" "$conf/config" -perm /077)" "" \
  "others can read none of what bus-up made"
run bus-get -s "$url" --all -e --max-wait 0
is "$status" 0 "the secret is known for this server"
like "$(cat "$state/server.conf")" '^host: 127\.0\.0\.1$' "the bus listens on this machine alone"

t 2 "a port that is taken is an error" bus-up --port "$port" -d "$tmp/second"
err_one_line bus-up "a port that is taken is told in one line"
err_is "bus-up: port $port is in use: is a bus running already? --port names another" \
  "the message about a taken port says what to do"

# Another server on the same folder, also one that a killed bus-up left behind.
second_is_refused() {
  cp "$state/server.conf" "$tmp/conf"
  t 2 "$1" bus-up --port "$(free_ports)"
  err_is "bus-up: $state: another server is at work there" \
    "the message says that another is at work"
  ok "another server on the folder touches nothing: $1" cmp -s "$state/server.conf" "$tmp/conf"
}
if command -v flock >/dev/null; then
  second_is_refused "a second bus-up on the same folder is refused"
  server=$(pgrep -P "$up" nats-server)
  stop "$up" KILL
  second_is_refused "bus-up is refused where a server was left behind"
  kill "$server"
  wait_until 10 gone "$server"
  start_server up bus-up --port "$port"
  up=$pid
  run bus-get --all -e
  ok "what was stored is there when the left server has ended" cmp -s "$tmp/in" "$out"
fi

server=$(pgrep -P "$up" nats-server)
stop "$up"
is "$status" 143 "a signal ends it by that signal"
wait_until 10 gone "$server"
ok "the server of bus-up ends with it" gone "$server"

cp "$conf/config" "$tmp/before"
start_server up bus-up --port "$port"
up=$pid
run bus-get --all -e
ok "what was stored is there the next time" cmp -s "$tmp/in" "$out"
ok "the configuration is what it was" cmp -s "$tmp/before" "$conf/config"
stop "$up"
# Whatever the commands take for the section is one, and nothing else.
mark=$(printf '\357\273\277')
tab=$(printf '\t')
for heading in '[ bus local ]' "${mark}[bus local]" '[bus   local] ; mine' "${tab}[bus ${tab}local$tab]#" \
  "[bus${tab}local]" '[bus local] x' "[ bus  other ]"; do
  printf '%s\nservers = %s\ntoken-file = %s\n' "$heading" "$url" "$conf/bus-token" >"$conf/config"
  case $heading in
  *"[bus${tab}local]" | *x | *other*) many=2 ;;
  *) many=1 ;;
  esac
  start_server up bus-up --port "$port"
  up=$pid
  is "$(grep -c '^servers' "$conf/config")" "$many" "the heading $heading is found"
  run bus-get --all -e
  ok "records come out under the heading $heading" cmp -s "$tmp/in" "$out"
  [ "$heading" = '[ bus  other ]' ] || stop "$up"
done
kill -9 "$(pgrep -P "$up" nats-server)"
finished "$up"
is "$status" 75 "bus-up ends with status 75 when its server is gone"

t 2 "a port that does not exist is refused" bus-up --port 0
done_testing
