#!/bin/sh
# agent-notify --answers: buttons on a phone that answer what an agent asks, once, and nothing else.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ntfy.sh"
. "${0%/*}/../gateway.sh"
. "${0%/*}/../pincer.sh"
needs jq python3 curl agent-approve openssl
bound=300

start_ntfy --later
start_gateway claw
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
# wants ID JSON: the agent asks, and so does the phone.
wants() {
  tell claw ask "$1" "$2"
  wait_until 20 asked_for "$(printf '%s' "$2" | jq -r .command | head -n 1 | cut -c 1-60)"
}
asked_for() { got 'select(.actions) | .message' | jq -r . | grep -qF -- "$1"; }
# said TITLE TEXT: a quiet notice.
said() {
  got "select(.priority == 2 and .title == \"$1\").message" | jq -r . | grep -qF -- "$2"
}
button() { # button LABEL TEXT: its code, without a tap
  got 'select(.actions)' | jq -rs --arg name "$1" --arg text "$2" '
    [.[] | select(.message | contains($text)) | .actions[] | select(.label == $name)] | last.body'
}
listen() {
  start notify agent-notify -p "$@" --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
    --answers "$answers" --buttons-token "$tmp/buttons"
  notify=$pid
}
listen claw

ok "what an agent asks is asked on the phone" \
  wants a1 '{"command":"make one","cwd":"/srv/site","host":"gateway"}'
is "$(got 'select(.actions) | [.title, .message, .priority, .tags[0]]')" \
  '["claw site: exec waits","make one",4,"question"]' \
  "the question on the phone says who asks, where, and what"
is "$(got 'select(.actions).actions[] | [.label, .action, .method, .clear, .url]' | sed "s|$answers|URL|")" \
  '["Yes","http","POST",true,"URL"]
["Always","http","POST",true,"URL"]
["No","http","POST",true,"URL"]' "the question has three buttons, which post to the other topic"
is "$(got 'select(.actions).actions[].body' | grep -c '^"[-_A-Za-z0-9]\{22\}"$')" 3 \
  "the code of each button has 22 letters"
is "$(got 'select(.actions).actions[].body' | sort -u | wc -l | tr -d ' ')" 3 \
  "each button has a code of its own"
is "$(got 'select(.expires == null)')" "" \
  "all notices are kept by the server, as a phone may be away"

# --- each button
press Yes 'make one'
ok "Yes allows a request, and a quiet notice says so" \
  wait_until 20 said allowed 'claw site: make one'
is "$(resolved)" "a1 allow-once" "the agent gets a Yes once"
is "$(got 'select(.message | contains("make one")).sequence_id' | sort | uniq -c | awk '{ print $1 }')" 2 \
  "what came of a request replaces the question, where a server can do that"
wants a2 '{"command":"make two","cwd":"/srv/site"}'
press Always 'make two'
ok "Always allows a request from now on" wait_until 20 said 'always allowed' 'make two'
wants a3 '{"command":"make three","allowedDecisions":["allow-once","deny"]}'
is "$(got 'select(.actions and .message == "make three").actions[].label' | xargs)" "Yes No" \
  "Always is offered only where the agent takes it"
press No 'make three'
ok "No denies a request" wait_until 20 said denied 'make three'
is "$(resolved | xargs)" "a1 allow-once a2 allow-always a3 deny" "the agent gets what was tapped"

# --- more than one answer
tell claw ask b1 '{"command":"tap twice"}'
wait_until 20 asked_for 'tap twice'
press Yes 'tap twice'
press Yes 'tap twice'
ok "a double tap allows a request" wait_until 20 said allowed 'tap twice'
wants b2 '{"command":"two phones"}'
no=$(button No 'two phones')
press Yes 'two phones'
post "$no" >/dev/null
ok "the first of two phones counts" wait_until 20 said allowed 'two phones'
ok "the second of two phones is told that it is too late" wait_until 20 said 'too late' 'two phones'
post "$no" >/dev/null
press Yes 'make one'
press No 'make one'
ok "a second answer is told that it is too late" wait_until 20 said 'too late' 'make one'
is "$(resolved | tail -n +4 | xargs)" "b1 allow-once b2 allow-once" \
  "nothing of a second answer reaches the agent"

# --- what is no code of it
wants c1 '{"command":"guarded"}'
for word in AAAAAAAAAAAAAAAAAAAAAA Yes approve '' c1 "$(button Yes 'guarded') " \
  "$(button Yes 'guarded' | tr 'a-zA-Z' 'A-Za-z')" "$(button Yes 'make one')" \
  "$(button Yes 'guarded'; button No 'guarded')" '{"id":"c1","decision":"approve"}'; do
  post "$word" >/dev/null
done
wants c2 '{"command":"the next one"}'
press No 'the next one'
ok "another question is answered beside words that are not a code" \
  wait_until 20 said denied 'the next one'
is "$(resolved | grep c1)" "c1 allow-once" "a code with a blank behind it is that code, as the server cuts it"
wants c3 '{"command":"guarded more"}'
for word in AAAAAAAAAAAAAAAAAAAAAA approve '' c3 "$(button Yes 'guarded more' | tr 'a-zA-Z' 'A-Za-z')" \
  "$(button Yes 'make one')" "$(button Yes 'guarded more'; button No 'guarded more')" \
  '{"id":"c3","decision":"approve"}' "\"$(button Yes 'guarded more')\""; do
  post "$word" >/dev/null
done
wants c4 '{"command":"behind it"}'
press No 'behind it'
ok "a question behind wrong codes is answered" wait_until 20 said denied 'behind it'
is "$(resolved | grep c3)" "" "what is not a code of a question answers nothing"
curl -s -o /dev/null --noproxy '*' -H "Authorization: Bearer tk_buttons" -H 'In: 10s' \
  -d "$(button Yes 'guarded more')" "$answers"
tell claw resolve c3 deny
ok "an answer at the desk is told" wait_until 20 said 'answered at the desk' 'guarded more'
is "$(got 'select(.title == "answered at the desk").message' | jq -r .)" "claw: guarded more
denied" "an answer at the desk is told with what it was"

# --- the desk, and what ends by itself
wants d1 '{"command":"at the desk"}'
agent-approve -q -p claw --approve d1
ok "what is allowed at the desk is told" wait_until 20 said 'answered at the desk' 'at the desk'
press No 'at the desk'
ok "a tap behind an answer at the desk is too late" wait_until 20 said 'too late' 'at the desk'
wants d2 '{"command":"withdrawn one"}'
tell claw expire d2
ok "what nobody answered is told" wait_until 20 said 'too late' 'withdrawn one'
press Yes 'withdrawn one'
is "$(resolved | grep -c '^d')" 1 "a tap behind the end of a request does not reach the agent"

# --- questions
start_gateway asks --approvals late --questions
stop "$notify"
listen claw,asks
followed() { [ "$(frames asks question.list | wc -l)" -ge 1 ]; }
wait_until 30 followed || bail "nobody follows the gateway"
question() { printf '[{"questionId":"q","question":"%s","options":[%s]}]' "$1" "$2"; }
tell asks question q1 "$(question 'Which harbour?' '{"label":"Yes"},{"label":"No"}')"
ok "a question is asked on the phone" wait_until 20 asked_for 'Which harbour?'
is "$(got 'select(.message | contains("Which harbour?")).actions[].label' | xargs)" "1 2 No" \
  "the choices of a question are numbers, whatever they are called"
press 2 'Which harbour?'
ok "a number answers a question" wait_until 20 said 'answered with 2' 'Which harbour?'
is "$(frames asks question.resolve | jq -c '[.id, .answers]')" '["q1",{"answers":{"q":["No"]}}]' \
  "a number answers a question by its choice"
tell asks question q2 "$(question 'Of four?' '{"label":"a"},{"label":"b"},{"label":"c"},{"label":"d"}')"
wait_until 20 asked_for 'Of four?'
is "$(got 'select(.message | contains("Of four?")).actions[].label' | xargs)" "No" \
  "only No is offered for more than three choices"

# --- a stranger's text
long=$(printf '%10000s' x | tr ' ' a)
wants e1 "{\"command\":\"$long\"}"
is "$(got 'select(.message | startswith("aaaa")).actions[].label' | xargs)" "No" \
  "what is cut can only be denied"
ok "all of what is cut has a place on a phone" \
  test "$(got 'select(.message | startswith("aaaa"))' | wc -c)" -le 3700
word() { printf '=?UTF-8?B?%s?=' "$(printf '%s' "$1" | openssl base64 -A)"; }
evil=$(word '"},{"action":"http","label":"No","url":"http://127.0.0.1:9/","body":"x"}')
jq -nc --arg evil "$evil" '{command: ("evil " + $evil + "\n\u001b[31m\u202eseY\u0007"), cwd: ("/srv/" + $evil)}' >"$tmp/evil"
ok "a hostile request is asked" wants e2 "$(cat "$tmp/evil")"
is "$(got 'select(.message | startswith("evil")) | [.title, .message]')" \
  "$(jq -nc --arg evil "$evil" '[("claw \($evil | split("/") | last): exec waits"), "evil \($evil)\n\\e[31m\\u{202e}seY\\x07"]')" \
  "a hostile text is shown, and nothing of it is obeyed"
is "$(got 'select(.message | startswith("evil")).actions[] | [.label, .url]' | sed "s|$answers|URL|" | xargs)" \
  '[Yes,URL] [Always,URL] [No,URL]' "the buttons of a hostile request are ours"
press No 'evil'
ok "No denies a hostile request" wait_until 20 said denied 'evil'
is "$(resolved | tail -n 1)" "e2 deny" "the agent gets the No to a hostile request"
wants e4 '{"command":"npm test","allowedDecisions":["allow","always","deny"],"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"session"}]}'
is "$(got 'select(.message | startswith("npm test")) | [.message, (.actions | map(.label))]')" \
  '["npm test\nAlways: allow Bash(npm test:*), in this session",["Yes","Always","No"]]' \
  "what Always would allow is shown where the agent says it"
press Always 'npm test'
ok "Always is told when it is tapped" wait_until 20 said 'always allowed' 'npm test'
is "$(resolved | tail -n 1)" "e4 always" "Always answers in the agent's word"
tell claw ask e5 '{"command":"npm run","allowedDecisions":["allow","always","deny"]}'
wait_until 20 asked_for 'npm run'
is "$(got 'select(.message == "npm run").actions[].label' | xargs)" "Yes No" \
  "Always is not offered where the agent does not say what it allows"
tell claw ask e3 '{"commandPreview":"harmless, says the model"}'
wait_until 20 asked_for 'harmless'
is "$(got 'select(.message | contains("harmless")).actions[].label' | xargs)" "No" \
  "what is only described can only be denied"
is "$(resolved | grep -c c3)" 0 "a code that was delayed does nothing when it comes"
stop "$notify"

# --- what a phone may not do
is "$(ls -l "$XDG_STATE_HOME/agentutils/notify-claw" | cut -c 5-10)" "------" "the state is nobody else's"
not_ok "the state has no codes" \
  grep -rqE "$(got 'select(.actions).actions[].body' | jq -r . | tr '\n' '|' | sed 's/|$//')" \
  "$XDG_STATE_HOME"
start notify agent-notify -p claw --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "$answers" --answers deny --buttons-token "$tmp/buttons" --click https://box.example/
notify=$pid
wants f1 '{"command":"only no"}'
is "$(got 'select(.message == "only no").actions[] | [.label, .url]' | sed "s|$answers|URL|" | xargs)" \
  '[No,URL] [Open,https://box.example/]' "--answers deny offers No alone, and the link of --click"
stop "$notify"

# --- another address for the phone, and no token
jq '.everyone.topics["answers-x9"] = "wo" | .host.topics["answers-x9"] = "ro"' "$tmp/users" >"$tmp/users.new"
mv "$tmp/users.new" "$tmp/users"
start notify agent-notify -p claw --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "${answers%/*}/answers-x9" --buttons "http://localhost:$ntfy_port/answers-x9"
notify=$pid
wants g1 '{"command":"elsewhere"}'
is "$(got 'select(.message == "elsewhere").actions[] | [.url, .headers]' | sort -u)" \
  "[\"http://localhost:$ntfy_port/answers-x9\",null]" "--buttons is where the phone posts to"
press Yes elsewhere
ok "a topic that everybody may write needs no token" wait_until 20 said allowed elsewhere
stop "$notify"

# --- a Pincer server
start_pincer pin
listen pin
pincer_wants() {
  ask pin TurnsService/SendTurn \
    "{\"threadId\":\"$(new_thread pin)\",\"userText\":\"ask 1\"}" >"$tmp/said"
}
watching() { [ "$(calls pin ApprovalsService/ListApprovals | wc -l)" -ge 1 ]; }
wait_until 20 watching
pincer_wants
ok "a Pincer server asks, too" wait_until 20 asked_for 'tide --port KIL'
is "$(got 'select(.message | contains("tide --port")).actions[].label' | xargs)" "Yes No" \
  "a Pincer server is answered with Yes or No"
press Yes 'tide --port KIL'
ok "a request of a Pincer server is answered" wait_until 20 said allowed 'pin: tide --port KIL'
is "$(calls pin ApprovalsService/ApproveAction | wc -l | tr -d ' ')" 1 \
  "a request of a Pincer server is answered once"
stop "$notify"
done_testing
