#!/bin/sh
# The two dashboard streams by name: where they are, and with which token.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
config=$XDG_CONFIG_HOME/agentutils/config
printf 's3cret\n' >"$tmp/token"
printf 'other-token\n' >"$tmp/token2"
chmod 600 "$tmp/token" "$tmp/token2"
# asks ARG...: one answer, 204; the last request as "METHOD target token".
asks() {
  script </dev/null
  run env "$@"
}
asked() {
  requests '[.method, .target, .headers["x-dashboard-token"] // "-", .port] | join(" ")'
}

# --- where
asks AGENT_URL="$url" sse-tail activity
is "$status $(asked)" "0 GET /api/activity/events - main" "activity is found at AGENT_URL"
asks AGENT_URL="$url/" sse-tail voice
is "$(asked)" "GET /api/voice/events - main" "voice is found at AGENT_URL with a slash at the end"
asks AGENT_URL="$url/base/" sse-tail voice
is "$(asked)" "GET /base/api/voice/events - main" "the streams are found below a path"
cat >"$config" <<INI
[profile home]
url = $url
token-file = $tmp/token

[profile away]
url = $other
token-command = cat $tmp/token2
INI
asks sse-tail -p home activity
is "$(asked)" "GET /api/activity/events s3cret main" "-p takes the profile's url and token-file"
asks sse-tail --profile away activity
is "$(asked)" "GET /api/activity/events other-token other" "another profile's token-command is used"
asks AGENT_PROFILE=away sse-tail activity
is "$(asked)" "GET /api/activity/events other-token other" "AGENT_PROFILE names the profile"
asks AGENT_PROFILE=away sse-tail -p home activity
is "$(asked)" "GET /api/activity/events s3cret main" "-p wins over AGENT_PROFILE"
asks sse-tail -p nobody activity
status_is 2 "an unknown profile is refused"
err_one_line sse-tail "an unknown profile is told in a line"
err_like nobody "the name of an unknown profile is in the message"
t 2 "a mistyped stream is refused" sse-tail activty
err_is "sse-tail: activty: not activity, voice or a url: did you mean activity?" \
  "a mistyped stream is told from a URL"

# --- the token
rm "$config"
asks AGENT_URL="$url" AGENT_TOKEN_FILE="$tmp/token" sse-tail activity
is "$(asked)" "GET /api/activity/events s3cret main" "AGENT_TOKEN_FILE is used"
asks AGENT_URL="$url" AGENT_TOKEN_FILE="$tmp/token" sse-tail --token-file "$tmp/token2" activity
is "$(asked)" "GET /api/activity/events other-token main" "--token-file wins over AGENT_TOKEN_FILE"
cp "$tmp/token" "$XDG_CONFIG_HOME/agentutils/token"
asks AGENT_URL="$url" sse-tail activity
is "$(asked)" "GET /api/activity/events s3cret main" "the token of the configuration folder is used"
asks AGENT_URL="$other" sse-tail "$url/s"
is "$(asked)" "GET /s - main" "a URL of another origin gets no token"
rm "$XDG_CONFIG_HOME/agentutils/token"
mkdir "$tmp/credentials"
cp "$tmp/token" "$tmp/credentials/agentutils-token"
asks AGENT_URL="$url" CREDENTIALS_DIRECTORY="$tmp/credentials" sse-tail activity
is "$(asked)" "GET /api/activity/events s3cret main" "a service manager's credential is used"

chmod 644 "$tmp/token"
asks AGENT_URL="$url" sse-tail --token-file "$tmp/token" activity
status_is 77 "a token that others can read is refused"
err_one_line sse-tail "a token that others can read is told in a line"
err_unlike s3cret "a token that others can read is not shown"
is "$(asked)" "" "nothing is asked with a token that others can read"
chmod 600 "$tmp/token"
asks AGENT_URL="$url" sse-tail --token-file "$tmp/none" activity
status_is 77 "a token file that is not there is refused"
err_one_line sse-tail "a missing token file is told in a line"
printf 'two words\nand lines\0' >"$tmp/broken"
chmod 600 "$tmp/broken"
asks AGENT_URL="$url" sse-tail --token-file "$tmp/broken" activity
ok "a token that cannot be a header is refused ($status)" test "$status" -eq 2 -o "$status" -eq 77
err_one_line sse-tail "a token that cannot be a header is told in a line"
err_unlike 'two words' "a token that cannot be a header is not shown"

script <<'S'
redirect 307 @OTHER@/away
S
run env AGENT_URL="$url" sse-tail -v --token-file "$tmp/token" activity
is "$(asked | sed -n 2p)" "GET /away - other" "the token does not follow a redirect away"
err_unlike s3cret "the token is not on stderr after a redirect"
script <<'S'
redirect 307 /near
S
run env AGENT_URL="$url" sse-tail --token-file "$tmp/token" activity
is "$(asked | sed -n 2p)" "GET /near s3cret main" "the token stays within the origin"
for host in example.invalid 192.0.2.1 '[2001:db8::1]'; do
  asks AGENT_URL="http://$host:1" sse-tail --max-time 2 --token-file "$tmp/token" activity
  isnt "$status" 0 "plain http to $host is refused with a token"
  err_one_line sse-tail "a token over plain http is told in a line: $host"
  err_like 'plain|https' "the line says why: $host"
done
asks AGENT_URL="http://example.invalid:1" sse-tail --max-retries 0 --allow-plaintext \
  --token-file "$tmp/token" activity
status_is 75 "--allow-plaintext lets a token travel over plain http"
asks AGENT_URL="http://example.invalid:1" sse-tail --max-retries 0 activity
status_is 75 "plain http without a token is tried"

# --- a wrong token
script <<'S'
status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}
S
t 77 "401 without a token has status 77" env AGENT_URL="$url" sse-tail activity
err_one_line sse-tail "401 is told in a line"
err_like 'token' "the line of 401 speaks of the token"
script <<'S'
status 404 application/json {"error":"Not found."}
S
t 77 "404, as a tunnel answers a wrong token, has status 77" \
  env AGENT_URL="$url" sse-tail --token-file "$tmp/token" activity
err_one_line sse-tail "404 with a token is told in a line"
err_like 'token' "the line of 404 says that it may be the token"

# --- the configuration
for text in 'url = x' '[profile' '[profile home]
url' '[profile home]
url = ftp://x'; do
  printf '%s\n' "$text" >"$config"
  asks sse-tail -p home activity
  status_is 2 "a broken configuration is refused: $(echo "$text" | tail -n 1)"
  ok "a broken configuration is named in a line or two" \
    test "$(grep -c '^sse-tail: ' "$err")" -eq "$(lines "$err")"
  err_like 'config|url' "the message tells what is wrong with the configuration"
done
printf '[profile home]\nurl = %s\ntoken-command = false\n' "$url" >"$config"
asks sse-tail -p home activity
status_is 77 "a token command that fails has status 77"
err_one_line sse-tail "a token command that fails is told in one line"
rm "$config"
asks AGENT_URL="nonsense" sse-tail activity
status_is 2 "a broken AGENT_URL is refused"
err_one_line sse-tail "a broken AGENT_URL is told in one line"

# --- the voice stream as it is
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.1 --token s3cret
start voice env AGENT_URL="$url" sse-tail --token-file "$tmp/token" -n 3 voice
wait_until 30 has "$tmp/voice.out" voice_state
printf '%s\n' '{"kind":"llm_call"}' '{"kind":"voice_info","content":"hi"}' |
  curl -s --data-binary @- "$url/control/actions" >/dev/null
finished "$pid"
is "$(jq -r .event "$tmp/voice.out" | sort -u | tr '\n' ' ')" "voice_event voice_state " \
  "the voice stream comes, with its token"
is "$(jq -r 'select(.event == "voice_event") | .data.content' "$tmp/voice.out")" hi \
  "the event of the voice stream comes, too"
t 77 "the voice stream is refused without the token" env AGENT_URL="$url" sse-tail voice
done_testing
