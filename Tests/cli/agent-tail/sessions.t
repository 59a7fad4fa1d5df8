#!/bin/sh
# agent-tail of sessions of Claude Code: one whose conversation is another after /clear or /resume, and
# hosts among several profiles.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
unset AGENT_URL AGENT_PROFILE

for session in site other; do tmux -L riff -f /dev/null new-session -d -s $session -c "$tmp" "$HOME/bin/claude"; done
for session in site other; do wait_until 20 stands $session '["idle",null,null]'; done
conversation() { tmux-attach -l . | jq -r "select(.name == \"$1\") | .conversation"; }
first=$(conversation site)
start tail agent-tail -L -p .:site
tail=$pid
opened() { grep -q '"type":"open"' "$tmp/tail.out"; }
wait_until 20 opened || bail "nothing is followed"
sleeps() { pgrep -P "$tail" tmux-attach >/dev/null; }
wait_until 20 sleeps
# said COUNT: how many different things were said in it so far.
said() { [ "$(jq -r 'select(.event == "user") | .data.message.content' "$tmp/tail.out" | wc -l)" -eq "$1" ]; }
say() { agent-say --when-idle --return-delay 0.1 -s "$1" . -- "$2"; }
say other elsewhere
say site one
ok "a session is followed" wait_until 20 said 1
say site /clear
another() { [ "$(conversation site)" != "$first" ]; }
wait_until 20 another
say site two
ok "the new transcript of a session is followed after /clear" wait_until 20 said 2
second=$(conversation site)
say site "/resume $first"
back() { [ "$(conversation site)" = "$first" ]; }
wait_until 20 back
say site three
ok "a transcript that a session resumes is followed" wait_until 20 said 3
say site /clear
gone_on() { [ "$(conversation site)" != "$first" ]; }
wait_until 20 gone_on
say other more
say site 'slow 0'
ok "the next transcript of a session is followed" wait_until 20 said 4
is "$(jq -r 'select(.event == "user") | .data.message.content' "$tmp/tail.out" | paste -sd' ' -)" "one two three slow 0" \
  "each line of a session comes once, and none of another session"
is "$(jq -r 'select(.event == "user") | .id | split("/")[0]' "$tmp/tail.out" | sort -u | wc -l)" 3 \
  "the events have the ids of three conversations"
isnt "$second" "$first" "the conversations of a session differ"
stop "$tail"
is "$status" 143 "a signal ends agent-tail"
not_ok "a signal ends what agent-tail started" pgrep -P "$tail"

# --- several
printf '[profile box]\nkind = claude\nhost = .:other\n' >"$XDG_CONFIG_HOME/agentutils/config"
start tail agent-tail -L -p box,.:site
tail=$pid
both() { [ "$(grep -c '"type":"open"' "$tmp/tail.out")" -eq 2 ]; }
wait_until 20 both
is "$(jq -r 'select(.type == "open") | .profile' "$tmp/tail.out" | sort | paste -sd' ' -)" ".:site box" \
  "a record about a connection names its profile"
say site here
say other there
named() {
  [ "$(jq -r 'select(.event == "user") | "\(.profile) \(.data.message.content)"' "$tmp/tail.out" | sort | paste -sd, -)" = ".:site here,box there" ]
}
ok "each event names its profile" wait_until 20 named
is "$(jq -r 'select(.event == "user") | keys_unsorted | join(" ")' "$tmp/tail.out" | sort -u)" "event id profile data" \
  "the profile of an event stands where those of servers have it"
stop "$tail"
start count agent-tail -n 2 -p box,.:site
sleep_until() { [ "$(pgrep -P "$pid" transcript-tail | wc -l)" -eq 2 ]; }
wait_until 20 sleep_until
say other last
finished "$pid"
is "$status$(wc -l <"$tmp/count.out" | tr -d ' ')" 02 "-n counts the events of all profiles"
t 1 "a session that is not there is told" agent-tail -p .:none
done_testing
