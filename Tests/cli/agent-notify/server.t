#!/bin/sh
# agent-notify --ntfy beside a server that does what ntfy does: what is pressing arrives, whatever
# happens to the server, and a stranger's text decides nothing.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ntfy.sh"
needs jq python3 openssl

ok "the stand-in answers as ntfy was recorded to" \
  python3 "$cli/servers/ntfy_replay.py" "$root"/Tests/fixtures/ntfy/*.ndjson
# notice URGENCY TITLE [TEXT [CATEGORY]]
notice() {
  jq -cn --arg urgency "$1" --arg title "$2" --arg text "${3-}" --arg category "${4-job}" \
    '{$urgency, $category, $title} + if $text == "" then {} else {$text} end'
}
tell() { run agent-notify --ntfy "$notices" --ntfy-token "$tmp/host" "$@"; }
fresh() {
  stop "$ntfy_pid"
  rm -f "$tmp/cache" "$XDG_STATE_HOME/agentutils/notify"*
  start_ntfy "$@"
}
start_ntfy

# --- many at once
seq 40 | while read -r number; do notice emergency "e$number."; done >"$tmp/in"
tell <"$tmp/in"
status_is 0 "40 emergencies arrive at once"
is "$(got .message | jq -r . | sort -u | wc -l | tr -d ' ')" 40 "40 emergencies are 40 notices"
fresh
{
  seq 30 | while read -r number; do notice attention "a$number."; done
  notice urgent last
  seq 5 | while read -r number; do notice urgent 'exec waits' "rm n$number" approval; done
} >"$tmp/in"
tell --rate 1000 <"$tmp/in"
is "$(got .message | jq -r . | sed -n 1,6p | xargs)" "last rm n1 rm n2 rm n3 rm n4 rm n5" \
  "what is pressing is told first, and five approvals are five notices"
is "$(got .message | jq -r . | grep -oE 'a[0-9]+\.' | sort -u | wc -l | tr -d ' ')" 30 \
  "the sum of the rest says what is in it"
err_like 'too slow: [0-9]+ notifications are told in one' \
  "the notifications that are told in one are counted"
fresh
seq 40 | while read -r number; do notice urgent failed "job n$number."; done >"$tmp/in"
tell <"$tmp/in"
is "$(got .message | jq -r . | grep -c '^job n')" 40 "of 40 with one title each text is told"
ok "40 of one title are told in few notices" test "$(got | wc -l)" -le 6

# --- an outage
mkfifo "$tmp/live"
fresh
start live sh -c "exec agent-notify --settle 0 --ntfy '$notices' --ntfy-token '$tmp/host' <'$tmp/live'"
live=$pid
exec 3>"$tmp/live"
notice urgent 'exec waits' before approval >&3
arrived() { got .message | jq -r . | grep -q "^$1"; }
ok "a question is told" wait_until 20 arrived before
round=0
missed() { [ "$(grep -c 'tried again' "$tmp/live.err")" -ge "$round" ]; }
for signal in TERM KILL HUP; do
  round=$((round + 1))
  stop "$ntfy_pid" "$signal"
  seq 20 | while read -r number; do
    notice urgent 'exec waits' "$signal n$number" approval
    notice emergency fire "$signal fire $number"
    notice attention "$signal a$number"
  done >&3
  ok "$signal: the server is missed" wait_until 20 missed
  start_ntfy 3>&-
  ok "$signal: what is pressing arrives when it is back" wait_until 30 arrived "$signal n20"
done
exec 3>&-
finished "$live"
is "$status" 0 "agent-notify has status 0 when all is told"
got .message | jq -r . | grep -E '^[A-Z]+ (n|fire )[0-9]+$' | sort >"$tmp/arrived"
is "$(sort -u "$tmp/arrived" | wc -l | tr -d ' ')" 120 \
  "all that is pressing arrives over three outages"
is "$(uniq -d "$tmp/arrived")" "" "nothing that is pressing comes twice"

fresh
stop "$ntfy_pid"
seq 60 | while read -r number; do
  notice "$([ $((number % 2)) -eq 0 ] && echo urgent || echo attention)" "m$number."
done >"$tmp/in"
start late sh -c "exec agent-notify --ntfy '$notices' --ntfy-token '$tmp/host' <'$tmp/in'"
late=$pid
ok "a server that is gone is waited for" wait_until 20 has "$tmp/late.err" 'tried again'
start_ntfy
finished "$late"
is "$status $(got '.title, .message' | grep -oE 'm[0-9]+\.' | sort -u | wc -l | tr -d ' ')" "0 60" \
  "all of 60 notices are told when the server is back"

# --- one of many
start_ntfy_pace() { fresh --visitor-request-limit-burst 3 --visitor-request-limit-replenish 500ms; }
start_ntfy_pace
seq 5 | while read -r number; do notice emergency "p$number"; done >"$tmp/in"
tell <"$tmp/in"
is "$status $(got .message | wc -l | tr -d ' ')" "0 5" "a server that takes few at once gets all"
err_is "agent-notify: $notices: 429 Too Many Requests: limit reached: too many requests (42901): the rest is told more slowly" \
  "a server that takes few at once is told so in its own words, once"
fresh --visitor-message-daily-limit 2
tell <"$tmp/in"
status_is 75 "the end of the day's messages has status 75"
err_is "agent-notify: $notices: 429 Too Many Requests: limit reached: daily message quota reached (42908)" \
  "the end of the day's messages is told at once, for all"
is "$(asked | grep -c ' 429$')" 1 "the end of the day's messages is not tried again"
is "$(jq '.waiting | length' "$XDG_STATE_HOME/agentutils/notify")" 3 \
  "what is beyond the day's messages waits"

# --- what a stranger wrote
fresh
word() { printf '=?UTF-8?B?%s?=' "$(printf "$1" | openssl base64 -A)"; }
evil=$(word 'ok\nsecond \033[31m')
notice urgent "x $evil" "$evil" >"$tmp/in"
tell --click "https://box.example/?a=$(word 'x')" <"$tmp/in"
is "$(got .title | jq -r .)" "x $evil" "an encoded word in a title stays as it was written"
is "$(got .message | jq -r .)" "$evil" "an encoded word in a text stays as it was written"
is "$(got .click | jq -r .)" "https://box.example/?a=$(word 'x')" "--click says what a tap opens"
fresh
invisible=$(python3 -c 'print("\u200b" * 1000)')
{
  notice urgent invisible "$invisible"
  notice urgent "$invisible" "a long title"
  notice urgent slashes "$(printf '%4000s' '' | tr ' ' '\\')"
  notice urgent pictures "$(python3 -c 'print("\U0001f600" * 4000)')"
  notice urgent quotes "$(python3 -c 'print("\"" * 3999)')"
  notice urgent lines "$(seq 2000)"
} >"$tmp/in"
tell <"$tmp/in"
is "$status $(got | wc -l | tr -d ' ')" "0 6" "what is long, invisible or full of escapes arrives"
is "$(got 'select((.message | utf8bytelength) > 4095 or .attachment)')" "" \
  "what is long, invisible or full of escapes arrives as a message"
is "$(got 'select(.title == "invisible").message' | jq -r . | grep -c '^\(\\u{200b}\)*…$')" 1 \
  "no escape is cut in two"
fresh
{ notice emergency fire; notice attention psst there; notice urgent Bash rm approval; notice info tea; } >"$tmp/in"
tell --digest 0 <"$tmp/in"
is "$(got '[.title, .message, .priority, .tags[0]]' | sort | xargs)" \
  '[Bash,rm,4,question] [psst,there,3,bell] [null,fire,5,rotating_light] [null,tea,2,information_source]' \
  "tags and priorities are by urgency, and no title stands there twice"
fresh
notice urgent odd "$(printf ' \302\240\n')" >"$tmp/in"
tell <"$tmp/in"
is "$(got '[.title, .message]')" '[null,"odd"]' "a blank text is not sent"

# --- who asks, where, and what
fresh
cat >"$tmp/in" <<'END'
{"type":"approval","backend":"claude","profile":"box","id":"a1","tool":"Bash","summary":"tidy up","request":{"tool_name":"Bash","tool_input":{"command":"rm -r build","description":"tidy up"},"cwd":"/home/ada/site"},"decisions":[],"state":"pending"}
{"type":"approval","backend":"openclaw","profile":"claw","id":"a2","tool":"exec","summary":"list files","request":{"command":"ls | sh","commandPreview":"list files"},"decisions":[],"state":"pending"}
{"type":"approval","backend":"openclaw","id":"a3","tool":"exec","request":{"commandArgv":["sh","-c","rm -r x"],"command":"ls","cwd":"/"},"decisions":[],"state":"pending"}
{"type":"approval","backend":"pincer","id":"a4","tool":"write_file","summary":"harmless","request":{"tool":"write_file","preview":{"path":"/etc/hosts","bytes":3}},"decisions":[],"state":"pending"}
{"type":"approval","backend":"openclaw","id":"a5","tool":"plugin","summary":"send it","request":{},"decisions":[],"state":"pending"}
END
tell <"$tmp/in"
is "$(got '[.title, .message]' | sort)" "$(sort <<'END'
["box site: Bash waits","rm -r build"]
["claw: exec waits","ls | sh"]
["exec waits","sh -c 'rm -r x'\nls"]
["write_file waits","path: /etc/hosts, bytes: 3"]
["plugin waits","send it"]
END
)" "the title says who and where, and the text what is asked"

# --- two copies of one
stop "$ntfy_pid"
rm -f "$tmp/cache"
start_ntfy --later --lose-answers 1
notice urgent once >"$tmp/in"
notice urgent other >>"$tmp/in"
tell <"$tmp/in"
is "$(got .message | sort | uniq -c | awk '{ print $1, $2 }' | xargs)" '2 once 1 other' \
  "a lost answer makes two copies of one notice"
is "$(got 'select(.message == "once").sequence_id' | sort -u | wc -l | tr -d ' ') $(got .sequence_id | sort -u | wc -l | tr -d ' ')" "1 2" \
  "two copies have one sequence_id, and other notices another"

# --- who may
fresh
notice urgent hello >"$tmp/in"
t 77 "a wrong token is refused" agent-notify --ntfy "$notices" --ntfy "${notices%/*}/open" --ntfy-token "$tmp/wrong" <"$tmp/in"
is "$(asked | xargs)" "POST / 401" \
  "a wrong token is not tried twice, nor at another topic of the server"
err_like "notices-ada: 401 Unauthorized: unauthorized \(40101\): the token was refused" \
  "a wrong token is told in the server's words"
fresh
t 77 "a topic that is another's is refused" agent-notify --to line --ntfy "$notices" --ntfy-token "$tmp/phone" <"$tmp/in"
err_is "agent-notify: $notices: 403 Forbidden: forbidden (40301): writing with this token was refused; nothing more is told there" \
  "a topic that is another's is told apart from a wrong token"
out_like hello "a topic that is another's ends this way alone"
fresh
mkfifo "$tmp/two"
start two sh -c "exec agent-notify --settle 0 --state '$tmp/two.state' \
  --ntfy '$notices' --ntfy-token '$tmp/phone' --ntfy '${notices%/*}/open' --to line <'$tmp/two'"
two=$pid
exec 3>"$tmp/two"
for title in one two three; do
  notice urgent "$title" >&3
  ok "$title is told in the other ways" wait_until 20 has "$tmp/two.out" "$title"
done
exec 3>&-
finished "$two"
is "$(asked | grep -c 403)" 1 "a topic that is another's is not asked again"
is "$(got 'select(.topic == "open").message' | sort | xargs)" "one three two" "--ntfy may be given twice"
is "$(jq -c '[.waiting[] | [.title, .ways[0]]]' "$tmp/two.state")" "[[\"one\",\"$notices\"]]" \
  "what could not be told there waits for another run"

# --- https that is none
t 2 "https to a server of http is an error" agent-notify --ntfy "https://127.0.0.1:$ntfy_port/open" --state "$tmp/https" <"$tmp/in"
start_tls '' '{"id":"m1"}' ''
t 2 "a certificate that nobody vouches for is refused" agent-notify --ntfy "$url/open" --state "$tmp/tls" <"$tmp/in"
err_like 'certificate' "a certificate that nobody vouches for is told at once"

cat >"$tmp/redirect.py" <<'END'
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", sys.argv[3])
        self.send_header("Content-Length", "0")
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print('{"type":"listening","url":"https://localhost:%d"}' % server.server_address[1], flush=True)
server.serve_forever()
END
fresh
start_server secure python3 "$tmp/redirect.py" "$tmp/authority" "$tmp/key" "${notices%/*}/"
t 2 "a redirect from https to http is not followed" \
  agent-notify --ntfy "$url/open" --cacert "$tmp/authority" --state "$tmp/down" <"$tmp/in"
err_like '307.*: bad location: from https to http$' "a redirect from https to http is told at once"
is "$(asked)" "" "nothing is sent where a redirect to http leads"

# --- --check
fresh
t 0 "--check has status 0 for a topic that may be written" \
  agent-notify --check --ntfy "$notices" --ntfy-token "$tmp/host" </dev/null
out_is "$notices: nobody may read it without a token
$notices: with the token it may not be read
$notices: it may be written: one notice was sent" \
  "--check says who may read, and whether the topic may be written"
is "$(got .message)" '"This topic may be written."' "one notice is sent"
t 77 "a topic that may only be read is refused" agent-notify --check --ntfy "$notices" --ntfy-token "$tmp/phone"
out_is "$notices: nobody may read it without a token
$notices: with the token it may be read" "a topic that may only be read is told as that"
err_is "agent-notify: $notices: 403 Forbidden: forbidden (40301): it may not be written" "the server's words are told"
t 0 "an open topic is checked" agent-notify --check --ntfy "${notices%/*}/open"
out_like 'open: anybody may read it$' "an open topic is told as that"
fresh
t 77 "--check refuses a wrong token" \
  agent-notify --check --ntfy "$notices" --ntfy-token "$tmp/wrong"
is "$(asked | grep -c 401)" 1 "--check tries a wrong token once"
stop "$ntfy_pid"
t 75 "--check has status 75 without a server" agent-notify --check --ntfy "$notices"
for words in --check '--click https://x.example' "--ntfy $notices --click x" \
  "--ntfy $notices --ntfy-token a --ntfy-token b"; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-notify $words is refused" agent-notify $words </dev/null
  err_like "^usage: agent-notify" "the usage is shown"
done

done_testing
