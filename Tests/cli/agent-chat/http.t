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
out_is "You said: how are you" "an answer over HTTP is printed once"
err_empty "nothing else is said beside an answer over HTTP"
is "$(asked '[.method,.path,.body]')" \
  '["POST","/api/chat/agent",{"messages":[{"role":"user","content":"how are you"}]}]' \
  "a question is asked as the server wants it"
is "$(asked '.headers.authorization')" '"Bearer S3cret-Token"' "the token is sent"
t 0 "another agent can be asked" agent-chat -p c -a heron -o json hello
is "$(asked .body.agent)" '"heron"' "the agent is named"
is "$(jq -r '[.type,.backend,.profile,.thread,.role,.text,.state] | map(. // "") | join(" ")' "$out")" \
  'turn claudio c heron   running
message claudio c heron assistant You said: hello final
turn claudio c heron   completed' "the answer comes as records"
is "$(jq -s -r '[.[].id] | unique | length' "$out")" 1 "the records of an answer have one id"
run sh -c 'printf "  two\n lines \n" | agent-chat -p c'
is "$(asked '.body.messages[0].content')" '"  two\n lines "' "standard input is the message"
run sh -c 'printf "dash" | agent-chat -p c -'
out_is "You said: dash" "standard input is the message with -"
t 2 "a standard input that is not UTF-8 is an error" sh -c 'printf "caf\351" | agent-chat -p c'
err_is "agent-chat: standard input: not UTF-8 at byte 4" \
  "the message tells the place that is not UTF-8"
t 2 "an empty question is refused" sh -c 'agent-chat -p c </dev/null'
err_one_line agent-chat "the refusal of an empty question is one line"
t 2 "words that are not UTF-8 are an error" agent-chat -p c "$(printf 'caf\351')"
out_empty "words that are not UTF-8 are not said"

t 0 "an agent that says nothing has status 0" agent-chat -p c silence
out_empty "silence prints nothing"
: >"$log"
t 75 "an answer that is cut off has status 75" agent-chat -p c cut
out_empty "an answer that is cut off is not printed in part"
is "$(lines "$log")" 1 "an answer that is cut off is not asked for again"
t 75 "a server that is busy has status 75" agent-chat -p c busy
is "$(lines "$log")" 2 "a server that is busy is not asked again"
t 75 "a server that breaks has status 75" agent-chat -p c fail
err_like "it broke" "the server's reason is told"
t 77 "a token that is refused has status 77" agent-chat -p c no
err_one_line agent-chat "a token that is refused is told in a line"
err_unlike S3cret "a token that is refused is not shown"
t 2 "an answer that makes no sense is an error" agent-chat -p c odd
t 75 "an answer that takes too long has status 75" agent-chat -p c --max-time 0.3 slow
err_like "no answer in 0.3 s" "an answer that takes too long is told"
t 75 "a server that is silent has status 75" agent-chat -p c --idle-timeout 0.3 slow
t 2 "threads are refused" agent-chat -p c -t side hello
t 2 "files are refused" agent-chat -p c --attach "$tmp/token" hello
t 2 "keys are refused" agent-chat -p c --key k1 hello
err_like "cannot tell a second try" \
  "keys are refused because they would not keep words from being said twice"
t 2 "a history is refused" agent-chat -p c --history
t 2 "--abort is refused, as there is nothing to abort" agent-chat -p c --abort
start long agent-chat -p c slow
wait_until 10 has "$log" '"slow"'
stop "$pid" INT
is "$status" 130 "^C ends the command by that signal"

t 0 "the agents are listed" agent-chat -p c --agents
is "$(od -An -c "$out" | tr -d ' \n')" 'heron\tGreyHeron\nstoat\tSt\e[31moat\n' \
  "a pipe has their ids and names"
run python3 "$cli/terminal.py" agent-chat -p c --agents
out_like 'heron +Grey Heron' "a terminal has a table of the agents"
out_like 'St\\e\[31moat' "the name of an agent is made visible in the table"
run agent-chat -p c --agents -o json
is "$(jq -r .id "$out" | tr '\n' ' ')" "heron stoat " "the agents are listed as rows"

# --- audio

t 0 "--speak has status 0 for an answer that is spoken" \
  agent-chat -p c --speak "$tmp/a.mp3" -a stoat hello
out_is "You said: hello" "an answer that is spoken is printed, too"
is "$(cat "$tmp/a.mp3")" "ID3You said: hello" "an answer that is spoken is in the file"
is "$(asked .body)" '{"text":"You said: hello","agent":"stoat"}' \
  "an answer is spoken in the voice of the agent"
t 0 "--speak has status 0 for an answer that cannot be spoken" \
  agent-chat -p c --speak "$tmp/a.mp3" silent
out_is "You said: silent" "an answer that cannot be spoken is printed"
err_like '^agent-chat: no audio: .*no voice' "a line tells why an answer is not spoken"
not_ok "no audio of another answer is left when an answer is not spoken" test -s "$tmp/a.mp3"
run agent-chat -p c --speak "$tmp/a.mp3" page
err_like 'no audio$' "a web page is not taken for audio"
: >"$log"
t 2 "a file that cannot be made is an error" agent-chat -p c --speak "$tmp/none/a.mp3" hello
is "$(lines "$log")" 0 "a file that cannot be made keeps the question from being asked"

# --- OpenResponses

t 0 "a question to the endpoint is answered" agent-chat -p r how are you
out_is "You said: how are you" "the answer of the endpoint is printed"
is "$(asked '[.path,.body]')" \
  '["/v1/responses",{"model":"openclaw","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"how are you"}]}],"stream":true,"user":"agent:main:main"}]' \
  "the endpoint is asked as it wants it"
is "$(asked '[.headers["x-openclaw-session-key"], .headers.authorization]')" \
  '["agent:main:main","Bearer S3cret-Token"]' "the endpoint is asked in the main conversation"
run agent-chat -p whole -a heron -t side hello
out_is "You said: hello" "the url may be the endpoint's own"
is "$(asked '[.body.model,.body.user,.headers["x-openclaw-session-key"]]')" \
  '["openclaw/heron","agent:heron:side","agent:heron:side"]' "an agent and a thread are named"
run agent-chat -p r -t agent:stoat:main hello
is "$(asked '[.body.model,.body.user]')" '["openclaw/stoat","agent:stoat:main"]' \
  "a whole key names the agent and the thread"
run agent-chat -p r -o json hello
is "$(jq -r '[.type,.id,.state,.text] | map(. // "") | join(" ")' "$out")" \
  'turn resp_1 running 
message resp_1 partial You 
message resp_1 partial You said
message resp_1 partial You said: he
message resp_1 partial You said: hello
message resp_1 final You said: hello
turn resp_1 completed ' "the records have the text so far, as it grows"
is "$(tail -n 1 "$out" | jq -c '[.backend,.message,.usage]')" \
  '["openclaw","resp_1",{"input_tokens":3,"output_tokens":5}]' \
  "the last record has what the answer took"
run agent-chat -p r replace
out_is "Something else" "the done event is the answer"
run agent-chat -p r whole
out_is "You said: whole" "an answer without a stream is printed"
run agent-chat -p r count 2000
is "$(tr -d '\n' <"$out" | cksum)" "$(seq 0 1999 | tr '\n' ' ' | cksum)" "a long answer is whole"
t 0 "silence is an answer" agent-chat -p r silence
out_empty "silence prints nothing"
for word in late incomplete fail; do
  t 1 "a run that failed has status 1: $word" agent-chat -p r "$word"
  out_empty "nothing is printed of a run that failed: $word"
  err_one_line agent-chat "the reason of a run that failed is one line: $word"
done
err_is "agent-chat: the agent failed: api_error: it broke" \
  "a run that failed is told in the server's words"
: >"$log"
t 75 "a stream that is cut has status 75" agent-chat -p r cut
out_empty "nothing of a stream that is cut is printed"
is "$(lines "$log")" 1 "a stream that is cut is not asked for again"
t 75 "a busy server has status 75" agent-chat -p r busy
t 77 "a token that the endpoint refuses has status 77" agent-chat -p r no
t 2 "what is not an answer of the endpoint is an error" agent-chat -p r odd
run agent-chat -p r --agents
is "$(cut -f 1 "$out" | tr '\n' ' ')" "openclaw/heron openclaw/stoat " \
  "the agents of the endpoint are models"
printf 'GIF89a...' >"$tmp/a picture"
echo 'x,y' >"$tmp/points.csv"
run agent-chat -p r --attach "$tmp/a picture" --attach "$tmp/points.csv" look
is "$(asked '.body.input[0].content[1:]')" \
  '[{"type":"input_image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhLi4u"}},{"type":"input_file","source":{"type":"base64","media_type":"text/csv","data":"eCx5Cg==","filename":"points.csv"}}]' \
  "files are sent"

# --- at a terminal

run python3 "$cli/terminal.py" agent-chat -p r replace
out_like 'You said: replace' "the stream is shown at a terminal"
out_like 'replaced by:' "a text that was replaced is told at a terminal"
out_like '^Something else' "the new text is shown whole at a terminal"
run python3 "$cli/terminal.py" agent-chat -p r "$(printf '\033]0;x\007')"
out_like '^You said: \\e\]0;x\\x07' "what a terminal would obey is escaped"


t 2 "a name that makes too long a session key is an error" \
  agent-chat -p r -t "$(head -c 510 /dev/zero | tr '\0' x)" hello
err_like 'session key would have 521 characters' "the message tells the length"
done_testing
