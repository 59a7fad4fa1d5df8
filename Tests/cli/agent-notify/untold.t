#!/bin/sh
# What agent-notify could not tell is told by the next run, or by another way.
. "${0%/*}/../lib.sh"
needs jq python3

state=$XDG_STATE_HOME/agentutils/notify
one() { printf '{"urgency":"urgent","category":"x","title":"%s","id":"%s"}\n' "$1" "$1"; }
waits() { jq -r '.waiting // [] | map(.title) | join(" ")' "$state"; }
titles() { jq -r 'select(.type == "notification").title' "$1" | xargs; }

# --- a command that fails
one first >"$tmp/in"
t 75 "a command that fails has status 75" agent-notify --exec 'exit 4' <"$tmp/in"
is "$(waits)" first "a command that fails leaves what it was to tell"
t 0 "another run without input has status 0" agent-notify --exec cat </dev/null
is "$(titles "$out")" first "another run tells what a command could not, without any input"
one first >"$tmp/in"
run agent-notify --exec cat <"$tmp/in"
out_empty "what a command could not tell is told once"
is "$(waits)" "" "nothing waits any more when it was told"
run agent-notify --told
is "$(grep -c first "$out")" 1 "--told has what was told when it was told"

{ one a; one b; } >"$tmp/in"
run agent-notify --exec 'exit 1' <"$tmp/in"
one c >"$tmp/in"
run agent-notify --exec 'exit 1' <"$tmp/in"
is "$(waits)" "a b c" "what waits adds up"
seq 300 | while read -r number; do one "n$number"; done >"$tmp/in"
run agent-notify --exec 'exit 1' <"$tmp/in"
is "$(jq '.waiting | length' "$state")" 303 "each of what is urgent waits"
seq 300 | while read -r number; do one "a$number"; done | sed 's/urgent/attention/' >"$tmp/in"
run agent-notify --exec 'exit 1' <"$tmp/in"
ok "kinds of others without a place are counted" test "$(jq '.waiting | length' "$state")" -le 304
is "$(jq '[.waiting[].count] | add' "$state")" 603 "no notification is lost that waits"
run agent-notify --exec cat </dev/null
is "$(jq -s 'map(.count // 1) | add' "$out")" 603 "all notifications that waited are told"
one quiet | jq -c '.urgency = "info"' >"$tmp/info"
run agent-notify --exec 'exit 1' <"$tmp/info"
is "$(jq -r '.kept[].title' "$state")" quiet \
  "what was kept for later stays kept when a command fails"
run agent-notify --exec cat </dev/null
is "$(titles "$out")" quiet "what was kept for later is told later"

# --- one of several ways
log="$tmp/log"
one both >"$tmp/in"
t 75 "one of two ways that fails has status 75" \
  agent-notify --exec 'exit 3' --exec "cat >>'$log'" <"$tmp/in"
t 75 "the way that failed is tried again" \
  agent-notify --exec 'exit 3' --exec "cat >>'$log'" </dev/null
is "$(titles "$log")" both "the way that worked is not tried again"
run agent-notify --told
is "$(grep -c both "$out")" 1 "a notification in two ways is told once in --told"
t 0 "the next run works without the way that failed" agent-notify --exec "cat >>'$log'" </dev/null
is "$(titles "$log") $(waits)" "both " "nothing more waits without the way that failed"

# --- ended in the middle
mkfifo "$tmp/live"
for end in TERM KILL; do
  start live sh -c "exec agent-notify --settle 0 --exec 'echo \$\$ >$tmp/child; exec sleep 1000' <'$tmp/live'"
  live=$pid
  exec 3>"$tmp/live"
  one "held $end" >&3
  wait_until 20 test -s "$tmp/child"
  written() { has "$state" "held $end"; }
  ok "$end: what is being told is on disk" wait_until 20 written
  stop "$live" "$end"
  kill "$(cat "$tmp/child")" 2>/dev/null
  rm "$tmp/child"
  exec 3>&-
  run agent-notify --exec cat </dev/null
  is "$(titles "$out")" "held $end" "$end: the next run tells what was being told"
done
one slow >"$tmp/in"
t 75 "a way that is not through at the end has status 75" \
  agent-notify --max-time 0.5 --settle 0 --exec 'exec sleep 30' <"$tmp/in"
run agent-notify --exec cat </dev/null
is "$(titles "$out")" slow "what a way was not through with is told by the next run"

# --- a server
serve <<'END'
on /
forever
status 503 text/plain busy
END
start ntfy sh -c "exec agent-notify --settle 0 --ntfy '$url/alerts' <'$tmp/live'"
ntfy=$pid
exec 3>"$tmp/live"
one phone >&3
ok "a server that fails is tried again" wait_until 20 has "$tmp/ntfy.err" 'tried again'
stop "$ntfy"
exec 3>&-
is "$(waits)" phone "what a signal found between two tries waits"
script <<'END'
forever
status 200 application/json {"id":"m1","event":"message"}
END
t 0 "what waited is sent when the server is back" agent-notify --ntfy "$url/alerts" </dev/null
is "$(requests .body | jq -r .message | tail -n 1)" phone \
  "the phone is told when the server is back"
for code in 400 413; do
  script <<END
forever
status $code text/plain no
END
  one "bad $code" >"$tmp/in"
  t 2 "what a server refuses for good has status 2 ($code)" \
    agent-notify --ntfy "$url/alerts" <"$tmp/in"
  is "$(waits)" "" "nothing waits of what a server refuses for good ($code)"
  run agent-notify --told
  out_unlike "bad $code" "--told does not have what a server refuses for good ($code)"
done
script <<END
forever
status 404 text/plain no
END
one lost >"$tmp/in"
t 2 "a server that has no such place is an error" agent-notify --ntfy "$url/alerts" <"$tmp/in"
is "$(waits)" lost "what is lost at a server waits, as it may have the place later"
run agent-notify --exec cat </dev/null
is "$(titles "$out")" lost "another way tells what is lost at a server"

# --- the desktop has gone
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "cannot open display" >&2\nexit 1\n' >"$tmp/bin/notify-send"
chmod +x "$tmp/bin/notify-send"
PATH=$tmp/bin:$PATH
one cron >"$tmp/in"
t 75 "notify-send alone has status 75 when its desktop has gone" \
  agent-notify --to notify-send <"$tmp/in"
is "$(waits)" cron "what notify-send could not tell waits"
one stale >"$tmp/in"
t 0 "agent-notify has status 0 where no way was asked for" \
  env -u TMUX DISPLAY=:9 agent-notify <"$tmp/in"
is "$(awk '{ print $NF }' "$out" | xargs)" "cron stale" \
  "a line stands in for notify-send, also for what waits"
err_is "agent-notify: notify-send: cannot open display; another way is taken" \
  "the way that is taken instead is told once"
is "$(waits)" "" "nothing waits any more when a line stood in"
{ one x; one y; one z; } >"$tmp/in"
run env -u TMUX DISPLAY=:9 agent-notify <"$tmp/in"
is "$(lines "$out") $(lines "$err")" "3 1" "each of three is told in a line"
PATH=${PATH#*:}

# --- what was read cannot be read again
mkdir -p "$tmp/mail/new" "$tmp/mail/cur" "$tmp/mail/tmp"
printf 'From: ada@example.org\nSubject: the boiler\nMessage-ID: <b1@example.org>\n\nIt broke.\n' \
  >"$tmp/mail/new/1"
printf 'urgent from ada@example.org\n' >"$tmp/rules"
triage() { mail-triage --rules "$tmp/rules" --state "$tmp/triage" "$tmp/mail" | agent-notify --route; }
triage >"$tmp/in"
t 75 "mail that cannot be told has status 75" agent-notify --exec 'exit 1' <"$tmp/in"
triage >"$tmp/in"
run agent-notify --exec cat <"$tmp/in"
out_like 'the boiler' \
  "mail that could not be told is told by the next run, though it is not read again"
triage >"$tmp/in"
run agent-notify --exec cat <"$tmp/in"
out_empty "mail is told once"

# --- several at once
start first sh -c "exec agent-notify --settle 0 --exec cat <'$tmp/live'"
first=$pid
exec 3>"$tmp/live"
one early >&3
ok "a first agent-notify is at work" wait_until 20 has "$tmp/first.out" early
one beside >"$tmp/in"
t 75 "another agent-notify fails beside the first" agent-notify --exec 'exit 1' <"$tmp/in"
one late >&3
ok "the first agent-notify goes on" wait_until 20 has "$tmp/first.out" late
exec 3>&-
finished "$first"
run agent-notify --exec cat </dev/null
is "$(titles "$out")" beside "what the other agent-notify could not tell is told"
for title in beside late; do one "$title"; done >"$tmp/in"
run agent-notify --exec cat <"$tmp/in"
out_empty "what both told is not told again"
done_testing
