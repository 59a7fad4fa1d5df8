#!/bin/sh
# Servers that a cluster tells of: asked when the one that was named is gone, also when they came
# later; but no secret goes to one that TLS does not vouch for.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq openssl
bound=40
umask 077
conf=$XDG_CONFIG_HOME/agentutils/config

# server NAME CLIENT ROUTE ROUTES LINE...
server() {
  _name=$1
  {
    printf 'server_name: %s, listen: "127.0.0.1:%s"\njetstream { store_dir: "%s" }\n' \
      "$1" "$2" "$tmp/$1.store"
    printf 'cluster { name: c, listen: "127.0.0.1:%s", routes: [ %s ] }\n' "$3" "$4"
    shift 4
    printf '%s\n' "$@"
  } >"$tmp/$_name.conf"
  start "$_name" nats-server -c "$tmp/$_name.conf"
}

# --- one is named, of three, before the others are there

# shellcheck disable=SC2046
set -- $(free_ports 6)
routes="\"nats://127.0.0.1:$4\", \"nats://127.0.0.1:$5\", \"nats://127.0.0.1:$6\""
server a "$1" "$4" "$routes"
named=$pid
bus=nats://127.0.0.1:$1
mkfifo "$tmp/pipe"
start put sh -c "exec bus-put -s '$bus' --create --replicas 3 <'$tmp/pipe'"
put=$pid
exec 7>"$tmp/pipe"
ok "a server alone has no leader" wait_until 30 has "$tmp/put.err" 'no leader'
# Nobody else holds the pipe.
server b "$2" "$5" "$routes" 7>&-
server c "$3" "$6" "$routes" 7>&-
start get bus-get -s "$bus" --all -n 3 7>&-
get=$pid
echo '{"n":1}' >&7
ok "the first record comes when the other servers are there" \
  wait_until 40 has "$tmp/get.out" '"n":1'
kill -9 "$named"
echo '{"n":2}' >&7
ok "the other servers are asked when the one that was named is gone" \
  wait_until 60 has "$tmp/get.out" '"n":2'
echo '{"n":3}' >&7
exec 7>&-
finished "$put"
is "$status" 0 "bus-put ends well"
finished "$get"
is "$(grep -v link "$tmp/get.err" | grep 'it ends')" "" \
  "a copy that is behind is not taken for another stream"
is "$(cat "$tmp/get.out")" '{"n":1}
{"n":2}
{"n":3}' "bus-get has all records, once"
for one in a b c; do stop "$(cat "$tmp/$one.pid")" KILL; done

# --- one that is told is another's

for name in good bad; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -keyout "$tmp/$name.key" -out "$tmp/$name.pem" -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null || bail "openssl"
done
echo s3cr3t >"$tmp/token"
# tell NAME LINES [SECTION...]: a server whose cluster tells of the fake one goes, and bus-put,
# connected to it by this section, looks for another one.
tell() {
  name=$1
  lines=$2
  shift 2
  # shellcheck disable=SC2046
  set -- "$@" $(free_ports 4)
  while [ "$#" -gt 4 ]; do
    printf '%s\n' "$1" >>"$tmp/$name.section"
    shift
  done
  start "$name.b" nats-server -a 127.0.0.1 -p "$3" -n b --cluster_name c \
    --cluster "nats://127.0.0.1:$4" --client_advertise "${url#nats://}"
  printf '%s\n' "$lines" >"$tmp/$name.conf"
  start "$name.a" nats-server -V -a 127.0.0.1 -p "$1" -n a -c "$tmp/$name.conf" --cluster_name c \
    --cluster "nats://127.0.0.1:$2" --routes "nats://127.0.0.1:$4"
  named=$pid
  sed "s/PORT/$1/" "$tmp/$name.section" >>"$conf"
  wait_until 20 has "$tmp/$name.a.err" 'Route connection created'
  start "$name" bus-put -b "$name"
  put=$pid
  wait_until 20 has "$tmp/$name.a.err" 'STREAM\.INFO\.agents'
  kill -9 "$named"
}
tried() { [ "$(grep -c dialled "$tmp/$1.log")" -ge "$2" ]; }

start_server fake python3 "$cli/servers/fake_nats.py" "$tmp/open.log"
tell open "" "[bus open]" "servers = nats://127.0.0.1:PORT"
ok "a server that was told of is asked when there is no secret" \
  wait_until 20 has "$tmp/open.log" '^CONNECT'
stop "$put"

start_server fake python3 "$cli/servers/fake_nats.py" "$tmp/token.log"
tell token 'authorization { token: s3cr3t }' "[bus token]" "servers = nats://127.0.0.1:PORT" \
  "token-file = $tmp/token"
ok "all servers that may be asked were asked" \
  wait_until 20 has "$tmp/token.err" 'no server available'
stop "$put"
not_ok "a secret without TLS goes to no server that was told of" test -e "$tmp/token.log"

start_server fake python3 "$cli/servers/fake_nats.py" "$tmp/tls.log" "$tmp/bad.pem" "$tmp/bad.key"
tell tls "tls { cert_file: \"$tmp/good.pem\", key_file: \"$tmp/good.key\" }
authorization { token: s3cr3t }" "[bus tls]" "servers = tls://127.0.0.1:PORT" \
  "ca = $tmp/good.pem" "token-file = $tmp/token"
ok "a server that was told of is asked when there is TLS" wait_until 20 tried tls 2
ok "a certificate of another one ends nothing" kill -0 "$put"
stop "$put"
is "$(grep -c -v dialled "$tmp/tls.log")" 0 \
  "a server with another one's certificate is sent nothing"

# --- told by a server that lets nobody in

# refusing NAME LINE...: bus-put, by this section, to a server that tells of another's and closes.
refusing() {
  name=$1
  shift
  start_server other python3 "$cli/servers/fake_nats.py" "$tmp/$name.log"
  start_server fake python3 "$cli/servers/fake_nats.py" "$tmp/$name.own" "tells=${url#nats://}"
  printf '[bus %s]\nservers = %s\n' "$name" "$url" >>"$conf"
  printf '%s\n' "$@" >>"$conf"
  start "$name" bus-put -b "$name"
  put=$pid
  ok "$name: the server is asked again" wait_until 20 owned "$name" 3
  stop "$put"
}
owned() { [ "$(grep -c CONNECT "$tmp/$1.own")" -ge "$2" ]; }
printf 'ada:s3cr3t\n' >"$tmp/user"
refusing first-token "token-file = $tmp/token"
not_ok "a token goes to no server that it told of" test -e "$tmp/first-token.log"
refusing first-user "user-file = $tmp/user"
not_ok "a name and a password go to no server that it told of" test -e "$tmp/first-user.log"
refusing first-open
ok "another server that it told of is asked when there is no secret" test -e "$tmp/first-open.log"
done_testing
