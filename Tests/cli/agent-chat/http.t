#!/bin/sh
# agent-chat over HTTP: Claudio's own form, and the OpenResponses endpoint of a gateway.
# Neither can tell a second try from a new message: nothing is ever sent twice.
. "${0%/*}/../lib.sh"
needs agent-chat python3 jq

log=$tmp/requests
start_server claudio python3 "$cli/servers/claudio.py" "$log"
echo S3cret-Token >"$tmp/token"
chmod 600 "$tmp/token"
cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[profile c]
kind = openclaw
url = $url
token-file = $tmp/token

[profile r]
kind = openclaw
url = $url/v1
token-file = $tmp/token

[profile whole]
kind = openclaw
url = $url/v1/responses
END
# asked FILTER: of the last request.
asked() { tail -n 1 "$log" | jq -c "$1"; }

# --- Claudio's own

t 0 "a question is answered" agent-chat -p c how are you
out_is "You said: how are you" "the answer, once"
err_empty "nothing else is said"
is "$(asked '[.method,.path,.body]')" \
  '["POST","/api/chat/agent",{"messages":[{"role":"user","content":"how are you"}]}]' \
  "is asked as the server wants it"
is "$(asked '.headers.authorization')" '"Bearer S3cret-Token"' "the token is sent"
t 0 "another agent can be asked" agent-chat -p c -a heron -o json hello
is "$(asked .body.agent)" '"heron"' "the agent is named"
is "$(jq -r '[.type,.backend,.profile,.thread,.role,.text,.state] | map(. // "") | join(" ")' "$out")" \
  'turn claudio c heron   running
message claudio c heron assistant You said: hello final
turn claudio c heron   completed' "the answer comes as records"
is "$(jq -s -r '[.[].id] | unique | length' "$out")" 1 "they have one id"
run sh -c 'printf "  two\n lines \n" | agent-chat -p c'
is "$(asked '.body.messages[0].content')" '"  two\n lines "' "standard input is the message"
run sh -c 'printf "dash" | agent-chat -p c -'
out_is "You said: dash" "so it is with -"
t 2 "what is not UTF-8" sh -c 'printf "caf\351" | agent-chat -p c'
err_is "agent-chat: standard input: not UTF-8 at byte 4" "the message tells the place"
t 2 "an empty question is refused" sh -c 'agent-chat -p c </dev/null'
err_one_line agent-chat "one line says why"
t 2 "words that are not UTF-8" agent-chat -p c "$(printf 'caf\351')"
out_empty "are not said either"

t 0 "an agent that says nothing has status 0" agent-chat -p c silence
out_empty "silence prints nothing"
: >"$log"
t 75 "an answer that is cut off" agent-chat -p c cut
out_empty "is not printed in part"
is "$(lines "$log")" 1 "and not asked for again"
t 75 "a server that is busy has status 75" agent-chat -p c busy
is "$(lines "$log")" 2 "is not asked again either"
t 75 "one that breaks has status 75" agent-chat -p c fail
err_like "it broke" "the server's reason is told"
t 77 "a token that is refused has status 77" agent-chat -p c no
err_one_line agent-chat "it is told in a line"
err_unlike S3cret "the token is not shown"
t 2 "an answer that makes no sense" agent-chat -p c odd
t 75 "an answer that takes too long" agent-chat -p c --max-time 0.3 slow
err_like "no answer in 0.3 s" "the reason is told"
t 75 "a server that is silent has status 75" agent-chat -p c --idle-timeout 0.3 slow
t 2 "threads are refused" agent-chat -p c -t side hello
t 2 "files are refused" agent-chat -p c --attach "$tmp/token" hello
t 2 "keys are refused" agent-chat -p c --key k1 hello
err_like "cannot tell a second try" "because they would keep nothing from being said twice"
t 2 "a history is refused" agent-chat -p c --history
t 2 "there is nothing to abort" agent-chat -p c --abort
start long agent-chat -p c slow
wait_until 10 has "$log" '"slow"'
stop "$pid" INT
is "$status" 130 "^C ends it by that signal"

t 0 "the agents are listed" agent-chat -p c --agents
is "$(od -An -c "$out" | tr -d ' \n')" 'heron\tGreyHeron\nstoat\tSt\e[31moat\n' \
  "a pipe has their ids and names"
run python3 "$cli/terminal.py" agent-chat -p c --agents
out_like 'heron +Grey Heron' "a terminal has a table of them"
out_like 'St\\e\[31moat' "escaped there"
run agent-chat -p c --agents -o json
is "$(jq -r .id "$out" | tr '\n' ' ')" "heron stoat " "they are listed as rows"

# --- audio

t 0 "an answer that is spoken" agent-chat -p c --speak "$tmp/a.mp3" -a stoat hello
out_is "You said: hello" "the answer is printed, too"
is "$(cat "$tmp/a.mp3")" "ID3You said: hello" "and is in the file"
is "$(asked .body)" '{"text":"You said: hello","agent":"stoat"}' \
  "it is spoken in the voice of the agent"
t 0 "an answer that cannot be spoken" agent-chat -p c --speak "$tmp/a.mp3" silent
out_is "You said: silent" "the answer is printed"
err_like '^agent-chat: no audio: .*no voice' "a line tells why"
not_ok "and no audio of another answer is left" test -s "$tmp/a.mp3"
run agent-chat -p c --speak "$tmp/a.mp3" page
err_like 'no audio$' "a web page is no audio"
: >"$log"
t 2 "a file that cannot be made is an error" agent-chat -p c --speak "$tmp/none/a.mp3" hello
is "$(lines "$log")" 0 "keeps the question from being asked"

# --- OpenResponses

t 0 "a question to the endpoint is answered" agent-chat -p r how are you
out_is "You said: how are you" "its answer"
is "$(asked '[.path,.body]')" \
  '["/v1/responses",{"model":"openclaw","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"how are you"}]}],"stream":true,"user":"agent:main:main"}]' \
  "is asked as it wants it"
is "$(asked '[.headers["x-openclaw-session-key"], .headers.authorization]')" \
  '["agent:main:main","Bearer S3cret-Token"]' "it is asked in the main conversation"
run agent-chat -p whole -a heron -t side hello
out_is "You said: hello" "the url may be the endpoint's own"
is "$(asked '[.body.model,.body.user,.headers["x-openclaw-session-key"]]')" \
  '["openclaw/heron","agent:heron:side","agent:heron:side"]' "an agent and a thread are named"
run agent-chat -p r -t agent:stoat:main hello
is "$(asked '[.body.model,.body.user]')" '["openclaw/stoat","agent:stoat:main"]' \
  "a whole key names both"
run agent-chat -p r -o json hello
is "$(jq -r '[.type,.id,.state,.text] | map(. // "") | join(" ")' "$out")" \
  'turn resp_1 running 
message resp_1 partial You 
message resp_1 partial You said
message resp_1 partial You said: he
message resp_1 partial You said: hello
message resp_1 final You said: hello
turn resp_1 completed ' "the text so far, as it grows"
is "$(tail -n 1 "$out" | jq -c '[.backend,.message,.usage]')" \
  '["openclaw","resp_1",{"input_tokens":3,"output_tokens":5}]' "and what it took"
run agent-chat -p r replace
out_is "Something else" "the done event is the answer"
run agent-chat -p r whole
out_is "You said: whole" "an answer without a stream"
run agent-chat -p r count 2000
is "$(tr -d '\n' <"$out" | cksum)" "$(seq 0 1999 | tr '\n' ' ' | cksum)" "a long one is whole"
t 0 "silence is an answer" agent-chat -p r silence
out_empty "silence prints nothing"
for word in late incomplete fail; do
  t 1 "$word: a run that failed" agent-chat -p r "$word"
  out_empty "nothing is printed of it"
  err_one_line agent-chat "the reason is told"
done
err_is "agent-chat: the agent failed: api_error: it broke" "it is told in the server's words"
: >"$log"
t 75 "a stream that is cut has status 75" agent-chat -p r cut
out_empty "nothing of it is printed"
is "$(lines "$log")" 1 "and it is not asked again"
t 75 "a busy server has status 75" agent-chat -p r busy
t 77 "refused" agent-chat -p r no
t 2 "no answer of the endpoint" agent-chat -p r odd
run agent-chat -p r --agents
is "$(cut -f 1 "$out" | tr '\n' ' ')" "openclaw/heron openclaw/stoat " "its agents are models"
printf 'GIF89a...' >"$tmp/a picture"
echo 'x,y' >"$tmp/points.csv"
run agent-chat -p r --attach "$tmp/a picture" --attach "$tmp/points.csv" look
is "$(asked '.body.input[0].content[1:]')" \
  '[{"type":"input_image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhLi4u"}},{"type":"input_file","source":{"type":"base64","media_type":"text/csv","data":"eCx5Cg==","filename":"points.csv"}}]' \
  "files are sent"

# --- at a terminal

run python3 "$cli/terminal.py" agent-chat -p r replace
out_like 'You said: replace' "the stream is shown"
out_like 'replaced by:' "that it was replaced is said"
out_like '^Something else' "and the new text is shown whole"
run python3 "$cli/terminal.py" agent-chat -p r "$(printf '\033]0;x\007')"
out_like '^You said: \\e\]0;x\\x07' "what a terminal would obey is escaped"


t 2 "a name that makes too long a session key is an error" \
  agent-chat -p r -t "$(head -c 510 /dev/zero | tr '\0' x)" hello
err_like 'session key would have 521 characters' "the message tells the length"
done_testing
