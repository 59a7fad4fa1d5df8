#!/bin/sh
# agent-pulse: the whole feed in one command.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ]; }

t 0 "agent-pulse --help succeeds" agent-pulse --help
out_like "^usage: agent-pulse" "--help says how agent-pulse is called"
t 0 "agent-pulse --version succeeds" agent-pulse --version
out_is "agent-pulse ${suite:=$(sse-tail -V | sed 's/.* //')}" "the version is that of the suite"

# Mistakes are told before anything is asked of the network.
AGENT_URL=http://127.0.0.1:9
export AGENT_URL
t 2 "an option that the filter does not know is an error" agent-pulse --no-such-option
out_empty "nothing is printed for an option that the filter does not know"
err_like "^agent-pulse: unknown option --no-such-option" \
  "an option that the filter does not know is named by us"
t 2 "an option that the format does not know is an error" agent-pulse -- --no-such-option
err_like "^agent-pulse: unknown option --no-such-option" \
  "an option that the format does not know is named by us"
# What the filter has beside its filters is no feed.
while read -r words; do
  t 2 "agent-pulse $words is refused" sh -c "agent-pulse $words </dev/null"
  out_empty "nothing is printed by agent-pulse $words"
  like "$(head -n 1 "$err")" '^agent-pulse: ' "agent-pulse $words is refused by our name"
  like "$(sed -n 2p "$err")" '^usage: agent-pulse ' "our usage is shown for agent-pulse $words"
done <<'END'
--count
-N
--by kind
--by=kind
-k llm_call --by kind
--total
-q
--quiet
-vq
-o user_id
--output kind
--contents
--pack
-R file
--rejects=file
--cou
--tota
-p a --count
day.ndjson
-
-- day.ndjson
-k x -- -W 80 -
-- --colr always
-p a,
-p ,a
--profile a,,b
-p ''
--bus=
END
ok "no file is made by words that are refused" test ! -e file
t 2 "-p needs an argument" agent-pulse -p
err_like "^agent-pulse: option -p needs an argument" "the message says that -p needs an argument"
ok "nothing is left of words that are refused" nothing_left

AGENT_URL=http://127.0.0.1:9
for words in "-n 5 --help" "-k x -h" "--records -h -- -x"; do
  # shellcheck disable=SC2086  # words
  run agent-pulse $words
  is "$status $(head -n 1 "$out" | cut -c 1-18)" "0 usage: agent-pulse" \
    "help is given anywhere: $words"
done
run agent-pulse -n 5 --version
out_is "agent-pulse $suite" "the version is given anywhere, too"

# Its status is that of the command that failed.
unset AGENT_URL
t 2 "agent-pulse without an agent is an error" agent-pulse
err_like "^agent-pulse: " "the message about no agent is our own"
umask 077
echo right-token >"$tmp/right"
echo wrong-token >"$tmp/wrong"
serve_agent serve --token-file "$tmp/right" --ingest "$root/Tests/fixtures/sample-day.ndjson"
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/wrong
export AGENT_URL AGENT_TOKEN_FILE
t 77 "a wrong token is refused" agent-pulse
ok "nothing is left of a wrong token" nothing_left

# Filters before --, looks behind it.
AGENT_TOKEN_FILE=$tmp/right
t 0 "agent-pulse ends with -n of the format" \
  agent-pulse -k sent_reply -n 3 -- --color never --width 60 -n 3
is "$(grep -c sent_reply "$out")" 3 "three actions were chosen"
is "$(grep -vc sent_reply "$out")" "$(grep -c 'cost\|\$' "$out" | sed 's/.*/0/')" \
  "no other action was chosen"
ok "the rows fit into 60 columns" perl -CSD -ne 'chomp; exit 1 if length > 60' "$out"
err_empty "nothing is said beside the rows"

cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[profile other]
url = $url
token-file = $tmp/right
END
t 0 "a profile can be followed" \
  env -u AGENT_URL -u AGENT_TOKEN_FILE agent-pulse -p other -k sent_reply -n 1 -- -n 1
out_like 'sent_reply' "the profile is followed"
out_unlike 'other' "the row of the only profile has no name"

# The records themselves, for another command.
run sh -c 'agent-pulse --records -k sent_reply -n 3 | head -n 3'
is "$(action-filter -N -k sent_reply "$out") $(lines "$out")" "3 3" "--records prints what rows are made of"
if [ -c /dev/full ]; then
  t 2 "a full disk ends agent-pulse" sh -c 'agent-pulse >/dev/full'
  err_is "agent-pulse: standard output: no space left on device" \
    "the message says that the disk is full"
  ok "nothing is left after a full disk" nothing_left
fi

# Live, and ended by a signal: everything it started is gone.
post() {
  curl -sS -H @"$tmp/header" --data-binary "$1" "$url/api/actions" >/dev/null
}
echo "x-dashboard-token: right-token" >"$tmp/header"
# below PID: what it started, and what those did.
below() {
  ps -e -o pid= -o ppid= | awk -v top="$1" '
    { parent[$1] = $2 }
    END {
      for (one in parent) {
        for (up = parent[one]; up in parent && up != top; up = parent[up]) {}
        if (up == top) print one
      }
    }'
}
no_children() { for child in $children; do gone "$child" || return 1; done; }
for signal in TERM INT HUP; do
  kind=live_$(echo "$signal" | tr '[:upper:]' '[:lower:]')
  start pulse agent-pulse -k "$kind"
  tries=0
  # One more at each look: what is posted before it listens is history.
  until grep -q "$kind" "$tmp/pulse.out" || [ "$tries" -gt 300 ]; do
    post "{\"kind\":\"$kind\",\"content\":\"hello\"}"
    tries=$((tries + 1))
    sleep 0.1
  done
  ok "an action that is posted is shown" grep -q "$kind .*hello" "$tmp/pulse.out"
  children=$(below "$pid")
  ok "several commands show an action" test "$(echo "$children" | wc -l)" -ge 3
  stop "$pid" "$signal"
  is "$(kill -l "$status" 2>/dev/null)" "$signal" "$signal ends it by that signal"
  ok "$signal ends the commands of agent-pulse" wait_until 30 no_children
  ok "the folder of agent-pulse is gone after $signal" nothing_left
  is "$(cat "$tmp/pulse.err")" "" "nothing is said after $signal"
done

# Ctrl-C at a terminal.
run python3 - <<'END'
import os, pty, select, sys, time
child, master = pty.fork()
if child == 0:
    os.execvp("agent-pulse", ["agent-pulse"])
shown, deadline = b"", time.time() + 15
while b"live_hup" not in shown and time.time() < deadline:
    if select.select([master], [], [], 0.2)[0]:
        shown += os.read(master, 65536)
os.write(master, b"\x03")
try:
    while os.read(master, 65536):
        pass
except OSError:
    pass
status = os.waitpid(child, 0)[1]
print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status))
END
out_is 2 "an interrupt at a terminal ends it by that signal"
ok "the folder is gone after an interrupt, too" nothing_left

# The last so many of the history, far behind what a snapshot has, oldest first.
serve_url=$AGENT_URL
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.1
dashboard=$pid
AGENT_URL=$url
log() { curl -sf --data-binary @- "$url/control/actions" >/dev/null; }
{
  seq 8 | sed 's/.*/{"kind":"llm_error","content":"broke &"}/'
  seq 3000 | awk '{printf "{\"kind\":\"%s\",\"content\":\"c%d\"}\n", ($0 % 4 > 1 ? "llm_call" : "asr_call"), $0}'
} | awk '{
  sub(/}$/, "")
  printf "%s,\"guildId\":\"%d\",", $0, n % 2 + 1
  printf "\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", n / 1000, n % 1000
  n++
}' | log
shown() { grep -oE '(broke|fixed) [0-9]+' "$1" | xargs; }
t 0 "-n of the filter has status 0" agent-pulse -d error -n 5 -- --color never -n 5
is "$(shown "$out")" "broke 4 broke 5 broke 6 broke 7 broke 8" \
  "the feed begins with the newest five, oldest first"
err_empty "nothing is said beside the newest five"
run agent-pulse -n 3 -k asr_call,llm_call -- --color never -n 3
is "$(grep -oE 'c[0-9]{4}' "$out" | xargs)" "c2998 c2999 c3000" \
  "the newest of thousands are found, too"
seq 6 | sed 's/.*/{"kind":"gif_call","content":"one &","createdAt":"2026-01-01T00:00:09.000Z"}/' | log
run agent-pulse -k gif_call -n 2 -- --color never -n 2
is "$(grep -oE 'one [0-9]' "$out" | xargs)" "one 5 one 6" \
  "the newest of one millisecond are found, too"
ok "nothing is left after -n" nothing_left

# Then what happens, whatever -n was.
start pulse agent-pulse -d error -n 2 -- --color never -n 4
pulse=$pid
ok "the newest are shown before what happens" wait_until 30 has "$tmp/pulse.out" "broke 8"
echo '{"kind":"asr_error","content":"fixed 1"}' | log
echo '{"kind":"asr_error","content":"fixed 2"}' | log
finished "$pulse"
is "$status $(shown "$tmp/pulse.out")" "0 broke 7 broke 8 fixed 1 fixed 2" "no older action of the snapshot is shown"

# Without -n it goes on; what was left out of the history stays so.
start pulse agent-pulse -d error -- --color never
pulse=$pid
ok "a filter that the snapshot has none for shows what was" \
  wait_until 30 has "$tmp/pulse.out" "fixed 2"
echo '{"kind":"asr_error","content":"fixed 3"}' | log
ok "what comes is shown behind a history of its own" wait_until 30 has "$tmp/pulse.out" "fixed 3"
is "$(shown "$tmp/pulse.out" | wc -w | tr -d ' ')" 22 "each action is shown once"
stop "$pulse"
start pulse agent-pulse -k asr_call,llm_call,asr_error -- --color never
pulse=$pid
ok "the newest of thousands are shown" wait_until 30 has "$tmp/pulse.out" "fixed 3"
echo '{"kind":"asr_error","content":"fixed 4"}' | log
ok "what comes is shown behind the newest of thousands" wait_until 30 has "$tmp/pulse.out" "fixed 4"
curl -sf -X POST "$url/control/drop" >/dev/null
echo '{"kind":"asr_error","content":"fixed 5"}' | log
ok "what was missed in a lost connection is shown" wait_until 30 has "$tmp/pulse.out" "fixed 5"
grep -oE '(c|fixed )[0-9]+' "$tmp/pulse.out" >"$tmp/shown"
{
  seq 2784 3000 | sed 's/^/c/'
  seq 5 | sed 's/^/fixed /'
} >"$tmp/wanted"
ok "as many as a snapshot holds are shown, each once and in order" cmp "$tmp/shown" "$tmp/wanted"
stop "$pulse"

# On a terminal of 30 rows it is what fits; an interrupt leaves no line of counts.
cat >"$tmp/look.py" <<'END'
import fcntl, os, pty, re, select, struct, sys, termios, time
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.execvp("agent-pulse", ["agent-pulse", "-k", "asr_call,llm_call"])
shown, deadline = b"", time.time() + 20
while not (b"c3000" in shown and b"total" in shown) and time.time() < deadline:
    if select.select([master], [], [], 0.2)[0]:
        shown += os.read(master, 65536)
os.write(master, b"\x03")
try:
    while data := os.read(master, 65536):
        shown += data
except OSError:
    pass
status = os.waitpid(child, 0)[1]
rows = re.findall(rb"c\d{4}", shown)
print(os.WTERMSIG(status), len(rows), rows[0].decode(), rows[-1].decode())
print(repr(shown.split(b"\n")[-1][-4:]))
END
run python3 "$tmp/look.py"
is "$(head -n 1 "$out")" "2 28 c2973 c3000" "a terminal is shown the newest that fit"
is "$(tail -n 1 "$out")" "b'\\r\\x1b[K'" "the line of counts is wiped at the end"
stop "$dashboard"
AGENT_URL=$serve_url

# The history is not gone through when its newest actions are enough.
start_server slow python3 "$cli/servers/dashboard.py" --think 60
slow=$pid
seq 1500 | awk '{
  printf "{\"kind\":\"asr_call\",\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", $0 / 1000, $0 % 1000
}' |
  curl -sf --data-binary @- "$url/control/actions" >/dev/null
printf '[profile slow%s]\nurl = %s\n' $$ "$url" >"$XDG_CONFIG_HOME/agentutils/config"
t 0 "a history that takes long has status 0" \
  env -u AGENT_URL -u AGENT_TOKEN_FILE agent-pulse -p slow$$ -n 1 -- -n 1
no_call() { ! ps -e -o args= | grep -q "^agent-call .*slow$$"; }
ok "a history that takes long is not asked for any more" no_call
stop "$slow"

# A reader that goes away, which the next action shows.
posts() {
  while :; do
    post '{"kind":"llm_call","content":"more"}'
    sleep 0.2 # between two actions
  done
}
url=$serve_url
posts &
poster=$!
started="$started $poster"
t 0 "a closed pipe ends agent-pulse" sh -c 'agent-pulse | head -n 1'
is "$(lines "$out")" 1 "a closed pipe has the line that was wanted"
err_empty "nothing is said about a closed pipe"
ok "nothing is left after a closed pipe" nothing_left
# It ends a while after it was told to.
mkdir "$tmp/slow"
cat >"$tmp/slow/sse-tail" <<END
#!/bin/sh
exec 2>/dev/null
trap 'kill "\$child"; wait "\$child"; sleep 0.3; trap - TERM; kill \$\$' TERM
"$root/bin/sse-tail" "\$@" &
child=\$!
wait "\$child"
END
chmod +x "$tmp/slow/sse-tail"
run env PATH="$tmp/slow:$PATH" sh -c 'agent-pulse | head -n 1'
err_empty "nothing is said when the stream takes its time to end"
kill "$poster"

# A dashboard that sends everything again after a lost connection.
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.1
AGENT_URL=$url
unset AGENT_TOKEN_FILE
seq 5 | sed 's/.*/{"kind":"before","content":"&"}/' | log
start pulse agent-pulse -- --color never
ok "what was before is shown" wait_until 30 has "$tmp/pulse.out" "before .*5"
seq 5 | sed 's/.*/{"kind":"during","content":"&"}/' | log
ok "what comes is shown, too" wait_until 30 has "$tmp/pulse.out" "during .*5"
curl -sf -X POST "$url/control/drop" >/dev/null
seq 5 | sed 's/.*/{"kind":"missed","content":"&"}/' | log
ok "what was missed is shown when all is sent again" wait_until 30 has "$tmp/pulse.out" "missed .*5"
seq 1 | sed 's/.*/{"kind":"after","content":"&"}/' | log
ok "what comes after that is shown, too" wait_until 30 has "$tmp/pulse.out" "after .*1"
is "$(grep -oE '[?] (before|during|missed|after) ' "$tmp/pulse.out" | sort | uniq -c | xargs)" \
  "1 ? after 5 ? before 5 ? during 5 ? missed" "each action is shown once when all is sent again"
stop "$pid"

# Events that are none: said, with the line, and the next one is shown.
cat >"$tmp/bad" <<'END'
on /api/activity/events
stream
send event: activity_snapshot\ndata: {"actions":[7,{"id":1,"kind":"first","created_at":"2026-05-09T18:30:00.000Z"}]}\n\n
send event: action_event\ndata: garbage {"\n\n
send event: action_event\ndata: {"kind":"second","createdAt":"2026-05-09T18:30:01.000Z"}\n\n
---
on /api/activity/events
status 204
---
forever
status 404
END
serve <"$tmp/bad"
t 2 "bad events are an error" env AGENT_URL="$url" agent-pulse
is "$(grep -oE 'first|second' "$out" | xargs)" "first second" "bad events hide no good one"
err_like '^agent-pulse: .*: action 0: not a JSON object$' "a row of a snapshot is told"
err_like '^agent-pulse: .*: action_event: the data is not a JSON object$' \
  "an event that is not JSON is told"
is "$(lines "$err")" 2 "each bad event is told once"
sed '/^send event: action_event/d' "$tmp/bad" | script
t 2 "an event that only the filter could not read is an error" env AGENT_URL="$url" agent-pulse
ok "nothing is left of bad events" nothing_left

done_testing
