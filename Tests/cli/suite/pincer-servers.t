#!/bin/sh
# The Pincer servers of the tests: a Connect client that is not ours finds the same in both.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs curl jq python3
needs_peers

story() {
  run "$peers" "$cli/clients/pincer.py" "$(echo "$root"/.build/peers/pincer-*)" "$url" \
    "$pincer_token"
}
post() {
  curl -s --max-time 20 -w ' %{http_code} %{content_type}' "$@" "$url/pincer.protocol.v1.$service"
}

for kind in connect pincer; do
  "start_$kind" "$kind"
  story
  status_is 0 "$kind: the client is served"
  cp "$out" "$tmp/$kind.story"
  service=ThreadsService/ListThreads
  is "$(post -X POST)" '{"error":"unauthorized"}
 401 application/json' "$kind: who does not speak Connect is refused in the server's own shape"
  like "$(post -H 'Content-Type: application/json' -d '{}')" '"unauthenticated".* 401 ' \
    "$kind: who speaks Connect is refused in the shape of Connect"
  like "$(post -H 'Content-Type: application/json' -H "Authorization: Bearer $pincer_token" -d '')" \
    '"invalid_argument".* 400 ' "$kind: an empty body is an invalid argument"
  service=EventsService/WatchThread
  like "$(post -H 'Content-Type: application/json' -H "Authorization: Bearer $pincer_token" -d '{}')" \
    '^ 415 ' "$kind: a stream takes no bare object"
  thread=$(new_thread "$kind")
  tell "$kind" hold end
  ask "$kind" TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"read\"}" >"$tmp/sent" &
  talked() { ask "$kind" ThreadsService/GetThreadSnapshot "{\"threadId\":\"$thread\"}" |
    jq -e '.lastSequence == "7"'; }
  ok "$kind: a turn stops where it is held" wait_until 20 talked
  is "$(cat "$tmp/sent")" "" "$kind: a held turn has no answer"
  tell "$kind" release end
  ok "$kind: a held turn is answered when it is let go" wait_until 20 has "$tmp/sent" 'High water'
done
is "$(jq -r .step "$tmp/connect.story" | tail -n 1)" page "the story was told to its end"
is "$(cat "$tmp/pincer.story")" "$(cat "$tmp/connect.story")" "both servers tell the same story"
done_testing
