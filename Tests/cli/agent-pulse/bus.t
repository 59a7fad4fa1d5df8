#!/bin/sh
# agent-pulse --bus: everybody's feed, what is there first and then what comes, each once.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
bound=30

t 2 "--bus needs a subject" agent-pulse --bus
err_like "^agent-pulse: option --bus needs an argument: SUBJECT" \
  "the message says that --bus needs a subject"
t 2 "--bus and --profile exclude each other" agent-pulse -p home --bus 'actions.>'
err_like "^agent-pulse: --bus and --profile: one of them" \
  "the message says that --bus and --profile exclude each other"

start_bus a
printf '[bus local]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a wrong subject is refused" agent-pulse --bus 'a..b'
err_like "^agent-pulse: a..b: " "a wrong subject is told by our name"
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
ok "what is on the bus is shown, and what comes" wait_until 20 at_least "$tmp/pulse.out" 60
: >"$tmp/enough"
wait "$putting"
last=$(cat "$tmp/last")
is_shown() { grep -q "\"$last\"" "$tmp/pulse.out"; }
ok "the feed goes on to the last record" wait_until 20 is_shown
first=$(head -n 1 "$tmp/pulse.out" | jq -r .content)
is "$(contents)" "$(seq "$first" "$last" | xargs)" "the feed has no gap, and shows each record once"
ok "the feed begins with the newest" test "$first" -gt 980
follows() {
  child=$(ps -e -o pid= -o ppid= -o args= |
    awk -v pulse="$pulse" '$2 == pulse && / bus-get -q --since-seq / { print $1 }')
  [ -n "$child" ]
}
ok "bus-get follows from a number on" follows
stop "$pulse"
status_is 143 "TERM ends it by that signal"
ok "TERM ends what agent-pulse started" wait_until 20 gone "$child"

start pulse agent-pulse --bus 'actions.>' -n 3 -- -n 3 --color never
ok "-n brings so many of the newest, as rows" wait_until 20 at_least "$tmp/pulse.out" 3
is "$(sed 's/.* //' "$tmp/pulse.out" | xargs)" "$(seq -s ' ' $((last - 2)) "$last")" \
  "the rows of -n are in their order"
finished "$pid"
is "$status" 0 "agent-pulse ends after the -n of the format"

# Nothing there yet: what comes is shown.
start pulse agent-pulse --bus 'voice.>' --records
rows 1 50001 | bus-put -u voice.1
ok "what comes is shown where nothing was there" wait_until 20 at_least "$tmp/pulse.out" 1
stop "$pid"

# No server: it waits, and can be ended.
stop "$bus_pid"
start pulse agent-pulse --bus 'actions.>'
ok "a bus that is away is told" wait_until 20 test -s "$tmp/pulse.err"
stop "$pid"
status_is 143 "agent-pulse can be ended while a bus is away"
done_testing
