#!/bin/sh
# agent-serve as a voice server: messages, clips that are answered, what was said.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq openssl
. "${0%/*}/riff.sh"

cat >"$tmp/reply" <<'END'
read -r word rest
printf '%s %s\n' "$REPLY_SESSION" "$word" >>"$SAID"
case $word in
fail) echo partly; echo "no luck" >&2; exit 1 ;;
wait) echo $$ >"$SAID.waits"; until [ -e "$SAID.go" ]; do sleep 0.02; done; echo waited ;;
silent) ;;
*) printf 'heard %s\n' "$word${rest:+ $rest}" ;;
esac
END
SAID=$tmp/said
export SAID
: >"$SAID"
start_server talk agent-serve -l 127.0.0.1:0 -D "$tmp/talk.sqlite" --token-file "$tmp/secret" \
  --voice-secret-file "$tmp/secret" --reply-command "sh $tmp/reply" --transcriber 'cat "$1"'
talk=$pid
# say ID TEXT [ARG...]
say() {
  jq -nc --arg id "$1" --arg text "$2" '{conversation_id: $id, text: $text, device_id: "phone"}' \
    >"$tmp/body"
  shift 2
  post "$tmp/body" /riff/message "$@"
}
is "$(fetch /riff/health) $(jq -c '[.ok, .replies]' "$out")" "200 [true,true]" "replies are made"

# --- a message and its reply
is "$(say kitchen 'good morning')" 200 "a message"
is "$(jq -c '[.reply, .conversation_id, (.message_id | type), .transcript]' "$out")" \
  '["heard good morning","kitchen","string",null]' "is replied to"
is "$(jq '(.ts_reply - now) | fabs < 60' "$out")" true "with the time"
id=$(jq -r .message_id "$out")
is "$(cat "$SAID")" "agent:main:riff:kitchen good" "the command knows where"
is "$(fetch '/riff/conversation?conversation_id=kitchen')" 200 "the conversation"
is "$(jq -c '[.conversation_id, [.messages[] | [.role, .text]]]' "$out")" \
  '["kitchen",[["user","good morning"],["assistant","heard good morning"]]]' "has both"
is "$(jq -r '.messages[1].message_id' "$out")" "$id" "and the reply has its id"
is "$(say kitchen 'good morning') $(lines "$SAID")" "200 2" "who says it again has said it twice"
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900000')" 200 "a message with its time"
first=$(cat "$out")
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900000') $(lines "$SAID")" "200 3" \
  "is the same when it comes again"
is "$(cat "$out")" "$first" "and has the same answer"
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900009') $(lines "$SAID")" "200 4" "later it is another"
is "$(say kitchen silent) $(jq -c '[.reply, .message_id]' "$out")" '200 ["",null]' "no word"
is "$(say kitchen fail)" 502 "a command that fails"
is "$(jq -r .error "$out")" "reply command: exit status 1: no luck" "is told of"

# --- what is no message
for bad in '' 'null' '[]' '{"conversation_id":"a"}' '{"text":"x"}' '{"conversation_id":"a","text":7}' \
  '{"conversation_id":"a","text":" \n"}' '{"conversation_id":"a","text":"x","device_id":[]}' \
  '{"conversation_id":"a","text":"x"' '{"conversation_id":"","text":"x"}'; do
  printf '%s' "$bad" >"$tmp/body"
  is "$(post "$tmp/body" /riff/message)" 400 "400: ${bad:-nothing}"
done
long=$(printf '%065d' 0)
for id in "$long" '../etc' 'a b' 'a/b' 'a:b' 'a%b' "a'--" "a\"" 'ä' 'a
b' 'agent:main:main' '*' '.'; do
  is "$(say "$id" x)" 400 "no conversation: $id"
  is "$(fetch /riff/conversation -G --data-urlencode "conversation_id=$id")" 400 "nor to read"
done
is "$(fetch /riff/conversation)" 400 "nor none"
is "$(say "${long%?}" x)" 200 "64 characters are good"
before=$(lines "$SAID")
head -c 8192 /dev/zero | tr '\0' ' ' >"$tmp/body"
printf '{"conversation_id":"large","text":"x"}' | dd of="$tmp/body" conv=notrunc 2>"$err"
is "$(post "$tmp/body" /riff/message)" 200 "8 KiB"
printf ' ' >>"$tmp/body"
is "$(post "$tmp/body" /riff/message)" 413 "and not a byte more"
is "$(curl -s -o "$out" -w '%{http_code}' -d '{"conversation_id":"a","text":"x"}' \
  "$url/riff/message")" 401 "nobody talks without a signature"
is "$(lines "$SAID")" $((before + 1)) "none of these was said"

# --- a clip
printf 'open the\nwindow' >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 200 "a clip"
is "$(jq -c '[.transcript, .reply, .conversation_id]' "$out")" \
  '["open the window","heard open the window","hall"]' "is heard and replied to"
first=$(cat "$out")
before=$(lines "$SAID")
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: other')" 200 "when it is replayed"
is "$(cat "$out") $(lines "$SAID")" "$first $before" "nothing is said again, nor elsewhere"
for id in '' '../x' "$long"; do
  is "$(post "$tmp/clip" /riff/audio -H "X-Riff-Session-Id: $id")" 400 "no conversation: $id"
done
printf ' \n' >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 200 "a clip in which nobody talks"
is "$(jq -c '[.transcript, .reply, .message_id]' "$out") $(lines "$SAID")" "[\"\",\"\",null] $before" \
  "is no message"
: >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 400 "an empty one"

# --- what was said
is "$(fetch '/riff/conversation?conversation_id=kitchen&limit=1') $(jq -c \
  '[.messages[].text]' "$out")" '200 ["fail"]' "the last message"
for limit in 0 -5 x 99999999999; do
  is "$(fetch "/riff/conversation?conversation_id=hall&limit=$limit")" 200 "a limit of $limit"
done
is "$(fetch '/riff/conversation?conversation_id=never') $(jq -c .messages "$out")" "200 []" \
  "where nothing was said"
is "$(fetch /riff/sessions)" 200 "the conversations"
is "$(jq -c '[.sessions[] | .conversation_id] | sort | .[1:]' "$out")" '["hall","kitchen","large"]' \
  "are all there"
is "$(jq -c '.sessions[0] | [.conversation_id, .last]' "$out")" '["hall","heard open the window"]' \
  "the last one first"
ts=$(jq '.sessions[0].ts' "$out")
is "$(fetch "/riff/sessions?since=$ts") $(jq -c '[.sessions[].conversation_id]' "$out")" \
  '200 ["hall"]' "or those since then"
is "$(fetch '/riff/sessions?since=yesterday')" 400 "since is a number"

# --- who comes twice while it is worked on; the end
# later NAME CONVERSATION TEXT: says something and waits elsewhere.
later() {
  jq -nc --arg id "$2" --arg text "$3" '{conversation_id: $id, text: $text}' >"$tmp/$1.body"
  start "$1" curl -sv -w '\n%{http_code}\n' -H "X-Riff-Secret: $(sign "$tmp/$1.body")" \
    --data-binary "@$tmp/$1.body" "$url/riff/message"
}
later one kitchen 'wait here'
ok "a reply is made" wait_until 10 test -s "$SAID.waits"
before=$(lines "$SAID")
later same kitchen 'wait here'
ok "somebody asks the same" wait_until 10 has "$tmp/same.err" '^> POST'
is "$(fetch /riff/health)" 200 "while the server answers others"
later other kitchen 'then this'
: >"$SAID.go"
ok "who asked" wait_until 10 has "$tmp/one.out" '"reply":"waited"'
ok "and who asked once more has it" wait_until 10 has "$tmp/same.out" '"reply":"waited"'
ok "another has its turn" wait_until 10 has "$tmp/other.out" '"reply":"heard then this"'
is "$(lines "$SAID")" $((before + 1)) "each was said once"
rm -f "$SAID.go" "$SAID.waits"
later last last 'wait now'
ok "a reply is made again" wait_until 10 test -s "$SAID.waits"
stop "$talk"
is "$status" 0 "the server stops"
ok "and so does the command" wait_until 10 gone "$(cat "$SAID.waits")"
ok "who waits is told" wait_until 10 has "$tmp/last.out" '^503$'
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/talk.sqlite" \
  --voice-secret-file "$tmp/secret" --transcriber cat
is "$(fetch '/riff/conversation?conversation_id=hall') $(jq '.messages | length' "$out")" "200 2" \
  "what was said stays"
is "$(say hall x) $(jq -r .error "$out")" "503 no reply command" "without a reply command"
stop "$pid"
run agent-serve --voice-secret-file "$tmp/secret" --reply-command cat --approve-replies
status_is 2 "who approves needs a gateway"
done_testing
