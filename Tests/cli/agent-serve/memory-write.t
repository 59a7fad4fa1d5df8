#!/bin/sh
# agent-serve: writing the memory: checks, limits, hostile text, many facts, and a
# server that is killed.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 60 python3 "$cli/clients/memory.py" "$@"; }
start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
m=$url/api/memory
post() { curl -s -w ' %{http_code}' --data-binary "$1" "$m/facts"; }
put() { curl -s -w ' %{http_code}' -X PUT -H "Content-Type: ${3-application/json}" -d "$2" "$m/facts/$1"; }
delete() { curl -s -w ' %{http_code}' -X DELETE -H 'Content-Type: application/json' -d "$2" "$m/facts/$1"; }
facts() { curl -s "$m/facts?guildId=${1-1}&limit=500"; }

# --- nothing is known
is "$(facts)" '{"guildId":"1","limit":500,"subject":null,"queryText":"","facts":[]}' \
  "there is no fact"
is "$(curl -s "$m/facts?guildId=1&limit=0" | jq -c '[.limit, .facts]')" '[1,[]]' "a limit of 0 is 1"
is "$(curl -s "$m/facts?guildId=1&limit=501" | jq .limit)$(curl -s "$m/facts?guildId=1&limit=x" | jq .limit)" "500120" \
  "a limit of facts is clamped, and the default where it makes no sense"
is "$(curl -s "$m/reflections?guildId=1")" '{"guildId":"1","runs":[]}' "there is no reflection"
is "$(curl -s "$m/search?guildId=1&q=")" '{"results":[],"queryText":"","guildId":"1","channelId":null,"limit":0}' \
  "an empty query finds nothing"

# --- facts are posted
is "$(post '{"guildId":"1","subject":" a \n b ","fact":"  One\t\u00a0fact  ","factType":" PREFERENCE ","confidence":"2","createdAt":"2026-01-01T01:00:00+01:00"}' |
  sed 's/ 200$//' | jq -c '.ok, .stored, .ids, (.fact | del(.id))')" \
  'true
1
[1]
{"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","scope":"guild","guild_id":"1","channel_id":null,"user_id":null,"subject":"a b","fact":"One fact","fact_type":"preference","evidence_text":null,"source_message_id":null,"confidence":1,"metadata":{"isLegacy":false}}' \
  "a fact is folded and clamped"
is "$(post '{"guildId":"1","subject":"a b","fact":"One   fact"}')" \
  '{"ok":false,"stored":0,"ids":[],"errors":[{"line":1,"reason":"duplicate"}],"error":"duplicate"} 409' \
  "the same fact again is a duplicate"
like "$(post '{"guildId":"2","subject":"a b","fact":"One fact"}')" '"ids":\[2\].* 200$' \
  "the same fact in another guild is another"
refused() { is "$(post "$1" | sed 's/.*"error":"\(.*\)"} 400$/\1/')" "$2" "a fact is refused: $2"; }
refused '{"guildId":"1","fact":"x"}' 'subject required'
refused '{"guildId":"1","subject":" \u2028","fact":"x"}' 'subject required'
refused '{"guildId":"1","subject":"x","fact":"\ufeff "}' 'fact required'
refused '{"guildId":"1","subject":"x","fact":{"a":1}}' 'fact is not a text'
refused '{"subject":"x","fact":"x","scope":"guild"}' 'guildId required'
refused '{"guildId":"1","subject":"x","fact":"x","confidence":"high"}' 'confidence must be a number between 0 and 1'
refused '{"guildId":"1","subject":"x","fact":"x","created_at":"soon"}' 'created_at is not an RFC 3339 time'
refused '' 'no fact in the body'
is "$(curl -s -H 'Content-Type: application/json' -d '{"a":' "$m/facts" | jq -r .error)" invalid_json_body \
  "a fact that is not JSON is refused"
printf '%s\n' '{"event":"fact","id":"","data":{"subject":"300","fact":"of a person"}}' '' 'junk' \
  '[{"guild_id":"1","subject":"x","fact":"a row"},{"guild_id":"1","subject":"x"}]' \
  '{"guildId":"1","facts":[{"subject":"__owner__","fact":"private","user_id":"7"}]}' >"$tmp/lines"
is "$(post "@$tmp/lines" | jq -c . 2>/dev/null | head -n 1)" \
  '{"ok":false,"stored":3,"ids":[3,4,5],"errors":[{"line":3,"reason":"a word without quotes"},{"line":4,"reason":"fact required"}]}' \
  "facts in all forms are taken, one a line"
is "$(facts | jq -c '.facts | map([.id, .scope, .guild_id, .user_id]) | sort')" \
  '[[1,"guild","1",null],[3,"user",null,"300"],[4,"guild","1",null],[5,"owner",null,"7"]]' \
  "the facts say whose they are"
is "$(facts 2 | jq -c '.facts | map(.id) | sort')" '[2,3,5]' "another guild sees its own and those of persons"

# --- edits: the checks in their order
is "$(put x '{}')" '{"ok":false,"error":"guildId required"} 400' "the guild is checked first"
for id in x 0 -1 1.5 %20 1e400 99999999999999999999 null; do
  is "$(put "$id" '{"guildId":"1"}')" '{"ok":false,"error":"valid factId required"} 400' \
    "the id is checked after the guild: $id"
done
is "$(put 1 '{"guildId":"1","subject":" "}')" '{"ok":false,"error":"subject required"} 400' \
  "the subject is checked after the id"
is "$(put 1 '{"guildId":"1","subject":"a"}')" '{"ok":false,"error":"fact required"} 400' \
  "the fact is checked after the subject"
for value in '"x"' '"0x"' '[]' '{}' '1e999'; do
  is "$(put 1 "{\"guildId\":\"1\",\"subject\":\"a\",\"fact\":\"b\",\"confidence\":$value}")" \
    '{"ok":false,"error":"confidence must be a number between 0 and 1"} 400' \
    "the confidence is checked after the fact: $value"
done
confidence() { put 1 "{\"guildId\":1,\"subject\":\"a\",\"fact\":\"b\",\"confidence\":$1}" | sed 's/ 200$//' | jq -c .fact.confidence; }
is "$(confidence null) $(confidence '""') $(confidence true) $(confidence -3) $(confidence 7) $(confidence '" 0.25 "') $(confidence '"0b1"')" \
  "0 0 1 0 1 0.25 1" "what JavaScript takes for a number is a confidence"
is "$(put 4 '{"guildId":"1","subject":"a","fact":"b","confidence":1}')" '{"ok":false,"error":"duplicate"} 409' "twins are refused"
is "$(put 1 '{"guildId":"1","subject":"a","fact":"b","confidence":1}' | jq -r '.ok? // empty')" true \
  "a fact is not a twin of itself"
is "$(put 2 '{"guildId":"1","subject":"a","fact":"b","confidence":1}')" '{"ok":false,"error":"not_found"} 404' "another guild's fact is not found"
like "$(put 3 '{"guildId":"anything","subject":"300","fact":"edited","confidence":1}')" '"fact":"edited".* 200$' \
  "a person's fact can be edited with any guild"
is "$(put 1 'guildId=1&subject=a&fact=of+a+form&confidence=0.5' application/x-www-form-urlencoded | sed 's/.*"fact":"\([^"]*\)".*/\1/')" \
  'of a form' "a form is taken"
is "$(put 1 '{"guildId":"1"}' text/plain)" '{"ok":false,"error":"guildId required"} 400' "a body of another type is not read"
is "$(put 1 '[1]')$(put 1 '"x"')" '{"ok":false,"error":"guildId required"} 400{"ok":false,"error":"guildId required"} 400' \
  "an array as a body is not read, either"
is "$(put 1 '{"guildId":')" '{"error":"invalid_json_body"} 400' "half a body is refused"
curl -s -o "$tmp/answer" -X PUT -H 'Origin: http://example.org' -H 'Content-Type: application/json' -d '{}' \
  -w '%{http_code}' "$m/facts/1" >"$tmp/code"
is "$(cat "$tmp/code")" 403 "a page in a browser may not write"
is "$(curl -s -X PUT "$m/facts/")$(curl -s -X PUT "$m/facts/1/2")$(curl -s -X DELETE "$m/reflections/")$(curl -s -X PATCH "$m/facts/1")" \
  '{"error":"Not found."}{"error":"Not found."}{"error":"Not found."}{"error":"Not found."}' "other paths are not found"
is "$(curl -s "$m/")$(curl -s "$m/facts/1")$(curl -s "$m/none")" "Not found.Not found.Not found." "other paths are not found, either"

# --- lengths, in UTF-16 units
long() { python3 -c 'import sys; print(sys.argv[1] * int(sys.argv[2]), end="")' "$1" "$2"; }
put 1 "{\"guildId\":\"1\",\"subject\":\"$(long é 130)\",\"fact\":\"x$(long 🥜 300)\",\"factType\":\"$(long T 50)\",\"evidenceText\":\"$(long ' ab' 100)\",\"confidence\":1}" |
  sed 's/ 200$//' >"$tmp/answer"
is "$(jq -c '.fact | [(.subject | length), (.fact | length), (.fact | explode | last), (.fact_type | length), (.evidence_text | length)]' "$tmp/answer")" \
  '[120,201,65533,40,240]' "a text that is too long is cut"

# --- hostile text
printf '%s' '{"guildId":"1","subject":"\u001b]0;x\u0007","fact":"\u0000\u202egnp.exe \ud800 <b>\u2028\"\\ | # `x`","evidence_text":"\u001b[31m"}' >"$tmp/hostile"
like "$(post "@$tmp/hostile")" ' 200$' "hostile text is text"
facts | jq -c '.facts[] | select(.evidence_text == "\u001b[31m") | [.fact, .subject] | map(explode)' >"$tmp/got"
is "$(cat "$tmp/got")" \
  '[[65533,8238,103,110,112,46,101,120,101,32,65533,32,60,98,62,32,34,92,32,124,32,35,32,96,120,96],[27,93,48,59,120,7]]' \
  "what has no UTF-8 and what ends a text in SQLite is replaced"
not_ok "no control character is bare" sh -c "curl -s '$m/facts?guildId=1' | grep -q \"\$(printf '[\\001-\\037]')\""
is "$(curl -s "$m?guildId=1" | jq -r .markdown | grep -c '^## ')" 3 \
  "a hostile text makes no heading in the markdown"
is "$(curl -s "$m/facts?guildId=1%27%20OR%201=1%20--" | jq '.facts | map(.scope) | unique' | tr -d ' \n')" '["owner","user"]' "no SQL is run"

# --- deletes
is "$(delete 1 '{}')$(delete x '{"guildId":"1"}')$(delete 2 '{"guildId":"1"}')$(delete 777 '{"guildId":"1"}')" \
  '{"ok":false,"error":"guildId required"} 400{"ok":false,"error":"valid factId required"} 400{"ok":false,"error":"not_found"} 404{"ok":false,"error":"not_found"} 404' \
  "what cannot be deleted is told with the reason"
is "$(delete 3 '{"guildId":"1"}')$(delete 3 '{"guildId":"1"}')" '{"ok":true,"deleted":1} 200{"ok":false,"error":"not_found"} 404' \
  "a fact can be deleted once"
is "$(put 3 '{"guildId":"1","subject":"300","fact":"x","confidence":1}')" '{"ok":false,"error":"not_found"} 404' \
  "a fact that was deleted cannot be edited"
like "$(post '{"subject":"300","fact":"edited"}')" '"stored":1' \
  "a fact that was deleted can be made again"
stop "$pid"

# --- ten thousand
start_server many agent-serve -l 127.0.0.1:0 -D "$tmp/many.sqlite"
m=$url/api/memory
client many 10000 >"$tmp/many"
is "$(curl -s --data-binary @"$tmp/many" "$m/facts" | jq -c '[.stored, (.ids | length), .errors]')" '[10000,10000,[]]' "10000 facts are stored in one request"
is "$(curl -s --data-binary @"$tmp/many" "$m/facts" | jq -c '[.stored, (.errors | length)]')" '[0,10000]' \
  "none of 10000 facts is stored twice"
is "$(curl -s "$m/subjects?guildId=1&limit=1000" | jq '.subjects | length, (map(.fact_count) | add)?' | head -n 1)" 500 "at most 500 subjects are given"
is "$(curl -s "$m/facts?guildId=1&limit=500" | jq '.facts | length')" 500 "500 facts are given"
is "$(curl -s "$m/facts?guildId=1&subject=s7&limit=500" | jq '.facts | length')" 15 "all facts of a subject are given"
is "$(curl -s "$m/facts?guildId=1&q=ITEM7777" | jq -c '.facts | map(.subject)')" '["s77"]' \
  "one fact among 10000 is found"
is "$(curl -s "$m/search?guildId=1&q=item7777" | jq -c '.results | map(.subject)')" '["s77"]' \
  "a search finds one fact among 10000, too"
for number in 1 2 3 4 5 6 7 8; do curl -s "$m/search?guildId=1&q=kettle+lamp" -o "$tmp/search.$number" & done
wait_until 30 test -s "$tmp/search.8"
is "$(curl -s "$m/search?guildId=1&q=kettle+lamp&limit=24" | jq '.results | length')" 24 \
  "a search of words that thousands have finds 24"
is "$(curl -s -H 'Content-Type: application/json' -d '{"guildId":"1","queryText":"lamp"}' "$m/runtime-snapshot" |
  jq -c '[.mode, .counts.participantCount, .slice.loreFacts]')" '["text",0,[]]' "a snapshot of nobody has nobody"
stop "$pid"

# --- kill -9 while facts come in
for round in 1 2 3; do
  start_server "round$round" agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
  server=$pid
  for poster in 1 2 3; do start "poster$poster" python3 "$cli/clients/memory.py" acknowledged "$url" "$tmp/answered.$round$poster"; done
  ok "round $round: facts are answered" wait_until 30 at_least "$tmp/answered.${round}1" 30
  stop "$server" KILL
  for poster in 1 2 3; do finished "$(cat "$tmp/poster$poster.pid")"; done
done
sort "$tmp"/answered.* >"$tmp/all"
is "$(cut -d' ' -f1 "$tmp/all" | uniq -d)" "" "no id was given twice"
start_server after agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
for file in "$tmp"/answered.*; do
  curl -s -G "$url/api/memory/facts" -d guildId=1 -d limit=500 --data-urlencode "q=${file##*.} fact" |
    jq -r '.facts[] | "\(.id) \(.fact)"' | sort >"$tmp/kept"
  is "$(tail -n 400 "$file" | sort | comm -23 - "$tmp/kept" | head -n 3)" "" \
    "$(lines "$file") facts were answered, and all are kept"
done
id=$(head -n 1 "$tmp/all" | cut -d' ' -f1)
word=$(head -n 1 "$tmp/all" | cut -d' ' -f2-)
ok "a fact that was kept is found by its words" \
  sh -c "curl -s -G '$url/api/memory/search' -d guildId=1 --data-urlencode 'q=$word' | grep -q '\"id\":$id,'"
stop "$pid"
is "$status" 0 "the server ends as ever after it was killed"
done_testing
