#!/bin/sh
# agent-serve: actions in and out, by the contract and to the byte.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq
recorded=$cli/servers/recorded

start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
get() { curl -s "$url/api/actions$1"; }
post() { curl -s --data-binary @- "$url/api/actions"; }
code() { curl -s -o "$tmp/body" -w '%{http_code}' "$@"; }
without_ids() { sed 's/"id":[0-9]*,"created_at"/"created_at"/g'; }

# --- the dashboard's own events become the dashboard's own rows
sed -n '/^event: action_event/{n;s/^data: //p;}' "$recorded/activity.sse" >"$tmp/events"
is "$(post <"$tmp/events" | jq -c '[.ok, .stored, .errors]')" '[true,14,[]]' \
  "fourteen live actions are stored"
sed '1,/^.\{0,1\}$/d' "$recorded/actions-after-stream.http" | without_ids >"$tmp/want"
get '?limit=14' | without_ids >"$tmp/got"
ok "live actions are the rows that the dashboard made of them, byte for byte" \
  cmp "$tmp/want" "$tmp/got"

# --- what is selected
is "$(get '?kinds=voice_error,asr_call&limit=5' | jq -c 'map(.kind)')" '["asr_call","voice_error"]' \
  "kinds selects rows of some kinds"
is "$(get '?guildId=100000000000000001' | jq 'map(.guild_id) | unique | length')" 1 \
  "guildId selects rows of one guild"
is "$(get '?kinds=no_such_kind')" "[]" "a kind that no row has selects nothing"
is "$(get '?limit=0' | jq length)" 1 "a limit of 0 becomes 1"
is "$(get '?limit=abc&sinceHours=-4' | jq length)" 14 \
  "a limit or a time that makes no sense is the default"
is "$(get '?sinceHours=0.001' | jq length)" 0 "sinceHours takes fractions"
printf '{"kind":"now"}' | post >"$tmp/answer"
is "$(get '?sinceHours=0.01' | jq -c 'map(.kind)')" '["now"]' "an action without a time is of now"
is "$(jq -c . "$tmp/answer")" '{"ok":true,"stored":1,"ids":[15],"errors":[]}' "one object is stored"

# --- one object or a record a line
printf '{\n  "kind": "daily",\n  "metadata": {\n    "a": 1.10\n  }\n}\n' | post >/dev/null
is "$(get '?kinds=daily' | grep -o '"a": 1.10')" '"a": 1.10' "one object may have several lines"
cat >"$tmp/mixed" <<'END'
{"kind":"m1","content":"right"}
{"kind":"m2"

{"content":"no kind"}
not json at all
{"event":"action_event","id":"9","data":{"kind":"m3","usdCost":1.10}}
{"event":"stats_update","id":"9","data":{"stats":{},"runtime":{}}}
{"type":"open","url":"http://127.0.0.1/"}
{"id":5,"created_at":"2026-01-01T00:00:00.000Z","kind":"m4","guild_id":"123456789012345678901"}
{"kind":"m5","createdAt":"yesterday"}
{"kind":"m6","createdAt":"2026-01-01T01:00:00+01:00"}
END
is "$(code --data-binary @"$tmp/mixed" "$url/api/actions")" 200 \
  "right lines are taken among wrong ones"
is "$(jq -c '[.ok, .stored, (.ids | length), (.errors | map(.line))]' "$tmp/body")" \
  '[false,4,4,[2,4,5,10]]' "right lines are stored, and wrong ones numbered"
is "$(jq -r '.errors | map(.reason | length > 3) | all' "$tmp/body")" true \
  "each wrong line has a reason"
is "$(get '?kinds=m1,m2,m3,m4,m5,m6' | jq -c 'map(.kind)')" '["m1","m3","m4","m6"]' \
  "the newest come first, and go by id within a millisecond"
is "$(get '?kinds=m4' | jq -c '.[0].guild_id')" '"123456789012345678901"' "ids keep their digits"
like "$(get '?kinds=m3')" '"usd_cost":1\.10}' "a cost keeps its digits"

bad() {
  is "$(printf '%s' "$1" | code --data-binary @- "$url/api/actions")" 400 \
    "a body is refused with 400: $2"
  is "$(jq -c '[.ok, .stored, .errors[0].line]' "$tmp/body")" '[false,0,1]' \
    "the line of a bad body is told: $2"
}
bad '' "an empty body"
bad '{"kind":' "half an object"
bad '"kind"' "a text"
bad '{"kind":7}' "a kind that is a number"
is "$(code -H 'Content-Type: application/json' -d '{"kind":' "$url/api/actions")" 400 \
  "bad JSON is refused"
is "$(jq -r .error "$tmp/body")" invalid_json_body \
  "the refusal of bad JSON has the dashboard's word"
is "$(code -H 'Content-Type: text/plain' -d '{"kind":"typed"}' "$url/api/actions")" 200 \
  "the content type does not matter"

# --- sizes
limit=7340032
{ printf '{"kind":"big","content":"' && head -c $((limit - 27)) /dev/zero | tr '\0' a && printf '"}'; } \
  >"$tmp/big"
is "$(code --data-binary @"$tmp/big" "$url/api/actions")" 200 "a body of 7 MiB is taken"
is "$(code -X POST -T - "$url/api/actions" <"$tmp/big")" 200 "a body of 7 MiB is taken in chunks"
is "$(get '?kinds=big&limit=1' | jq '.[0].content | length')" 2000 "a row's content is cut"
printf ' ' >>"$tmp/big"
is "$(code --data-binary @"$tmp/big" "$url/api/actions")" 413 "a body of one byte more is refused"
is "$(cat "$tmp/body")" '{"error":"payload_too_large"}' \
  "the refusal of a body too large has the dashboard's words"
is "$(code -X POST -T - "$url/api/actions" <"$tmp/big")" 413 \
  "a body too large is refused in chunks, too"
is "$(curl -s -H 'Expect:' -o "$tmp/a" -o "$tmp/b" -w '%{http_code}:%{num_connects} ' \
  --data-binary @"$tmp/big" "$url/api/actions" "$url/api/actions")" "413:1 413:0 " \
  "the connection goes on behind a body too large"
is "$(get '?kinds=big' | jq length)" 2 "nothing of a body too large was stored"

# --- hostile text
printf '%s' '{"kind":"h\u0000\u001b[31m","content":"\u0000\u001b]0;x\u0007\u202e\n\r","userId":"\"\\"}' |
  post >/dev/null
get '?limit=1' >"$tmp/got"
is "$(jq -c '.[0] | [.content, .user_id]' "$tmp/got" | jq -c '.[0] | explode')" \
  '[0,27,93,48,59,120,7,8238,10,13]' "every character of hostile text comes back"
not_ok "no control character is bare" grep -q "$(printf '[\001-\037]')" "$tmp/got"
printf '{"kind":"bad utf-8","content":"a\377b"}' | post >/dev/null
is "$(get '?kinds=bad%20utf-8' | jq -c '.[0].content | explode')" '[97,65533,98]' \
  "a bad byte becomes U+FFFD"

# --- a file, before anybody can ask
{
  yes junk | head -n 22
  echo '{"type":"count","kind":"note","count":2,"usd_cost":0}'
  echo '{"kind":"note"}'
} >"$tmp/junk"
start_server junk agent-serve -l 127.0.0.1:0 -D :memory: --ingest "$tmp/junk"
is "$(lines "$tmp/junk.err")" 11 "only ten of many bad lines are named"
is "$(tail -n 1 "$tmp/junk.err")" "agent-serve: 12 more bad lines" \
  "the rest of the bad lines is counted"
is "$(curl -s "$url/api/actions" | jq length)" 1 \
  "the good line is stored, and a count is not an action"
stop "$pid"
cp "$cli/../fixtures/sample-day.ndjson" "$tmp/day"
printf '{"kind":\n' >>"$tmp/day"
start_server ingest agent-serve -l 127.0.0.1:0 -D :memory: --ingest "$tmp/day"
like "$(cat "$tmp/ingest.err")" "^agent-serve: $tmp/day:[0-9]*: [a-z ]*$" "a bad line is named"
curl -s "$url/api/actions?limit=1000" | python3 -c '
import json, sys
print(len(json.load(sys.stdin)))' >"$tmp/count"
python3 - "$tmp/day" >"$tmp/want" <<'END'
import json, sys
rows, events = set(), 0
for line in open(sys.argv[1]):
    try:
        record = json.loads(line)
    except ValueError:
        continue
    if record.get("event") == "action_event":
        events += 1
    if record.get("event") == "activity_snapshot" and not events:
        rows |= {row["id"] for row in record["data"]["actions"]}
print(len(rows) + events)
END
is "$(cat "$tmp/count")" "$(cat "$tmp/want")" "each action of a recording is stored once"
done_testing
