#!/bin/sh
# agent-serve: what was answered is kept, and how it ends.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 60 python3 "$cli/clients/serve.py" "$@"; }
database=$tmp/actions.sqlite

# --- kill -9 while actions come in
for round in 1 2 3; do
  start_server "round$round" agent-serve -l 127.0.0.1:0 -D "$database"
  server=$pid
  for poster in 1 2 3 4; do start "poster$poster" python3 "$cli/clients/serve.py" acknowledged \
    "$url" "$tmp/acknowledged.$round.$poster"; done
  ok "round $round: actions are answered" wait_until 30 at_least "$tmp/acknowledged.$round.1" 50
  stop "$server" KILL
  posters() { for poster in 1 2 3 4; do gone "$(cat "$tmp/poster$poster.pid")" || return 1; done; }
  wait_until 30 posters
done
cat "$tmp"/acknowledged.* | sort >"$tmp/answered"
is "$(cut -d' ' -f1 "$tmp/answered" | uniq -d)" "" "no id was given twice"
start_server after agent-serve -l 127.0.0.1:0 -D "$database"
# newest: the largest id; a list has the actions of one millisecond in any order.
newest() { curl -s "$url/api/actions?limit=1000" | jq 'map(.id) | max'; }
client events "$url" "$(newest)" 0 | jq -r '"\(.id) \(.content)"' | sort >"$tmp/kept"
is "$(comm -23 "$tmp/answered" "$tmp/kept" | head -n 3)" "" \
  "$(lines "$tmp/answered") actions were answered, and all are kept"
stop "$pid"

# --- SIGTERM while somebody listens and somebody posts
start_server ending agent-serve -l 127.0.0.1:0 -D "$database" -v
server=$pid
start listener python3 "$cli/clients/serve.py" ending "$url"
listener=$pid
start last python3 "$cli/clients/serve.py" acknowledged "$url" "$tmp/last"
last=$pid
ok "the stream is open" wait_until 30 has "$tmp/listener.out" open
wait_until 30 at_least "$tmp/last" 20
stop "$server"
is "$status" 0 "SIGTERM ends it with status 0"
finished "$listener"
is "$(tail -n 1 "$tmp/listener.out")" "last chunk" "the stream ends as a stream does"
finished "$last"
start_server again agent-serve -l 127.0.0.1:0 -D "$database"
client events "$url" "$(newest)" 0 |
  jq -r '"\(.id) \(.content)"' | sort >"$tmp/kept"
is "$(sort "$tmp/last" | comm -23 - "$tmp/kept" | head -n 3)" "" \
  "what was answered before SIGTERM is kept"
stop "$pid" INT
is "$status" 0 "SIGINT ends it with status 0"
is "$(find "$tmp" -name 'actions.sqlite-wal' -size +0 | wc -l | tr -d ' ')" 0 \
  "the write-ahead log is written back at the end"

# --- a store that cannot be written answers no success
start_server full sh -c 'ulimit -f 4096; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D "$tmp/full.sqlite"
stored=0
refused=
line=$(printf '{"kind":"x","content":"%100000s"}' '' | tr ' ' y)
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  code=$(printf '%s\n%s\n' "$line" "$line" |
    curl -s -o "$tmp/body" -w '%{http_code}' --data-binary @- "$url/api/actions")
  if [ "$code" = 200 ]; then stored=$((stored + 2)); else refused=$code; fi
done
is "$refused" 500 "without room the answer is 500"
ok "the answer without room has a reason" jq -e '.error | length > 3' "$tmp/body"
is "$(curl -s "$url/api/actions?limit=1000" | jq length)" "$stored" \
  "what was answered without an error is there"
is "$(curl -s "$url/api/health")" '{"ok":true}' "the server goes on without room"
is "$(grep -c . "$tmp/full.err")" 1 "the server says once why it cannot store"

# --- nor are the actions of such a request kept, which would be there twice after another try
start_server mixed sh -c 'ulimit -f 4096; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D "$tmp/mixed.sqlite"
{
  echo '{"kind":"daily","content":"an action"}'
  awk -v word="$(printf '%0200d' 0)" 'BEGIN { for (i = 0; i < 20000; i++)
    printf "{\"guildId\":\"1\",\"subject\":\"s%d\",\"fact\":\"%s %d\"}\n", i, word, i }'
} >"$tmp/mixed"
is "$(curl -s -o "$tmp/body" -w '%{http_code}' --data-binary "@$tmp/mixed" "$url/api/actions")" 500 \
  "without room for the facts of a request the answer is 500"
is "$(curl -s "$url/api/actions")" '[]' "none of the actions of such a request is stored"
sed 10q "$tmp/mixed" >"$tmp/few"
for _ in 1 2; do curl -s --data-binary "@$tmp/few" "$url/api/actions" >"$tmp/body"; done
mark=$(printf '\357\273\277')
is "$(printf '%s{"kind":"a"}\n{"kind":"b"}\n' "$mark" | curl -s --data-binary @- "$url/api/actions" |
  jq -c '[.ok, .stored]')" '[true,2]' "a byte order mark in front does not count"
is "$(printf '%s[]' "$mark" | curl -s -X PUT --data-binary @- "$url/api/guilds")" '{"ok":true}' \
  "a byte order mark in front of a document does not count, either"
curl -s --data-binary "@$tmp/few" "$url/api/actions" >"$tmp/body"
is "$(jq -c '[.ok, .stored]' "$tmp/body") $(curl -s "$url/api/memory/facts?guildId=1" | jq '.facts | length')" \
  '[true,1] 9' "facts that are there already are not a fault"
done_testing
