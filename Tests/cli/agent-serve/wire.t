#!/bin/sh
# agent-serve: hostile clients. What is not a clean request is refused and nothing
# behind it answered; who keeps quiet keeps nobody out; whose name it answers to.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 120 python3 "$cli/clients/wire.py" "$@"; }

# answer [OPTION...] URL: "STATUS BODY" of a request.
answer() { curl -s -m 10 -w '%{http_code} ' -o "$tmp/body" "$@" && cat "$tmp/body"; }
misdirected='421 {"error":"misdirected_request"}'

# --- raw requests
start_server open agent-serve -l 127.0.0.1:0 -D :memory:
client table "$url" <"$cli/servers/requests.table" >"$tmp/statuses"
grep '^[0-9]' "$cli/servers/requests.table" >"$tmp/table"
while IFS='|' read -r want title _; do
  read -r line
  case ${want% } in
  2?? | 404 | 421) want="${want% } 200" ;;
  *) want=${want% } ;;
  esac
  is "${line%% |*}" "$want" "a raw request is answered with $want:${title% }"
done <<END
$(paste -d '\n' "$tmp/table" "$tmp/statuses")
END
is "$(curl -s "$url/api/actions" | jq -c 'map(.kind)')" '["a","a","a"]' \
  "nothing of what was refused is stored"
is "$(answer "$url/api/health")" '200 {"ok":true}' "the server goes on"

# --- its names
is "$(answer -H 'Host: evil.example' "$url/api/actions")" "$misdirected" "another name is refused"
is "$(answer -0 -H 'Host:' "$url/api/health")" '200 {"ok":true}' "HTTP/1.0 need not name the server"
is "$(answer --http2 "$url/api/health" "$url/api/health")" '200 {"ok":true}200 {"ok":true}' \
  "a client that offers another protocol is answered, too"
run curl -s -i -m 5 -H 'Host: evil.example' "$url/api/activity/events"
out_like '^HTTP/1.1 421 Misdirected Request' "a stream of another name is refused"
stop "$pid"

start_server named agent-serve -l 127.0.0.1:0 -D :memory: --host Box --host tunnel.example:443
for name in box BOX:9 box. tunnel.example:443 localhost; do
  is "$(answer -H "Host: $name" "$url/api/health")" '200 {"ok":true}' "--host allows $name"
done
for name in tunnel.example tunnel.example:80 box.example evil.example; do
  is "$(answer -H "Host: $name" "$url/api/health")" "$misdirected" "--host does not allow $name"
done
stop "$pid"
for name in '' 'a b' http://box/ box:x :80; do
  run agent-serve -l 127.0.0.1:0 -D :memory: --host "$name"
  is "$status" 2 "--host '$name' is refused"
done

printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
printf 'x-dashboard-token: sample-token' >"$tmp/header"
start_server guarded agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
is "$(answer -H @"$tmp/header" -H 'Host: any.trycloudflare.com' "$url/api/health")" \
  '200 {"ok":true}' "any name is answered with a token"
is "$(answer -H 'Host: any.trycloudflare.com' "$url/api/health")" \
  '401 {"error":"Unauthorized. Provide x-dashboard-token."}' "no name is answered without the token"
stop "$pid"
start_server both agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" --host box
is "$(answer -H @"$tmp/header" -H 'Host: evil.example' "$url/api/health")" "$misdirected" \
  "other names are refused with a token and names"
is "$(answer -H @"$tmp/header" -H 'Host: box' "$url/api/health")" '200 {"ok":true}' \
  "one of the names is answered with a token"
stop "$pid"

# --- who stops in the middle of a request
start_server slow agent-serve -l 127.0.0.1:0 -D :memory:
for case in 'GET /api/hea' 'GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ' \
  'POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{' \
  'POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{' \
  'POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffb\r\n{'; do
  client late "$url" "$case" >"$tmp/late.$((tests + 1))" 2>"$tmp/late.err" &
  pass "a client has begun: $case"
done
client late "$url" '' >"$tmp/late.none" 2>"$tmp/late.err" &
client late "$url" 'GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /api/hea' \
  >"$tmp/late.next" 2>"$tmp/late.err" &
ended() { [ "$(cat "$tmp"/late.[0-9n]* | wc -l)" -eq 7 ]; }
ok "all requests that stop in the middle come to an end" wait_until 40 ended
is "$(cat "$tmp"/late.[0-9]* | sort | uniq -c | tr -s ' ')" " 4 408 closed
 1 413 closed" "a request that stops ends with 408, and a chunk without end at once"
is "$(cat "$tmp/late.next")" "200 408 closed" \
  "a request behind another that stops ends with 408, too"
is "$(cat "$tmp/late.none")" "none closed" "a client that says nothing gets nothing"
stop "$pid"

# --- more silent connections than descriptors
start_server few sh -c 'ulimit -n 64; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D "$tmp/few.db"
few=$pid
start stream curl -sN "$url/api/activity/events"
stream=$pid
ok "a stream is open" wait_until 30 has "$tmp/stream.out" '^event: activity_snapshot'
answers() { [ "$(answer -m 5 "$url/api/actions?limit=1&kinds=none")" = '200 []' ]; }
{
  printf '{"kind":"large","metadata":{"text":"'
  head -c 1000000 /dev/zero | tr '\0' x
  printf '"}}'
} >"$tmp/large"
for _ in 1 2 3 4 5 6 7 8; do curl -s -o /dev/null -d @"$tmp/large" "$url/api/actions"; done
for kind in nothing head body kept unread; do
  start silent python3 "$cli/clients/wire.py" silent "$url" 100 "$kind"
  silent=$pid
  ok "100 connections are held ($kind)" wait_until 30 has "$tmp/silent.out" silent
  ok "connections that are held keep nobody out ($kind)" wait_until 30 answers
  stop "$silent"
done
curl -s -o /dev/null -d '{"kind":"news"}' "$url/api/actions"
ok "the stream lives on beside held connections" wait_until 30 has "$tmp/stream.out" '"kind":"news"'
ok "the stream is still the first one" kill -0 "$stream"
stop "$few"
is "$status" 0 "the server ends as ever after held connections"
is "$(grep -c accept "$tmp/few.err")" 1 "the server has complained once"

# --- hardly more descriptors than it needs itself
start_server tiny sh -c 'ulimit -n 20; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D :memory:
tiny=$pid
start silent python3 "$cli/clients/wire.py" silent "$url" 50 nothing
ok "20 descriptors are taken" wait_until 30 has "$tmp/silent.out" silent
ok "nobody is kept out of 20 descriptors" wait_until 30 answers
stop "$tiny"

# --- more streams than descriptors: whoever comes then waits, and no core burns
start_server full sh -c 'ulimit -n 64; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D :memory:
full=$pid
streams=
count=0
while [ "$count" -lt 40 ]; do
  count=$((count + 1))
  start "stream$count" curl -sN "$url/api/voice/events"
  streams="$streams $pid"
done
crowded() { [ "$(cat "$tmp"/stream[0-9]*.out | grep -c '^event: voice_state')" -ge 30 ]; }
ok "streams take what descriptors there are" wait_until 30 crowded
ticks() { awk '{ print $14 + $15 }' "/proc/$full/stat" 2>/dev/null || echo 0; }
before=$(ticks)
# The time in which it has nothing to do; that it needs none of it is the test.
sleep 1
ok "the server rests ($(($(ticks) - before)) ticks of a second)" test $(($(ticks) - before)) -lt 50
for stream in $streams; do stop "$stream"; done
ok "the server has room when the streams are gone" wait_until 30 answers
done_testing
