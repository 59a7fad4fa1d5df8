#!/bin/sh
# agent-serve: who may ask, what is answered, and when it does not start.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3

# answer [OPTION...] PATH: "STATUS TYPE BODY" of a request.
answer() {
  curl -s -o "$tmp/body" -w '%{http_code} %{content_type} ' "$@"
  cat "$tmp/body" && rm -f "$tmp/body"
}

printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
printf 'x-dashboard-token: sample-token' >"$tmp/header"
start_server guarded agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
is "$(jq -c 'keys_unsorted' "$tmp/guarded.out")" '["type","url","time"]' \
  "the record says where agent-serve listens"

# --- the dashboard's own answers
denied='401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}'
is "$(answer "$url/api/health")" "$denied" "health needs the token"
is "$(answer -H 'x-dashboard-token: wrong' "$url/api/stats")" "$denied" "a wrong token is refused"
is "$(answer -H 'x-dashboard-token: sample-tokens' "$url/api/stats")" "$denied" \
  "a longer token is refused"
is "$(answer -H 'x-dashboard-token: sample-toke' "$url/api/stats")" "$denied" \
  "a shorter token is refused"
is "$(answer -H 'x-dashboard-token;' "$url/api/actions")" "$denied" "an empty token is refused"
is "$(answer -H 'Authorization: Bearer sample-token' "$url/api/health")" "$denied" \
  "no other header counts"
is "$(answer "$url/api/activity/events")" "$denied" "a stream refused is not a stream"
is "$(answer -d '{"kind":"a"}' "$url/api/actions")" "$denied" "posting needs the token"
is "$(answer "$url/api/nothing")" "$denied" "401 comes before 404"
is "$(answer "$url/api")" "$denied" "/api itself needs the token"

with() { answer -H @"$tmp/header" "$@"; }
is "$(with "$url/api/health")" '200 application/json {"ok":true}' "health is answered"
gone='404 text/plain; charset=UTF-8 Not found.'
json='404 application/json {"error":"Not found."}'
is "$(with "$url/api/nothing-here")" "$gone" "an unknown path is not found"
is "$(with "$url/api/health/")" "$gone" "a trailing slash is another path"
is "$(with --path-as-is "$url/api/x/../health")" "$gone" "paths are not tidied up"
is "$(with -X POST -d '{}' "$url/api/health")" "$json" "a wrong method is not found"
is "$(with -X PUT "$url/api/actions")" "$json" "another wrong method is not found, either"
is "$(with -X OPTIONS "$url/api/health")" "$json" "OPTIONS is not found, either"
is "$(with -X POST -d '{}' "$url/api/nothing-here")" "$json" \
  "an unknown path is not found by another method"
is "$(answer "$url/")" "$gone" "outside of /api there is nothing"
is "$(with "$url/api/health?x=1&y")" '200 application/json {"ok":true}' "a query does not matter"

# --- HEAD runs the GET and drops the body
run curl -sI -H @"$tmp/header" "$url/api/health"
out_like '^HTTP/1.1 200' "HEAD of health is answered"
out_like '^Content-Length: 11' "HEAD of health has the length of the GET"
run curl -sI -m 5 -H @"$tmp/header" "$url/api/activity/events"
out_like '^Content-Type: text/event-stream' "HEAD of the stream ends"
is "$status" 0 "HEAD of the stream ends at once"
run curl -sI -H @"$tmp/header" "$url/api/none"
out_like '^HTTP/1.1 404' "HEAD of nothing is not found"

# --- requests in odd pieces
curl -s -o /dev/null -H @"$tmp/header" -d '{"kind":"a"}' "$url/api/actions"
is "$(with -H 'Connection: close' "$url/api/actions?limit=1" | jq -R 'length > 20')" true \
  "a connection may have one request"
stop "$pid"
is "$status" 0 "SIGTERM ends it with status 0"

start_server open agent-serve -l 127.0.0.1:0 -D :memory:
is "$(python3 "$cli/clients/serve.py" halves "$url")" "200 200 404" \
  "a request byte by byte and two in one write are answered"
is "$(answer -H 'Origin: http://example.org' -d '{"kind":"a"}' "$url/api/actions")" \
  '403 application/json {"error":"cross_origin_post_needs_a_token"}' \
  "a page in a browser cannot post without a token"
is "$(answer -H 'x-dashboard-token: any' "$url/api/health")" \
  '200 application/json {"ok":true}' "a server without a token is open"
like "$(with "$url/api/stats" | sed 's/^[^{]*//' | jq -c 'keys,(.stats.last24h|length)')" '17' \
  "stats have the dashboard's counts"

# --- what is not a request
is "$(answer -H "X-Long: $(head -c 60000 /dev/zero | tr '\0' x)" "$url/api/health")" \
  '200 application/json {"ok":true}' "a long head is taken"
is "$(answer -H "X-Long: $(head -c 70000 /dev/zero | tr '\0' x)" "$url/api/health")" \
  '431 application/json {"error":"request_head_too_large"}' "a head that is too long is refused"
is_answered() {
  is "$(printf '%b' "$3" | python3 "$cli/clients/serve.py" raw "$url" | head -n 1 | tr -d '\r')" \
    "HTTP/1.1 $1 $2" "$1: $4 is refused"
}
malformed() { is_answered 400 'Bad Request' "$@"; }
malformed 'nonsense\n\n' "a word"
malformed 'GET /api/health\r\n\r\n' "no version"
is_answered 505 'HTTP Version Not Supported' 'GET /api/health HTTP/2.0\r\n\r\n' "another version"
malformed 'GET /api/health HTTP/1.1\r\nno colon\r\n\r\n' "a field without a colon"
malformed 'GET /api/health HTTP/1.1\r\nA : b\r\n\r\n' "a blank before the colon"
malformed 'POST /api/actions HTTP/1.1\r\nContent-Length: -1\r\n\r\n' "a length below zero"
malformed 'POST /api/actions HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n' \
  "two ways to end a body"
malformed 'POST /api/actions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n' "a chunk without a size"
malformed 'POST /api/actions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n' \
  "a chunk of 2^64 bytes"
is "$(answer "$url/api/health")" '200 application/json {"ok":true}' "the server goes on"

# --- it does not start
refused() {
  run agent-serve "$@"
  is "$status" "$want" "agent-serve $* ends with status $want"
  out_empty "nothing is printed by agent-serve $*"
}
want=77
refused -l 0.0.0.0:0 -D :memory:
err_one_line agent-serve "a public address without a token is refused in one line"
err_like 'not a loopback address' "the message says that the address is public"
refused -l '[::]:0' -D :memory:
chmod 644 "$tmp/token"
refused -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
err_one_line agent-serve "a token that others can read is refused in one line"
refused -l 127.0.0.1:0 -D :memory: --token-file "$tmp/no-such-token"
chmod 600 "$tmp/token"
want=2
refused -l "127.0.0.1:$port" -D :memory:
err_is "agent-serve: 127.0.0.1:$port: address already in use; -l HOST:PORT names another" \
  "a port that is taken is told"
refused -l 127.0.0.1:0 -D :memory: --gateway "$port"
err_is "agent-serve: 127.0.0.1:$port: address already in use; --gateway PORT names another" \
  "the gateway's port may be taken, too"
refused -l 127.0.0.1
refused -l 127.0.0.1:0 --speed fast
refused -l 127.0.0.1:0 -D :memory: --speed 2
err_like '^agent-serve: --speed: it needs --replay$' "--speed is refused without --replay"
refused -l 127.0.0.1:0 operand
refused -l 127.0.0.1:0 -D "$tmp/none/db"
err_one_line agent-serve "a folder that is not there is told in one line"
printf 'this is not a database, however long one looks at it, and it is long enough\n%1000s' x >"$tmp/db"
refused -l 127.0.0.1:0 -D "$tmp/db"
err_one_line agent-serve "a file that is not a database is told in one line"
refused -l 127.0.0.1:0 -D :memory: --ingest "$tmp/none"
err_is "agent-serve: $tmp/none: no such file or directory" \
  "a file to ingest that is not there is told"
refused -l 127.0.0.1:0 -D :memory: --replay "$tmp"
err_one_line agent-serve "a folder in place of a recording is told in one line"

# --- the store is for one server, and for its owner
start_server kept agent-serve -l 127.0.0.1:0
is "$(find "$XDG_STATE_HOME/agentutils" -name 'agent-serve.sqlite*' ! -perm 600)" "" \
  "the store is readable for its owner alone"
refused -l 127.0.0.1:0
err_like 'in use by another agent-serve' "a second server does not take the store"
mkdir "$tmp/there"
start_server one agent-serve -l 127.0.0.1:0 -D "$tmp/there/db"
ln -s db "$tmp/there/soft"
ln -s there "$tmp/folder"
ln "$tmp/there/db" "$tmp/hard"
for name in "$tmp/there/soft" "$tmp/folder/db" "$tmp/folder/soft" "$tmp/there/../there/./db" \
  "$tmp/hard"; do
  refused -l 127.0.0.1:0 -D "$name"
  err_is "agent-serve: $name: in use by another agent-serve" \
    "a store in use is refused by any of its names"
done
stop "$pid"
ln -s new-db "$tmp/there/new"
start_server first agent-serve -l 127.0.0.1:0 -D "$tmp/there/new"
refused -l 127.0.0.1:0 -D "$tmp/there/new-db"
err_like 'in use by another agent-serve' "a store in use is refused by a link to it"
is "$(find "$tmp/there" -name 'new-db*' ! -perm 600)" "" \
  "a store behind a link is for its owner alone, too"
stop "$pid"
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/hard"
stop "$pid"
is "$status" 0 "a store is taken by any name when it is free"

# Who may write to the folder could have put the link there.
mkdir -m 777 "$tmp/open"
ln -s "$tmp/victim" "$tmp/open/db"
refused -l 127.0.0.1:0 -D "$tmp/open/db"
err_is "agent-serve: $tmp/open/db: a symbolic link that others could have made: not followed" \
  "a link that others could have made is not followed"
ok "nothing is made behind a link of others" test ! -e "$tmp/victim"
rm "$tmp/open/db"
for end in -wal -shm -journal .lock; do
  ln -s "$tmp/victim" "$tmp/open/db$end"
  # With -journal, SQLite goes on without one.
  start "planted$end" agent-serve -l 127.0.0.1:0 -D "$tmp/open/db"
  # shellcheck disable=SC2154  # of lib.sh
  wait_until 30 sh -c 'test -s "$1.out" || test -s "$1.err"' sh "$tmp/planted$end"
  stop "$pid"
  ok "nothing is written behind $end" test ! -s "$tmp/victim"
  rm -f "$tmp/open/"*
done

# --- with a token other addresses are fine, and the environment may name it
AGENT_TOKEN_FILE=$tmp/token
export AGENT_TOKEN_FILE
start anywhere agent-serve -l 0.0.0.0:0 -D :memory: -q -v
ok "another address is listened to with a token" \
  wait_until 30 grep -q "listening on" "$tmp/anywhere.err"
is "$(cat "$tmp/anywhere.out")" "" "-q prints no record"

# --- a user like any other
plain() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ]; then
  skip 1 "all of these tests run without the rights of root"
elif ! plain test -x "$(command -v agent-serve)" 2>/dev/null; then
  skip 1 "the program stands where only root may go"
else
  start_server plain setpriv --reuid=65534 --regid=65534 --clear-groups \
    env -u AGENT_TOKEN_FILE HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent \
    agent-serve -l 127.0.0.1:0 -D :memory:
  is "$(answer "$url/api/health")" '200 application/json {"ok":true}' \
    "agent-serve needs no rights of root"
fi
done_testing
