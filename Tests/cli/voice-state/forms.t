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
t 0 "no session has status 0" voice-state
out_is "No voice session." "the output says that no session is active"
t 1 "-q has status 1 where no session is active" voice-state -q
out_empty "-q prints nothing where no session is active"
err_empty "-q says nothing on standard error where no session is active"
t 0 "-o json without a session has status 0" voice-state -o json
out_empty "-o json prints nothing without a session"
run voice-state -o line
out_like '^20[0-9-]*T[0-9:.]*Z - no voice session$' "-o line says that no session is active"
run voice-state -o waybar
is "$(jq -c '[.text, .alt, .class]' "$out")" '["","none",["none"]]' "waybar gets an empty text, which hides it"
run voice-state -o tmux
out_is "" "tmux gets nothing without a session"
run voice-state -o i3
is "$(jq -r .full_text "$out")" "" "i3 gets nothing without a session"

# One session.
ok "a state is put" put "$voice/full.json"
t 0 "-q has status 0 where a session is active" voice-state -q
out_empty "-q prints nothing where a session is active"
t 0 "the sessions are shown" voice-state
out_like 'OpenAI RT' "the shown session has its head"
out_like '^-- Realtime provider' "the shown session has panels"
unlike "$(cat "$out")" "$(printf '\033')" "a pipe gets no colour"
run voice-state -W 44 --panel session,music
is "$(widest)" 44 "-W is the width"
out_like 'Music' "--panel shows panels"
out_unlike 'Realtime provider' "--panel hides other panels"
COLUMNS=50 run voice-state --panel session
is "$(widest)" 50 "watch(1) tells the width in COLUMNS"
run voice-state --color always
like "$(cat "$out")" "$(printf '\033')\[" "--color always keeps the colour"
run voice-state -o json
curl -sf "$url/api/voice/state" >"$tmp/state"
is "$(lines "$out")" 1 "-o json prints a line for each session"
ok "the line has the session's own bytes" python3 -c '
import sys
line = open(sys.argv[1], "rb").read().rstrip(b"\n")
sys.exit(line not in open(sys.argv[2], "rb").read().replace(b"\n", b" "))' "$out" "$tmp/state"
id=$(jq -r .sessionId "$out")
guild=$(jq -r .guildId "$out")
run voice-state -o line
out_like "^20.*Z $(printf %s "$id" | cut -c1-8) processing · Kei talks; .*OpenAI RT; 4 people; ACTIVE; tool .* runs; music Slow Rotation" \
  "-o line tells the session in one line"
run voice-state -o waybar
is "$(jq -r .alt "$out")" processing "waybar gets what the session does"
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
t 1 "-g finds no session of another guild" voice-state -q -g 1
t 0 "-s takes the beginning of an id" voice-state -q -s "$(printf %s "$id" | cut -c1-6)"
run voice-state -o json -s "$id"
is "$(lines "$out")" 1 "-s takes a whole id, too"
t 1 "a session that does not exist has status 1" voice-state -s nobody
err_is "voice-state: session nobody: not active" "the message names the session that does not exist"

# Prompts.
t 0 "--prompt succeeds" voice-state --prompt generation
want=$(jq -r '.sessions[0].promptState.generation.replyPrompts.systemPrompt' "$voice/full.json")
ok "--prompt prints the whole prompt" \
  python3 -c 'import sys; sys.exit(sys.argv[2] not in open(sys.argv[1]).read())' "$out" "$want"
put "$voice/minimal.json" >"$tmp/put"
t 1 "a prompt that is not there has status 1" voice-state --prompt bridge
err_is "voice-state: prompt bridge: not known" "the message names the prompt that is not there"
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
  is "$(tail -n 1 "$err")" "usage: voice-state [options] [FILE | - | history | replay SESSION]" \
    "the usage is shown after voice-state $*"
}
usage --panel nothing
is "$(head -n 1 "$err")" "voice-state: --panel nothing: no such panel; there are $(voice-state --completions words --panel '' | paste -s -d , - | sed 's/,/, /g')" \
  "the message on a bad --panel names all panels"
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
status_is 75 "a missing backend has status 75"
err_one_line voice-state "a missing backend is told in one line"
# What a bar shows of it is what agent-status(1) shows.
for form in waybar tmux i3; do
  AGENT_URL=http://127.0.0.1:1 run voice-state -o "$form"
  status_is 0 "voice-state for $form has status 0 where the backend is missing"
  is "$(lines "$out")" 1 "$form gets one line where the backend is missing"
  err_one_line voice-state "the reason is told beside the block for $form"
  AGENT_URL=http://127.0.0.1:1 agent-status -o "$form" >"$tmp/like" 2>/dev/null
  case $form in
  waybar) is "$(jq -c '[.text, .alt, .class]' "$out")" \
    "$(jq -c '[.text, .alt, .class]' "$tmp/like")" "the block for waybar is agent-status's" ;;
  tmux) ok "the block for tmux is agent-status's" cmp "$out" "$tmp/like" ;;
  i3) is "$(jq -c '[.full_text, .short_text, .color, .markup]' "$out")" \
    "$(jq -c '[.full_text, .short_text, .color, .markup]' "$tmp/like")" \
    "the block for i3 is agent-status's" ;;
  esac
done
out_like '"full_text":"○ unreachable"' "i3 is told that the backend is unreachable"
AGENT_URL=http://127.0.0.1:1 run voice-state -o line
status_is 75 "-o line has status 75 where the backend is missing"
out_like '^20[0-9-]*T[0-9:.]*Z - ○ unreachable: http://127.0.0.1:1/api/voice/state: ' \
  "-o line names the URL that is unreachable"
AGENT_URL=http://127.0.0.1:1 run voice-state -o json
status_is 75 "-o json has status 75 where the backend is missing"
out_empty "-o json prints nothing where the backend is missing"
AGENT_URL=http://127.0.0.1:1 run voice-state -w --max-time 1 -o tmux
out_is "#[fg=#dc2626]○#[default] unreachable" \
  "a bar that follows is told that the backend is unreachable"
unset AGENT_URL
run voice-state -o tmux
out_is "#[fg=#dc2626]○#[default] unknown" \
  "a bar is told that a mistake in the settings leaves the state unknown"
t 2 "a missing URL has status 2" voice-state
err_like 'AGENT_URL' "the message on a missing URL says what to set"
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
  t "$want" "an answer that is refused or bad has status $want" voice-state -q
  err_one_line voice-state "an answer with status $want is told in one line"
  err_unlike 'sample-token' "the token is not shown with status $want"
  unlike "$(cat "$err")" "$(printf '\033')" "no escape is in the message with status $want"
done
t 0 "a count without sessions counts as a session" voice-state -q
t 0 "elements that are not sessions are passed over" voice-state -o line
is "$(lines "$out")" 1 "the session beside elements that are not sessions is shown"
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
is "$(requests '.headers["x-dashboard-token"] // .headers["X-Dashboard-Token"]' | sort -u)" sample-token \
  "-q sends the token"

done_testing
