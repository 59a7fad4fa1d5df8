#!/bin/sh
# A first day: what a new user types at one terminal to set an agent up, watch it, be told,
# look around, mend a memory, see the cost and answer a waiting agent on another machine.
# Counts the commands and the keys; with TRANSCRIPT=FILE writes what was typed and shown.
# shellcheck disable=SC2154  # of the libraries
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../browser.sh"
. "${0%/*}/../gateway.sh"
needs agent-serve curl python3

# --- the agents: one that answers on this machine, a gateway's, two on another machine
token=Tok3n-of-the-day
(umask 077 && echo "$token" >"$tmp/token" && echo "x-dashboard-token: $token" >"$tmp/header")
"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day.ndjson"
start_gateway claw
claw=$url
serve_agent reef --token-file "$tmp/token" --ingest "$tmp/day.ndjson"
reef=$url
start_sshd
cp "$root/bin/agent-state" "$root/bin/riff-claude" "$remote_home/bin"
attach_args
for session in riff site; do
  # shellcheck disable=SC2086  # words
  ok "an agent runs elsewhere: $session" tmux-attach $attach_args -N -H riff-claude -s "$session"
done

# --- the person: an empty home, but for the key that the other machine knows
rm -rf "$HOME"
mkdir -p "$HOME/.ssh"
cp "$id" "$HOME/.ssh/id_ed25519"
commands=0
pressed=0
: >"$tmp/transcript"
# typed_in TEXT: and Enter. command_line LINE: at the prompt, on an empty screen.
typed_in() {
  pressed=$((pressed + ${#1} + 1))
  mux send-keys -l -t =look: -- "$1"
  keys Enter
}
command_line() {
  wait_until 20 shows '^\$ *$' || diag "no prompt for $1: $(cat "$tmp/screen")"
  _line=$1
  mux send-keys -R -t =look: \; clear-history -t =look:
  commands=$((commands + 1))
  printf '\n$ %s\n' "$1" >>"$tmp/transcript"
  typed_in "$1"
}
press() {
  pressed=$((pressed + $#))
  printf '[%s]\n' "$*" >>"$tmp/transcript"
  keys "$@"
}
# answer PROMPT TEXT
answer() {
  wait_until 20 shows "$1" || diag "no prompt $1: $(cat "$tmp/screen")"
  typed_in "$2"
}
# seen TITLE ERE: the screen has it; the transcript gets the beginning and end of it.
seen() {
  if wait_until 20 shows "$2"; then pass "$1"; else
    fail "$1"
    diag "$(cat "$tmp/screen")"
  fi
  awk -v typed="$_line" 'NF && (n || $0 != typed) && $0 != "$ " typed { line[++n] = $0 }
    END { for (i = 1; i <= n; i++)
      if (n <= 18 || i <= 9 || i > n - 8) print line[i]; else if (i == 10) print "[...]" }' \
    "$tmp/screen" >>"$tmp/transcript"
}
# left_with TITLE KEY: the key ends the command.
left_with() {
  press "$2"
  ok "$1" wait_until 20 shows '^\$ *$'
}
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME
# shellcheck disable=SC2016  # its prompt
mux new-session -d -x 100 -y 30 -s look -c "$HOME" env -u ENV PS1='$ ' sh -i

# --- 1: setup
command_line 'agent-setup'
answer 'Name of the profile' ''
answer 'URL of the agent' "${reef#http://}"
answer 'Token, not shown' "$token"
answer 'Where to keep the token' file
seen "1 an agent is set up, by host and port alone" 'agent-call .*health: ok'
ok "1 the token was not shown" hides "$token"
command_line 'agent-setup -p claw'
answer 'URL of the agent' "$claw"
answer 'Token, not shown' ''
seen "1 a gateway is set up, too" 'agent-call -p claw agents: ok'

# --- 2: watch
command_line 'agent-pulse'
seen "2 the feed is shown" ' (now|[0-9]+s ago) .*voice_'
left_with "2 ^C leaves the feed" C-c

# --- 3: be told, of what is wrong and of what waits
command_line 'agent-notify -p default,claw --to line'
# errors TEXT COUNT: so many happen at once.
errors() {
  seq "$2" | sed "s/.*/{\"kind\":\"$1\",\"content\":\"hum number &\"}/" |
    curl -sf -H @"$tmp/header" --data-binary @- "$reef/api/actions" >"$tmp/posted"
}
# What happened before it listens is no news.
heard() { errors bot_error 1 && wait_until 3 shows bot_error; }
wait_until 20 came_frames claw exec.approval.list 1
wait_until 20 heard
errors asr_error 200
seen "3 two hundred errors are one notification, with their number" 'asr_error.*200'
tell claw ask q1 '{"command":"make test","commandPreview":"run all tests"}'
seen "3 an agent asks" 'claw: exec waits: make test'
is "$(grep -c asr_error "$tmp/screen")" 1 "3 no second notification is told"
left_with "3 ^C leaves the notifications" C-c
command_line 'agent-approve -p claw -i'
seen "3 a waiting command is shown for an answer" '^ +command +make test'
answer 'allow it once\?' y
seen "3 a waiting command is answered" '^approval q1 allow-once: accepted'
left_with "3 ^C leaves agent-approve" C-c

# --- 4: look around
command_line agent-browse
seen "4 the rows are shown, and everything about the newest" 'content +hum number 200'
press b o t
seen "4 a search selects rows" '^>.* bot_error'
press Enter
seen "4 the whole action is shown in less" '^\(END\)'
press q
wait_until 20 shows '^ +Enter detail'
left_with "4 Escape leaves the browser" Escape

# --- 5: find a memory and mend it
command_line 'mem-search who keeps the key'
seen "5 a memory is found" 'Noor keeps the key'
fact=$(sed -n 's/^ *\([0-9]*\) .*Noor keeps the key.*/\1/p' "$tmp/screen")
command_line "EDITOR='perl -pi -e s/Saturday/Sunday/' mem-search --edit $fact"
answer 'Change fact' y
seen "5 the change is shown" '^\+ fact .* until Sunday'
seen "5 the change is kept" '^\$ *$'
is "$(AGENT_PROFILE=default mem-search -f 'until Sunday' | jq -r .id)" "$fact" \
  "5 the agent has the change"

# --- 6: see the cost
command_line 'agent-cost -S 24h'
seen "6 the cost is shown, on what and when" '^total '
command_line 'agent-cost -S 24h -o json >cost'
seen "6 the cost is written for a script" '^\$ *$'
agent-call -p default actions -S 24h >"$tmp/actions"
is "$(tail -n 1 "$HOME/cost" | grep -o '"usd_cost":[0-9.]*')" "$(python3 - "$tmp/actions" <<'END'
import decimal, json, sys
rows = [json.loads(line, parse_float=decimal.Decimal) for line in open(sys.argv[1])]
print(f'"usd_cost":{sum(row.get("usd_cost") or 0 for row in rows).normalize():f}')
END
)" "6 the cost is the same to the last digit"

# --- 7: another machine
command_line 'cat >>.config/agentutils/config'
for line in '[host box]' 'hostname = 127.0.0.1' "port = $port" "user = $remote_user" \
  'identity = ~/.ssh/id_ed25519'; do
  typed_in "$line"
done
left_with "7 another machine has a name" C-d
command_line 'tmux-attach -l box'
seen "7 its agents are listed" '^riff +idle'
command_line 'tmux-attach -w -o line box'
seen "7 a bar shows the agents" '^2 idle'
rtmux send-keys -t =riff: 'ask May I run make?' Enter
# The hook that says so begins when the one before it has ended.
perl -MTime::HiRes=time,sleep -e '
  for (1 .. 2000) {
    exec "echo", time if `tmux -S $ARGV[0] capture-pane -p -t =look:` =~ /^1 waiting/m;
    sleep 0.005;
  }' "$tmp/tmux" >"$tmp/told"
wait_until 20 shows '^1 waiting'
before=$(agent_says riff 'select(.event == "PreToolUse").t' | tail -n 1)
took=$(jq -n "($(cat "$tmp/told") - $before) * 1000 | round")
seen "7 an agent waits" '^1 waiting · 1 idle'
diag "the bar says so after $took ms"
# A busy machine may take its time; on a quiet one it is well below a second.
ok "7 a waiting agent is told soon" test "$took" -lt 8000
left_with "7 ^C leaves the bar" C-c
command_line 'tmux-attach -l box'
seen "7 the list shows which agent waits, and for what" '^riff +waiting'
command_line 'agent-say box -- allow'
seen "7 the waiting agent is answered" '^\$ *$'
works() { [ "$(tmux-attach -l box | jq -r 'select(.name == "riff").state')" = working ]; }
ok "7 the answered agent works on" wait_until 20 works

echo "# a first day: $commands commands, $pressed keys"
printf '\n%s commands, %s keys\n' "$commands" "$pressed" >>"$tmp/transcript"
cat "$tmp/transcript" >"${TRANSCRIPT:-/dev/null}"
done_testing
