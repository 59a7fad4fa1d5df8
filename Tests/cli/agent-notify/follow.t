#!/bin/sh
# agent-notify -p: one word to be told of an agent, of what is new and nothing else.
. "${0%/*}/../lib.sh"
needs jq python3 curl

config=$XDG_CONFIG_HOME/agentutils/config
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.2
printf '[profile clanky]\nurl = %s\n' "$url" >"$config"
# act KIND CONTENT...: an action each.
act() {
  _kind=$1
  shift
  for _content; do printf '{"kind":"%s","content":"%s"}\n' "$_kind" "$_content"; done |
    curl -sf --data-binary @- "$url/control/actions" >/dev/null
}
connected() { [ "$(curl -s "$url/control/state" | jq .clients)" -ge "${1:-1}" ]; }
titles() { jq -r '"\(.title) \(.text)"' "$tmp/$1.out"; }

# --- the backlog is no news
act bot_error before
act llm_error before
start told agent-notify -p clanky --settle 0.2 --exec cat
told=$pid
wait_until 30 connected || bail "nobody follows"
act sent_reply hello
act llm_error now
ok "what happens at an agent is told" wait_until 20 has "$tmp/told.out" llm_error
is "$(titles told)" "llm_error now" "neither what was there before nor what is not a fault is told"

# --- a burst over the wire
seq 200 | sed 's/.*/{"kind":"asr_error","content":"empty &"}/' |
  curl -sf --data-binary @- "$url/control/actions" >/dev/null
ok "200 errors are told" wait_until 20 has "$tmp/told.out" asr_error
is "$(jq -c 'select(.title == "asr_error").count' "$tmp/told.out")" 200 \
  "200 errors are told as one, with a count"

# --- what happened while the link was down
curl -s -d '' "$url/control/drop?away=1" >/dev/null
act tts_error 'while it was down'
curl -s -d '' "$url/control/back" >/dev/null
ok "what happened while the link was down is told, too" \
  wait_until 30 has "$tmp/told.out" 'while it was down'
act bot_error last
ok "what comes after the link was down is told" wait_until 20 has "$tmp/told.out" last
is "$(titles told | sort | uniq -d)" "" "nothing is told twice"
is "$(grep -c before "$tmp/told.out")" 0 "the backlog is never told"

# --- killed and started again, behind the moment in which it may tell twice
noted() { jq -e '.history[-1].text == "last"' "$XDG_STATE_HOME/agentutils/notify-clanky"; }
wait_until 20 noted || bail "what was told is not noted"
kill -9 "$told"
finished "$told"
start told agent-notify -p clanky --settle 0.2 --exec cat
wait_until 30 connected 1
act voice_error 'after the restart'
ok "what is new after a restart is told" wait_until 20 has "$tmp/told.out" 'after the restart'
is "$(titles told)" "voice_error after the restart" "nothing else is told after a restart"
ok "the memory of agent-notify -p is that of the profile" \
  test -s "$XDG_STATE_HOME/agentutils/notify-clanky"
t 2 "a second one of the same profile is refused" agent-notify -p clanky
err_is "agent-notify: $XDG_STATE_HOME/agentutils/notify-clanky: in use by another agent-notify" \
  "the message says that another is at work"
# The programs that it started.
children=$(ps -e -o pid= -o ppid= | awk -v parent="$pid" '$2 == parent { print $1 }')
stop "$pid" TERM
status_is 143 "a signal ends agent-notify"
children_gone() { for child in $children; do gone "$child" || return 1; done; }
ok "a signal ends what agent-notify started" wait_until 20 children_gone
isnt "$children" "" "agent-notify had started something"

# --- filters
start told agent-notify -p clanky --settle 0.2 --exec cat --as urgent -- -k voice_session_start,bot_error -v
wait_until 30 connected 1
stop "$pid"
start told agent-notify -p clanky --settle 0.2 --exec cat --as urgent -- -k voice_session_start -F reef
wait_until 30 connected 1
act bot_error reef
act voice_session_start elsewhere
act voice_session_start 'on the reef'
ok "what the filter selects is told" wait_until 20 has "$tmp/told.out" reef
is "$(titles told)" "voice_session_start on the reef" "what the filter does not select is not told"
stop "$pid"
t 2 "an option that the filter does not have is an error" agent-notify -p clanky -- --no-such
err_like '^agent-notify: unknown option --no-such$' \
  "an unknown option is told under the name of the command"
err_like '^usage: agent-notify' "the usage is shown for an unknown option"
is "$(lines "$err")" 2 "an unknown option is told in two lines"

# --- several profiles
first=$url
start_server other python3 "$cli/servers/dashboard.py" --tick 0.2
printf '[profile clanky]\nurl = %s\n[profile $(touch x)/..]\nurl = %s\n' "$first" "$url" >"$config"
start told agent-notify -p 'clanky,$(touch x)/..' --settle 0.2 --to line
wait_until 30 connected 1
act llm_error there
url=$first
act llm_error here
ok "a record of one of several profiles is told with its name" \
  wait_until 20 has "$tmp/told.out" 'clanky: llm_error: here'
ok "an odd name of a profile is told as text" \
  wait_until 20 grep -qF '$(touch x)/..: llm_error: there' "$tmp/told.out"
stop "$pid"
is "$(find "$XDG_STATE_HOME/agentutils" -name 'notify-clanky+*' ! -name '*.lock' | wc -l | tr -d ' ')" 1 \
  "the name of a profile is not taken for a path"

# --- --max-time
t 0 "--max-time ends agent-notify with status 0" \
  agent-notify -p clanky --settle 60 --max-time 2 --exec cat
out_empty "nothing is told before --max-time is over"
printf '[profile away]\nurl = http://127.0.0.1:9\n' >>"$config"
t 75 "an agent that could not be followed has status 75" \
  agent-notify -p away --max-time 1 --exec cat
printf '[profile hung]\nurl = %s\ntoken-command = exec sleep 1000\n' "$first" >>"$config"
bound=20 run agent-notify -p hung --max-time 1 --exec cat
isnt "$status" 142 "a token that does not come is not waited for"
isnt "$status" 0 "a token that does not come is an error"
t 0 "a filter can be given" agent-notify -p clanky --max-time 2 --exec cat -- -k bot_error

# --- what ends it
t 2 "a profile that is not there is an error" agent-notify -p nobody
err_is "agent-notify: profile nobody: not in $config; 'agent-setup -p nobody' writes it" \
  "a profile that is not there is told in one line"
start_server guarded python3 "$cli/servers/dashboard.py" --token secret
printf '[profile locked]\nurl = %s\n' "$url" >"$config"
t 77 "credentials that are refused are status 77" agent-notify -p locked
t 2 "agent-notify needs agent-tail" env PATH="$tmp:/usr/bin:/bin" "$root/bin/agent-notify" -p locked
err_is "agent-notify: agent-tail: no such file or directory" "the message names agent-tail"

# --- a gateway's questions
. "${0%/*}/../gateway.sh"
start_gateway claw
start told agent-notify -p claw --settle 0.2 --exec cat
followed() { [ "$(frames claw connect | wc -l)" -ge 2 ]; }
wait_until 30 followed || bail "nobody follows the gateway"
tell claw ask q1 '{"command":"make test","commandArgv":["make","test"],"cwd":"/srv/site","host":"gateway"}'
ok "what an agent asks permission for is told" wait_until 20 has "$tmp/told.out" approval/q1
is "$(jq -r '"\(.title) \(.urgency) \(.category)"' "$tmp/told.out")" \
  "exec waits urgent approval" "a request for permission is urgent"
is "$(jq -r '[.profile, .place, .text] | @csv' "$tmp/told.out")" '"claw","site","make test"' \
  "a request for permission says who asks, where, and what"
stop "$pid"
start_gateway asks --approvals late --questions
start told agent-notify -p asks --settle 0.2 --exec cat
told=$pid
followed() { [ "$(frames asks question.list | wc -l)" -ge 1 ]; }
wait_until 30 followed || bail "nobody follows the gateway"
start talk agent-chat -p asks 'ask_user [{"questionId":"q1","question":"Which harbour?","options":[{"label":"North","description":"deep"},{"label":"South"}]}]'
ok "what an agent asks a person is told" wait_until 20 has "$tmp/told.out" approval/ask_
is "$(jq -r '[.title, .urgency, .profile, .place, .text] | @csv' "$tmp/told.out")" \
  '"heron asks","urgent","asks","agent:heron:main","Which harbour?
1 North: deep
2 South"' "a question says who asks, in which conversation, and what may be chosen"
stop "$pid"
stop "$told"

done_testing
