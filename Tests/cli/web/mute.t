#!/bin/sh
# A connection that went mute carries no other request, also one of HTTP/2, whose end would
# otherwise be that of one request alone.
. "${0%/*}/../lib.sh"
needs sse-tail pds-record openssl python3

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
  -keyout "$tmp/key" -out "$tmp/authority" -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null || bail "openssl makes no certificate"
# mute COUNT ANSWERED TYPE BODY: the first COUNT connections go mute.
mute() {
  : >"$tmp/log"
  start_server mute python3 "$cli/servers/mute_h2.py" "$tmp/authority" "$tmp/key" "$tmp/log" "$@"
}
asked() { tr '\n' ' ' <"$tmp/log"; }
follow() {
  run sse-tail --cacert "$tmp/authority" --idle-timeout 0.5 --retry-wait 0.01 --max-retries 4 \
    "$@" "$url/s"
}

mute 2 0 text/event-stream 'data: 1\n\n'
follow -n 1
is "$status $(asked)" "0 1 2 3 " "a stream whose head does not come is asked for again"

mute 1 1 text/event-stream 'data: 1\n\n'
follow -n 3
is "$status $(asked)" "0 1 2 3 " "a stream that falls silent is asked for again"

# A poll over HTTP/2. It goes on where the newest commit was asked for; that for a stream is another
# connection, of HTTP/1.1.
poll='{"rev":"3l","cid":"b","collections":[],"records":[]}'
printf '[profile poll]\nkind = pds\nurl = URL\nidentifier = did:web:a.test\n' >"$tmp/poll"
watch() { # FIRST ANSWERED
  mute "$1" "$2" application/json "$poll"
  sed "s|URL|$url|" "$tmp/poll" >"$XDG_CONFIG_HOME/agentutils/config"
  run pds-record watch --cacert "$tmp/authority" --idle-timeout 0.5 --retry-wait 0.1 -L -q \
    --max-time "$3" -p poll
}
for answered in 0 1 2 3; do
  watch 1 "$answered" 4
  # The mute one is asked for what it answers, and once more.
  is "$(uniq "$tmp/log" | grep -c "^1$")" 1 \
    "a poll that got $answered answers leaves a mute connection"
  is "$(grep -c '^1$' "$tmp/log")" $((answered + 1)) \
    "a poll that got $answered answers asks a mute connection once more"
  ok "a poll that left a mute connection after $answered answers is answered" \
    at_least "$tmp/log" $((answered + 4))
done
done_testing
