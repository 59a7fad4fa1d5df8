#!/bin/sh
# agent-serve: replies over plain HTTP on the gateway's port, with curl.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq

printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
printf 'Authorization: Bearer sample-token' >"$tmp/header"
cat >"$tmp/reply" <<'END'
read -r word rest
case $word in
fail) echo partly; echo "no luck" >&2; exit 1 ;;
slow) echo $$ >"$PLACE"; echo begun; exec sleep 1000 ;;
silent) ;;
*) printf '%s\n' "$word${rest:+ $rest}" ;;
esac
END
PLACE=$tmp/place
export PLACE
start_server http agent-serve -l 127.0.0.1:0 --gateway 0 -D :memory: --token-file "$tmp/token" \
  --reply-command "sh $tmp/reply"
http=$(sed -n 's/.*"type":"gateway","url":"ws\([^"]*\)".*/http\1/p' "$tmp/http.out")

# ask PATH [CURL-OPTION...]: with the token; the status on the last line
ask() {
  _path=$1
  shift
  curl -sS -m 20 -H @"$tmp/header" -w '\n%{http_code}' "$@" "$http$_path"
}
responses() { ask /v1/responses -H 'Content-Type: application/json' -d "$@"; }
post() { responses "$1" >"$out"; }
status_of() { tail -n 1; }

# --- who may
is "$(curl -s -o /dev/null -w '%{http_code}' -d '{}' "$http/v1/responses")" 401 \
  "no token is refused"
is "$(curl -s -H 'Authorization: Bearer wrong' -d '{}' "$http/v1/responses" | jq -c .error)" \
  '{"message":"Unauthorized","type":"unauthorized"}' "a wrong token is refused"
is "$(curl -s -o /dev/null -w '%{http_code}' "$http/api/agents")" 401 "the agents are refused, too"
is "$(ask /v1/responses | status_of)" 405 "a GET of what is posted is refused"
is "$(ask /api/tts -d '{}' | status_of)" 404 "a path that does not exist is not found"

# --- POST /v1/responses
post '{"model":"openclaw","input":"hello there"}'
is "$(jq -c 'select(.object) | [.status, .model, .output[0].content[0].text]' "$out" 2>/dev/null |
  head -n 1)" '["completed","openclaw","hello there"]' "a question has its answer"
is "$(status_of <"$out")" 200 "the status of an answer is 200"
like "$(head -n 1 "$out" | jq -r .id)" '^resp_' "the answer has an id"
items='{"model":"openclaw/main","input":[{"type":"message","role":"system","content":"be short"},
  {"type":"message","role":"user","content":"first"},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"}]},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"last"},
    {"type":"input_text","text":"words"}]}]}'
is "$(responses "$items" | head -n 1 | jq -r '.output[0].content[0].text')" "last" \
  "the last of several messages counts, here its first line"
is "$(responses '{"model":"openclaw","input":[{"type":"function_call_output","call_id":"c","output":"42"}]}' |
  head -n 1 | jq -r '.output[0].content[0].text')" "42" "what a tool said counts as the message"
is "$(responses '{"model":"openclaw","input":"silent"}' | head -n 1 | jq -r '.output[0].content[0].text')" \
  "No response from OpenClaw." "a reply without a word says so"
post '{"model":"openclaw","input":"fail"}'
is "$(head -n 1 "$out" | jq -c '[.status, .error.message]')" \
  '["failed","reply command: exit status 1: no luck"]' "a reply that fails is answered as failed"
is "$(status_of <"$out")" 500 "the status of a reply that fails is 500"
while read -r body; do
  post "$body"
  is "$(status_of <"$out")" 400 "a body is refused with 400: $body"
done <<'END'
{"model":"openclaw","input":"x","colour":"red"}
{"model":"openclaw"}
{"input":"x"}
{"model":"gpt-5","input":"x"}
{"model":"openclaw","input":[]}
{"model":"openclaw","input":7}
{"model":"openclaw","input":[{"type":"message","role":"user","content":[{"type":"input_image","source":{}}]}]}
{"model":
END

# --- as a stream
post '{"model":"openclaw","input":"a stream of words","stream":true}'
sed -n 's/^event: //p' "$out" | uniq >"$tmp/events"
is "$(tr '\n' ' ' <"$tmp/events")" "response.created response.in_progress \
response.output_item.added response.content_part.added response.output_text.delta \
response.output_text.done response.content_part.done response.output_item.done \
response.completed " "the events of a stream are in their order"
is "$(sed -n 's/^data: {/{/p' "$out" | jq -r 'select(.type == "response.output_text.delta").delta' |
  tr -d '\n')" "a stream of words" "the pieces of a stream are the text"
is "$(sed -n 's/^data: {/{/p' "$out" | jq -r 'select(.type == "response.output_text.done").text')" \
  "a stream of words" "the end of a stream has the text whole"
is "$(sed -n '/^event: /{N; s/event: \(.*\)\ndata: {"type":"\([^"]*\)".*/\1 \2/p;}' "$out" |
  awk '$1 != $2' | wc -l | tr -d ' ')" 0 "each event of a stream is named twice alike"
is "$(grep -c '^data: \[DONE\]$' "$out")" 1 "the last line of a stream says that it is the last"
post '{"model":"openclaw","input":"fail","stream":true}'
is "$(sed -n 's/^event: //p' "$out" | tail -n 1)" response.failed "a failure ends a stream"

# --- who goes away wants no reply
start gone curl -sN -H @"$tmp/header" -d '{"model":"openclaw","input":"slow","stream":true}' \
  "$http/v1/responses"
ok "a slow reply begins" wait_until 10 has "$tmp/gone.out" begun
stop "$pid"
ok "a client that goes away ends its reply" wait_until 10 gone "$(cat "$tmp/place")"
for form in '/v1/responses {"model":"openclaw","input":"slow"}' \
  '/api/chat/agent {"messages":[{"role":"user","content":"slow"}]}'; do
  rm -f "$tmp/place"
  start gone curl -s -H @"$tmp/header" -d "${form#* }" "$http${form%% *}"
  ok "${form%% *}: a slow reply begins" wait_until 10 test -s "$tmp/place"
  stop "$pid"
  ok "${form%% *}: a slow reply ends with its client" wait_until 10 gone "$(cat "$tmp/place")"
done

# --- Claudio's form
is "$(ask /api/agents | head -n 1 | jq -r '.agents[0].id')" main \
  "the agents are listed in Claudio's form"
is "$(ask /api/chat/agent -d '{"messages":[{"role":"user","content":"old"},
  {"role":"assistant","content":"x"},{"role":"user","content":"new words"}],"agent":"main"}' |
  head -n 1 | jq -c .)" '{"choices":[{"message":{"role":"assistant","content":"new words"}}]}' \
  "a chat is answered"
is "$(ask /api/chat/agent -d '{"messages":[]}' | status_of)" 400 \
  "a chat without a message is refused"
is "$(ask /api/chat/agent -d '{"messages":[{"role":"user","content":"x"}],"agent":"other"}' |
  status_of)" 400 "a chat with another agent is refused"
is "$(ask /api/chat/agent -d '{"messages":[{"role":"user","content":"fail"}]}' | status_of)" 500 \
  "a chat that fails is answered with 500"
done_testing
