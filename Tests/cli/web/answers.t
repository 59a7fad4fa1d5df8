#!/bin/sh
# An answer that is no success means the same to every command: status and words,
# for one request and for a stream; it shows no secret and costs no memory.
. "${0%/*}/../lib.sh"
needs sse-tail voice-state agent-call mem-search action-filter action-format jq python3

serve </dev/null
umask 077
token='se/same+0815&x'
printf '%s\n' "$token" >"$tmp/token"
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/token
export AGENT_URL AGENT_TOKEN_FILE
commands="call search once watch history tail url archive archiver pulse"
# ask NAME [OPTION...]: one of the commands.
ask() {
  name=$1
  shift
  case $name in
  call) run agent-call "$@" health ;;
  search) run mem-search "$@" -g 7 tea ;;
  once) run voice-state "$@" ;;
  watch) run voice-state -w --retry-wait 0.01 "$@" ;;
  history) run voice-state "$@" history ;;
  tail) run sse-tail --retry-wait 0.01 "$@" activity ;;
  url) run sse-tail --retry-wait 0.01 "$@" "$url/any" ;;
  archive) run sse-tail --retry-wait 0.01 "$@" --archive "$tmp/folder" ;;
  archiver) run agent-archive --folder "$tmp/folder2" --retry-wait 0.01 "$@" ;;
  pulse) run agent-pulse ;;
  esac
}
# What is said behind the address.
said() { sed -n "s|^[a-z-]*: http://127[^ ]*: ||p" "$err"; }
# always LINES: the script for what follows.
always() { printf 'forever\n%s\n' "$1" >"$tmp/answer"; }
# means STATUS WORDS TITLE
means() {
  for command in $commands; do
    script <"$tmp/answer"
    ask "$command"
    is "$status $(said)" "$1 $2" "$command has status $1 for $3"
    is "$(lines "$err")" 1 "$command tells $3 in one line"
  done
}
refused="the token from $tmp/token was refused (no profile)"

# --- what it means
required=dashboard_token_required_when_public_https_enabled
always "status 503 application/json {\"error\":\"$required\"}"
means 77 "503 Status: the backend has a public tunnel and no token of its own ($required)" \
  "a tunnel without a token"
always 'status 404 application/json {"error":"Not found."}'
means 77 "404 Status: a tunnel answers so when $refused" "a token refused by the tunnel"
always 'status 404 text/plain Not found.'
means 2 "404 Status: no such path" "an unknown path"
commands="call watch tail archive"
always "status 503 text/plain {\"error\":\"$required\"}
+ Retry-After: 1"
means 77 "503 Status: the backend has a public tunnel and no token of its own ($required)" \
  "a tunnel without a token and with any media type"
always 'status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}'
means 77 "401 Status: $refused" "an answer 401"
always 'status 403 text/html <html>no</html>'
means 77 "403 Status: a page, not the backend's answer" "an answer 403 of a page"
always 'status 404 text/html <html>gone</html>'
means 2 "404 Status: no such path" "an answer 404 of a page"
always 'status 404 application/json {"error":"no such thing"}'
means 2 "404 Status: no such thing" "an answer 404 of another kind"
always 'status 404 application/json {"ok":false,"error":"not_found"}'
means 1 "404 Status: not_found" "an answer 404 with ok false"
always 'status 409 application/json {"ok":false,"error":"duplicate"}'
means 1 "409 Status: duplicate" "an answer 409"
always 'status 400 application/json {"error":"guildId is required"}'
means 2 "400 Status: guildId is required" "an answer 400"
always 'redirect 307 /there
---
on /there
forever
status 404 application/json {"error":"Not found."}'
means 77 "404 Status: a tunnel answers so when $refused" "a 404 of a tunnel behind a redirect"
printf 'forever\nsend HTTP/1.1 401 No\\r\\nContent-Length: 90\\r\\n\\r\\n{"err\nstall\n' >"$tmp/half"
# What follows a stream gives that five seconds, whichever command it is.
script <"$tmp/half"
ask watch
is "$status $(said)" "77 401 No: $refused" \
  "watch has status 77 for a refusal whose body does not end"

# --- what is tried again
for command in watch tail; do
  script <<'S'
status 503 application/json {"error":"the bot restarts"}
+ Retry-After: 0
---
status 500 text/plain oh
---
status 502 text/html <html>dashboard_token_required_when_public_https_enabled</html>
---
status 204
S
  ask $command -v
  is "$status $(requests .n | wc -l | tr -d ' ')" "0 4" "$command: other 5xx are tried again"
  err_like 'stream is down: 503 Status: the bot restarts; next try in' \
    "$command tells the reason of a 503"
  err_like "stream is down: 502 Status: the tunnel's page: .*; next try in" \
    "$command tells a page as one line"
  # In the middle: what came before is good.
  for answer in '401 application/json {}' '404 application/json {"error":"Not found."}' \
    "503 application/json {\"error\":\"$required\"}"; do
    printf '%s\n' 'stream' \
      'send event: voice_state\ndata: {"activeCount":0,"sessions":[]}\n\n' --- \
      "status $answer" | script
    ask $command
    is "$status $(said | cut -c 1-3)" "77 ${answer%% *}" \
      "$command ends after ${answer%% *} at a reconnect"
  done
done
script <<'S'
send HTTP/1.1 503 Busy\r\nContent-Length: 90\r\n\r\n{"err
stall
---
status 204
S
ask tail
is "$status $(requests .n | wc -l | tr -d ' ')" "0 2" \
  "tail tries again where the body of a 503 does not end"

# --- no secret is shown
# spelled TEXT: the token in several spellings.
percent='se%2Fsame%2b0815%26x'
twice='se%252Fsame%252B0815%2526x'
json='se\\/s\\u0061me\\u002b0815\\u0026x'
html='se/same+0815&amp;x'
entity='se&#x2f;same&#43;0815&#38;x'
base=$(printf 'a:%s:b' "$token" | base64 | tr -d '\n')
upper='SE/SAME+0815&X'
hex=$(printf %s "$token" | od -An -tx1 | tr -d ' \n')
commands="call search once watch tail url"
# hides TITLE: the script always told, with -v and with records.
hides() {
  for command in $commands; do
    script <"$tmp/answer"
    case $command in
    tail | url) ask "$command" -v -L --max-retries 1 --max-time 10 ;;
    watch) ask "$command" -v --max-retries 1 ;;
    *) ask "$command" -v ;;
    esac
    cat "$out" "$err" >"$tmp/shown"
    # A short piece of it: no other text of these tests has it, nor its base64.
    is "$(grep -i -c -e "same" -e u0061me -e 73616d65 -e "$(printf 'a:%s' "$token" | base64 | cut -c 4-9)" \
      "$tmp/shown")" 0 "$command hides the token $1"
  done
}
for spelling in "$token" "$percent" "$twice" "$json" "$html" "$entity" "$base" "$upper" "$hex"; do
  shown=$(printf %s "$spelling" | tr -d '\\' | cut -c 1-24)
  for code in 401 500; do
    # The script's own escapes are not the server's.
    always "send HTTP/1.1 $code $spelling\\r\\nContent-Type: a/$spelling\\r\\nConnection: close\\r\\n\\r\\nno $spelling here"
    hides "in a $code with $shown"
  done
done
always "status 500 application/json {\"error\":\"$(printf '%290s' '' | tr ' ' y)$token\"}"
hides "at the place where a reason is cut"
always "status 200 text/$token <title>$token</title>"
hides "in a media type"
always "redirect 302 http://127.0.0.1:1/$percent"
hides "in a location"
for code in 404 401; do
  always "redirect 302 /x/$percent
---
on /x/$percent
forever
status $code text/plain no"
  hides "in the address of a $code behind a redirect"
done
# Followed again and again, of such a token all but the end becomes a path.
printf 'same/x\n' >"$tmp/slash"
AGENT_TOKEN_FILE=$tmp/slash
always 'redirect 302 same/x'
hides "in the addresses of many redirects"
always "redirect 302 http://same/x"
hides "as the name of a host"
AGENT_TOKEN_FILE=$tmp/token
always "status 200 application/json {\"ok\":false,\"error\":\"no $token\"}"
commands=search
hides "in a refusal that comes with 200"
printf 'forever\nstatus 200 application/json {"ok":false,"reason":"no %s"}\n' "$token" | script
run agent-call -v -o tsv join
is "$status $(grep -c same "$err")" "1 0" "agent-call join hides the token in its refusal"
printf 'forever\nstatus 400 text/plain no %s\n' "Bearer abcdefgh12345 and pass1234" | script
run sse-tail -H 'Authorization: Bearer abcdefgh12345' -H 'Cookie: sid=pass1234' "$url/s?k=0123456789"
err_like '400 Status: no (Bearer )?\(secret\) and \(secret\)$' "headers of the command line are hidden, too"
printf 'forever\nstatus 400 text/plain Cannot GET /s?k=0123456789\n' | script
run sse-tail "$url/s?k=0123456789"
err_like '400 Status: Cannot GET /s\?k=\(secret\)$' "the query of the URL is hidden"
printf 'forever\nstatus 401 text/plain no\n' | script
t 77 "a token of the command line that is refused has status 77" \
  sse-tail -H "x-dashboard-token: $token" activity
err_like '401 Status: the token from the command line was refused \(no profile\)$' \
  "the message says that the token was from the command line"

# --- size
# measured CMD...: $rss in KiB, $code.
measured() {
  bounded 60 python3 -c 'import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(code, peak // 1024 if sys.platform == "darwin" else peak)' "$@" >"$tmp/measured" 2>"$err"
  read -r code rss <"$tmp/measured" || code=142
}
for answer in '500 75' '404 2' '200 2'; do
  printf 'forever\nsend HTTP/1.1 %s X\\r\\nConnection: close\\r\\n\\r\\n{"error":"\nrepeat 1600 %s\n' \
    "${answer% *}" "$(printf '%65536s' '' | tr ' ' x)" | script
  for command in 'agent-call health' 'mem-search -g 7 tea' 'voice-state' 'voice-state history' \
    'voice-state -w --max-retries 0' 'sse-tail --max-retries 0 activity'; do
    # shellcheck disable=SC2086
    measured $command
    is "$code" "${answer#* }" "$command takes 100 MB with ${answer% *}"
    is "$(lines "$err")" 1 "$command tells ${answer% *} with 100 MB in one line"
    most=65536
    case ${answer% *} in 200) most=$((65536 + 40960)) ;; esac
    ok "$command takes little memory with ${answer% *} ($rss KiB)" test "$rss" -le $most
  done
done
printf 'forever\nstatus 200 application/json {}\n+ Content-Length: 100000000\nstall\n' | script
measured agent-call health
is "$code" 2 "an answer that is announced as too large has status 2"
err_like ': the answer is larger than 67108864 bytes$' \
  "an answer that is announced as too large is not waited for"

# --- files of ours that something made large: 2 GB, of zeros
large() { python3 -c 'import sys; open(sys.argv[1], "wb").truncate(2 << 30)' "$1"; }
# refuses FILE LIMIT CMD...: a line with the file's name, status 2, little memory.
refuses() {
  file=$1
  limit=$2
  shift 2
  large "$file"
  measured "$@"
  is "$code $(cat "$err")" "2 $1: $file: larger than $limit bytes" "$1: ${file##*/} of 2 GB is refused"
  ok "$1 takes little memory with ${file##*/} of 2 GB ($rss KiB)" test "$rss" -le 65536
  rm -f "$file"
}
script </dev/null
state=$XDG_STATE_HOME/agentutils
mkdir -p "$state"
refuses "$tmp/state" 1048576 sse-tail --state "$tmp/state" activity
refuses "$tmp/headers" 67108864 sse-tail -H "@$tmp/headers" activity
refuses "$tmp/body" 67108864 sse-tail --data "@$tmp/body" activity
refuses "$tmp/body" 67108864 agent-call post /api/x -d "@$tmp/body"
refuses "$tmp/secret" 65536 agent-call --token-file "$tmp/secret" health
refuses "$XDG_CONFIG_HOME/agentutils/config" 1048576 agent-call health
refuses "$state/memory-deleted.ndjson" 67108864 mem-search -g 7 --undo
printf 'forever\nstatus 200 application/json {"guildId":"7","limit":500,"subject":null,"queryText":"","facts":[]}\n' |
  script
run mem-search -g 7 --mirror
mirror=$(jq -r .path "$out")
refuses "$mirror" 67108864 mem-search -g 7 --offline tea
refuses "$mirror" 67108864 mem-search -g 7 --mirror
printf 'forever\nstatus 200 application/json {"stats":{},"runtime":{"isReady":true}}\n' | script
run agent-status -o small
mark=$(find "$state/agent-status" -type f)
large "$mark"
measured agent-status -o small
is "$code $(cat "$err")" "0 " "agent-status writes a broken mark anew"
ok "agent-status takes little memory with a broken mark ($rss KiB)" test "$rss" -le 65536
ok "the mark that agent-status wrote anew is small" test "$(wc -c <"$mark")" -le 20
t 2 "standard input that is too large has status 2" \
  sh -c 'head -c 100000000 /dev/zero | agent-call post /api/x'
err_is "agent-call: standard input: larger than 67108864 bytes" \
  "the message on large standard input tells the limit"
done_testing
