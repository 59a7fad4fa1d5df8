#!/bin/sh
# Who is let in, and where secrets go: tokens, users, nkeys, TLS, certificates, permissions; and a
# cluster whose leader is killed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq openssl
needs_peers
bound=30
umask 077
conf=$XDG_CONFIG_HOME/agentutils/config
section() {
  printf '[bus %s]\n' "$1"
  shift
  printf '%s\n' "$@"
} >>"$conf"

# --- a token
echo "authorization { token: s3cr3t }" >"$tmp/token.conf"
start_bus token -c "$tmp/token.conf"
echo s3cr3t >"$tmp/s3cr3t"
echo wrong >"$tmp/wrong"
cp "$tmp/s3cr3t" "$tmp/open"
chmod 644 "$tmp/open"
section right "servers = $bus" "token-file = $tmp/s3cr3t"
section command "servers = $bus" "token-command = cat $tmp/s3cr3t"
section hung "servers = $bus" "token-command = exec sleep 1000"
section wrong "servers = $bus" "token-file = $tmp/wrong"
section open "servers = $bus" "token-file = $tmp/open"
section far "servers = nats://192.0.2.1" "token-file = $tmp/s3cr3t"
section both "servers = $bus" "token-file = $tmp/s3cr3t" "user-file = $tmp/s3cr3t"
t 0 "a token comes from a file" bus-put -b right --create </dev/null
t 0 "a token comes from a command" bus-put -b command </dev/null
bound=20
for command in bus-put bus-get; do
  t 75 "$command: a token that does not come is waited for so long" \
    "$command" -b hung --max-wait 0.5 </dev/null
  err_one_line "$command" "$command: the wait for a token is told in one line"
done
AGENT_BUS=right run bus-get -e
status_is 1 "AGENT_BUS names the bus"
t 77 "another token is refused" bus-put -b wrong </dev/null
err_one_line bus-put "another token is refused in one line"
section renewed "servers = $bus" "token-command = cat $tmp/next && cp $tmp/s3cr3t $tmp/next"
cp "$tmp/wrong" "$tmp/next"
run bus-put -b renewed </dev/null
is "$status $(cat "$err")" "0 " "a token that was replaced meanwhile is looked up again"
section failing "servers = $bus" "token-command = cat $tmp/wrong && echo ran >>$tmp/runs"
run bus-put -b failing </dev/null
is "$status $(lines "$tmp/runs")" "77 2" "a token command runs once for each try"
t 77 "access without a token is refused" bus-put -s "$bus" </dev/null
t 77 "a file that others can read is refused" bus-put -b open </dev/null
err_like 'open: refused: not for its owner alone' "the file is named"
t 77 "a secret does not travel in plain text" bus-put -b far --max-wait 0 </dev/null
t 75 "--allow-plaintext lets a secret travel to a server that is not there" \
  bus-put -b far --max-wait 0 --allow-plaintext </dev/null
t 75 "bus-get has --allow-plaintext, too" bus-get -b far --max-wait 0 --allow-plaintext --verbose
t 2 "two secrets for one bus are an error" bus-put -b both </dev/null
t 2 "a bus that is not in the configuration is an error" bus-put -b nowhere </dev/null
err_unlike s3cr3t "no secret is told"

# --- a user who may do little
cat >"$tmp/user.conf" <<'END'
authorization { users: [
  { user: root, password: r00t },
  { user: writer, password: w, permissions: {
      publish: ["actions.>", "events.>", "records.>", "voice.>"], subscribe: "_INBOX.>" } },
  { user: reader, password: r, permissions: {
      publish: ["$JS.API.CONSUMER.>", "$JS.ACK.>"], subscribe: "_INBOX.>" } },
] }
END
start_bus user -c "$tmp/user.conf"
for pair in root:r00t writer:w reader:r; do
  echo "$pair" >"$tmp/${pair%:*}"
  section "${pair%:*}" "servers = $bus" "user-file = $tmp/${pair%:*}"
done
rows 50 >"$tmp/in"
run bus-put -b root --create </dev/null
t 0 "who may only write, writes" bus-put -b writer <"$tmp/in"
err_empty "a writer that may only write says nothing"
t 77 "not every place may be written" bus-put -b writer -u other.place <"$tmp/in"
err_like 'ermissions Violation for Publish to "other.place"' "the subject is named"
t 0 "who may only read, reads" bus-get -b reader -d work --all -e
ok "all of it is read by a reader that may only read" cmp -s "$tmp/in" "$out"
run bus-get -b reader --all -e
ok "a reader that may only read can keep a place of its own, too" cmp -s "$tmp/in" "$out"

# --- an nkey
seed=SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY
echo "authorization { users: [ { nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 } ] }" \
  >"$tmp/nkey.conf"
start_bus nkey -c "$tmp/nkey.conf"
echo "$seed" >"$tmp/seed"
section key "servers = $bus" "nkey-file = $tmp/seed"
t 0 "a key signs" bus-put -b key --create </dev/null

# --- TLS
for name in authority other; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -keyout "$tmp/$name.key" -out "$tmp/$name.pem" -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null || bail "openssl makes no certificate"
done
cat >"$tmp/tls.conf" <<END
tls { cert_file: "$tmp/authority.pem", key_file: "$tmp/authority.key" }
authorization { token: s3cr3t }
max_payload: 8MB
END
start_bus tls -c "$tmp/tls.conf"
port=${bus##*:}
for place in "good localhost authority" "stranger localhost other" "name 127.0.0.1 authority"; do
  # shellcheck disable=SC2086
  set -- $place
  section "$1" "servers = tls://$2:$port" "ca = $tmp/$3.pem" "token-file = $tmp/s3cr3t"
done
section plain "servers = nats://localhost:$port" "token-file = $tmp/s3cr3t"
section trusting "servers = nats://localhost:$port" "ca = $tmp/authority.pem" "token-file = $tmp/s3cr3t"
rows 20000 >"$tmp/many"
t 0 "TLS works" bus-put -b good --create <"$tmp/many"
run bus-get -b good --all -e
ok "TLS carries all of the records" cmp -s "$tmp/many" "$out"
t 2 "a certificate that is not trusted ends it at once" bus-put -b stranger --max-wait 10 </dev/null
err_like 'the certificate is not trusted' "the message says that the certificate is not trusted"
t 2 "a certificate for another name ends it at once, too" bus-put -b name --max-wait 10 </dev/null
err_like 'the certificate is not trusted: .*mismatch' \
  "the message says that the certificate's name is another"
t 2 "a server that wants TLS ends it" bus-put -b plain --max-wait 10 </dev/null
err_like 'the server wants TLS: tls://' "the message says how to reach a server that wants TLS"
t 2 "a server that wants TLS ends it, whatever certificates are trusted" \
  bus-put -b trusting --max-wait 10 </dev/null
err_like 'the server wants TLS: tls://' "the message does not blame the trusted certificates"

# --- three servers, of which the leader is killed
ports=$(free_ports 6)
# shellcheck disable=SC2086
set -- $ports
routes="nats://127.0.0.1:$4,nats://127.0.0.1:$5,nats://127.0.0.1:$6"
all=nats://127.0.0.1:$1,nats://127.0.0.1:$2,nats://127.0.0.1:$3
pids=
for one in 1 2 3; do
  start "c$one" nats-server -js -sd "$tmp/c$one" -a 127.0.0.1 -p "$1" -n "c$one" \
    --cluster_name c --cluster "nats://127.0.0.1:$4" --routes "$routes"
  pids="$pids $pid"
  shift
  # Two of three agree on a leader; for three copies they are too few.
  [ "$one" -ne 2 ] || {
    start make bus-put -s "$all" --create --replicas 3 --max-wait 60
    make=$pid
    ok "too few servers for the copies are waited for" \
      wait_until 40 has "$tmp/make.err" 'no suitable peers'
  }
done
rows 8000 >"$tmp/in"
finished "$make"
is "$status" 0 "a stream of three copies is made"
bus=${all%%,*}
mkfifo "$tmp/go"
start put sh -c "{ sed -n 1,4000p '$tmp/in'; read -r x <'$tmp/go'; sed -n '4001,\$p' '$tmp/in'; } |
  bus-put -s '$all'"
put=$pid
run bus-get -s "$all" --since-seq 1000 -n 1
leader=$(bus_client leader agents)
# shellcheck disable=SC2086
set -- $pids
shift "$((${leader#c} - 1))"
echo >"$tmp/go" &
kill -9 "$1"
finished "$put"
is "$status" 0 "bus-put ends well though the leader is killed"
t 0 "the stream is read to its end though the leader was killed" bus-get -s "$all" --all -e
is "$(diff "$tmp/in" "$out" | head -n 4)" "" \
  "all records are there once, in order, though the leader was killed"
done_testing
