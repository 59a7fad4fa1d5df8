#!/bin/sh
# agent-chat with an OpenClaw gateway: answers, ends, keys, lists.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3

start_gateway claw --token gw-secret
printf 'token-command = printf gw-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
chat() { run agent-chat -p claw --retry-wait 0.1 "$@"; }
sent() { frames claw chat.send | wc -l | tr -d ' '; }

# --- a question

chat how are you
status_is 0 "a question is answered"
out_is "You said: how are you" "an answer is printed once"
err_empty "nothing else is said beside an answer"
is "$(frames claw connect | jq -c '[.scopes, .caps]')" \
  '[["operator.read","operator.write","operator.approvals","operator.questions"],["tool-events"]]' \
  "all scopes that a turn may need are asked for together"
is "$(frames claw chat.send | jq -c '[.sessionKey, .message, (.idempotencyKey | length)]')" \
  '["agent:heron:main","how are you",36]' "a question goes to the main conversation, with a key"
chat -t side -a stoat hello
is "$(frames claw chat.send | tail -n 1 | jq -r .sessionKey)" agent:stoat:side \
  "a question goes to another conversation that is named"
chat tool
out_is "Looking. High at 06:12." "tools say nothing in a pipe"
chat draft
out_is "Best" "what was replaced is not printed"
chat silence
status_is 0 "silence is an answer"
out_empty "an empty answer prints nothing"
run sh -c 'printf "from a pipe\n" | agent-chat -p claw'
out_is "You said: from a pipe" "standard input is asked"
chat -- -o
out_is "You said: -o" "words may begin with a dash"

chat -o json tool
status_is 0 "the answer comes as records"
is "$(jq -r '[.type,.role,.tool,.state,.text] | map(. // "") | join(" ")' "$out" | uniq)" \
  'turn   running 
message assistant  partial Looking. 
tool_call  exec running 
tool_call  exec succeeded 
message assistant  partial Looking. High at 06:12.
message assistant  final Looking. High at 06:12.
turn   completed ' "each record comes when something changes, and is whole"
is "$(jq -r '.backend + " " + .profile' "$out" | sort -u)" "openclaw claw" \
  "the records say whose they are"

chat fail
status_is 1 "a turn that fails has status 1"
out_empty "nothing is printed of a turn that fails"
err_is "agent-chat: the agent failed: rate_limit: too many requests" \
  "the reason of a turn that fails is told"

# --- keys

chat --key key-1 -v once
status_is 0 "a key of one's own is taken"
err_like '^agent-chat: key key-1$' "a key is told with -v"
before=$(sent)
chat --key key-1 once
status_is 0 "a question with the same key can be asked again"
out_is "You said: once" "a question with the same key has the same answer"
is "$(sent)" "$before" "a question with the same key is looked for first, and not sent again"
is "$(jq -rs '[.[] | select(.frame.params.idempotencyKey == "key-1")] | length' "$tmp/claw.log")" 1 \
  "the key of a question went out once"
tell claw age 200
chat --key key-1 --max-time 15 once
out_is "You said: once" "the same answer comes some minutes later, too"
chat --history -o json
is "$(jq -r 'select(.role == "user") | .text' "$out" | grep -c once)" 1 \
  "a question with the same key was said once"
t 2 "a key with a blank is refused" agent-chat -p claw --key 'a b' hello
t 2 "an empty key is refused" agent-chat -p claw --key '' hello

# --- a link that is lost

tell claw cut chat.send
chat after the cut
status_is 0 "a question is answered when the connection is cut before it is confirmed"
out_is "You said: after the cut" "the answer is found after the cut"
chat --history -n 2
out_is 'user: after the cut
assistant: You said: after the cut' "a question is said once when the connection is cut"
# What was said before in the same words is another message.
chat say it twice
tell claw age 10
tell claw lose chat.send
before=$(sent)
chat say it twice
is "$status $(cat "$out")" "0 You said: say it twice" "a message that was lost is sent again"
is "$(sent)" $((before + 2)) "a message that was lost is sent though the same was said a moment ago"
chat --history -n 4
is "$(grep -c 'user: say it twice' "$out")" 2 \
  "the same words are said twice when they are asked twice"
tell claw cut chat.history
tell claw cut chat.send
chat twice cut
status_is 0 "a connection that is cut again while the answer is looked for does no harm"
out_is "You said: twice cut" "the answer is found after two cuts"
chat --history -n 2
is "$(grep -c 'user: twice cut' "$out")" 1 "a question is said once after two cuts"

start long agent-chat -p claw --retry-wait 0.1 forever
long=$pid
wait_until 20 has "$tmp/claw.log" '"forever"'
stop "$long" INT
is "$status" 130 "^C ends the command by that signal"
is "$(cat "$tmp/long.out")" "" "no part of an answer is printed after ^C"
ok "^C ends the run at the gateway" has "$tmp/claw.log" '"chat.abort"'
is "$(frames claw chat.abort | tail -n 1 | jq -r 'keys | join(" ")')" "runId sessionKey" \
  "^C ends that run alone"

start long agent-chat -p claw --retry-wait 0.1 forever
long=$pid
wait_until 20 sh -c "grep -c '\"forever\"' '$tmp/claw.log' | grep -q 2"
t 0 "--abort ends what is under way" agent-chat -p claw --abort
is "$(lines "$out")" 1 "the run that was ended is named"
finished "$long"
is "$status" 1 "the one who asked is told of --abort"
is "$(cat "$tmp/long.err")" "agent-chat: aborted: rpc" "the one who asked is told why the run ended"
t 1 "--abort has status 1 when there is nothing more to end" agent-chat -p claw --abort
out_empty "--abort says nothing when there is nothing more to end"

chat --max-time 0.5 forever
status_is 75 "--max-time ends the wait with status 75"
out_empty "no part of an answer is printed after --max-time"
err_like 'no answer in 0.5 s; the key of the message is [0-9a-f-]{36}$' \
  "the key of the message is told after --max-time"
run agent-chat -p claw --abort

# --- files

head -c 5000001 /dev/zero >"$tmp/large.bin"
printf '\211PNG\r\n\032\n' >"$tmp/shot"
chat --attach "$tmp/shot" look
is "$(frames claw chat.send | tail -n 1 | jq -c .attachments)" \
  '[{"fileName":"shot","mimeType":"image/png","content":"iVBORw0KGgo="}]' \
  "a file goes along, without its folder"
chat --attach "$tmp/large.bin" look
status_is 2 "a file that is too large is an error"
err_like 'large.bin: 5000001 bytes are too many: at most 5000000$' \
  "the message tells the size of the file"
start_gateway files --files '{"maxBytes":6000000,"maxImageBytes":7}'
t 0 "a larger file goes along when the gateway says that it takes it" \
  agent-chat -p files --attach "$tmp/large.bin" look
t 2 "the size of a picture is checked, too" agent-chat -p files --attach "$tmp/shot" look
err_like 'shot: 8 bytes are too many: at most 7$' "a gateway may take less of a picture"
is "$(frames files chat.send | wc -l | tr -d ' ')" 1 "a picture that is too large is not sent"
chat --attach "$tmp/none" look
status_is 2 "a file that is not there is an error"
err_is "agent-chat: $tmp/none: no such file or directory" "the missing file is named"
chat --speak "$tmp/a.mp3" hello
status_is 0 "--speak has status 0 where the gateway does not speak"
out_is "You said: hello" "the text is printed where the gateway does not speak"
err_is "agent-chat: no audio: this agent's server: cannot speak" \
  "a line says that the gateway does not speak"

# --- lists

chat --agents
is "$(cat "$out")" "$(printf 'heron\tGrey Heron\nstoat\tstoat')" "the agents are listed"
chat --agents -o json
is "$(jq -c .identity.name "$out" | head -n 1)" '"Grey Heron"' \
  "the agents are printed as the gateway writes them"
chat --threads
is "$(cut -f 1 "$out" | tr '\n' ' ')" "agent:heron:main agent:stoat:side " "the threads are listed"
tell claw label agent:stoat:side 'Harbour talk'
chat --threads
is "$(cut -f 1,2 "$out")" "$(printf 'agent:heron:main\t\nagent:stoat:side\tHarbour talk')" \
  "the threads have their titles"
is "$(frames claw sessions.list | tail -n 1)" '{"limit":1000,"includeDerivedTitles":true}' \
  "the titles, and all threads, are asked for"
printf '%s\n' '{"sessions":[{"key":"agent:heron:a","derivedTitle":"Say hello"},{"key":"agent:heron:b","label":"Named","derivedTitle":"Other"}]}' >"$tmp/titles"
tell claw answers sessions.list "$tmp/titles"
chat --threads
is "$(cut -f 2 "$out")" "$(printf 'Say hello\nNamed')" "a title that the gateway made counts where there is no other"
chat --threads -o json
is "$(jq -r .type "$out" | sort -u)" thread "the threads are listed as records"
start_gateway early --old
run agent-chat -p early hello
t 0 "an early gateway lists its threads" agent-chat -p early --threads
is "$(cut -f 1 "$out")" agent:heron:main "the threads of an early gateway are shown without titles"
is "$(frames early sessions.list | jq -c .)" '{"limit":1000,"includeDerivedTitles":true}
{"limit":1000}' "an early gateway is asked again without the member that it does not know"
chat --history -t side -a stoat
out_is 'user: hello
assistant: You said: hello' "a history is shown"
chat --history -n 1 -t side -a stoat -o json
is "$(jq -c '[.type,.role,.text,.state,.thread]' "$out")" \
  '["message","assistant","You said: hello","final","agent:stoat:side"]' \
  "a history is shown as records"
is "$(frames claw connect | tail -n 1 | jq -c .scopes)" '["operator.read"]' \
  "reading a history asks for no more scopes than that"

# --- refusals

start_gateway shy --pair
t 77 "a device that is not paired is refused" agent-chat -p shy hello
err_like 'run on the gateway: openclaw devices approve pr-9$' \
  "a device that is not paired is told what to do"
err_one_line agent-chat "a device that is not paired is told in a line"
start waits agent-chat -p shy -w --retry-wait 0.1 hello
ok "--wait tells a device that is not paired, too" \
  wait_until 20 has "$tmp/waits.err" 'openclaw devices approve pr-9'
tell shy pair
finished "$pid"
is "$status" 0 "--wait goes on when the device is let in"
is "$(cat "$tmp/waits.out")" "You said: hello" "--wait has the answer when the device is let in"
is "$(grep -c pr-9 "$tmp/waits.err")" 1 "--wait says once that the device is not paired"
start_gateway poor --grant operator.read
t 77 "a scope that is not granted is refused" agent-chat -p poor hello
err_like 'does not grant operator.write' "the message names the scope"
t 0 "reading a history does not need the scope for writing" agent-chat -p poor --history
printf '[profile away]\nkind = openclaw\nurl = ws://127.0.0.1:1\n[profile web]\nurl = http://127.0.0.1:1\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 75 "a gateway that is not there has status 75" \
  agent-chat -p away --max-retries 1 --retry-wait 0.05 hello
err_one_line agent-chat "a gateway that is not there is told in one line"
t 75 "a list has status 75 when the gateway is not there" \
  agent-chat -p away --max-retries 1 --retry-wait 0.05 --agents
t 2 "an agent that takes no messages is an error" agent-chat -p web hello
err_is "agent-chat: web: a Clanky dashboard takes no messages" \
  "the message says that it takes no messages"


# --- a gateway that is only starting
before=$(sent)
tell claw busy chat.send 50
chat patience
status_is 0 "a question that is refused for a while has status 0"
out_is "You said: patience" "the question is asked again"
is "$(($(sent) - before))" 2 "a question that is refused for a while is asked again once"
again='select(.frame.method == "chat.send") | .frame'
is "$(jq -r "$again | .id" "$tmp/claw.log" | tail -n 2 | sort -u | wc -l | tr -d ' ')" 2 \
  "a question that is asked again goes in a frame of its own"
is "$(jq -r "$again | .params.idempotencyKey" "$tmp/claw.log" | tail -n 2 | sort -u | wc -l | tr -d ' ')" 1 \
  "a question that is asked again goes under the same key"

# --- names that make too long a session key
# long COUNT: so many letters.
long() { head -c "$1" /dev/zero | tr '\0' x; }
before=$(frames claw chat.send | wc -l)
chat -t "$(long $((512 - 12)))" hello
status_is 0 "a name that fits with the agent's has status 0"
chat -t "$(long $((513 - 12)))" hello
status_is 2 "a name one letter too long is refused"
err_like "the thread's name is too long: its session key would have 513 characters, 512 at most" \
  "the message tells the length of the key"
chat -a "$(long 60)" -t "$(long 446)" hello
status_is 2 "a name that is too long with another agent is refused, too"
chat -t "$(long 480)$(printf '\360\237\214\277%.0s' 1 2 3 4 5 6 7 8 9 10 11)" hello
status_is 2 "a name is counted as the gateway counts"
is "$(($(frames claw chat.send | wc -l) - before))" 1 \
  "a message for a name that is too long is not sent"
chat --history -t "$(long 501)"
status_is 2 "the history of a name that is too long is not asked for"
t 2 "a name that is too long is not followed" agent-tail -p claw --max-time 5 "$(long 501)"
done_testing
