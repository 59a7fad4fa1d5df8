#!/bin/sh
# agent-call: whose token goes where, what is said of it, what is sent, and what
# joining a voice channel came to.
. "${0%/*}/../lib.sh"
needs agent-call jq python3 perl

serve </dev/null
config=$XDG_CONFIG_HOME/agentutils/config
umask 077
token=sesame-0815
printf '%s\n' $token >"$tmp/token"
printf 'another-0816\n' >"$tmp/token2"
cat >"$config" <<INI
[profile home]
url = $url
token-file = $tmp/token

[profile away]
url = $other/base/
token-command = cat $tmp/token2
INI
asked() {
  requests '[.method, .target, .headers["x-dashboard-token"] // "-", .port] | join(" ")'
}
answered() {
  printf '%s\n' "$1" | script
  shift
  run "$@"
}
well='status 200 application/json {"ok":true}'

# --- which token
answered "$well" agent-call -p home health
is "$status $(asked)" "0 GET /api/health $token main" "the profile's token-file is used"
answered "$well" agent-call --profile away health
is "$(asked)" "GET /base/api/health another-0816 other" \
  "the profile's token-command is used, below its path"
answered "$well" env AGENT_PROFILE=away agent-call health
is "$(asked)" "GET /base/api/health another-0816 other" "AGENT_PROFILE names the profile"
answered "$well" agent-call -p home --token-file "$tmp/token2" health
is "$(asked)" "GET /api/health another-0816 main" "--token-file wins"
answered "$well" sh -c "agent-call -p home --token-file - health <'$tmp/token2'"
is "$(asked)" "GET /api/health another-0816 main" "--token-file reads standard input, too"
answered "$well" env AGENT_URL="$url" AGENT_TOKEN_FILE="$tmp/token" agent-call health
is "$(asked)" "GET /api/health $token main" "AGENT_TOKEN_FILE is used"
answered "$well" env AGENT_URL="$other" agent-call -p home health
is "$(asked)" "GET /api/health - other" "another origin than the profile's gets no token"
answered "$well" env AGENT_URL=http://example.invalid agent-call --token-file "$tmp/token" health
is "$status $(asked)" "2 " "a token does not go over plain http"
err_is "agent-call: http://example.invalid/: the token would travel over plain http; see --allow-plaintext" \
  "a token over plain http is told as the reason"
t 75 "--allow-plaintext tries plain http" \
  env AGENT_URL=http://example.invalid agent-call --allow-plaintext --token-file "$tmp/token" health

# --- a command that takes its time
config=$XDG_CONFIG_HOME/agentutils/config
cp "$config" "$tmp/config"
printf '[profile slow]\nurl = %s\ntoken-command = %s\n' "$url" 'sleep 30 & echo soon-0816' >"$config"
bound=20 answered "$well" agent-call -p slow health
is "$status $(asked)" "0 GET /api/health soon-0816 main" \
  "what a token-command leaves behind is not waited for"
printf '[profile slow]\nurl = %s\ntoken-command = %s\n' "$url" 'exec sleep 30' >"$config"
for command in "agent-call -p slow --max-time 0.3 health" "mem-search -p slow --max-time 0.3 -f" \
  "sse-tail -p slow --max-time 0.3 activity" "voice-state -p slow --max-time 0.3"; do
  # shellcheck disable=SC2086  # words
  bound=20 run $command
  status_is 75 "--max-time holds for a token-command, too: ${command%% *}"
  err_is "${command%% *}: token-command of profile slow: took too long" \
    "${command%% *} says that the token-command took too long"
done
printf '[profile slow]\nurl = %s\ntoken-command : echo a=b\n' "$url" >"$config"
t 2 "a colon is no equals sign" agent-call -p slow health
err_is "agent-call: profile slow: line 3 of $config is at fault: a : in place of the = behind a key" \
  "the line with the colon is named"
cp "$tmp/config" "$config"

# --- what is said when it is refused: the source and the profile, never the token
refused='status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token. '$token'"}'
hidden='status 404 application/json {"error":"Not found."}'
answered "$refused" agent-call -p home health
status_is 77 "a 401 has status 77"
is "$(sed 's/401 [A-Z][a-z]*/401/' "$err")" \
  "agent-call: $url/api/health: 401: the token from $tmp/token was refused (profile home)" \
  "the refusal of a token names the file and the profile"
# Some servers say of each answer that it is a stream.
answered 'status 401 text/event-stream {"error":"Unauthorized."}' agent-call -p home health
status_is 77 "a 401 of a server that calls it a stream has status 77"
answered 'status 503 text/event-stream {"error":"Busy."}' agent-call -p home health
status_is 75 "a 503 of a server that calls it a stream has status 75"
answered "$refused" agent-call -p away stats
err_like 'the token from token-command of profile away was refused \(profile away\)$' \
  "the refusal of a token names the command"
mkdir "$tmp/credentials"
cp "$tmp/token" "$tmp/credentials/agentutils-token"
answered "$refused" env CREDENTIALS_DIRECTORY="$tmp/credentials" AGENT_URL="$url" agent-call guilds
err_like "the token from $tmp/credentials/agentutils-token was refused" \
  "the refusal of a token names the service manager's file"
rm "$config"
answered "$refused" env AGENT_URL="$url" agent-call health
status_is 77 "401 without a token has status 77"
err_like ': no token was sent \(no profile\); see agentutils.conf\(5\)$' \
  "a refusal without a token says that none was sent"
answered "$hidden" env AGENT_URL="$url" agent-call --token-file "$tmp/token" health
status_is 77 "a 404 as a tunnel answers a wrong token has status 77"
err_like ': a tunnel answers so when the token from .*/token was refused \(no profile\)$' \
  "the message says that a tunnel answers so"
answered 'status 503 application/json {"error":"dashboard_token_required_when_public_https_enabled"}' \
  env AGENT_URL="$url" agent-call health
status_is 77 "503 of a tunnel without a token has status 77"
err_like 'a public tunnel and no token of its own' "the message says that a tunnel has no token"
AGENT_URL=$url
export AGENT_URL
chmod 644 "$tmp/token2"
t 77 "a token file that others can read is refused" agent-call --token-file "$tmp/token2" health
t 77 "a token file that is not there is refused, too" agent-call --token-file "$tmp/none" health

# --- the token is nowhere to be seen
echoed='status 500 application/json {"error":"what is '$token' doing here"}'
answered "$echoed" agent-call -v --token-file "$tmp/token" health
err_unlike "$token" "a reason that holds the token is told without it"
err_like 'what is \(secret\) doing here' "the rest of a reason that holds the token is told"
for words in health 'get /api/x' 'post /api/x --data {}' join; do
  # shellcheck disable=SC2086
  answered "$well" agent-call -v --token-file "$tmp/token" $words
  is "$status $(asked | grep -c "$token")" "0 1" "the token is sent by: $words"
  is "$(cat "$out" "$err" | grep -c "$token")" 0 "the token is not shown with -v by: $words"
done
printf 'touch asked\nawait go\n%s\n' "$well" | script
start held agent-call --token-file "$tmp/token" health
wait_until 30 test -e "$tmp/asked"
# macOS has no /proc, but ps.
ps -o args= -p "$pid" >"$tmp/args"
[ ! -r "/proc/$pid/environ" ] || cat "/proc/$pid/environ" "/proc/$pid/cmdline" >>"$tmp/args"
ok "the process of agent-call is there" grep -q agent-call "$tmp/args"
not_ok "the token is neither in the arguments nor in the environment" grep -q "$token" "$tmp/args"
touch "$tmp/go"
finished "$pid"
is "$status" 0 "agent-call goes on when it is answered"

answered "$well" env AGENT_URL="http://ada:pa55@${url#http://}" agent-call -v health
is "$status $(requests '.headers.authorization')" "0 Basic YWRhOnBhNTU=" "a password in the URL is used"
is "$(cat "$out" "$err" | grep -c 'pa55\|ada')" 0 "a password in the URL is not shown"

# --- over TLS
if command -v openssl >/dev/null 2>&1; then
  start_tls 'x-dashboard-token: sesame-0815' '{"ok":true}' ''
  run env AGENT_URL="$url" agent-call --cacert "$tmp/authority" --token-file "$tmp/token" health
  is "$status $(jq .ok "$out")" "0 true" \
    "an authority that is named is believed, and gets the token"
  t 75 "a certificate that nobody vouches for has status 75" \
    env AGENT_URL="$url" agent-call --token-file "$tmp/token" health
  err_like certificate "a certificate that nobody vouches for is told"
  t 75 "a certificate for another name has status 75" \
    env AGENT_URL="https://127.0.0.1:$port" agent-call --cacert "$tmp/authority" health
  url=$AGENT_URL
else
  skip 4 "no openssl"
fi

# --- what is sent
sent() { requests '[.method, .target, .headers["content-type"] // "-", .body] | join(" ")'; }
answered "$well" agent-call post /api/x -d '{"a":1.10}'
is "$(sent)" 'POST /api/x application/json {"a":1.10}' "--data is sent"
printf ' {"b":\n2}\n' >"$tmp/body.json"
answered "$well" agent-call put api/x -d "@$tmp/body.json"
is "$(sent)" 'PUT /api/x application/json  {"b":
2}' "--data @FILE is sent as it is"
answered "$well" sh -c 'echo "[1]" | agent-call post /api/x'
is "$(sent)" 'POST /api/x application/json [1]' "standard input is sent"
answered "$well" sh -c 'echo 7 | agent-call delete /api/x --data @-'
is "$(sent)" 'DELETE /api/x application/json 7' "--data @- sends standard input"
answered "$well" agent-call delete /api/x
is "$(sent)" 'DELETE /api/x - ' "delete needs no body"
answered "$well" sh -c 'agent-call post /api/x </dev/null'
is "$(sent)" 'POST /api/x - ' "an empty standard input is sent as nothing"
is "$(requests '.headers["content-length"]')" 0 "an empty body has the length 0"
for body in '{"a":' 'a=b' '{} {}' ' '; do
  answered "$well" agent-call post /api/x -d "$body"
  is "$status $(sent)" "2 " "a body that is not JSON is not sent: $body"
  err_like '^agent-call: --data: not JSON: .* at byte [0-9]+$' \
    "the fault of a body is told with its place: $body"
done
t 2 "a body that is not there is an error" agent-call post /api/x -d "@$tmp/nothing"
err_is "agent-call: $tmp/nothing: no such file or directory" "the missing file is named"
t 2 "a terminal in place of a body is an error" python3 "$cli/terminal.py" agent-call post /api/x
head -c 3000000 /dev/zero | tr '\0' 7 >"$tmp/large"
answered "$well" agent-call post /api/x -d "@$tmp/large"
is "$(requests '.body | length')" 3000000 "3 MB are sent whole"

# --- join
cp "$cli"/servers/recorded/voice-join*.http "$tmp"
answered 'file voice-join-already.http' agent-call join 123 -c 45 -u 67
status_is 0 "joining succeeds"
is "$(requests '.body')" \
  '{"guildId":"123","requesterUserId":"67","textChannelId":"45","source":"agent-call"}' \
  "join sends guild, user and channel as the backend calls them"
is "$(cat "$out")" "$(tail -n 1 "$tmp/voice-join-already.http")" \
  "join prints the record of the answer"
err_is "agent-call: join: guild 100000000000000001, not 123; user 300000000000000001, not 67; text channel 200000000000000010, not 45" \
  "join says what is not as it was asked for"
answered 'file voice-join-already.http' agent-call join 100000000000000001 -c 999 -u 300000000000000001
status_is 0 "another text channel does not make join fail"
err_is "agent-call: join: text channel 200000000000000010, not 999" \
  "the message names both channels"
answered 'file voice-join-already.http' agent-call join 100000000000000001 -c 200000000000000010
err_empty "nothing is said when join came to what was asked for"
answered 'file voice-join-already.http' agent-call join -g 9 -o table
is "$(requests '.body')" '{"guildId":"9","source":"agent-call"}' "-g names the guild too"
out_is "join  already there: channel 200000000000000020, guild 100000000000000001" \
  "the outcome is told in words"
for pair in "voice-join:the agent tried, but is not in the channel yet (voice_join_unconfirmed)" \
  "voice-join-unknown-guild:the agent is in no such guild (guild_not_found)" \
  "voice-join-requester-absent:that user is in no voice channel (requester_not_in_voice)"; do
  name=${pair%%:*}
  answered "file $name.http" agent-call join
  status_is 1 "a join that is refused has status 1: $name"
  err_is "agent-call: join: ${pair#*:}" "a join that is refused says why: $name"
  is "$(cat "$out")" "$(tail -n 1 "$tmp/$name.http")" \
    "a join that is refused gives the answer: $name"
done
answered 'status 200 application/json {"ok":false,"reason":"\\u001b[31mno"}' agent-call join -o tsv
status_is 1 "a reason that is not known has status 1"
err_is 'agent-call: join: \e[31mno' "a reason that is not known is shown, harmless"

done_testing
