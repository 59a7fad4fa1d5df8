#!/bin/sh
# voice-token: tokens that another implementation takes for what they are, and where the secret
# goes.
. "${0%/*}/../lib.sh"
needs voice-token agent-call openssl jq
needs_peers

secret=s3cret-that-nobody-sees-anywhere-at-all
echo "$secret" >"$tmp/secret"
chmod 600 "$tmp/secret"
mkdir "$tmp/tools"
for tool in openssl tr sed awk od iconv find id; do
  printf '%s\n' '#!/bin/sh' "{ printf '%s\\n' \"\$0\" \"\$@\"; env; } >>\"$tmp/seen\"" \
    "exec $(command -v "$tool") \"\$@\"" >"$tmp/tools/$tool"
  chmod +x "$tmp/tools/$tool"
done
# claims FILE SECRET: $tmp/claims gets what PyJWT finds in the token, or why it finds none.
claims() {
  "$peers" -W ignore - "$1" "$2" >"$tmp/claims" <<'END'
import json, sys, jwt
with open(sys.argv[1]) as file:
  token = file.read()
try:
  print(json.dumps(jwt.decode(token[:-1], sys.argv[2], ['HS256'])))
except jwt.PyJWTError as error:
  sys.exit(print(type(error).__name__) or 1)
END
}

PATH=$tmp/tools:$PATH
now=$(date +%s)
# Variables of the caller that are called like those of the script.
export secret=caller inner=caller outer=caller signature=caller key=caller
t 0 "a token is made" \
  voice-token -k APIx -s "$tmp/secret" -i 'ada "A" \o/' --name 'Zoë ☕' -t 60 'kitchen table'
unset secret inner outer signature key
secret=$(cat "$tmp/secret")
ok "the token of a named person is a good one" claims "$out" "$secret"
is "$(jq -c 'del(.nbf, .exp)' "$tmp/claims")" '{"iss":"APIx","sub":"ada \"A\" \\o/","name":"Zoë ☕","video":{"room":"kitchen table","roomJoin":true,"canPublish":true,"canSubscribe":true,"canPublishData":true}}' \
  "a token says who may do what"
ok "a token says how long it holds" jq -e ".exp - .nbf == 60 and .nbf - $now < 5" "$tmp/claims"
not_ok "a token does not fit another secret" claims "$out" "$secret."
is "$(cat "$tmp/claims")" InvalidSignatureError "a token's signature does not fit another secret"
not_ok "no command is given the secret, and none has it in its environment" \
  grep -q s3cret-that "$tmp/seen"

# Keys of the lengths at which they are treated otherwise.
for length in 32 63 64 65 200; do
  long=$(printf "%${length}s" | tr ' ' '~')
  echo "$long" | voice-token -k K -s - r >"$tmp/token"
  ok "a secret of $length characters can be used" claims "$tmp/token" "$long"
done
printf '%31s\n' '' | tr ' ' '~' >"$tmp/short"
chmod 600 "$tmp/short"
t 77 "a secret of 31 characters is refused" voice-token -k K -s "$tmp/short" r
err_is "voice-token: $tmp/short: the secret is too short: it needs 32 characters at least" \
  "the message on a short secret tells the length"
is "$(jq -r '.sub, has("name")' "$tmp/claims" | xargs)" "$(id -un) false" \
  "a token without a named person is for the caller"

# --- what else a token says
# says WORDS WANT: the claims besides those that all have.
says() {
  # shellcheck disable=SC2086  # words
  voice-token -k K -s "$tmp/secret" $1 r >"$tmp/token"
  claims "$tmp/token" "$secret"
  is "$(jq -c 'del(.nbf, .exp, .iss, .sub, .video.room, .video.roomJoin, .video.canSubscribe)' "$tmp/claims")" \
    "$2" "the claims of $1 are right"
}
says --listen '{"video":{"canPublish":false,"canPublishData":false}}'
says '--source microphone --source screen_share,microphone' \
  '{"video":{"canPublish":true,"canPublishData":true,"canPublishSources":["microphone","screen_share"]}}'
says '--hidden --admin' \
  '{"video":{"roomAdmin":true,"roomList":true,"canPublish":true,"canPublishData":true,"hidden":true}}'
says '--metadata {"a":"b"} --attribute lang=de --attribute x=a=b --attribute y=' \
  '{"metadata":"{\"a\":\"b\"}","attributes":{"lang":"de","x":"a=b","y":""},"video":{"canPublish":true,"canPublishData":true}}'
says '--agent greeter --agent clerk:{"n":1}:"' \
  '{"video":{"canPublish":true,"canPublishData":true},"roomConfig":{"agents":[{"agentName":"greeter"},{"agentName":"clerk","metadata":"{\"n\":1}:\""}]}}'

mkdir -p "$XDG_CONFIG_HOME/agentutils"
cp -p "$tmp/secret" "$XDG_CONFIG_HOME/agentutils/livekit"
t 0 "the key comes from the environment and the secret from its file" \
  env LIVEKIT_API_KEY=K voice-token r
chmod 640 "$XDG_CONFIG_HOME/agentutils/livekit"
t 77 "a file that others can read is refused" voice-token -k K r
err_is "voice-token: $XDG_CONFIG_HOME/agentutils/livekit: refused: not for its owner alone (chmod 600)" \
  "the message on a file that others can read says what to do"
cd "$tmp" || exit
cp -p secret ./-sec
t 0 "a name that begins with a dash has status 0" voice-token -k K -s -sec r
for mode in 644 604 620 602 610 601; do
  chmod "$mode" ./-sec
  run voice-token -k K --secret-file=-sec r
  is "$status $(cat "$err")" "77 voice-token: -sec: refused: not for its owner alone (chmod 600)" "a secret of mode $mode is refused"
done
printf 's3cr\0et\n' >nul
chmod 600 nul
run voice-token -k K -s nul r
is "$status $(cat "$err")" "77 voice-token: nul: not one line of visible characters" \
  "a secret with a NUL is refused"
run sh -c 'voice-token -k K -s - r <nul'
is "$status $(cat "$err")" "77 voice-token: standard input: not one line of visible characters" \
  "a secret with a NUL on standard input is refused"
printf 'a\nb\n' >nul
run voice-token -k K -s nul r
is "$status $(cat "$err")" "77 voice-token: nul: more than one line" \
  "a secret of two lines is refused"
: >nul
run voice-token -k K -s nul r
is "$status $(cat "$err")" "77 voice-token: nul: no secret in it" "an empty secret is refused"
mkdir -p rel/agentutils
printf 'wrong%.0s' 1 2 3 4 5 6 7 8 >rel/agentutils/livekit
chmod 600 "$XDG_CONFIG_HOME/agentutils/livekit"
run env -u XDG_CONFIG_HOME voice-token -k K r
cp "$out" "$tmp/by-home"
run env XDG_CONFIG_HOME=rel voice-token -k K r
ok "a relative XDG_CONFIG_HOME counts for nothing" claims "$out" "$secret"
t 77 "a missing secret file has status 77" voice-token -k K -s "$tmp/none" r
printf 'a b\n' >"$XDG_CONFIG_HOME/agentutils/livekit"
chmod 600 "$XDG_CONFIG_HOME/agentutils/livekit"
t 77 "a secret with a space in it is refused" voice-token -k K r
printf 'one\ntwo\n' >"$XDG_CONFIG_HOME/agentutils/livekit"
t 77 "a secret of two lines in its usual file is refused" voice-token -k K r
err_is "voice-token: $XDG_CONFIG_HOME/agentutils/livekit: more than one line" \
  "the message on a secret of two lines names its file"
t 0 "a room that begins with a dash has status 0" voice-token -k K -s "$tmp/secret" -- -r
ok "the token for a room that begins with a dash is a good one" claims "$out" "$secret"
is "$(jq -r .video.room "$tmp/claims")" -r "the token names the room that begins with a dash"

while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  t 2 "voice-token $words is refused" voice-token $words
  is "$(head -n 1 "$err")" "voice-token: $want" \
    "the message on voice-token $words says what is wrong"
done <<'END'
-k K|which ROOM?
-k K -- a b|one room alone: b
-k K a -- b|one room alone: b
-k K a b|one room alone: b
r|which API key? give -k, or set LIVEKIT_API_KEY
-k K -t 0 r|--time 0: not a number of seconds from 1 to 999999999
-k K -t 1h r|--time 1h: not a number of seconds from 1 to 999999999
-k|option -k needs an argument: KEY
-k K --source phone r|--source phone: not camera, microphone, screen_share or screen_share_audio
-k K --listen --source camera r|--listen and --source: one of them
-k K --attribute =x r|--attribute =x: not NAME=VALUE
-k K --attribute x r|--attribute x: not NAME=VALUE
-k K --attribute a=1 --attribute a=2 r|--attribute a=: given twice
-k K --agent :x r|--agent :x: no agent is named
-k K --metadata= r|--metadata: nothing is named
-k K --nonsense r|unknown option --nonsense
-k K --nonsense=1 r|unknown option --nonsense
END
run voice-token -k K -s "$tmp/secret" "$(printf 'a\tb')"
err_is "voice-token: a?b: a control character" "a name with a control character is refused"
run voice-token -k K -s "$tmp/secret" "$(printf 'a\377')"
err_like 'not UTF-8' "a name that is not UTF-8 is refused"
status_is 2 "a name that is not UTF-8 has status 2"
t 0 "--help succeeds" voice-token --help
run voice-token --version
out_is "voice-token $(agent-call -V | sed 's/.* //')" "--version is that of the suite"

done_testing
