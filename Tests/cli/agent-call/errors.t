#!/bin/sh
# agent-call: what the backend refuses, what it cannot be asked, and what is no
# answer: one line and a status each.
. "${0%/*}/../lib.sh"
needs agent-call jq python3

serve </dev/null
AGENT_URL=$url
export AGENT_URL

# answered SCRIPT COMMAND...: one answer to the next request.
answered() {
  printf '%s\n' "$1" | script
  shift
  run agent-call "$@"
}
# fails STATUS REASON TITLE: so ended the last run, in one line.
fails() {
  status_is "$1" "$3"
  # raw.py has a reason phrase of its own for what it does not know.
  is "$(sed 's/ Status\(:\|$\)/\1/' "$err")" "agent-call: $2" "$3: the reason is told in words"
  out_empty "$3: nothing is printed on standard output"
}

# --- error bodies: three shapes, text, pages
h=$url/api/health
answered 'status 500 application/json {"error":"no such table: actions"}' health
fails 75 "$h: 500: no such table: actions" "500"
answered 'status 400 application/json {"error":"guildId is required"}' automations -g ''
status_is 2 "an empty guild is none"
answered 'on /api/automations
status 400 application/json {"error":"guildId is required"}' automations -g 1
fails 2 "$url/api/automations: 400: guildId is required" "400 with error"
answered 'status 400 application/json {"ok":false,"error":"subject required"}' post /api/x -d '{}'
fails 2 "$url/api/x: 400: subject required" "400 with ok and error"
answered 'status 409 application/json {"ok":false,"error":"duplicate"}' put /api/x -d '{}'
fails 1 "$url/api/x: 409: duplicate" "409"
answered 'status 404 application/json {"ok":false,"error":"not_found"}' delete /api/x -d '{}'
fails 1 "$url/api/x: 404: not_found" "404 with ok: the answer is no"
answered 'status 503 application/json {"ok":false,"reason":"voice_join_unavailable"}' join 1
fails 75 "$url/api/voice/join: 503: voice_join_unavailable" "503 with reason"
answered 'status 429 application/json {"accepted":false,"reason":"ingest_rate_limited"}' \
  post /api/x -d '{}'
fails 75 "$url/api/x: 429: ingest_rate_limited" "429"
answered 'status 413 application/json {"error":"payload_too_large"}' post /api/x -d '{}'
fails 2 "$url/api/x: 413: the body is too large for the backend" "413"
answered 'status 404 text/plain Not found.' get /api/none
fails 2 "$url/api/none: 404: no such path" "404 in text"
answered 'status 404 application/json {"error":"Not found."}' post /api/health -d '{}'
fails 2 "$url/api/health: 404: no such path" "404 for another verb"
for code in 502 504 530; do
  answered "status $code text/html <!DOCTYPE html><title>$code: Bad gateway</title>" health
  fails 75 "$h: $code: the tunnel's page: the backend is asleep or out of reach" "$code"
done
answered 'status 500 text/plain' health
fails 75 "$h: 500" "500 without a body"
answered 'status 418 application/json {"error":{"message":"deep"}}' health
fails 2 "$h: 418: deep" "an object for an error"
answered 'status 400 application/json {"error":' health
fails 2 "$h: 400: {\"error\":" "an error that is cut off"
answered 'status 304 text/plain' health
fails 2 "$h: 304" "304"

# --- hostile reasons
answered 'status 400 application/json {"error":"a\\u001b[31m\\u202e\\nagent-call: all is well"}' health
fails 2 "$h: 400: a\\e[31m\\u{202e}\\nagent-call: all is well" "escapes in an error"
answered 'status 400 text/plain \e[2Jgone\r\nmore' health
fails 2 "$h: 400: \\e[2Jgone" "escapes in text"
printf 'status 400 application/json {"error":"%s"}\n' "$(head -c 100000 /dev/zero | tr '\0' x)" | script
run agent-call health
ok "a reason of 100 KB is cut" test "$(wc -c <"$err")" -lt 600
err_one_line agent-call "it is cut to one line"

# --- 200 that makes no sense
answered 'status 200 text/html <!doctype html><title>stub</title>' health
fails 2 "$h: 200 OK: a web page, not JSON" "a page"
answered 'status 200 application/json {"ok":tru' stats
fails 2 "$url/api/stats: 200 OK: not JSON: a word without quotes at byte 6 (application/json)" "half a record"
answered 'status 200 application/json [{"id":"1"},]' guilds
fails 2 "$url/api/guilds: 200 OK: not JSON: a value is missing at byte 12 (application/json)" "a bad list"
answered 'status 200 application/json {"error":"x"}' guilds
fails 2 "$url/api/guilds: the answer has no list" "an object in place of a list"
answered 'on /api/automations
status 200 application/json {"rows":7}' automations -g 1
fails 2 "$url/api/automations: the answer has no list \"rows\"" "a number in place of a list"
answered 'status 200 application/json []' stats
fails 2 "$url/api/stats: the answer is not an object" "a list in place of an object"
answered 'status 200 application/json "yes"' health
fails 2 "$h: the answer is not an object" "a text in place of an object"
answered 'status 200 application/json {"okay":1}' join
fails 2 "$url/api/voice/join: the answer does not say what came of it" "join without ok"

# --- the answer is no
for answer in '[]' 'null' ' [ ] '; do
  answered "status 200 application/json $answer" guilds
  is "$status $(cat "$out" "$err")" "1 " "an empty list of guilds has status 1: $answer"
done
answered 'on /api/automations
status 200 application/json {"rows":null}' automations -g 1
is "$status $(cat "$out" "$err")" "1 " "rows that are null are none"
answered 'status 200 application/json []' automations
fails 1 "guilds: the agent is in none" "no guild to be meant"
answered 'status 200 application/json null' tunnel
is "$status $(cat "$out" "$err")" "1 " "no tunnel has status 1"
for state in disabled idle starting error stopped; do
  answered "status 200 application/json {\"enabled\":true,\"status\":\"$state\",\"publicUrl\":\"https://x\"}" -q tunnel
  is "$status $(cat "$out" "$err")" "1 " "-q: a tunnel that is $state is not up"
done
for odd in '{"enabled":false,"status":"ready"}' '{"status":"ready"}' '{"enabled":true}' '{}' null; do
  answered "status 200 application/json $odd" -q tunnel
  is "$status $(cat "$out" "$err")" "1 " "-q: one of $odd is none, either"
done
answered 'status 200 application/json {"enabled":true,"status":"ready","lastError":""}' -q tunnel
is "$status $(cat "$out" "$err")" "0 " "-q: one that is ready is"
answered 'status 200 application/json {"enabled":false,"status":"disabled"}' tunnel
is "$status $(cat "$out")" '0 {"enabled":false,"status":"disabled"}' "its record is an answer in any state"
answered 'status 200 application/json []' get /api/x
is "$status $(cat "$out")" "1 " "get of an empty array"
answered 'status 200 application/json {"ok":false,"n":1}' health
is "$status $(jq -c .n "$out")" "1 1" "health that is not ok"
answered 'status 200 application/json {"ok":false}' post /api/x -d '{}'
is "$status $(cat "$out")" '1 {"ok":false}' "a refusal with 200 has status 1"
answered 'status 200 application/json {"ok":false,"reason":"not now"}' guilds
fails 1 "$url/api/guilds: not now" "a refusal in place of a list"
answered 'status 200 application/json {"ok":false,"reason":"not now"}' settings
is "$status $(cat "$out")" '1 {"ok":false,"reason":"not now"}' \
  "a refusal in place of a record has it, too"
answered 'status 200 application/json null' get /api/x
is "$status $(cat "$out")" "1 null" "get of null"
answered 'status 200 application/json' stats
fails 2 "$url/api/stats: the answer is not an object" "nothing in place of a record"
answered 'status 200 application/json {}' get '/api/x?from=http://y/'
is "$status $(cat "$out")" "0 {}" "a URL in a query is not one"
answered 'status 204' post /api/x -d '{}'
is "$status $(cat "$out" "$err")" "0 " "204: nothing to say"
terminal="python3 $cli/terminal.py"
printf 'status 200 application/json []\n' | script
t 2 "a list that is none is an error" $terminal agent-call mcp
printf 'status 200 application/json {"servers":[]}\n' | script
run $terminal agent-call mcp
is "$status $(tr -d '\r' <"$out")" "1 agent-call: no mcp" "a person is told that there is none"

# --- odd records cost a cell, not the list
odd='[{"id":{"a":[1]},"name":"\\u001b[31mred\\u202e\\ttab\\nline"},7,null,"x\\ty",{"name":null},[],{"id":1e400}]'
answered "status 200 application/json $odd" guilds
is "$status $(lines "$out")" "0 7" "every record comes through"
is "$(sed -n 3p "$out")" null "as it is"
answered "status 200 application/json $odd" guilds -o tsv
is "$(sed -n 1p "$out")" "$(printf '{"a":[1]}\t\\e[31mred\\u{202e}\\ttab\\nline')" "fields are escaped"
is "$(sed -n 4p "$out")" 'x\ty' "a text in place of a record is printed as fields"
answered "status 200 application/json $odd" guilds -o table
is "$status $(lines "$out")" "0 8" "such rows are printed in a table, too"
not_ok "no control is bare" grep -q "$(printf '[\001-\011\013-\037]')" "$out"
printf 'status 200 application/json %s\n' "$odd" | script
run $terminal 24x60 env TERM=dumb agent-call guilds -o json
not_ok "nor is one bare in JSON on a terminal" grep -q "$(printf '\342\200\256')" "$out"
printf 'status 200 application/json {"a":"\\xff\\xfe","b":1}\n' | script
run agent-call get /api/x
is "$status $(jq -c '.a | explode' "$out")" "0 [65533,65533]" "bad UTF-8 becomes U+FFFD"
printf 'status 200 application/json {\\n  "a" : 1.10,\\r\\n  "b" : 2\\n}\\n\n' | script
run agent-call get /api/x
is "$(lines "$out") $(tr -d ' ' <"$out")" '1 {"a":1.10,"b":2}' "a record is one line"
printf 'status 200 application/json \\xef\\xbb\\xbf{"a":1}\n' | script
run agent-call get /api/x
out_is '{"a":1}' "a byte order mark is passed over"

# --- a backend that always gives the same 1000 actions
python3 - >"$tmp/thousand.http" <<'END'
import json
rows = [{"id": n, "kind": ["llm_call", "asr_call"][n % 2],
         "created_at": "2026-01-01T00:00:%02d.%03dZ" % (n // 1000, n % 1000)}
        for n in range(3000, 2000, -1)]
print("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(rows), end="")
END
printf 'forever\nfile thousand.http\n' | script
run agent-call actions
is "$status $(lines "$out") $(jq .id "$out" | sort -u | wc -l)" "2 1000 1000" "each comes once"
err_is "agent-call: actions: what was before 2026-01-01T00:00:02.001Z cannot be reached: the backend gives the newest 1000" \
  "and no more are to be had"
ok "it is not asked for ever" test "$(requests .n | wc -l)" -le 3
run agent-call actions -k llm_call -n 700
is "$(jq -r .kind "$out" | sort | uniq -c | tr -s ' ')" " 500 llm_call" "kinds are held to in any case"

# --- the network
AGENT_URL=http://127.0.0.1:1
t 75 "a server that does not listen has status 75" agent-call health
err_one_line agent-call "the reason is told in a line"
AGENT_URL=$url
answered 'reset' health
status_is 75 "a connection that breaks has status 75"
err_one_line agent-call "the break is told in a line"
answered 'send HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"id"' guilds
status_is 75 "an answer that is cut off"
out_empty "nothing of it is printed"
answered 'stall' health --max-time 0.3
fails 75 "$h: no whole answer in 0.3 s; see --max-time" "silence"
printf 'send HTTP/1.1 200 OK\\r\\n\\r\\n[1\nstall\n' | script
run agent-call guilds --max-time 300ms
fails 75 "$url/api/guilds: no whole answer in 0.3 s; see --max-time" "half an answer"
is "$(requests .n | wc -l)" 1 "nothing is asked twice"

printf 'stream\nsend event: a\\ndata: {}\\n\\n\nstall\n' | script
run agent-call get /api/activity/events
fails 2 "$url/api/activity/events: an event stream, which does not end; see sse-tail(1)" "a stream"

# --- redirects
token=sesame-0815
umask 077
printf '%s\n' $token >"$tmp/token"
printf 'on /api/health\nredirect 302 @OTHER@/elsewhere\n---\non /elsewhere\nstatus 200 application/json {"ok":true}\n' | script
t 0 "a redirect is followed" agent-call --token-file "$tmp/token" health
is "$(requests '[.port, .headers["x-dashboard-token"] // "-"] | join(" ")')" "main $token
other -" "the token does not go to another origin"
for code in 301 302 303 307 308; do
  printf 'redirect %s @OTHER@/elsewhere\n---\non /elsewhere\nstatus 200 application/json {"ok":true}\n' $code | script
  t 2 "what is said goes to nobody else ($code)" agent-call post /api/x --data '{"word":"private"}'
  err_like '/api/x: 30[0-9].*: bad location: to another server$' "and that is said"
  is "$(requests .port | xargs)" main "who is not asked"
done
printf 'redirect 307 /there\n---\non /there\nstatus 200 application/json {"ok":true}\n' | script
t 0 "a redirect on the same server is followed" agent-call post /api/x --data '{"word":"private"}'
printf 'redirect 302 ftp://x/\n' | script
t 2 "a redirect to nowhere is not followed" agent-call health

# --- usage
for words in '' 'nonsense' 'health extra' 'get' 'guilds -g 1' 'actions -n x' 'health -o xml' \
  'actions -k voice_*' 'stats --color red' 'health -W x' 'health --max-time x' 'join 1 -g 2'; do
  # shellcheck disable=SC2086
  t 2 "agent-call '$words' is refused" agent-call $words
  is "$(lines "$err") $(tail -n 1 "$err" | cut -d ' ' -f 1-2)" "2 usage: agent-call" \
    "the message has two lines"
done
run agent-call get http://127.0.0.1/x
fails 2 "http://127.0.0.1/x: a path of the backend is needed, not a url" "get of a URL"
run env -u AGENT_URL agent-call health
fails 2 "no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)" "no backend"
run agent-call --cacert "$tmp/none" health
fails 2 "$tmp/none: no such file or directory" "an authority that is not there"

# --- the end of the output
for command in "guilds" "get /api/x"; do
  printf 'status 200 application/json [{"id":"1"}]\n' | script
  # shellcheck disable=SC2086
  t 2 "$command: a full disk is an error" sh -c 'agent-call "$@" >/dev/full' - $command
  err_is "agent-call: standard output: no space left on device" "the reason is told in words"
done
printf 'status 200 application/json [{"id":"1"}]\n' | script
run sh -c '{ agent-call guilds; echo $? >&3; } 3>&2 | :'
ok "a closed pipe ends quietly" grep -qE '^(141|0)$' "$err"

done_testing
