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
stay)
  trap 'echo >"$SAID.told"' TERM
  echo $$ >"$SAID.waits"
  until [ -e "$SAID.go" ]; do sleep 0.02; done
  ;;
wait) echo $$ >"$SAID.waits"; until [ -e "$SAID.go" ]; do sleep 0.02; done; echo waited ;;
silent) ;;
*) printf 'heard %s\n' "$word${rest:+ $rest}" ;;
esac
END
SAID=$tmp/said
export SAID
: >"$SAID"
start_server talk agent-serve -l 127.0.0.1:0 -D "$tmp/talk.sqlite" --gateway 0 --token-file "$tmp/secret" \
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
is "$(say kitchen 'good morning')" 200 "a message is taken"
is "$(jq -c '[.reply, .conversation_id, (.message_id | type), .transcript]' "$out")" \
  '["heard good morning","kitchen","string",null]' "the message is replied to"
is "$(jq '(.ts_reply - now) | fabs < 60' "$out")" true "the reply has its time"
id=$(jq -r .message_id "$out")
is "$(cat "$SAID")" "agent:main:riff:kitchen good" "the reply command knows the conversation"
is "$(fetch '/riff/conversation?conversation_id=kitchen')" 200 "the conversation is given"
is "$(jq -c '[.conversation_id, [.messages[] | [.role, .text]]]' "$out")" \
  '["kitchen",[["user","good morning"],["assistant","heard good morning"]]]' \
    "the conversation has the message and the reply"
is "$(jq -r '.messages[1].message_id' "$out")" "$id" "the reply in the conversation has its id"
is "$(say kitchen 'good morning') $(lines "$SAID")" "200 2" "the same words again are said twice"
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900000')" 200 "a message may have its time"
first=$(cat "$out")
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900000') $(lines "$SAID")" "200 3" \
  "a message with a time is the same when it comes again"
is "$(cat "$out")" "$first" "a message that comes again has the same answer"
is "$(say kitchen lunch -H 'X-Riff-Ts: 1763900009') $(lines "$SAID")" "200 4" \
  "the same words with a later time are another message"
is "$(say kitchen silent) $(jq -c '[.reply, .message_id]' "$out")" '200 ["",null]' \
  "a reply may have no word"
is "$(say kitchen fail)" 502 "a command that fails has the status 502"
is "$(jq -r .error "$out")" "reply command: exit status 1: no luck" \
  "the answer says why the command failed"

# --- what is no message
for bad in '' 'null' '[]' '{"conversation_id":"a"}' '{"text":"x"}' '{"conversation_id":"a","text":7}' \
  '{"conversation_id":"a","text":" \n"}' '{"conversation_id":"a","text":"x","device_id":[]}' \
  '{"conversation_id":"a","text":"x"' '{"conversation_id":"","text":"x"}'; do
  printf '%s' "$bad" >"$tmp/body"
  is "$(post "$tmp/body" /riff/message)" 400 "a body is refused with 400: ${bad:-nothing}"
done
long=$(printf '%065d' 0)
for id in "$long" '../etc' 'a b' 'a/b' 'a:b' 'a%b' "a'--" "a\"" 'ä' 'a
b' 'agent:main:main' '*' '.'; do
  is "$(say "$id" x)" 400 "a conversation is refused: $id"
  is "$(fetch /riff/conversation -G --data-urlencode "conversation_id=$id")" 400 \
    "a refused conversation cannot be read, either: $id"
done
is "$(fetch /riff/conversation)" 400 "a conversation must be named"
is "$(say "${long%?}" x)" 200 "a name of 64 characters is taken"
before=$(lines "$SAID")
head -c 8192 /dev/zero | tr '\0' ' ' >"$tmp/body"
printf '{"conversation_id":"large","text":"x"}' | dd of="$tmp/body" conv=notrunc 2>"$err"
is "$(post "$tmp/body" /riff/message)" 200 "a body of 8 KiB is taken"
printf ' ' >>"$tmp/body"
is "$(post "$tmp/body" /riff/message)" 400 "a body of one byte more is refused"
is "$(jq -r .error "$out")" "larger than 8192 bytes" "the answer tells the limit of a body"
is "$(curl -s -o "$out" -w '%{http_code}' -d '{"conversation_id":"a","text":"x"}' \
  "$url/riff/message")" 401 "nobody talks without a signature"
is "$(lines "$SAID")" $((before + 1)) "nothing that was refused was said"

# --- a clip
printf 'open the\nwindow' >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 200 "a clip is taken"
is "$(jq -c '[.transcript, .reply, .conversation_id]' "$out")" \
  '["open the window","heard open the window","hall"]' "a clip is heard and replied to"
first=$(cat "$out")
before=$(lines "$SAID")
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 200 \
  "a clip is taken when it comes again"
is "$(cat "$out") $(lines "$SAID")" "$first $before" "nothing is said again when a clip comes again"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: other')" 200 \
  "a clip is taken in another conversation, too"
is "$(jq -c '[.reply, .conversation_id]' "$out")" '["heard open the window","other"]' \
  "a clip is replied to in the other conversation"
is "$(lines "$SAID")" $((before + 1)) "a clip in another conversation makes another reply"
is "$(fetch '/riff/conversation?conversation_id=hall') $(jq '.messages | length' "$out")" "200 2" \
  "no word of a clip is in another conversation"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: other' -H 'X-Riff-Ts: 1763900000')" 200 \
  "a clip is taken with its time"
is "$(lines "$SAID")" $((before + 2)) "a clip with its time is another message, too"
before=$(lines "$SAID")
for id in '' '../x' "$long"; do
  is "$(post "$tmp/clip" /riff/audio -H "X-Riff-Session-Id: $id")" 400 \
    "a conversation is refused for a clip: $id"
done
printf ' \n' >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 200 \
  "a clip in which nobody talks is taken"
is "$(jq -c '[.transcript, .reply, .message_id]' "$out") $(lines "$SAID")" "[\"\",\"\",null] $before" \
  "nothing is said to a clip in which nobody talks"
: >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 400 "an empty clip is refused"

# --- what was said
is "$(fetch '/riff/conversation?conversation_id=kitchen&limit=1') $(jq -c \
  '[.messages[].text]' "$out")" '200 ["fail"]' "the last message is given"
is "$(fetch '/riff/conversation?conversation_id=kitchen&limit=') $(jq '.messages | length > 5' \
  "$out")" '200 true' "an empty limit counts as none"
for limit in 0 -5 x 99999999999; do
  is "$(fetch "/riff/conversation?conversation_id=hall&limit=$limit")" 200 \
    "a limit of $limit is taken"
done
is "$(fetch '/riff/conversation?conversation_id=never') $(jq -c .messages "$out")" "200 []" \
  "a conversation without messages is empty"
gateway=$(sed -n 's|.*"url":"ws\(://[^"]*\)".*|http\1|p' "$tmp/talk.out" | head -n 1)
is "$(curl -sS -o "$out" -w '%{http_code}' -H "Authorization: Bearer $secret" \
  -H 'x-openclaw-session-key: riff:not one' -d '{"model":"openclaw","input":"hello"}' \
  "$gateway/v1/responses")" 200 "a client of the gateway names a conversation as it likes"
is "$(fetch '/riff/sessions?limit=1') $(jq -c '[.sessions[] | [.conversation_id, .last]]' "$out")" \
  '200 [["other","heard open the window"]]' \
    "the conversation of the last message is given first"
is "$(fetch /riff/sessions)" 200 "the conversations are listed"
is "$(jq -c '[.sessions[] | .conversation_id] | sort | .[1:]' "$out")" \
  '["hall","kitchen","large","other"]' "all conversations but one are named as they were"
ts=$(jq '.sessions[0].ts' "$out")
is "$(fetch "/riff/sessions?since=$ts") $(jq -c '[.sessions[].conversation_id]' "$out")" \
  '200 ["other"]' "the conversations since a time are listed"
is "$(fetch '/riff/sessions?since=yesterday')" 400 "since is a number"

# --- who comes twice while it is worked on; the end
# later NAME CONVERSATION TEXT: says something and waits elsewhere.
later() {
  jq -nc --arg id "$2" --arg text "$3" '{conversation_id: $id, text: $text}' >"$tmp/$1.body"
  start "$1" curl -sv -w '\n%{http_code}\n' -H "X-Riff-Secret: $(sign "$tmp/$1.body")" \
    --data-binary "@$tmp/$1.body" "$url/riff/message"
}
later one kitchen 'wait here'
ok "a reply is being made" wait_until 10 test -s "$SAID.waits"
before=$(lines "$SAID")
later same kitchen 'wait here'
ok "somebody asks the same while the reply is made" wait_until 10 has "$tmp/same.err" '^> POST'
is "$(fetch /riff/health)" 200 "the server answers others while the reply is made"
later other kitchen 'then this'
: >"$SAID.go"
ok "the one who asked has the reply" wait_until 10 has "$tmp/one.out" '"reply":"waited"'
ok "the one who asked the same has the reply, too" \
  wait_until 10 has "$tmp/same.out" '"reply":"waited"'
ok "another message has its turn" wait_until 10 has "$tmp/other.out" '"reply":"heard then this"'
is "$(lines "$SAID")" $((before + 1)) "each message was said once"
rm -f "$SAID.go" "$SAID.waits"
# What a connection that is open asks of a server that has begun to stop.
cat >"$tmp/late.py" <<'END'
import http.client, os, sys, time
port, folder, good, signature = sys.argv[1:]
link = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
link.request("GET", "/riff/health", headers={"X-Riff-Secret": good})
print(link.getresponse().read())
open(folder + "/late.open", "w").close()
while not os.path.exists(folder + "/said.told"):
    time.sleep(0.01)
with open(folder + "/late.body", "rb") as file:
    link.request("POST", "/riff/message", file.read(), {"X-Riff-Secret": signature})
answer = link.getresponse()
print(answer.status, answer.getheader("Retry-After"), answer.read())
open(folder + "/said.go", "w").close()
END
jq -nc '{conversation_id: "late", text: "too late"}' >"$tmp/late.body"
start late python3 "$tmp/late.py" "$port" "$tmp" "$(sign "$tmp/nothing")" "$(sign "$tmp/late.body")"
late=$pid
ok "a connection is open" wait_until 10 test -e "$tmp/late.open"
later last last stay
ok "a reply is made that does not end at once" wait_until 10 test -s "$SAID.waits"
before=$(lines "$SAID")
kill "$talk"
finished "$late"
like "$(tail -n 1 "$tmp/late.out")" '^503 [1-9].*the gateway stops' \
  "a server that stops says so to a new message"
finished "$talk"
is "$status $(lines "$SAID")" "0 $before" "a server that stops begins nothing more"
start_server talk agent-serve -l 127.0.0.1:0 -D "$tmp/talk.sqlite" --token-file "$tmp/secret" \
  --voice-secret-file "$tmp/secret" --reply-command "sh $tmp/reply" --transcriber cat
talk=$pid
rm -f "$SAID.go" "$SAID.waits"
later last last 'wait now'
ok "a reply is made again" wait_until 10 test -s "$SAID.waits"
stop "$talk"
is "$status" 0 "the server stops while a reply is made"
ok "the reply command stops with the server" wait_until 10 gone "$(cat "$SAID.waits")"
ok "a client that waits is told of the end" wait_until 10 has "$tmp/last.out" '^503$'
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/talk.sqlite" \
  --voice-secret-file "$tmp/secret" --transcriber cat
is "$(fetch '/riff/conversation?conversation_id=hall') $(jq '.messages | length' "$out")" "200 2" \
  "what was said stays over a restart"
is "$(say hall x) $(jq -r .error "$out")" "503 no reply command" \
  "without a reply command the status is 503"
: >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 400 \
  "an empty clip is refused without a reply command, too"
echo said >"$tmp/clip"
is "$(post "$tmp/clip" /riff/audio -H 'X-Riff-Session-Id: hall')" 503 \
  "a clip has the status 503 without a reply command"
stop "$pid"
t 2 "who approves needs a gateway" \
  agent-serve --voice-secret-file "$tmp/secret" --reply-command cat --approve-replies
done_testing
