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
fails 75 "$h: 500: no such table: actions" "a 500 with a reason has status 75"
answered 'status 400 application/json {"error":"guildId is required"}' automations -g ''
status_is 2 "an empty guild has status 2"
answered 'on /api/automations
status 400 application/json {"error":"guildId is required"}' automations -g 1
fails 2 "$url/api/automations: 400: guildId is required" "a 400 with an error has status 2"
answered 'status 400 application/json {"ok":false,"error":"subject required"}' post /api/x -d '{}'
fails 2 "$url/api/x: 400: subject required" "a 400 with ok and an error has status 2"
answered 'status 409 application/json {"ok":false,"error":"duplicate"}' put /api/x -d '{}'
fails 1 "$url/api/x: 409: duplicate" "a 409 has status 1"
answered 'status 404 application/json {"ok":false,"error":"not_found"}' delete /api/x -d '{}'
fails 1 "$url/api/x: 404: not_found" "a 404 with ok has status 1, as the answer is no"
answered 'status 503 application/json {"ok":false,"reason":"voice_join_unavailable"}' join 1
fails 75 "$url/api/voice/join: 503: voice_join_unavailable" "a 503 with a reason has status 75"
answered 'status 429 application/json {"accepted":false,"reason":"ingest_rate_limited"}' \
  post /api/x -d '{}'
fails 75 "$url/api/x: 429: ingest_rate_limited" "a 429 has status 75"
answered 'status 413 application/json {"error":"payload_too_large"}' post /api/x -d '{}'
fails 2 "$url/api/x: 413: the body is too large for the backend" "a 413 has status 2"
answered 'status 404 text/plain Not found.' get /api/none
fails 2 "$url/api/none: 404: no such path" "a 404 in text has status 2"
answered 'status 404 application/json {"error":"Not found."}' post /api/health -d '{}'
fails 2 "$url/api/health: 404: no such path" "a 404 for another verb has status 2"
for code in 502 504 530; do
  answered "status $code text/html <!DOCTYPE html><title>$code: Bad gateway</title>" health
  fails 75 "$h: $code: the tunnel's page: the backend is asleep or out of reach" \
  "a $code with a page of the tunnel has status 75"
done
answered 'status 500 text/plain' health
fails 75 "$h: 500" "a 500 without a body has status 75"
answered 'status 418 application/json {"error":{"message":"deep"}}' health
fails 2 "$h: 418: deep" "an object for an error has status 2"
answered 'status 400 application/json {"error":' health
fails 2 "$h: 400: {\"error\":" "an error that is cut off has status 2"
answered 'status 304 text/plain' health
fails 2 "$h: 304" "a 304 has status 2"

# --- hostile reasons
answered 'status 400 application/json {"error":"a\\u001b[31m\\u202e\\nagent-call: all is well"}' health
fails 2 "$h: 400: a\\e[31m\\u{202e}\\nagent-call: all is well" \
  "escapes in an error are made visible"
answered 'status 400 text/plain \e[2Jgone\r\nmore' health
fails 2 "$h: 400: \\e[2Jgone" "escapes in a text are made visible"
printf 'status 400 application/json {"error":"%s"}\n' "$(head -c 100000 /dev/zero | tr '\0' x)" | script
run agent-call health
ok "a reason of 100 KB is cut" test "$(wc -c <"$err")" -lt 600
err_one_line agent-call "a reason of 100 KB is cut to one line"

# --- 200 that makes no sense
answered 'status 200 text/html <!doctype html><title>stub</title>' health
fails 2 "$h: 200 OK: a web page, not JSON" "a page in place of a record has status 2"
answered 'status 200 application/json {"ok":tru' stats
fails 2 "$url/api/stats: 200 OK: not JSON: a word without quotes at byte 6 (application/json)" \
  "half a record has status 2"
answered 'status 200 application/json [{"id":"1"},]' guilds
fails 2 "$url/api/guilds: 200 OK: not JSON: a value is missing at byte 12 (application/json)" \
  "a bad list has status 2"
answered 'status 200 application/json {"error":"x"}' guilds
fails 2 "$url/api/guilds: the answer has no list" "an object in place of a list has status 2"
answered 'on /api/automations
status 200 application/json {"rows":7}' automations -g 1
fails 2 "$url/api/automations: the answer has no list \"rows\"" \
  "a number in place of a list has status 2"
answered 'status 200 application/json []' stats
fails 2 "$url/api/stats: the answer is not an object" "a list in place of an object has status 2"
answered 'status 200 application/json "yes"' health
fails 2 "$h: the answer is not an object" "a text in place of an object has status 2"
answered 'status 200 application/json {"okay":1}' join
fails 2 "$url/api/voice/join: the answer does not say what came of it" \
  "an answer to join without ok has status 2"

# --- the answer is no
for answer in '[]' 'null' ' [ ] '; do
  answered "status 200 application/json $answer" guilds
  is "$status $(cat "$out" "$err")" "1 " "an empty list of guilds has status 1: $answer"
done
answered 'on /api/automations
status 200 application/json {"rows":null}' automations -g 1
is "$status $(cat "$out" "$err")" "1 " "rows that are null have status 1"
answered 'status 200 application/json []' automations
fails 1 "guilds: the agent is in none" "an agent in no guild has status 1"
answered 'status 200 application/json null' tunnel
is "$status $(cat "$out" "$err")" "1 " "no tunnel has status 1"
for state in disabled idle starting error stopped; do
  answered "status 200 application/json {\"enabled\":true,\"status\":\"$state\",\"publicUrl\":\"https://x\"}" -q tunnel
  is "$status $(cat "$out" "$err")" "1 " "-q has status 1 for a tunnel that is $state"
done
for odd in '{"enabled":false,"status":"ready"}' '{"status":"ready"}' '{"enabled":true}' '{}' null; do
  answered "status 200 application/json $odd" -q tunnel
  is "$status $(cat "$out" "$err")" "1 " "-q has status 1 for a tunnel that is $odd"
done
answered 'status 200 application/json {"enabled":true,"status":"ready","lastError":""}' -q tunnel
is "$status $(cat "$out" "$err")" "0 " "-q has status 0 for a tunnel that is ready"
answered 'status 200 application/json {"enabled":false,"status":"disabled"}' tunnel
is "$status $(cat "$out")" '0 {"enabled":false,"status":"disabled"}' \
  "the record of a tunnel is an answer in any state"
answered 'status 200 application/json []' get /api/x
is "$status $(cat "$out")" "1 " "get of an empty array has status 1"
answered 'status 200 application/json {"ok":false,"n":1}' health
is "$status $(jq -c .n "$out")" "1 1" "health that is not ok has status 1"
answered 'status 200 application/json {"ok":false}' post /api/x -d '{}'
is "$status $(cat "$out")" '1 {"ok":false}' "a refusal with 200 has status 1"
answered 'status 200 application/json {"ok":false,"reason":"not now"}' guilds
fails 1 "$url/api/guilds: not now" "a refusal in place of a list has status 1"
answered 'status 200 application/json {"ok":false,"reason":"not now"}' settings
is "$status $(cat "$out")" '1 {"ok":false,"reason":"not now"}' \
  "a refusal in place of a record has status 1"
answered 'status 200 application/json null' get /api/x
is "$status $(cat "$out")" "1 null" "get of null has status 1"
answered 'status 200 application/json' stats
fails 2 "$url/api/stats: the answer is not an object" "nothing in place of a record has status 2"
answered 'status 200 application/json {}' get '/api/x?from=http://y/'
is "$status $(cat "$out")" "0 {}" "a URL in a query is not taken for one"
answered 'status 204' post /api/x -d '{}'
is "$status $(cat "$out" "$err")" "0 " "a 204 has status 0, and nothing is said"
terminal="python3 $cli/terminal.py"
printf 'status 200 application/json []\n' | script
t 2 "mcp without a list is an error" $terminal agent-call mcp
printf 'status 200 application/json {"servers":[]}\n' | script
run $terminal agent-call mcp
is "$status $(tr -d '\r' <"$out")" "1 agent-call: no mcp" "a person is told that there is none"

# --- odd records cost a cell, not the list
odd='[{"id":{"a":[1]},"name":"\\u001b[31mred\\u202e\\ttab\\nline"},7,null,"x\\ty",{"name":null},[],{"id":1e400}]'
answered "status 200 application/json $odd" guilds
is "$status $(lines "$out")" "0 7" "every record comes through"
is "$(sed -n 3p "$out")" null "a record that is null is printed as it is"
answered "status 200 application/json $odd" guilds -o tsv
is "$(sed -n 1p "$out")" "$(printf '{"a":[1]}\t\\e[31mred\\u{202e}\\ttab\\nline')" "fields are escaped"
is "$(sed -n 4p "$out")" 'x\ty' "a text in place of a record is printed as fields"
answered "status 200 application/json $odd" guilds -o table
is "$status $(lines "$out")" "0 8" "odd records are printed in a table, too"
not_ok "no control character is bare in a table" grep -q "$(printf '[\001-\011\013-\037]')" "$out"
printf 'status 200 application/json %s\n' "$odd" | script
run $terminal 24x60 env TERM=dumb agent-call guilds -o json
not_ok "no control character is bare in JSON on a terminal, either" \
  grep -q "$(printf '\342\200\256')" "$out"
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
is "$status $(lines "$out") $(jq .id "$out" | sort -u | wc -l)" "2 1000 1000" \
  "each of the same 1000 actions comes once"
err_is "agent-call: actions: what was before 2026-01-01T00:00:02.001Z cannot be reached: the backend gives the newest 1000" \
  "actions that cannot be reached are told"
ok "the same 1000 actions are not asked for without end" test "$(requests .n | wc -l)" -le 3
run agent-call actions -k llm_call -n 700
is "$(jq -r .kind "$out" | sort | uniq -c | tr -s ' ')" " 500 llm_call" \
  "only the kind that was asked for is printed in any case"

# --- the network
AGENT_URL=http://127.0.0.1:1
t 75 "a server that does not listen has status 75" agent-call health
err_one_line agent-call "the reason is told in a line"
AGENT_URL=$url
answered 'reset' health
status_is 75 "a connection that breaks has status 75"
err_one_line agent-call "the break is told in a line"
answered 'send HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{"id"' guilds
status_is 75 "an answer that is cut off has status 75"
out_empty "nothing of an answer that is cut off is printed"
answered 'stall' health --max-time 0.3
fails 75 "$h: no whole answer in 0.3 s; see --max-time" "a server that says nothing has status 75"
printf 'send HTTP/1.1 200 OK\\r\\n\\r\\n[1\nstall\n' | script
run agent-call guilds --max-time 300ms
fails 75 "$url/api/guilds: no whole answer in 0.3 s; see --max-time" "half an answer has status 75"
is "$(requests .n | wc -l)" 1 "half an answer is not asked for twice"

printf 'stream\nsend event: a\\ndata: {}\\n\\n\nstall\n' | script
run agent-call get /api/activity/events
fails 2 "$url/api/activity/events: an event stream, which does not end; see sse-tail(1)" \
  "an event stream has status 2"

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
  err_like '/api/x: 30[0-9].*: bad location: to another server$' \
    "a redirect to another server is told ($code)"
  is "$(requests .port | xargs)" main "the other server is not asked ($code)"
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
    "the refusal of agent-call '$words' has two lines"
done
run agent-call get http://127.0.0.1/x
fails 2 "http://127.0.0.1/x: a path of the backend is needed, not a url" "get of a URL has status 2"
run env -u AGENT_URL agent-call health
fails 2 "no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)" \
    "agent-call without a backend has status 2"
run agent-call --cacert "$tmp/none" health
fails 2 "$tmp/none: no such file or directory" "an authority that is not there has status 2"

# --- the end of the output
for command in "guilds" "get /api/x"; do
  printf 'status 200 application/json [{"id":"1"}]\n' | script
  # shellcheck disable=SC2086
  t 2 "$command: a full disk is an error" sh -c 'agent-call "$@" >/dev/full' - $command
  err_is "agent-call: standard output: no space left on device" \
    "$command: a full disk is told in words"
done
printf 'status 200 application/json [{"id":"1"}]\n' | script
run sh -c '{ agent-call guilds; echo $? >&3; } 3>&2 | :'
ok "a closed pipe ends quietly" grep -qE '^(141|0)$' "$err"

done_testing
