#!/bin/sh
# The README's section "More than one machine", and those of bus-up(1) that go on from there,
# command by command: a laptop, a server with TLS, three of them of which the leader is killed, an
# edge that is cut off and comes back, and what users may do. Each machine is a folder; names, ports
# and places are those of this machine.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq openssl curl
bound=60
umask 077

awk -v dir="$tmp" '
  FILENAME ~ /README/ {
    if (/^## /) inside = $0 == "## More than one machine"
    if (inside && /^    /) { if (!open) n++; open = 1; print substr($0, 5) >(dir "/block" n) }
    else open = 0
    next
  }
  /^\.S[hs] / { ours = $0 == ".Ss For other machines" || (ours && /^\.Ss/) }
  ours && /^\.Bd/ { n++; open = 1; next }
  /^\.Ed/ { open = 0 }
  ours && open {
    gsub(/\\\(aq/, "\047"); gsub(/\\e/, "\\")
    print >(dir "/block" n)
  }' "$root/README.md" "$root/man/bus-up.1"
is "$(find "$tmp" -name 'block*' | wc -l | tr -d ' ')" 10 \
  "each block of the README and the manual is run below"

# --- what stands for what

ports=$(free_ports 11)
# shellcheck disable=SC2086
set -- $ports
laptop=$1
edge=$2
shift 2
exec 6>/dev/null
mkdir "$tmp/edge"
cp /dev/null "$tmp/names"
for box in one two three; do
  mkdir "$tmp/$box"
  # An edge reaches the servers by what can be cut, and is told of nothing else.
  mkfifo "$tmp/$box.control"
  start_server "$box.relay" python3 "$cli/servers/relay.py" "127.0.0.1:$3" "$tmp/$box.control"
  echo "s/$box.box:4222/localhost:$1/; s/$box.box:6222/localhost:$2/; s/$box.box:7422/localhost:$port/" \
    >>"$tmp/names"
  echo "s/port: 4222/listen: \"127.0.0.1:$1\"/; s/port: 6222/listen: \"127.0.0.1:$2\"/
    s/port: 7422/listen: \"127.0.0.1:$3\", advertise: \"127.0.0.1:$port\"/" >"$tmp/$box.own"
  echo "s/127.0.0.1:[0-9]*/127.0.0.1:$1/; s|$tmp/one/|$tmp/$box/|
    s/server_name: one/server_name: $box/" >"$tmp/$box.copy"
  shift 3
done
echo "s/bus-up/& --port $laptop/" >"$tmp/home.own"
echo "s/127.0.0.1:4222/127.0.0.1:$edge/" >"$tmp/edge.own"
exec 6<>"$tmp/one.control" 7<>"$tmp/two.control" 8<>"$tmp/three.control"
link() { for _end in 6 7 8; do echo "$1" >&"$_end"; done; }

# commands N MACHINE: those of a block, as they are there; all but the last with -.
commands() {
  sed -f "$tmp/names" -f "$tmp/$2.own" "$tmp/block$1" |
    sed "s|/var/lib/bus|$tmp/$2/store|; s/DNS:one.*box/DNS:localhost/"
}
# on MACHINE N: runs a block. serve MACHINE N: its last command is a server, which stays.
on() {
  commands "$2" "$1" >"$tmp/$1.sh"
  cd "$tmp/$1" || bail "no $1"
  run sh -e "$tmp/$1.sh"
  cd "$tmp" || bail "no $tmp"
  status_is 0 "block $2 works on $1"
}
serve() {
  commands "$2" "$1" | sed '$d' >"$tmp/$1.sh"
  cd "$tmp/$1" || bail "no $1"
  sh -e "$tmp/$1.sh" >"$tmp/$1.said" 2>&1 || bail "block $2 on $1: $(cat "$tmp/$1.said")"
  # shellcheck disable=SC2046  # words of a command
  start "$1" $(commands "$2" "$1" | tail -n 1)
  cd "$tmp" || bail "no $tmp"
}
is_ready() { has "$tmp/$1.err" 'Server is ready'; }
# follow NAME ERE [N]: starts the line of a block that has this, as a group of processes.
follow() {
  start "$1" perl -e 'setpgrp; exec { $ARGV[0] } @ARGV' sh -c "$(line "${3:-2}" "$2")"
}
unfollow() {
  kill -TERM "-$(cat "$tmp/$1.pid")"
  finished "$(cat "$tmp/$1.pid")"
}
# line N ERE: the line of a block that has this, to be changed by a table of its own.
line() { commands "$1" home | grep -E -e "$2"; }

# --- one laptop

serve home 1
wait_until 30 has "$tmp/home.out" listening
ok "bus-up is up" has "$tmp/home.out" listening
serve_agent agent
post() {
  curl -sS -o "$tmp/posted" -d "{\"kind\":\"$1\",\"content\":\"$2\"}" "$AGENT_URL/api/actions"
}
AGENT_URL=$url
export AGENT_URL
cd "$tmp/home" || bail "no home"
printf '#!/bin/sh\ncat >>handled\n' >handle
chmod 700 handle
follow shown action-format
follow source sse-tail
arrived() {
  post llm_call "the tide is at six"
  has "$tmp/shown.out" "the tide is at six"
}
ok "what an agent does arrives" wait_until 30 arrived
run sh -c "$(line 2 'by guild')"
out_like '"type":"count"' "what there was can be counted"
follow place all.ndjson
follow work handle
worked() {
  post note more
  test -s handled && test -s all.ndjson
}
ok "what an agent does is handled and kept" wait_until 30 worked
follow feed agent-pulse
follow archive agent-archive
follow notify agent-notify
echo shot >shot.png
run sh -c "$(line 2 share-inbox)"
out_like '"state":"queued"' "a file is queued"
run share-inbox drain --bus --exec 'cat >delivered'
ok "the file is delivered" cmp -s shot.png delivered
told() {
  post llm_error "the tide is late"
  for _name in feed notify; do has "$tmp/$_name.out" "the tide is late" || return; done
  grep -q "the tide is late" "$XDG_STATE_HOME"/agentutils/archive/*.ndjson
}
ok "what an agent does is shown, told and archived" wait_until 30 told
is "$(line 2 . | wc -l | tr -d ' ')" 9 "the block has nine lines, each of which was run"
for name in shown source place work feed archive notify; do unfollow "$name"; done
stop "$(cat "$tmp/home.pid")"
cd "$tmp" || bail "no $tmp"

# --- one server, with TLS and a token

serve one 3
ok "a server with TLS starts" wait_until 30 is_ready one
conf=$XDG_CONFIG_HOME/agentutils
cp "$tmp/one/bus.pem" "$tmp/one/bus-token" "$tmp/home"
on home 4
rows 10 >"$tmp/ten"
t 0 "records go in by TLS and a token" bus-put -b team <"$tmp/ten"
run bus-get -b team --all -e
ok "records come out again by TLS and a token" cmp -s "$tmp/ten" "$out"
stop "$(cat "$tmp/one.pid")"

# --- three, of which the leader is killed

rm -r "$tmp/one/store"
for box in two three; do
  cp "$tmp/one/bus.pem" "$tmp/one/bus.key" "$tmp/one/bus-token" "$tmp/one/access.conf" "$tmp/$box"
  sed -f "$tmp/$box.copy" "$tmp/one/bus.conf" >"$tmp/$box/bus.conf"
done
for box in one two three; do serve "$box" 5; done
for box in one two three; do ok "$box is up" wait_until 30 is_ready "$box"; done
line 6 bus-put >"$tmp/made"
run sh "$tmp/made"
status_is 0 "the command works: $(cat "$tmp/made")"
# leader STREAM: the server that was the last to say that it leads it.
leader() {
  for _box in one two three; do
    sed -n "s/^[^ ]* \([^ ]* [^ ]*\) .*new stream leader for '[^']*$1'.*/\1 $_box/p" "$tmp/$_box.err"
  done | sort | sed -n '$s/.* //p'
}
leads() { [ -n "$(leader "$1")" ]; }
rows 6000 >"$tmp/in"
mkfifo "$tmp/go"
start put sh -c "{ sed -n 1,3000p '$tmp/in'; read -r x <'$tmp/go'; sed -n '3001,\$p' '$tmp/in'; } |
  bus-put -b team"
put=$pid
start get bus-get -b team --all -n 6000
get=$pid
run bus-get -b team --since-seq 1000 -n 1
ok "one of the three servers leads" wait_until 30 leads agents
first=$(leader agents)
echo >"$tmp/go" &
kill -9 "$(cat "$tmp/$first.pid")"
finished "$put"
is "$status" 0 "bus-put ends well though the leader is killed"
finished "$get"
is "$status" 0 "bus-get ends well though the leader is killed"
ok "who reads gets each record once, in order" cmp -s "$tmp/in" "$tmp/get.out"
run bus-get -b team --all -e
ok "each record is stored once, in order, though the leader was killed" cmp -s "$tmp/in" "$out"
cd "$tmp/$first" || bail "no $first"
# shellcheck disable=SC2046  # words of a command
start "$first" $(commands 5 "$first" | tail -n 1)
cd "$tmp" || bail "no $tmp"
ok "the server that was killed comes back" wait_until 30 is_ready "$first"

# --- an edge that is cut off and comes back

cp "$tmp/one/bus.pem" "$tmp/one/bus-token" "$tmp/one/access.conf" "$tmp/edge"
serve edge 7
ok "the edge is up" wait_until 30 is_ready edge
servers=$(commands 8 edge)
printf '[bus ada]\n%s\ntoken-file = %s\n' "$servers" "$conf/bus-token" >>"$conf/config"
t 0 "the edge's stream is made there" bus-put -b ada --create </dev/null
line 9 bus-put >"$tmp/all"
run sh "$tmp/all"
status_is 0 "the command works: $(cat "$tmp/all")"
rows 500 10001 | bus-put -b ada
all_has() {
  bus-get -b team -t all --all -e >"$tmp/there"
  [ "$(count_of "$tmp/there")" -ge "$1" ]
}
ok "what is there and here is in one stream" wait_until 40 all_has 6500
link close
wait_until 20 has "$tmp/edge.err" 'Leafnode connection closed|Leafnode Error'
rows 500 20001 | bus-put -b ada
rows 500 30001 | bus-put -b team
ok "what the team stores is there while the edge is cut off" wait_until 40 all_has 7000
link open
ok "what the edge stored meanwhile comes when the link is back" wait_until 40 all_has 7500
is "$(lines "$tmp/there")" 7500 "each record of the edge is there once"
run bus-get -b team --all -e
is "$(lines "$out")" 6500 "the edge keeps its subjects"
run bus-get -b ada --all -e
is "$(lines "$out")" 1000 "the edge does not take the subjects of others"
follow shown action-format 9
shown() {
  rows 1 "$(date +%s)" | bus-put -b ada
  test -s "$tmp/shown.out"
}
ok "what an edge stores can be watched as it comes" wait_until 30 shown
unfollow shown

# --- files: a queue at either end

for end in ada team; do
  echo "by $end" >"$end.md"
  t 0 "a file is put in by $end" env "AGENT_BUS=$end" share-inbox add -q --bus "$end.md"
done
run env AGENT_BUS=ada share-inbox drain -q --bus --exec cat
is "$status $(cat "$out")" "0 by ada" "a file that the team put in comes to the edge"

# --- who may do what

for name in ada ines; do
  openssl rand -hex 12 >"$tmp/$name"
  echo "$name:$(cat "$tmp/$name")" >"$conf/$name"
  printf '[bus %s-only]\n%s\nuser-file = %s\nca = %s\n' "$name" \
    "$(grep '^servers = tls' "$conf/config")" "$conf/$name" "$conf/bus.pem" >>"$conf/config"
done
for box in one two three; do
  cp "$tmp/ada" "$tmp/ines" "$tmp/$box"
  echo "s/nats-server --signal reload/kill -HUP $(cat "$tmp/$box.pid")/" >>"$tmp/$box.own"
  on "$box" 10
  wait_until 20 has "$tmp/$box.err" Reloaded
done
t 77 "the token is refused from now on" bus-put -b team </dev/null
rows 3 40001 >"$tmp/rows"
t 0 "who may write, writes" bus-put -b ada-only <"$tmp/rows"
t 77 "who may only write does not read" bus-get -b ada-only --all -e
t 0 "who may read, reads" bus-get -b ines-only --all -e actions.118.llm_call
is "$(count_of "$out")" 6503 "all of it can be read"
run env AGENT_BUS=ines-only share-inbox drain -q --bus --inbox "$tmp/other" --exec cat
is "$status $(cat "$out")" "0 by team" \
  "a reader takes the files that were put in by the team, and only these"
t 75 "a reader waits no longer than --max-wait for a stream that is not there" \
  bus-get -b ines-only -t none -d place --max-wait 1
t 77 "who may only read does not write" bus-put -b ines-only <"$tmp/ten"
done_testing
