#!/bin/sh
# agent-pulse --bus: everybody's feed, what is there first and then what comes, each once.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
bound=30

t 2 "--bus needs a subject" agent-pulse --bus
err_like "^agent-pulse: option --bus needs an argument: SUBJECT" "the message says so"
t 2 "--bus and --profile exclude each other" agent-pulse -p home --bus 'actions.>'
err_like "^agent-pulse: --bus and --profile: one of them" "the message says so"

start_bus a
printf '[bus local]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a wrong subject is refused" agent-pulse --bus 'a..b'
err_like "^agent-pulse: a..b: " "is told by our name"
rows 1000 | bus-put --create || bail "no records"
contents() { jq -r .content "$tmp/pulse.out" | xargs; }

# What comes while it starts is there once, too.
{
  number=1001
  while [ ! -e "$tmp/enough" ]; do
    rows 5 "$number"
    number=$((number + 5))
    sleep 0.02 # a pace, for the start to meet it at work
  done
  echo "$((number - 1))" >"$tmp/last"
} | bus-put &
putting=$!
start pulse agent-pulse --bus 'actions.>' --records -n 20
pulse=$pid
ok "what is there is shown, and what comes" wait_until 20 at_least "$tmp/pulse.out" 60
: >"$tmp/enough"
wait "$putting"
last=$(cat "$tmp/last")
is_shown() { grep -q "\"$last\"" "$tmp/pulse.out"; }
ok "the feed goes on to the last record" wait_until 20 is_shown
first=$(head -n 1 "$tmp/pulse.out" | jq -r .content)
is "$(contents)" "$(seq "$first" "$last" | xargs)" "there is no gap, and each is shown once"
ok "it begins with the newest" test "$first" -gt 980
follows() {
  child=$(ps -e -o pid= -o ppid= -o args= |
    awk -v pulse="$pulse" '$2 == pulse && / bus-get -q --since-seq / { print $1 }')
  [ -n "$child" ]
}
ok "it follows from a number on" follows
stop "$pulse"
status_is 143 "TERM ends it by that signal"
ok "and what it started" wait_until 20 gone "$child"

start pulse agent-pulse --bus 'actions.>' -n 3 -- -n 3 --color never
ok "-n brings so many of the newest, as rows" wait_until 20 at_least "$tmp/pulse.out" 3
is "$(sed 's/.* //' "$tmp/pulse.out" | xargs)" "$(seq -s ' ' $((last - 2)) "$last")" "they are in their order"
finished "$pid"
is "$status" 0 "it ends when it is told to"

# Nothing there yet: what comes is shown.
start pulse agent-pulse --bus 'voice.>' --records
rows 1 50001 | bus-put -u voice.1
ok "with nothing there, what comes" wait_until 20 at_least "$tmp/pulse.out" 1
stop "$pid"

# No server: it waits, and can be ended.
stop "$bus_pid"
start pulse agent-pulse --bus 'actions.>'
ok "without a server it says so" wait_until 20 test -s "$tmp/pulse.err"
stop "$pid"
status_is 143 "and can be ended"
done_testing
