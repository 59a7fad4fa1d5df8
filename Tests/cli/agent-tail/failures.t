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
ok "one is refused, the other goes on" has "$tmp/tail.out" '"profile":"a".*later'
is "$(cat "$tmp/tail.err")" "agent-tail: wrong: $b/api/activity/events: 401 Unauthorized: \
the token from $tmp/wrong was refused (profile wrong)" "told in one line with the name"
stop "$tail"
is "$status" 143 "until it is ended"
for profiles in a,wrong wrong,a; do
  t 77 "-p $profiles: refused at the end" agent-tail --max-time 1 -p "$profiles"
  ok "-p $profiles: the other's events are printed" has "$out" '"profile":"a"'
done
t 77 "alone it ends at once" agent-tail -p wrong --max-time 5
err_one_line agent-tail "it is told in a line"
err_unlike "agent-tail: wrong: " "which needs no name"

# --- misconfigured
t 2 "an unknown profile and an unknown scheme are errors" agent-tail --max-time 1 -p a,nobody,bad
err_like "^agent-tail: profile nobody: not in $config" "the unknown profile is told in one line"
err_like "^agent-tail: bad: the profile's url: " "the unknown scheme is told, too"
is "$(lines "$err")" 2 "nothing else is said"
ok "the other is followed" has "$out" '"profile":"a"'
t 77 "the worst of all statuses counts" agent-tail --max-time 1 -p a,nobody,wrong
t 2 "none can be followed" agent-tail -p nobody,bad

# --- down
t 75 "gave up on one" agent-tail --max-retries 1 --retry-wait 0.05 --max-time 1 -p down,a
err_like "^agent-tail: down: http://127.0.0.1:9/api/activity/events: gave up after 1 retries: " "it is told of the one that is down"
ok "and followed the other" has "$out" '"profile":"a"'
t 75 "down when the time is up" agent-tail --max-time 1 -p down,a
err_like "^agent-tail: down: .*: time is up and the stream is not open: .*onnect" "is told with its name"
run agent-tail -v --retry-wait 0.05 --max-time 1 -p down,a
err_like "^agent-tail: down: stream is down: .*; next try in " "so are the notes"
err_like "^agent-tail: a: stream is open: $a" "-v notes each of them"
t 0 "enough events were had" agent-tail -n 1 -p down,b

# --- wrong usage
for words in "-p a,,b" "-p ," "-p a --token-file x -p b" "-n x" "--state="; do
  # shellcheck disable=SC2086
  t 2 "agent-tail $words is refused" agent-tail $words
  is "$(tail -n 1 "$err")" "usage: agent-tail [options] [-p NAME,...] [THREAD]" "the usage is shown: $words"
done
t 2 "a thread is refused with several" agent-tail -p a main
err_like "^agent-tail: main: a Clanky dashboard has no threads to follow$" "there is none"

t 2 "sse-tail takes one profile" sse-tail -p a -p b activity
err_like "^sse-tail: one profile at a time: b; agent-tail follows several$" "and says who takes more"

# --- what is said of one agent in the environment is not said of all
t 0 "several profiles have their own URLs and tokens" \
  env AGENT_URL="http://127.0.0.1:9" AGENT_TOKEN_FILE="$tmp/wrong" agent-tail -n 2 -p a,b
is "$(jq -r .profile "$out" | sort | tr '\n' ' ')" "a b " "each has its own"
done_testing
