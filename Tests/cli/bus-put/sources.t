#!/bin/sh
# One stream of what a hub and its edges have: made before there is an edge, filled when one comes,
# and when one is back that was cut off.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=30
ada=

leaves=$(free_ports)
mkfifo "$tmp/control"
start_server relay python3 "$cli/servers/relay.py" "127.0.0.1:$leaves" "$tmp/control"
exec 7<>"$tmp/control"
# An edge is told where else the hub is.
cat >"$tmp/hub.conf" <<END
server_name: hub
leafnodes { listen: "127.0.0.1:$leaves", advertise: "${url#nats://}" }
END
start_bus hub -c "$tmp/hub.conf"
hub=$bus
bus-put -s "$hub" --create </dev/null
t 0 "a stream of what is here and at edges that are not there yet" \
  bus-put -s "$hub" -t all --create --source agents,agents@ada --source=agents@ines </dev/null
err_empty "nothing is said when a stream with sources is made"
is "$(bus_client info all | jq -c '[.subjects // [], [.sources[] | [.name, .external.api // .external]]]')" \
  '[[],[["agents",null],["agents","$JS.ada.API"],["agents","$JS.ines.API"]]]' \
    "a stream has the sources that were asked for"
run bus-put -s "$hub" -t all --create </dev/null
is "$(bus_client info all | jq -c '.subjects // []')" '[]' \
  "a stream with sources that is there is not changed"

edge() {
  cat >"$tmp/$1.conf" <<END
server_name: $1, listen: "127.0.0.1:-1", ports_file_dir: "$tmp/$1"
own: [ "actions.>", "events.>", "records.>", "voice.>" ]
jetstream { domain: $1, store_dir: "$tmp/$1.store" }
leafnodes { remotes: [ { url: "$url", deny_imports: \$own, deny_exports: \$own } ] }
END
  mkdir "$tmp/$1"
  start "$1" nats-server -c "$tmp/$1.conf"
  wait_until 30 sh -c "grep -qs nats '$tmp/$1'/*.ports" || bail "$1 does not come up"
  bus=$(sed 's/.*"nats":\["\([^"]*\)".*/\1/' "$tmp/$1"/*.ports)
}
rows 100 1 >"$tmp/here"
rows 300 1001 >"$tmp/ada.rows"
rows 200 2001 >"$tmp/ines.rows"
bus-put -s "$hub" <"$tmp/here"
for name in ada ines; do
  edge "$name"
  eval "$name=\$bus"
  bus-put -s "$bus" --create <"$tmp/$name.rows"
done
has_all() {
  bus-get -s "$hub" -t all --all -e >"$tmp/got"
  at_least "$tmp/got" "$1"
}
ok "each edge is heard when it first comes up" wait_until 30 has_all 600
sort "$tmp/got" >"$tmp/sorted"
sort "$tmp/here" "$tmp/ada.rows" "$tmp/ines.rows" >"$tmp/want"
ok "all records of the edges come once, with the bytes that were put" \
  cmp -s "$tmp/sorted" "$tmp/want"

# An edge that is cut off for a while, with records on both sides.
echo close >&7
wait_until 20 has "$tmp/ada.err" 'Leafnode connection closed'
rows 2000 3001 >"$tmp/more"
t 0 "an edge stores without the hub" bus-put -s "$ada" <"$tmp/more"
run bus-get -s "$hub" -t all --all -e
is "$(lines "$out")" 600 "nothing that a cut-off edge stores is at the hub"
echo open >&7
ok "what a cut-off edge stored comes when the link is back" wait_until 40 has_all 2600
grep -F -x -f "$tmp/more" "$tmp/got" >"$tmp/mine"
ok "each record of the edge is there once, in order" cmp -s "$tmp/mine" "$tmp/more"
rows 5 8001 | bus-put -s "$hub"
rows 5 9001 | bus-put -s "$ada"
ok "what is stored at both ends comes to the hub" wait_until 20 has_all 2610
for bus in "$hub" "$ada"; do bus_client info agents | jq .messages; done >"$tmp/counts"
is "$(xargs <"$tmp/counts")" "105 2305" "each end keeps its subjects to itself"

for words in "-u records.x --create" "--prefix ada --create" ""; do
  # shellcheck disable=SC2086
  t 2 "--source does not go with $words" \
    bus-put -s "$hub" -t other $words --source agents </dev/null
done
for word in a.b '' 'a@' '@b' 'a@b@c' 'a b' ','; do
  t 2 "'$word' is no source" bus-put -s "$hub" -t other --create --source "$word" </dev/null
done
err_like '^bus-put: --source ,: not STREAM or STREAM@DOMAIN' "the message tells the form"
done_testing
