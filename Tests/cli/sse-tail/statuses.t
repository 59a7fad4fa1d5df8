#!/bin/sh
# What an answer means: statuses, content types, redirects, secrets.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
# answered LINES [OPTION...]: one answer by the script's LINES, then a 204.
answered() {
  printf '%s\n' "$1" | script
  shift
  run sse-tail --retry-wait 0.01 "$@" "$url/s?key=hidden"
}
requested() { requests .n | wc -l | tr -d ' '; }
event='send data: a\n\n'

# --- statuses
answered 'status 204'
is "$status $(requested)" "0 1" "204 ends sse-tail"
err_empty "nothing is said of a 204"
for code in 401 403; do
  answered "status $code application/json {\"error\":\"Unauthorized\"}"
  is "$status $(requested)" "77 1" "$code: credentials are refused"
  err_one_line sse-tail "$code: one line is said"
  err_like "$code" "$code: the line has the status"
  err_like "$url/s" "$code: the line has the URL"
  err_unlike 'hidden|Unauthorized' "$code: the line does not have its query"
done
for code in 400 404 405 407 410 418 451 205 206 299 304 300; do
  answered "status $code text/plain gone"
  is "$status $(requested)" "2 1" "$code: fails for good"
  err_one_line sse-tail "$code: one line is said"
  err_like "$code" "$code: the line has the status"
  err_like "$url/s" "$code: the line has the URL"
  err_unlike 'hidden' "$code: the line does not have its query"
done
answered 'status 404 text/event-stream data: x\n\n'
out_empty "the body of a failure is not read as a stream"

# --- content types
for type in 'text/event-stream' 'Text/Event-Stream' 'text/event-stream;charset=utf-8' \
  'text/event-stream; charset=windows-1252' 'text/event-stream;' 'text/event-stream ; x="a;b"'; do
  answered "stream
+ Content-Type: $type
send data: é\n\n"
  is "$status $(jq -r .data "$out")" "0 é" "this type is taken: $type"
done
for type in 'text/html' 'text/event-streams' 'application/json' 'text/event-stream-x' \
  'x-text/event-stream' 'text' ''; do
  answered "stream
+ Content-Type: $type
$event"
  is "$status $(requested)" "2 1" "this type is refused: '$type'"
  err_one_line sse-tail "this type is told in a line: '$type'"
done
answered "stream
- Content-Type
$event"
is "$status $(requested)" "2 1" "an answer without a type is refused"
err_like "$url/s" "the URL of an answer without a type is named"
answered 'status 200 text/html <html>\x1b[2Jhi</html>'
is "$status" 2 "a page is refused"
unlike "$(LC_ALL=C cat -v "$err")" '\^\[' "the bytes of a page do not reach the terminal"

# --- redirects
for code in 301 302 303 307 308; do
  answered "redirect $code @URL@/there
---
stream
$event"
  is "$status $(jq -r .data "$out")" "0 a" "$code is followed"
  is "$(requests .path | tr '\n' ' ')" "/s /there /s " "$code: a reconnect begins at the URL given"
done
while read -r where target; do
  where=$(printf '%s' "$where" | sed "s/@PORT@/$port/")
  answered "redirect 302 $where
---
stream
$event"
  is "$status $(requests .target | sed -n 2p)" "0 $target" "a redirect is followed to $where"
done <<'S'
/there /there
there /there
./a/../there /there
../../there /there
//127.0.0.1:@PORT@/there?x=1 /there?x=1
?a=b /s?a=b
/there#part /there
#part /s?key=hidden
/with%20blank /with%20blank
S
answered 'redirect 302 /1
---
redirect 307 /2
---
redirect 301 @OTHER@/3
---
redirect 308 @URL@/4
---
status 204'
is "$status $(requests .path | tr '\n' ' ')" "0 /s /1 /2 /3 /4 " \
  "a chain is followed, and 204 ends it"
answered 'redirect 302 /1
---
status 401'
is "$status" 77 "the last answer behind a redirect counts"
answered 'redirect 302 /1
---
status 200 text/html x'
is "$status" 2 "the type of the last answer counts, too"
answered 'redirect 302 /1
---
status 503
---
status 204'
is "$status $(requests .path | tr '\n' ' ')" "0 /s /1 /s " \
  "a failure behind a redirect is retried from the start"
answered 'forever
redirect 302 /loop'
is "$status" 2 "a loop of redirects ends"
ok "a loop of redirects takes at most 21 requests" test "$(requested)" -le 21
err_one_line sse-tail "a loop of redirects is told in a line"
err_unlike 'hidden' "the query is not shown for a loop of redirects"
for location in '' 'file:///etc/passwd' 'ftp://127.0.0.1/' 'http://' 'http://[/' 'javascript:1' \
  'http://127.0.0.1:99999/'; do
  answered "redirect 302 $location"
  is "$status $(requested)" "2 1" "a redirect to '$location' is not followed"
  err_one_line sse-tail "a redirect to '$location' is told in a line"
done
answered 'redirect 302 @OTHER@/x?key=buried
---
status 404'
err_unlike 'hidden|buried' "no query of a redirect is shown either"

# --- what crosses to another origin
printf 'X-Api-Key: s3cret\nX-Two: s3cret\n' >"$tmp/headers"
secrets() {
  run sse-tail --retry-wait 0.01 -v -H 'Authorization: Bearer s3cret' -H 'Cookie: a=s3cret' \
    -H "@$tmp/headers" --last-event-id 9 "$url/s?key=s3cret"
}
script <<'S'
redirect 307 /same
+ Set-Cookie: b=s3cret
---
redirect 307 @OTHER@/away
+ Set-Cookie: c=s3cret
---
stream
send data: a\n\n
S
secrets
is "$status $(requests .port | tr '\n' ' ')" "0 main main other main " "a redirect away is followed"
is "$(requests 'select(.path == "/same") | .headers | [.authorization, .["x-api-key"], .["x-two"]] | join(" ")')" \
  "Bearer s3cret s3cret s3cret" "headers stay with a redirect on the same origin"
away=$(requests 'select(.port == "other") | .headers | tojson')
unlike "$away" s3cret "nothing secret crosses to another port, and no cookie"
is "$(printf '%s' "$away" | jq -r '[.accept, .["cache-control"], .["last-event-id"]] | join(" ")')" \
  "text/event-stream no-cache 9" "what the standard asks for crosses to another port"
err_unlike s3cret "no secret is on stderr, even with -v"
out_unlike s3cret "no secret is in the records"
script <<S
redirect 302 http://localhost:$port/host
---
status 204
S
secrets
unlike "$(requests 'select(.path == "/host") | .headers | tojson')" s3cret \
  "no secret goes to another host"
script <<'S'
redirect 302 https://127.0.0.1:1/
S
run sse-tail --max-retries 0 -v -H 'X-Key: s3cret' "$url/s"
err_unlike s3cret "no secret is said of another scheme"

script <<'S'
stream
send data: a\n\n
stall
S
start ps sse-tail -H "@$tmp/headers" "$url/s"
wait_until 30 has "$tmp/ps.out" '"a"'
unlike "$(ps -o args= -p "$pid")" s3cret "-H @FILE keeps a secret out of ps"
stop "$pid"
is "$(requests '.headers["x-api-key"]')" s3cret "the secret is sent"

script </dev/null
run sse-tail -v "http://joe:s3cret@127.0.0.1:$port/s"
is "$(requests .headers.authorization)" "Basic $(printf joe:s3cret | base64)" "user and password of a URL are sent"
err_unlike s3cret "user and password of a URL are not shown"
script <<'S'
status 404
S
run sse-tail "http://joe:s3cret@127.0.0.1:$port/s"
err_unlike s3cret "user and password of a URL are not in an error"
script <<'S'
stream
send data: a\n\n
S
run sse-tail -L --max-retries 0 "http://joe:s3cret@127.0.0.1:$port/s?key=hidden"
out_unlike 's3cret' "user and password of a URL are not in a record"

# --- headers and methods
script </dev/null
run sse-tail -H 'X-A: 1' -H 'X-B:2' -H 'Accept: text/plain' -H 'User-Agent: me' "$url/s"
is "$(requests '.headers | [.["x-a"], .["x-b"], .["user-agent"]] | join(" ")')" "1 2 me" \
  "-H adds headers"
script <<'S'
stream
send id: 1\ndata: a\n\n
---
stream
send data: b\n\n
S
run sse-tail --retry-wait 0.01 --data '{"q":"é"}' -H 'Content-Type: application/json' "$url/s"
is "$(requests '[.method, .body, .headers["content-type"]] | join(" ")' | sort | uniq -c | sed 's/^ *//')" \
  '3 POST {"q":"é"} application/json' "--data is posted again at each reconnect"
is "$(requests '.headers["last-event-id"] // "-"' | tr '\n' ' ')" "- 1 1 " \
  "the last id is sent with --data"
script </dev/null
run sse-tail -X REPORT --data x "$url/s"
is "$(requests '[.method, .body] | join(" ")')" "REPORT x" "-X sets the method"
printf 'from a file' >"$tmp/body"
script </dev/null
run sse-tail --data "@$tmp/body" "$url/s"
is "$(requests .body)" "from a file" "--data @FILE posts a file"
for code in 301 302 303; do
  printf 'redirect %s /there\n---\nstatus 204\n' "$code" | script
  run sse-tail --data x "$url/s"
  is "$(requests '[.method, .body] | join(" ")' | tail -n 1)" "GET " "$code turns a POST into a GET"
done
for code in 307 308; do
  printf 'redirect %s /there\n---\nstatus 204\n' "$code" | script
  run sse-tail --data x "$url/s"
  is "$(requests '[.method, .body] | join(" ")' | tail -n 1)" "POST x" "$code keeps a POST"
done

# --- proxies
script </dev/null
run env http_proxy="$url" sse-tail "http://example.invalid/x"
is "$(requests .target)" "http://example.invalid/x" "http_proxy is used"
script </dev/null
run env http_proxy=http://127.0.0.1:1 no_proxy=127.0.0.1 sse-tail --max-retries 0 "$url/s"
is "$status" 0 "no_proxy is heeded"
done_testing
