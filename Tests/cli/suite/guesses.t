#!/bin/sh
# What people type because other commands have it: an error names what does it here.
. "${0%/*}/../lib.sh"

# guess WORDS ADVICE: these words are wrong usage, and told with this advice.
guess() {
  # shellcheck disable=SC2086
  t 2 "'$1' is wrong usage" $1
  err_like "$2" "the error of '$1' names what does it: $2"
}
for word in --since -S --last; do guess "agent-tail $word 1h" 'agent-pulse -S shows'; done
for word in --follow -f; do guess "agent-tail $word" 'it follows anyway'; done
for command in agent-tail action-filter sse-tail; do guess "$command --json" 'it prints JSON anyway'; done
for command in agent-call agent-cost agent-approve mem-search outbox share-inbox voice-state; do
  guess "$command --json" 'did you mean --output json[?]'
done
guess 'agent-status --json' 'agent-call prints JSON'
for word in --watch -w; do guess "agent-status $word" 'watch agent-status'; done
guess 'mem-search --list' '-f lists all facts'
guess 'agent-notify --test' '--check sends one'
guess 'agent-pulse --errors' 'did you mean --domain error[?]'
guess 'agent-cost yesterday' 'did you mean --since yesterday[?]'
guess 'agent-cost month' 'did you mean --month[?]'
guess 'agent-cost week' 'did you mean --week[?]'
guess 'agent-cost -S month' 'today, yesterday'
guess 'share-inbox ls' 'did you mean list[?]'
guess 'share-inbox rm 3' 'did you mean remove[?]'
: >"$tmp/shot.png"
guess "share-inbox $tmp/shot.png" "share-inbox add $tmp/shot.png"
guess 'tmux-attach ls' 'did you mean -l[?]'
printf '[host ls]\nhostname = 127.0.0.1\nport = 1\n' >"$tmp/config"
mkdir -p "$XDG_CONFIG_HOME/agentutils"
mv "$tmp/config" "$XDG_CONFIG_HOME/agentutils/config"
run tmux-attach ls
err_unlike 'did you mean' "a host may be called ls"
printf 'minute\tcount\n10:00\t3\n' >"$tmp/table"
t 2 "a table is no input for agent-plot" sh -c "agent-plot <$tmp/table"
err_like 'agent-cost -o json prints those' "the error of agent-plot says where to get records"
err_one_line agent-plot "it says so once"
done_testing
