#!/bin/sh
# What people type because other commands have it: an error names what does it here.
. "${0%/*}/../lib.sh"
needs agent-serve python3

# guess WORDS ADVICE: these words are wrong usage, and told with this advice.
guess() {
  # shellcheck disable=SC2086
  t 2 "'$1' is wrong usage" $1
  err_like "$2" "the error of '$1' names what does it: $2"
}
for word in --since -S --last; do guess "agent-tail $word 1h" 'agent-pulse -S shows'; done
for word in --follow -f; do guess "agent-tail $word" 'it follows anyway'; done
for command in agent-tail action-filter sse-tail bus-get mail-triage notify-route pds-record transcript-tail turn-fold \
  ws-tail; do guess "$command --json" 'it prints JSON anyway'; done
for command in action-format agent-plot turn-format; do guess "$command --json" 'it reads JSON, and shows it'; done
guess 'agent-pulse --json' 'did you mean --records[?]'
for command in agent-call agent-chat agent-cost agent-approve mem-search outbox share-inbox voice-state; do
  guess "$command --json" 'did you mean --output json[?]'
done
guess 'agent-status --json' 'agent-call prints JSON'
for word in --watch -w; do guess "agent-status $word" 'watch agent-status'; done
guess 'mem-search --list' '-f lists all facts'
guess 'agent-notify --test' '--check sends one notice by --to, --ntfy and --exec'
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
err_one_line agent-plot "agent-plot says in one line where to get records"
run python3 "$cli/terminal.py" agent-plot
like "$status $(cat "$out")" '^2 agent-plot: nothing to read: a pipe of counts' "agent-plot alone at a terminal says what it needs"

# Where a host is meant.
printf '[host box]\nhostname = 127.0.0.1\nport = 1\n[host lab]\nport = 1\n' >"$XDG_CONFIG_HOME/agentutils/config"
guess 'agent-say box hello' 'box is a host: put -- behind it to type there'

# Kinds and domains.
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite"
AGENT_URL=$url
export AGENT_URL
rm "$XDG_CONFIG_HOME/agentutils/config"
shows_hint() { python3 "$cli/talk.py" agent-pulse -k error <"$tmp/talk" >"$out" 2>"$err"; has "$out" 'errors are a domain: -d error shows them'; }
echo 'errors are a domain|^C' >"$tmp/talk"
ok "agent-pulse -k error says that errors are a domain" shows_hint
done_testing
