#!/bin/sh
# agent-notify makes few deliveries of many notifications, and tells none twice.
. "${0%/*}/../lib.sh"
needs jq python3 perl

state=$XDG_STATE_HOME/agentutils/notify
# tell OPTION...: what is told, as records.
tell() { run agent-notify --exec cat "$@"; }
said() { jq -r "$1" "$out"; }
# notice URGENCY TITLE [ID [MORE]]
notice() {
  printf '{"type":"notification","id":%s,"urgency":"%s","category":"test","title":"%s"%s}\n' \
    "${3:-null}" "$1" "$2" "${4:-}"
}

# --- one
notice urgent hello '"a1"' ',"text":"there"' >"$tmp/one"
t 0 "a notification is told" agent-notify --to line <"$tmp/one"
out_like '^[0-9:]{8} urgent  hello: there$' "a notification is told in one line"
err_empty "nothing else is said beside a notification"
is "$(jq -r .type "$state")" notify_state "what was told is remembered"
is "$(stat -c %a "$state" 2>/dev/null || stat -f %Lp "$state")" 600 \
  "what was told is for the user alone"
t 0 "a notification that comes once more has status 0" agent-notify --to line <"$tmp/one"
out_empty "a notification is not told twice"
run agent-notify --to line --state "$tmp/other" <"$tmp/one"
out_like hello "another memory (--state) tells a notification again"
notice urgent hello | tee "$tmp/bare" | tell
is "$(said .urgency)" urgent "a notification without an id is told"
tell <"$tmp/bare"
is "$(said .title)" hello "a notification without an id is told each time"

# --- bursts
seq 200 | sed 's/.*/{"event":"action_event","id":"","data":{"kind":"llm_error","createdAt":"2026-03-01T10:00:00.&Z","content":"429, try &"}}/' \
  >"$tmp/burst"
tell <"$tmp/burst"
is "$(said '"\(.title) \(.count) \(.urgency) \(.text)"')" "llm_error 200 attention 429, try 1" \
  "200 errors are one notification with a count"
run agent-notify --to line <"$tmp/burst"
out_empty "a restart does not tell a burst again"

seq 200 | sed 's/.*/{"event":"action_event","id":"","data":{"kind":"tts_error","createdAt":"2026-03-01T10:00:00.000Z","content":"429"}}/' \
  >"$tmp/equal"
tell <"$tmp/equal"
is "$(said '"\(.title) \(.count)"')" "tts_error 200" "equal errors of one millisecond are several"
run agent-notify --to line <"$tmp/equal"
out_empty "equal errors are not told again"
# Their rows, the copies on the voice stream, and one that nobody has seen.
{
  for number in 1 2; do
    echo '{"event":"action_event","id":"","data":{"kind":"voice_error","createdAt":"2036-03-01T10:00:00.000Z","content":"x"}}'
    echo '{"event":"voice_event","id":"","data":{"kind":"voice_error","createdAt":"2036-03-01T10:00:00.000Z","content":"x"}}'
  done
  for id in 1 2 3 2 1; do
    echo '{"id":'$id',"kind":"voice_error","created_at":"2036-03-01T10:00:00.000Z","content":"x"}'
  done
} | tell
is "$(said '"\(.title) \(.count)"')" "voice_error 3" "each source of an action counts its own"

# Live: the first two seconds are waited for, and more as long as they come.
mkfifo "$tmp/live"
start live sh -c "exec agent-notify --exec cat --settle 0.5 <'$tmp/live'"
exec 3>"$tmp/live"
sed 's/llm_error/asr_error/' "$tmp/burst" | perl -ne '$| = 1; print; select undef, undef, undef, 0.005' >&3
ok "a slow burst is told when it is over" wait_until 20 at_least "$tmp/live.out" 1
is "$(jq -c '[.title, .count]' "$tmp/live.out")" '["asr_error",200]' "a slow burst is told once"
notice attention again >&3
ok "what comes after a burst is told by itself" wait_until 20 at_least "$tmp/live.out" 2
notice emergency fire >&3
ok "an emergency is told" wait_until 20 at_least "$tmp/live.out" 3
exec 3>&-
finished "$pid"
status_is 0 "agent-notify ends with its input"

start live sh -c "exec agent-notify --exec cat --settle 100 <'$tmp/live'"
exec 3>"$tmp/live"
notice emergency fire >&3
ok "an emergency does not wait for others" wait_until 20 at_least "$tmp/live.out" 1
notice urgent waits >&3
exec 3>&-
finished "$pid"
is "$(jq -r .title "$tmp/live.out" | xargs)" "fire waits" \
  "nothing waits any more at the end of the input"

# --- at most so many
seq 300 | while read -r number; do notice attention "n$number"; done >"$tmp/many"
tell --rate 3 <"$tmp/many"
is "$(said .title | xargs)" "n1 n2 298 notifications" "the last of --rate is the sum of the rest"
is "$(said 'select(.count) | [.count, .category] | @csv')" '298,"summary"' \
  "the sum of --rate has its count"
like "$(said 'select(.count).text' | tail -n 1)" "^and [0-9]+ more$" \
  "the sum of --rate does not have all titles"
seq 300 | while read -r number; do notice urgent "n$number"; done | tell --rate 3
is "$(said .title | sort -u | wc -l | tr -d ' ')" 300 "what is urgent is not in the sum of --rate"
start live sh -c "exec agent-notify --exec cat --settle 0 --rate 1 <'$tmp/live'"
exec 3>"$tmp/live"
notice attention first >&3
wait_until 20 at_least "$tmp/live.out" 1
for number in 1 2 3; do notice attention "late $number" >&3; done
notice urgent wolf >&3
ok "what is urgent passes the limit" wait_until 20 has "$tmp/live.out" wolf
notice emergency fire >&3
ok "an emergency passes the limit, too" wait_until 20 has "$tmp/live.out" fire
is "$(lines "$tmp/live.out")" 3 "the others wait for the limit"
exec 3>&-
finished "$pid"
is "$(tail -n 1 "$tmp/live.out" | jq -r .title)" "3 notifications" \
  "those that waited for the limit are told in one"

# --- what is kept
{ notice info tea; notice info tea; notice info cake '"c1"'; notice noise hum; } >"$tmp/kept"
tell --quiet-hours 00:00-23:59 <"$tmp/kept"
status_is 0 "what is kept for later has status 0"
out_empty "what is kept is not told in quiet hours, not even at the end"
is "$(jq -c '[.kept[] | [.title, .count]]' "$state")" '[["tea",2],["cake",1]]' \
  "what is kept is on disk"
tell </dev/null
is "$(said '.title + ": " + .text' | xargs)" "3 notifications: tea ×2 cake" \
  "what is kept is told later, in one"
tell </dev/null
out_empty "what is kept is told once"
tell <"$tmp/kept"
is "$(said .title)" "tea" "what is kept is told at the end of the input"
is "$(said .count)" 2 "what was told before is not told at the end of the input"
start live sh -c "exec agent-notify --exec cat --digest 1s <'$tmp/live'"
exec 3>"$tmp/live"
notice info tea >&3
ok "--digest tells what is kept after that time" wait_until 20 has "$tmp/live.out" tea
exec 3>&-
finished "$pid"

# Routed elsewhere, for somebody asleep.
start live sh -c "agent-notify --route --quiet-hours 00:00-23:59 <'$tmp/live' | exec agent-notify --exec cat --digest 0.2"
exec 3>"$tmp/live"
notice urgent later >&3
wait_until 20 has "$state" later
exec 3>&-
finished "$pid"
is "$(cat "$tmp/live.out")" "" "nobody is woken who sleeps by the word of another"
tell </dev/null
is "$(said .title)" later "what waited for somebody asleep is told afterwards"

# --- rows that were there before
printf '%s\n' \
  '{"event":"activity_snapshot","id":"","data":{"actions":[{"id":1,"kind":"bot_error","created_at":"2026-03-01T10:00:00.000Z"}]}}' \
  '{"id":2,"kind":"bot_error","created_at":"2026-03-01T10:00:00.000Z","content":"x"}' >"$tmp/rows"
tell <"$tmp/rows"
out_empty "a row from before the start is no news"
agent-notify --route <"$tmp/rows" | tell
out_empty "a row from before the start is not told when it was routed elsewhere"
sed 's/2026-03-01/2199-03-01/' "$tmp/rows" | tell
is "$(said '"\(.title) \(.count)"')" "bot_error 2" "a row from after the start is told"

# --- killed at any moment
for number in 1 2 3; do
  start live sh -c "exec agent-notify --settle 0 --exec cat <'$tmp/live'"
  exec 3>"$tmp/live"
  notice urgent "k$number" "\"k$number\"" >&3
  wait_until 20 has "$tmp/live.out" "k$number"
  notice info "i$number" "\"i$number\"" >&3
  wait_until 20 has "$state" "\"title\":\"i$number\""
  kill -9 "$pid"
  exec 3>&-
  finished "$pid"
done
{
  for number in 1 2 3; do
    notice urgent "k$number" "\"k$number\""
    notice info "i$number" "\"i$number\""
  done
} | tell
is "$(said '.title + " " + (.text | split("\n") | join(" "))')" "3 notifications i1 i2 i3" \
  "what was told is not told again after a kill, and what was kept is told once"
echo garbage >"$state"
notice urgent x | tell
is "$(said .title)" x "a state that makes no sense is passed over"
start live sh -c "exec agent-notify --settle 60 --exec cat <'$tmp/live'"
exec 3>"$tmp/live"
notice urgent waits >&3
# What is told at once shows that what came before it has been read.
notice emergency now >&3
wait_until 20 has "$tmp/live.out" '"now"'
stop "$pid" TERM
exec 3>&-
status_is 143 "a signal ends agent-notify by that signal"
is "$(jq -r .title "$tmp/live.out" | xargs)" "now waits" \
  "what waits is told before a signal ends it"

# --- what is bad, and options
printf '%s\n' '{"urgency":"urgent"' '{"urgency":"loud","category":"x"}' >"$tmp/bad"
{ cat "$tmp/bad"; notice urgent good; } | run agent-notify --to line
is "$(grep -c '' "$err")" 1 "a bad line is named"
out_like good "the records beside a bad line are told"
out_unlike loud "an unknown urgency is not told"
t 2 "bad lines have status 2" agent-notify --to line <"$tmp/bad"
for words in '--to shout' '--to line,' '--rate 0' '--settle x' '--digest -1' '--exec' '--ntfy-token x' \
  '-- -d error' 'word' '-p a,,b' '--quiet-hours 7'; do
  # shellcheck disable=SC2086
  t 2 "agent-notify $words is refused" agent-notify $words </dev/null
  err_like "^usage: agent-notify" "the usage is shown"
done
notice info meeting >"$tmp/info"
tell --override test=urgent --mute none <"$tmp/info"
is "$(said .urgency)" urgent "--override makes a notification urgent"
tell --override test=urgent --mute test <"$tmp/info"
out_empty "--mute keeps a notification silent"
echo '{"event":"action_event","id":"","data":{"kind":"sent_reply","createdAt":"2026-03-01T10:00:00.000Z"}}' |
  tell --as urgent
is "$(said .title)" sent_reply "--as tells a record that is not a fault"
printf '{"focus":"dnd","reportedAt":"%s"}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$tmp/context"
notice attention psst | tell --context "$tmp/context"
out_empty "--context keeps a notification silent"
mkfifo "$tmp/held"
start held sh -c 'exec agent-notify --to line --settle 0 --state "$1" <"$2"' sh "$tmp/locked" "$tmp/held"
held=$pid
exec 5>"$tmp/held"
cat "$tmp/one" >&5
# It is written once before a notice is told, and once more behind that.
ok "a state is in use" wait_until 20 grep -qs '"history"' "$tmp/locked"
cp "$tmp/locked" "$tmp/before"
ln -s locked "$tmp/link"
for name in locked link; do
  t 2 "a state in use is refused by the name $name" \
    agent-notify --to line --state "$tmp/$name" <"$tmp/info"
  err_is "agent-notify: $tmp/$name: in use by another agent-notify" \
    "the message says that another is at work"
done
ok "a state in use stays as it was" cmp "$tmp/locked" "$tmp/before"
stop "$held" KILL
exec 5>&-
t 0 "a state is free again when its user has ended, however it did" \
  agent-notify --to line --state "$tmp/locked" <"$tmp/info"
t 2 "a state that cannot be kept is an error" \
  agent-notify --to line --state "$tmp/no/such" <"$tmp/one"
err_one_line agent-notify "a state that cannot be kept is told in one line"
out_empty "nothing is told before a state that cannot be kept is refused"

# --- a disk that fails
notice urgent before '"b1"' >"$tmp/before"
if strace -o /dev/null true 2>/dev/null; then
  for first in '' old; do
    rm -f "$tmp/failing"
    [ -z "$first" ] || run agent-notify --to line --state "$tmp/failing" <"$tmp/before"
    for when in 1 2; do
      t 2 "fsync $when that fails is an error ${first:+with a file that was there}" \
        strace -o "$tmp/calls" -e trace=fsync -e "inject=fsync:error=EIO:when=$when" \
        agent-notify --to line --state "$tmp/failing" <"$tmp/one"
      err_is "agent-notify: $tmp/failing: input/output error" \
        "fsync $when that fails is told ${first:+with a file that was there}"
      out_empty "nothing is told when fsync $when fails ${first:+with a file that was there}"
    done
    run agent-notify --to line --state "$tmp/failing" <"$tmp/one"
    out_like hello "the run after a failed fsync tells it ${first:+with a file that was there}"
    run agent-notify --to line --state "$tmp/failing" <"$tmp/before"
    [ -z "$first" ] || out_empty "the run after a failed fsync tells nothing that was told before"
    is "$(find "$tmp" -name 'failing.*' ! -name '*.lock' | wc -l | tr -d ' ')" 0 \
      "nothing is left behind by a failed fsync ${first:+with a file that was there}"
  done
else
  skip 19 "no strace"
fi

# --- what was told
rm -rf "${state%/*}"
notice urgent 'one' '"h1"' ',"text":"why\u001b[31m\nand"' | tell
notice urgent 'two' '"h2"' | run agent-notify --to line --state "$tmp/history"
t 0 "--told has status 0 when something was told" agent-notify --told
out_like '^[0-9]{4}-[0-9-]+ [0-9:]{8}.* urgent  one: why\\e\[31m ↵ and$' \
  "--told prints a line for each, safe to show"
out_unlike two "--told is about the files of the state"
run agent-notify --told --state "$tmp/history"
is "$(lines "$out") $(grep -c two "$out")" "1 1" "--told prints one file that is named"
t 1 "--told has status 1 when nothing was told" agent-notify --told -p nobody
out_empty "--told prints nothing when nothing was told"
seq 300 | while read -r number; do notice emergency "e$number"; done | tell --settle 0
run agent-notify --told
is "$(lines "$out")" 100 "the last hundred are kept"
out_like 'e300$' "the newest comes last"
echo '{"type":"notify_state","told":[],"kept":[],"others":0,"history":[1,{"title":"x"},{"time":"soon","title":"y"},{"time":"2026-01-01T00:00:00Z","title":"\u202ez"}]}' >"$tmp/history"
run agent-notify --told --state "$tmp/history"
is "$(lines "$out") $(grep -c 'u{202e}z' "$out")" "1 1" "what makes no sense is left out"

# --- --max-time
start live sh -c "exec agent-notify --settle 60 --max-time 1 --exec cat <'$tmp/live'"
exec 3>"$tmp/live"
notice urgent waits >&3
finished "$pid"
exec 3>&-
status_is 0 "--max-time ends agent-notify with status 0"
is "$(jq -r .title "$tmp/live.out")" waits "what waits is told before --max-time ends"

# --- a memory that somebody spoilt
notice info x >"$tmp/info"
for number in 9223372036854775807 -5 '"x"'; do
  echo '{"type":"notify_state","told":[],"kept":[{"title":"x","count":'"$number"'}],"others":'"$number"'}' >"$tmp/spoilt"
  t 0 "a memory with a count of $number is read" \
    agent-notify --to line --digest 0 --state "$tmp/spoilt" <"$tmp/info"
  out_like '^[0-9:]{8} info  [1-9][0-9]* notifications: ' \
    "no nonsense is told from a memory with a count of $number"
done

# --- an emergency among more kinds than are kept apart
mkfifo "$tmp/flood"
start flood sh -c "exec agent-notify --settle 1h --to line <'$tmp/flood'"
exec 3>"$tmp/flood"
seq 250 | while read -r number; do notice attention "kind $number"; done >&3
notice emergency fire >&3
ok "an emergency among many kinds is told at once" \
  wait_until 20 has "$tmp/flood.out" "emergency  fire"
is "$(grep -c . "$tmp/flood.out")" 1 "an emergency among many kinds comes before all others"
exec 3>&-
finished "$pid"

done_testing
