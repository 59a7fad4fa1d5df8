#!/bin/sh
# voice-state -w in a pipe: the stream, its loss and its return.
. "${0%/*}/../lib.sh"
needs python3 jq

python3 - "$root/Tests/fixtures/voice/full.json" "$tmp/state" <<'END'
import json, sys
state = json.load(open(sys.argv[1]))
open(sys.argv[2], "w").write("event: voice_state\ndata: " + json.dumps(state) + "\n\n")
END
id=5e1f0c2a
words() { cut -d' ' -f2- "$1"; }

# A state, an event, a loss, a state again; the stream ends with a 204.
serve <<'END'
stream
file state 700
send event: voice_event\ndata: {"kind":"voice_runtime","content":"realtime_tool_call_started","createdAt":"2026-06-15T21:00:06.000Z","guildId":"640100000000000007","metadata":{"sessionId":"@ID@","callId":"c9","toolName":"dome_turn"}}\n\n
send : heartbeat\n\nevent: unknown\ndata: x\n\nevent: voice_state\ndata: {"cut\n\n
reset
---
stream
file state
send event: voice_state\ndata: {"activeCount":0,"sessions":[]}\n\n
---
status 204
END
sid=$(jq -r '.sessions[0].sessionId' "$root/Tests/fixtures/voice/full.json")
sed -i "s/@ID@/$sid/" "$tmp/script"
AGENT_URL=$url
export AGENT_URL
t 2 "a watch that ends by 204 has status 2 after a bad event" voice-state -w --retry-wait 0.05 -v
err_like "^voice-state: $url/api/voice/events: voice_state: not JSON: unterminated string at byte [0-9]+\$" \
  "a bad event is told with the stream and the reason"
words "$out" >"$tmp/words"
like "$(sed -n 1p "$tmp/words")" "^$id now: processing · Kei talks" \
  "a watch begins with the state now"
is "$(sed -n 2p "$tmp/words")" "$id tool dome_turn runs" "an event is told at once"
like "$(sed -n 3p "$tmp/words")" '^- down for 0 s, next try in 1 s, state 0 s old: ' \
  "a watch tells that the link is down"
is "$(sed -n 4p "$tmp/words")" "- live" "a watch tells that the link is back"
is "$(sed -n 5p "$tmp/words")" "$id ends" "a watch tells the end of the session"
unlike "$(cat "$tmp/words")" 'dome_turn done' "a call whose end was missed is not told to have ended"
err_like '^voice-state: stream is down: .*; next try in ' "-v notes the link on standard error"
err_like '^voice-state: stream is back after ' "-v notes the return of the link on standard error"
is "$(requests '.headers | (.accept // .Accept)' | sort -u)" "text/event-stream" \
  "voice-state asks for a stream"
is "$(requests .path | sort -u)" "/api/voice/events" "voice-state asks for the voice stream"

# Bad events: each is told, ten of them by name; what follows is shown.
script <<'END'
stream
send event: voice_state\ndata: {"activeCount":1,"sessions":17}\n\n
send event: voice_state\ndata: <html>\n\n
send event: voice_state\ndata: {"activeCount":2,"sessions":[5,{"sessionId":"s1"}]}\n\n
send event: voice_event\ndata: garbage\n\nevent: voice_event\ndata: {"no":"kind"}\n\n
send event: action_event\ndata: {"kind":7}\n\nevent: action_event\ndata: {"kind":"llm_call"}\n\n
repeat 12 event: voice_state\ndata: []\n\n
send event: voice_state\ndata: {"activeCount":1,"sessions":[{"sessionId":"s2"}]}\n\n
---
status 204
END
t 2 "bad events have status 2 at the end" voice-state -w -o json --retry-wait 0.05
is "$(jq -r .sessionId "$out" | xargs)" "s1 s2" "good events beside bad ones are shown"
is "$(lines "$err") $(tail -n 1 "$err")" "11 voice-state: 8 more bad events" \
  "ten bad events are told and the others counted"
is "$(sed -n "s|^voice-state: $url/api/voice/events: ||p" "$err" | head -n 7)" "voice_state: not a voice state
voice_state: not JSON: a word without quotes at byte 0
voice_state: 1 of 2 sessions are not objects
voice_event: not JSON: a word without quotes at byte 0
voice_event: not an action
action_event: not an action
voice_state: not a voice state" "the reasons of bad events are told"
script <<'END'
stream
send event: voice_state\ndata: "
fill 67108864 x
send "\n\nevent: voice_state\ndata: {"activeCount":1,"sessions":[{"sessionId":"s3"}]}\n\n
---
status 204
END
run voice-state -w -o json --retry-wait 0.05
is "$status $(jq -r .sessionId "$out")" "2 s3" "an event of more than 64 MiB is dropped"
err_like ": event of [0-9]+ bytes or more dropped: over 67108864\$" \
  "the message on an event that is too large tells the limit"

# Counting.
script <<'END'
forever
stream
file state
stall
END
t 0 "-n 1 ends a watch" voice-state -w -n 1
is "$(lines "$out")" 1 "-n 1 prints one line"
run voice-state -w -n 1 -o json
is "$(jq -r .sessionId "$out")" "$sid" "-n 1 -o json prints one session's bytes"
t 0 "--max-time ends a watch with the stream open" voice-state -w --max-time 0.3 -o tmux
is "$(lines "$out")" 1 "the bar is printed once when nothing changes"

# Stale within ten seconds, in words; and fresh again.
script <<'END'
stream
file state
await fresh
file state
stall
END
start watch voice-state -w
ok "the state of a watch is told" wait_until 30 has "$tmp/watch.out" ' now: '
began=$(date +%s)
ok "a state that does not come is stale" wait_until 30 has "$tmp/watch.out" '^20[^ ]* - stale: state 1[0-9] s old$'
took=$(($(date +%s) - began))
ok "a state is stale after ten seconds: $took" test "$took" -ge 8 -a "$took" -le 25
: >"$tmp/fresh"
ok "a state that comes again is live" wait_until 30 has "$tmp/watch.out" ' - live$'

# What ends it.
for signal in INT TERM HUP; do
  script <<'END'
stream
file state
stall
END
  start watch voice-state -w
  wait_until 30 has "$tmp/watch.out" ' now: '
  stop "$pid" "$signal"
  case $signal in INT) want=130 ;; TERM) want=143 ;; HUP) want=129 ;; esac
  is "$status" "$want" "$signal ends it by that signal"
done
script <<'END'
forever
status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}
END
t 77 "a stream that answers 401 has status 77" voice-state -w
err_one_line voice-state "an answer 401 is told in one line"
err_like 'no token was sent' "the message on an answer 401 says that no token was sent"
script <<'END'
forever
status 404 text/plain Not found.
END
t 2 "a stream that answers 404 has status 2" voice-state -w
err_one_line voice-state "an answer 404 is told in one line"
script <<'END'
forever
status 503 text/plain busy
END
t 75 "a watch that gives up has status 75" voice-state -w --max-retries 2 --retry-wait 0.01
err_like 'gave up after 2 retries: 503' "the message of a watch that gives up names the retries"
is "$(requests .n | wc -l | tr -d ' ')" 3 "two retries were made"
t 75 "a stream that does not come in time is an error" voice-state -w --max-time 0.2 --retry-wait 5
script <<'END'
stream
stall
---
stream
file state
stall
END
t 0 "silence counts as a loss" voice-state -w -n 1 --idle-timeout 0.5 --retry-wait 0.05
script <<'END'
stream
file state
stall
END
run sh -c 'voice-state -w | head -n 1'
ok "a reader that goes away ends a watch" test "$status" -eq 0

# In a bar nothing stays that is no longer known.
block() {
  case $1 in
  waybar) tail -n 1 "$out" | jq -r .text ;;
  i3) tail -n 1 "$out" | jq -r .full_text ;;
  tmux) tail -n 1 "$out" | sed 's/#\[[^]]*\]//g' ;;
  esac
}
for form in waybar tmux i3; do
  for refusal in '401 application/json {"error":"Unauthorized."}:77:refused' \
    '404 text/plain Not found.:2:unknown' '503 text/plain busy:75:unreachable'; do
    state=${refusal##*:}
    want=${refusal%:*}
    printf 'stream\nfile state\n---\nforever\nstatus %s\n' "${want%:*}" | script
    t "${want##*:}" "$form: ${want%:*} after a session ends it" \
      voice-state -w -o "$form" --max-retries 1 --retry-wait 0.01
    is "$(block "$form")" "○ $state" "the last block of $form is $state after a session"
    isnt "$(head -n 1 "$out")" "$(tail -n 1 "$out")" \
      "the block of the failure comes behind that of the session: $form"
    unlike "$(cat "$out")" "$(printf '\033')" "the blocks of $form have no escapes"
  done
  t 77 "$form: a token that is not there is refused" \
    voice-state -w -o "$form" --token-file "$tmp/no-such"
  is "$(block "$form") $(lines "$out")" "○ refused 1" \
    "a token that is not there gives a block, too: $form"
  t 2 "$form: a mistake in the settings is an error" env AGENT_URL= voice-state -w -o "$form"
  is "$(block "$form")" "○ unknown" "a mistake in the settings gives the block unknown: $form"
done
run voice-state -w -o line --token-file "$tmp/no-such"
out_empty "-o line prints nothing of a token that is not there"

done_testing
