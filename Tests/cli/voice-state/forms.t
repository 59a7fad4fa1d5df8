#!/bin/sh
# voice-state: the sessions now, in every form, and how it ends.
. "${0%/*}/../lib.sh"
needs python3 jq curl
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

voice=$root/Tests/fixtures/voice
widest() { python3 -c 'import sys; print(max(map(len, open(sys.argv[1], encoding="utf-8").read().split("\n"))))' "$out"; }
put() { curl -sf -X PUT -H 'content-type: application/json' --data-binary "@$1" "$url/api/voice/state"; }
umask 077
echo sample-token >"$tmp/token"
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite"
AGENT_URL=$url
export AGENT_URL

# No session.
t 0 "no session is no failure" voice-state
out_is "No voice session." "the output says so"
t 1 "-q says it with the status" voice-state -q
out_empty "nothing else is printed"
err_empty "nothing is on either file"
t 0 "no session is no failure as json" voice-state -o json
out_empty "nothing is printed"
run voice-state -o line
out_like '^20[0-9-]*T[0-9:.]*Z - no voice session$' "a line says it"
run voice-state -o waybar
is "$(jq -c '[.text, .alt, .class]' "$out")" '["","none",["none"]]' "waybar gets an empty text, which hides it"
run voice-state -o tmux
out_is "" "tmux gets nothing"
run voice-state -o i3
is "$(jq -r .full_text "$out")" "" "i3 gets nothing, either"

# One session.
ok "a state is put" put "$voice/full.json"
t 0 "-q: a session is active" voice-state -q
out_empty "nothing is said"
t 0 "the sessions are shown" voice-state
out_like 'OpenAI RT' "they have their head"
out_like '^-- Realtime provider' "they have panels"
unlike "$(cat "$out")" "$(printf '\033')" "a pipe gets no colour"
run voice-state -W 44 --panel session,music
is "$(widest)" 44 "-W is the width"
out_like 'Music' "--panel shows panels"
out_unlike 'Realtime provider' "other panels are not shown"
COLUMNS=50 run voice-state --panel session
is "$(widest)" 50 "watch(1) tells the width in COLUMNS"
run voice-state --color always
like "$(cat "$out")" "$(printf '\033')\[" "--color always keeps the colour"
run voice-state -o json
curl -sf "$url/api/voice/state" >"$tmp/state"
is "$(lines "$out")" 1 "json has a line for each"
ok "the line has the session's own bytes" python3 -c '
import sys
line = open(sys.argv[1], "rb").read().rstrip(b"\n")
sys.exit(line not in open(sys.argv[2], "rb").read().replace(b"\n", b" "))' "$out" "$tmp/state"
id=$(jq -r .sessionId "$out")
guild=$(jq -r .guildId "$out")
run voice-state -o line
out_like "^20.*Z $(printf %s "$id" | cut -c1-8) processing · Kei talks; .*OpenAI RT; 4 people; ACTIVE; tool .* runs; music Slow Rotation" "a line tells it"
run voice-state -o waybar
is "$(jq -r .alt "$out")" processing "waybar: what it does"
is "$(jq -c .class "$out")" '["processing","tool"]' "waybar gets classes"
run voice-state -o tmux
out_like '^processing .* Kei talks$' "tmux gets one line"
run voice-state -o i3
like "$(jq -r .color "$out")" '^#[0-9a-f]{6}$' "i3 gets a colour"
for form in json line waybar tmux i3; do
  run voice-state -o "$form"
  is "$(lines "$out")" 1 "$form is one line"
done

# The agent's state and the people who talk are told apart; sessions are counted in words.
jq -c '.sessions[0] |= (.botTurnOpen = true | .activeCaptures = [{userId: "1", displayName: "Fig"}, {userId: "2", displayName: "Tomas"}]) | .sessions += [.sessions[0] | .sessionId = "b"]' \
  "$voice/full.json" >"$tmp/both"
run voice-state -o tmux "$tmp/both"
out_like '^speaking [0-9hdm]* · Fig \+1 talk · 2 sessions$' "the agent speaks, two people talk, in two sessions"
run voice-state -o line "$tmp/both"
out_like ' speaking · Fig, Tomas talk; ' "a line names two who talk"

# A sign under a mark is the sign, to Pango and to tmux.
jq -c '.sessions[0].activeCaptures = [{userId: "1", displayName: "<\u0301#\u20e3"}]' "$voice/full.json" >"$tmp/marked"
run voice-state -o waybar "$tmp/marked"
unlike "$(jq -r '.text, .tooltip' "$out")" '<' "waybar gets no markup of others"
run voice-state -o tmux "$tmp/marked"
out_like '##' "tmux gets no format of others"

# Which sessions.
t 0 "-g finds a session of the guild" voice-state -q -g "$guild"
t 1 "-g finds none of another guild" voice-state -q -g 1
t 0 "-s takes the beginning of an id" voice-state -q -s "$(printf %s "$id" | cut -c1-6)"
run voice-state -o json -s "$id"
is "$(lines "$out")" 1 "-s takes all of it, too"
t 1 "-s names a session that does not exist" voice-state -s nobody
err_is "voice-state: session nobody: not active" "the message names the session"

# Prompts.
t 0 "--prompt succeeds" voice-state --prompt generation
want=$(jq -r '.sessions[0].promptState.generation.replyPrompts.systemPrompt' "$voice/full.json")
ok "the whole prompt is printed" python3 -c 'import sys; sys.exit(sys.argv[2] not in open(sys.argv[1]).read())' "$out" "$want"
put "$voice/minimal.json" >"$tmp/put"
t 1 "a prompt that is not there has status 1" voice-state --prompt bridge
err_is "voice-state: prompt bridge: not known" "the message names the prompt"
for state in minimal spec null wrong empty hostile scripts troubled; do
  put "$voice/$state.json" >"$tmp/put" || continue
  for width in 40 80 200; do
    run voice-state -W "$width"
    [ "$status" -eq 0 ] || break
  done
  status_is 0 "the state $state is shown"
done

# A state that comes by itself, and its history. The session began before.
t 0 "a history may be empty" voice-state history
out_is "No past voice session." "the empty history says so"

# Usage.
usage() {
  t 2 "voice-state $* is refused" voice-state "$@"
  is "$(tail -n 1 "$err")" "usage: voice-state [options] [FILE | - | history | replay SESSION]" "the usage is shown"
}
usage --panel nothing
is "$(head -n 1 "$err")" "voice-state: --panel nothing: no such panel; there are $(voice-state --completions words --panel '' | paste -s -d , - | sed 's/,/, /g')" "with the names of all panels"
usage -o html
usage --prompt secret
usage -q -w
usage -n 0 -w
usage -W 10
usage --speed 0 -
usage history -w
usage history -o tmux
usage replay
usage a b
usage -s "" -q
usage -g "" -q
usage --since 1h

# What can go wrong with a backend.
AGENT_URL=http://127.0.0.1:1 run voice-state -q
status_is 75 "without a backend the status is 75"
err_one_line voice-state "one line says it"
# What a bar shows of it is what agent-status(1) shows.
for form in waybar tmux i3; do
  AGENT_URL=http://127.0.0.1:1 run voice-state -o "$form"
  status_is 0 "a bar hides a block whose command fails: $form"
  is "$(lines "$out")" 1 "it gets one line"
  err_one_line voice-state "and the reason is said beside it"
  AGENT_URL=http://127.0.0.1:1 agent-status -o "$form" >"$tmp/like" 2>/dev/null
  case $form in
  waybar) is "$(jq -c '[.text, .alt, .class]' "$out")" "$(jq -c '[.text, .alt, .class]' "$tmp/like")" "as agent-status's" ;;
  tmux) ok "as agent-status's" cmp "$out" "$tmp/like" ;;
  i3) is "$(jq -c '[.full_text, .short_text, .color, .markup]' "$out")" \
    "$(jq -c '[.full_text, .short_text, .color, .markup]' "$tmp/like")" "as agent-status's" ;;
  esac
done
out_like '"full_text":"○ unreachable"' "i3 is told that it is unreachable"
AGENT_URL=http://127.0.0.1:1 run voice-state -o line
status_is 75 "a line is for a script as well"
out_like '^20[0-9-]*T[0-9:.]*Z - ○ unreachable: http://127.0.0.1:1/api/voice/state: ' "which is told more"
AGENT_URL=http://127.0.0.1:1 run voice-state -o json
status_is 75 "records are none"
out_empty "when nobody answers"
AGENT_URL=http://127.0.0.1:1 run voice-state -w --max-time 1 -o tmux
out_is "#[fg=#dc2626]○#[default] unreachable" "a bar that follows is told, too"
unset AGENT_URL
run voice-state -o tmux
out_is "#[fg=#dc2626]○#[default] unknown" "a mistake in the settings is another state"
t 2 "a URL is needed" voice-state
err_like 'AGENT_URL' "says what to set"
serve <<'END'
on /api/voice/state
status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}
---
on /api/voice/state
status 404 application/json {"error":"Not found."}
---
on /api/voice/state
status 503 application/json {"error":"dashboard_token_required_when_public_https_enabled"}
---
on /api/voice/state
status 502 text/html <html><body>\e[31mtunnel</body></html>
---
on /api/voice/state
status 200 application/json [1,2
---
on /api/voice/state
status 200 text/html <html>
---
on /api/voice/state
status 200 application/json {"activeCount":2,"sessions":null,"more":1}
---
on /api/voice/state
status 200 application/json {"sessions":[3,null,{"sessionId":7},"x"]}
END
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/token
export AGENT_URL AGENT_TOKEN_FILE
for want in 77 77 77 75 2 2; do
  t "$want" "the status is $want" voice-state -q
  err_one_line voice-state "one line says it"
  err_unlike 'sample-token' "the token is not shown"
  unlike "$(cat "$err")" "$(printf '\033')" "no escape is in it"
done
t 0 "a count without sessions is a session" voice-state -q
t 0 "elements that are no sessions are passed over" voice-state -o line
is "$(lines "$out")" 1 "the rest is shown"
script <<'END'
on /api/voice/state
stall
END
t 75 "a backend that does not answer in time has status 75" \
  voice-state -q --max-time 0.3 --idle-timeout 0
script <<'END'
on /api/voice/state
status 200 application/json {"activeCount":0,"sessions":[]}
END
run voice-state -q
is "$(requests '.headers["x-dashboard-token"] // .headers["X-Dashboard-Token"]' | sort -u)" sample-token "the token is sent"

done_testing
