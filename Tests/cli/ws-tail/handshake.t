#!/bin/sh
# How a WebSocket is asked for, what an answer means, where a secret goes.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
ws=ws${url#http}
# answered LINES [OPTION...]: one answer by the script's LINES, then a message.
answered() {
  printf '%s\n' "$1" '---' switch 'frame 81 "ok"' listen | script
  shift
  run ws-tail -d --retry-wait 0.01 -n 1 "$@" "$ws/s?key=hidden"
}
requested() { requests .n | wc -l | tr -d ' '; }
header() { requests ".headers[\"$1\"] // \"-\"" | tr '\n' ' '; }

# --- the request
answered 'switch
frame 81 1
listen' -H 'X-One: 1'
is "$status $(cat "$out")" "0 1" "a message comes over a new WebSocket"
is "$(requests '.method + " " + .target')" "GET /s?key=hidden" \
  "the target of the URL is asked for with GET"
is "$(header upgrade)$(header connection)$(header sec-websocket-version)" \
  "websocket Upgrade 13 " "the headers of the handshake are those of RFC 6455"
is "$(header host)" "127.0.0.1:$port " "the host is sent"
is "$(header x-one)" "1 " "a header of the user's is sent"
like "$(header user-agent)" '^ws-tail/[0-9.]+ $' "ws-tail names itself in User-Agent"
like "$(header sec-websocket-key)" '^[A-Za-z0-9+/]{22}== $' "a key of 16 bytes is sent"
first=$(header sec-websocket-key)
answered 'switch
frame 81 1
listen'
isnt "$(header sec-websocket-key)" "$first" "the key of the next request is another one"
is "$(header sec-websocket-extensions)$(header sec-websocket-protocol)" "- - " \
  "no extension or subprotocol is offered unasked"

# A file of headers.
printf 'X-Two: 2\n# no\n\nX-Three: 3\r\n' >"$tmp/headers"
answered 'switch
frame 81 1
listen' -H "@$tmp/headers"
is "$(header x-two)$(header x-three)" "2 3 " "headers come from a file"
for name in Upgrade connection SEC-WebSocket-Key Sec-WebSocket-Version Sec-WebSocket-Accept \
  Sec-WebSocket-Extensions Content-Length transfer-encoding; do
  run ws-tail -n 0 -H "$name: x" "$ws/"
  is "$status $(cat "$err")" "2 ws-tail: header $name: is the handshake's own" "$name is not the user's"
done
t 2 "what is not a header has status 2" ws-tail -H 'no header' "$ws/"
err_one_line ws-tail "what is not a header is told in one line"

# --- subprotocols
answered 'switch
+ Sec-WebSocket-Protocol: chat.v2
frame 81 1
listen' --subprotocol chat.v1 --subprotocol chat.v2
is "$status $(header sec-websocket-protocol)" "0 chat.v1, chat.v2 " "subprotocols are offered, one is taken"
answered 'switch
+ Sec-WebSocket-Protocol: chat.v3
frame 81 1
stall' --subprotocol chat.v1
is "$status $(requested)" "2 1" "a subprotocol that was not offered has status 2"
err_like "a subprotocol that was not offered" \
  "the message says that the subprotocol was not offered"
t 2 "what cannot be the name of a subprotocol has status 2" ws-tail --subprotocol 'a b' "$ws/"

# --- answers of 101 that are none
while IFS=';' read -r lines reason title; do
  answered "switch
$(printf '%s' "$lines" | tr ',' '\n')
frame 81 1
stall"
  is "$status $(requested)" "2 1" "$title fails for good"
  err_one_line ws-tail "$title is told in one line"
  err_like "$ws/s: 101 Switching Protocols, but $reason" "the message on $title says why it fails"
  err_unlike hidden "the message on $title does not show the query"
  out_empty "ws-tail prints nothing after $title"
done <<'S'
+ Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=;Sec-WebSocket-Accept does not fit;another accept
- Sec-WebSocket-Accept;Sec-WebSocket-Accept does not fit;no accept
- Upgrade;not to a WebSocket;no upgrade
+ Upgrade: h2c;not to a WebSocket;another upgrade
+ Connection: close;not to a WebSocket;another connection
+ Sec-WebSocket-Extensions: permessage-deflate;with an extension;an extension
S

# --- other answers
for code in 401 403; do
  answered "status $code application/json {\"error\":\"Unauthorized\"}"
  is "$status $(requested)" "77 1" "$code means that credentials are refused"
  err_one_line ws-tail "$code is told in one line"
  err_like "$ws/s: $code" "the line on $code has URL and status"
  err_unlike 'hidden' "the line on $code does not have the query"
done
for code in 400 404 405 410 426 200 204 304; do
  answered "status $code text/plain gone"
  is "$status $(requested)" "2 1" "$code fails for good"
  err_one_line ws-tail "$code is told in one line"
  err_like "$ws/s: $code" "the line on $code has URL and status"
done
for code in 408 425 429 500 502 503 504; do
  answered "status $code text/html <html><h1>Sorry</h1></html>"
  is "$status $(cat "$out") $(requested)" '0 "ok" 2' "$code is retried"
done
answered 'status 429 text/plain later
+ Retry-After: 1'
took=$(jq -s '((map(select(.n == 2 and .what == "request"))[0].at)
  - (map(select(.n == 1 and .what == "end"))[0].at)) * 1000 | floor' "$log")
ok "Retry-After is waited for" test "$took" -ge 990
answered 'status 404
+ Transfer-Encoding: chunked
- Content-Length
chunk {"error":"no such room\e[2J"}
chunk 
stall'
status_is 2 "a body in chunks is an error"
unlike "$(LC_ALL=C cat -v "$err")" '\^\[' \
  "the bytes of a refusal in chunks do not reach the terminal"

# --- redirects
for code in 301 302 303 307 308; do
  answered "redirect $code @URL@/there"
  is "$status $(cat "$out")" '0 "ok"' "$code is followed"
  is "$(requests .path | tr '\n' ' ')" "/s /there " "the new address of $code is asked"
done
before=$(date +%s)
answered 'redirect 302 /there
- Content-Length
stall'
is "$status $(cat "$out")" '0 "ok"' "a redirect whose body does not end is followed"
ok "the body of a redirect is not waited for" test $(($(date +%s) - before)) -lt 4
answered "redirect 302 $ws/ws"
is "$status $(requests .path | tail -n 1)" "0 /ws" "a redirect may lead to ws"
answered "redirect 302 ftp://127.0.0.1/"
is "$status $(requested)" "2 1" "a redirect to another scheme is refused"
err_like 'bad location' "the message says that the location is bad"
printf '%s\n' forever 'redirect 302 /again' | script
run ws-tail "$ws/"
is "$status $(requested)" "2 21" "redirects are not followed for ever"
err_like 'too many redirects' "the message says that the redirects are too many"

# --- secrets
echo secret-token-1 >"$tmp/token"
chmod 600 "$tmp/token"
secrets() { requests '[.headers | to_entries[] | select(.value | test("secret|c2Vj"))] | length' | tr '\n' ' '; }
answered 'redirect 307 @OTHER@/there' --token-file "$tmp/token" -H 'Cookie: a=secret'
is "$(secrets)" "2 0 " "the token and headers do not go to another origin"
answered 'redirect 307 @URL@/there' --token-file "$tmp/token" -H 'Cookie: a=secret'
is "$(secrets)" "2 2 " "the token and headers go on within an origin"
printf '%s\n' switch 'frame 81 1' listen | script
run ws-tail -d -n 1 "ws://me:secret@127.0.0.1:$port/"
is "$(header authorization)" "Basic bWU6c2VjcmV0 " "user and password of the URL are sent"
answered 'status 403 text/plain secret-token-1 was wrong' --token-file "$tmp/token"
status_is 77 "a token that is refused has status 77"
err_unlike 'secret-token' "the refused token is not quoted"
t 2 "a token does not go over plain ws" \
  ws-tail --token-file "$tmp/token" --max-retries 0 ws://192.0.2.1/
err_like 'allow-plaintext' "the message on plain ws names --allow-plaintext"
printf '%s\n' switch 'frame 81 1' listen | script
t 0 "--allow-plaintext lets a token go over plain ws" \
  ws-tail -d -n 1 --allow-plaintext --token-file "$tmp/token" "$ws/"

# A profile's token goes to the origin of its URL, and nowhere else.
cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[profile claw]
kind = openclaw
url = $ws
token-file = $tmp/token
END
printf '%s\n' forever switch 'frame 81 1' listen | script
run ws-tail -d -n 1 -p claw "$ws/events"
is "$status $(secrets)" "0 1 " "the profile's token goes to its origin"
other_ws=ws${other#http}
printf '%s\n' forever switch 'frame 81 1' listen | script
run ws-tail -d -n 1 -p claw "$other_ws/events"
is "$status $(secrets)" "0 0 " "the profile's token does not go to another origin"

# --- answers that never end, or are none
answered 'send HTTP/1.1 101 Switching\r\n
repeat 200000 X: y\r\n
stall' --max-retries 0
is "$status $(requested)" "75 1" "a head without an end has status 75"
err_like 'the head of the answer does not end' "the message says that the head does not end"
answered 'send SSH-2.0-x\r\n
stall' --max-retries 0
err_like 'the answer is not HTTP' "an answer of another protocol is told"
answered 'stall' --max-retries 0 --idle-timeout 0.3
is "$status" 75 "a missing answer has status 75"
err_like 'nothing came for 0.3 s' "the message on a missing answer tells the time"
printf '%s\n' 'status 503 text/plain x' '+ Content-Length: 1000' stall | script
run ws-tail --max-retries 0 "$ws/"
is "$status" 75 "a body that does not end is not waited for long"

# --- usage
for words in '' "$ws/ $ws/" 'ftp://x/' 'nothing'; do
  # shellcheck disable=SC2086  # words
  t 2 "ws-tail '$words' is refused" ws-tail $words
done

done_testing
