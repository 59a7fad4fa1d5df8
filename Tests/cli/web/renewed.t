#!/bin/sh
# A token that is refused is looked up again, once: it may have been replaced since.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs sse-tail ws-tail agent-call mem-search voice-state jq python3

serve </dev/null
ws=ws${url#http}
first=$url
umask 077
AGENT_URL=$url
export AGENT_URL
config=$XDG_CONFIG_HOME/agentutils/config
sent() { requests '(.headers | .["x-dashboard-token"] // .authorization) // "-"' | tr '\n' ' '; }
# A person replaces the file while the server answers.
cat >"$tmp/replace" <<'S'
#!/bin/sh
# replace FILE SCRIPTFOLDER: when `asked` is there.
until [ -e "$2/asked" ]; do sleep 0.01; done
echo second >"$1.new" && mv "$1.new" "$1"
: >"$2/replaced"
S
# refusing STATUS: the first answer is a refusal, sent when the token has been replaced.
refusing() {
  rm -f "$tmp/asked" "$tmp/replaced"
  echo first >"$tmp/token"
  start replace sh "$tmp/replace" "$tmp/token" "$tmp"
  printf '%s\n' 'touch asked' 'await replaced' "status $1 application/json {}" '---' \
    "$2" "${3-}" | script
}
for code in 401 403; do
  refusing "$code" stream 'send data: 1\n\n'
  run sse-tail --token-file "$tmp/token" --max-retries 0 -n 1 "$url/s"
  is "$status $(sent)" "0 first second " "sse-tail reads a file again after $code"
  err_empty "sse-tail says nothing after $code"
  refusing "$code" switch 'frame 81 1'
  run ws-tail --token-file "$tmp/token" --max-retries 0 -n 1 "$ws/s"
  is "$status $(sent)" "0 first second " "ws-tail reads a file again after $code"
  refusing "$code" 'status 200 application/json {}'
  run agent-call --token-file "$tmp/token" health
  is "$status $(sent)" "0 first second " "agent-call reads a file again after $code"
done
refusing 404 stream 'send data: 1\n\n'
run sse-tail --token-file "$tmp/token" --max-retries 0 -n 1 activity
is "$status $(sent)" "0 first second " "sse-tail reads a file again after a tunnel's 404"

# --- what has not changed is refused
for command in 'sse-tail activity' 'agent-call health' 'mem-search -g 7 tea' voice-state; do
  printf '%s\n' forever 'status 401 application/json {}' | script
  # shellcheck disable=SC2086  # words
  run $command --token-file "$tmp/token"
  is "$status $(sent)" "77 second " "$command: the same token is not sent again"
done
printf '%s\n' forever 'status 401 application/json {}' | script
echo piped | run sse-tail --token-file - --max-retries 0 "$url/s"
is "$status $(sent)" "77 piped " "standard input is read once"

# --- a command
counting='n=$(cat count); echo $((n + 1)) >count; echo token$n'
printf '%s\n' "[profile home]" "url = $url" "token-command = cd $tmp && $counting" >"$config"
unset AGENT_URL
echo 1 >"$tmp/count"
printf '%s\n' 'status 401' --- 'stream' 'send data: 1\n\n' --- 'stream' 'send data: 2\n\n' | script
run sse-tail -p home --retry-wait 0.01 -n 2 activity
is "$status $(sent)" "0 token1 token2 token2 " "a command is run again, and what it prints is kept"
echo 1 >"$tmp/count"
printf '%s\n' forever 'status 401' | script
run sse-tail -p home --retry-wait 0.01 activity
is "$status $(sent)$(cat "$tmp/count")" "77 token1 token2 3" \
  "each refusal makes a token command run once"
echo 1 >"$tmp/count"
printf '%s\n' forever 'status 404 text/plain no' | script
run agent-call -p home health
is "$status $(cat "$tmp/count")" "2 2" \
  "a path that is not there does not make a token command run again"
printf '%s\n' "[profile home]" "url = $url" \
  "token-command = cd $tmp && if [ -e gone ]; then exit 1; fi; touch gone; echo once" >"$config"
printf '%s\n' forever 'status 401' | script
run agent-call -p home health
is "$status $(sent)" "77 once " "a token command that fails after a refusal leaves status 77"
err_like 'the token from token-command of profile home was refused' \
  "the message says that the token of the token command was refused"

# --- a gateway, which is told the token in a message
start_gateway claw --token token2
echo 1 >"$tmp/count"
echo "token-command = cd $tmp && $counting" >>"$config"
run agent-call -p claw agents
is "$status $(frames claw connect | jq -r .auth.token | xargs)" "0 token1 token2" \
  "a refusal by a gateway makes a token command run again"
rm -rf "$XDG_STATE_HOME"
start_gateway other --token token9
echo 1 >"$tmp/count"
echo "token-command = cd $tmp && $counting" >>"$config"
run agent-call -p other agents
is "$status $(frames other connect | jq -r .auth.token | xargs)" "77 token1 token2" \
  "a token command runs once for each refusal by a gateway"
url=$first

# --- to its own server alone
printf '%s\n' 'redirect 307 @OTHER@/there' --- 'status 401' | script
echo first >"$tmp/token"
run sse-tail --token-file "$tmp/token" --max-retries 0 "$url/s"
is "$status $(sent)" "77 first - " "a token and its replacement do not go to another server"
done_testing
