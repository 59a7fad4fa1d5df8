#!/bin/sh
# One agent that is refused, misconfigured or out of reach keeps no other from
# being followed, and the exit status tells at the end.
. "${0%/*}/../lib.sh"
needs agent-tail sse-tail agent-serve jq curl

config=$XDG_CONFIG_HOME/agentutils/config
serve_four
profile page "$a/nowhere"
profile bad gopher://x
profile '"a;b' "$a"
act() { curl -sf -d '{"kind":"llm_call","content":"later"}' "$a/api/actions" >/dev/null; }

# --- refused, while the other goes on
start tail agent-tail -L -p wrong,a
tail=$pid
wait_until 30 has "$tmp/tail.out" '"type":"end","profile":"wrong"'
wait_until 30 has "$tmp/tail.out" 'activity_snapshot'
act
wait_until 30 has "$tmp/tail.out" '"profile":"a".*later'
ok "the other profile goes on when one is refused" has "$tmp/tail.out" '"profile":"a".*later'
is "$(cat "$tmp/tail.err")" "agent-tail: wrong: $b/api/activity/events: 401 Unauthorized: \
the token from $tmp/wrong was refused (profile wrong)" \
  "the profile that is refused is told in one line with its name"
stop "$tail"
is "$status" 143 "the other profile goes on until it is ended"
for profiles in a,wrong wrong,a; do
  t 77 "-p $profiles: refused at the end" agent-tail --max-time 1 -p "$profiles"
  ok "-p $profiles: the other's events are printed" has "$out" '"profile":"a"'
done
t 77 "a profile alone that is refused ends at once" agent-tail -p wrong --max-time 5
err_one_line agent-tail "a profile alone that is refused is told in a line"
err_unlike "agent-tail: wrong: " "a profile alone that is refused needs no name"

# --- misconfigured
t 2 "an unknown profile and an unknown scheme are errors" agent-tail --max-time 1 -p a,nobody,bad
err_like "^agent-tail: profile nobody: not in $config" "the unknown profile is told in one line"
err_like "^agent-tail: bad: the profile's url: " "the unknown scheme is told, too"
is "$(lines "$err")" 2 "nothing else is said beside the two mistakes"
ok "the profile beside the two mistakes is followed" has "$out" '"profile":"a"'
t 77 "the worst of all statuses counts" agent-tail --max-time 1 -p a,nobody,wrong
t 2 "profiles of which none can be followed are an error" agent-tail -p nobody,bad

# --- down
t 75 "a profile that is down among others has status 75" \
  agent-tail --max-retries 1 --retry-wait 0.05 --max-time 1 -p down,a
err_like "^agent-tail: down: http://127.0.0.1:9/api/activity/events: gave up after 1 retries: " \
  "the profile that is down is told with its name"
ok "the profile beside one that is down is followed" has "$out" '"profile":"a"'
t 75 "down when the time is up" agent-tail --max-time 1 -p down,a
err_like "^agent-tail: down: .*: time is up and the stream is not open: .*onnect" \
  "a profile that is down when time is up is told with its name"
run agent-tail -v --retry-wait 0.05 --max-time 1 -p down,a
err_like "^agent-tail: down: stream is down: .*; next try in " "-v notes the profile that is down"
err_like "^agent-tail: a: stream is open: $a" "-v notes the profile that is open"
t 0 "enough events of others give status 0" agent-tail -n 1 -p down,b

# --- wrong usage
for words in "-p a,,b" "-p ," "-p a --token-file x -p b" "-n x" "--state="; do
  # shellcheck disable=SC2086
  t 2 "agent-tail $words is refused" agent-tail $words
  is "$(tail -n 1 "$err")" "usage: agent-tail [options] [-p NAME,...] [THREAD]" "the usage is shown: $words"
done
t 2 "a thread is refused with several" agent-tail -p a main
err_like "^agent-tail: main: a Clanky dashboard has no threads to follow$" \
  "the message says that a dashboard has no threads"

t 2 "sse-tail takes one profile" sse-tail -p a -p b activity
err_like "^sse-tail: one profile at a time: b; agent-tail follows several$" \
  "the message says which command takes several profiles"

# --- what is said of one agent in the environment is not said of all
t 0 "several profiles have their own URLs and tokens" \
  env AGENT_URL="http://127.0.0.1:9" AGENT_TOKEN_FILE="$tmp/wrong" agent-tail -n 2 -p a,b
is "$(jq -r .profile "$out" | sort | tr '\n' ' ')" "a b " \
  "each of several profiles has its own events"
done_testing
