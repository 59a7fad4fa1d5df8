#!/bin/sh
# The transcripts of this machine, while they grow, begin, shrink and are replaced.
. "${0%/*}/../lib.sh"
needs transcript-tail turn-fold turn-format jq perl
cd "$tmp" || exit 1
projects=$HOME/.claude/projects
sample=$root/Tests/fixtures/transcript.ndjson
name=7d0c9a52-3b1e-4a6f-9d57-1c2e8b90f4aa
site=$projects/-home-ada-site
session=$site/$name.jsonl
mkdir -p "$site"

t 1 "the status is 1 without a transcript" transcript-tail --once
err_empty "nothing is said without a transcript"
cp "$sample" "$session"
t 0 "a transcript is printed" transcript-tail --once
jq -r '"\(.event) \(.id)"' "$out" >ids
jq -r .type "$sample" >types
perl -ne '$at += length; print "'"$name"'/$at\n"' "$sample" | paste -d ' ' types - >want
ok "each line is an event, whose id is where it ends" cmp ids want
perl -pe 's/^\{"event":"[^"]*","id":"[^"]*","data":(.*)\}$/$1/' "$out" >data
ok "the data of an event has the bytes of the line" cmp data "$sample"
turn-fold "$sample" | jq -c 'select(.type != "thread")' >bare
turn-fold "$out" | jq -c 'select(.type != "thread")' >wrapped
ok "turn-fold makes the same of events and of lines" cmp bare wrapped
run sh -c 'transcript-tail --once | turn-fold | turn-format -W 80'
out_like 'does the tide table still build' "turn-format shows a transcript"
run sh -c 'transcript-tail --once | turn-fold -f |
  jq -s "map(select(.type == \"turn\").usage.output_tokens) | add"'
out_is "$(turn-fold -f "$sample" | jq -s 'map(select(.type == "turn").usage.output_tokens) | add')" \
  "the cost of a transcript is told"
head -n 22 "$sample" >"$session"
run sh -c 'transcript-tail --once | turn-fold |
  jq -r "select(.type == \"turn\") | .reason // .state" | tail -n 1'
out_is "a question" "what a transcript waits for is told"
for place in "$session" "$site" "$projects" "$projects/" .; do
  run sh -c 'cd "$1" && transcript-tail --once "$2"' - "$site" "$place"
  is "$status $(lines "$out")" "0 22" "$place gives the same"
done
t 2 "a folder that does not exist is an error" \
  env CLAUDE_CONFIG_DIR="$tmp/nowhere" transcript-tail --once
err_one_line transcript-tail "one line tells of a missing folder"

# --- it grows

# line NUMBER: of a transcript.
line() { printf '{"type":"user","n":%s}\n' "$1"; }
# has_lines FILE N,N,...: the numbers of its events.
has_lines() { [ "$(jq -r 'select(.event) | .data.n' "$1" | xargs | tr ' ' ,)" = "$2" ]; }
rm -r "$projects"
mkdir -p "$site" "$projects/other"
line 1 >"$site/a.jsonl"
line 50 >"$projects/other/old.jsonl"
touch -d 2020-01-01 "$projects/other/old.jsonl"
start follow transcript-tail --state state
follow=$pid
ok "the newest session is printed" wait_until 10 has_lines follow.out 1
line 2 >>"$site/a.jsonl"
ok "what is added to a session is printed, too" wait_until 10 has_lines follow.out 1,2
printf '{"type":"user",' >>"$site/a.jsonl"
line 3 >"$site/b.jsonl"
ok "a session that begins is printed" wait_until 10 has_lines follow.out 1,2,3
line 51 >>"$projects/other/old.jsonl"
ok "what is added to another session is printed" wait_until 10 has_lines follow.out 1,2,3,51
printf '"n":4}\n' >>"$site/a.jsonl"
ok "a line is printed when it is whole" wait_until 10 has_lines follow.out 1,2,3,51,4
mkdir "$projects/later"
line 5 >"$projects/later/c.jsonl"
ok "a folder may come later" wait_until 10 has_lines follow.out 1,2,3,51,4,5
is "$(cat follow.err)" "" "nothing is said of a session that grows"

line 6 >"$site/a.jsonl"
ok "a file that became shorter is read again" wait_until 10 has_lines follow.out 1,2,3,51,4,5,6
is "$(jq -r 'select(.type == "gap") | "\(.reason) \(.from)"' follow.out)" "truncated 66" \
  "a gap tells that a file became shorter"
like "$(cat follow.err)" '/a\.jsonl: truncated: ' "a line tells that a file became shorter, too"
line 7 >new
line 8 >>new
mv new "$site/b.jsonl"
ok "a file that was replaced is read, too" wait_until 10 has_lines follow.out 1,2,3,51,4,5,6,7,8
is "$(jq -r 'select(.type == "gap") | .reason' follow.out | tail -n 1)" replaced \
  "a gap tells that a file was replaced"
t 2 "a state is for one process at a time" transcript-tail --state state
err_like 'state\.lock: locked' "the message says that it is locked"
stop "$follow"
is "$status" 143 "a signal ends transcript-tail"

# --- and goes on where it was

line 9 >>"$site/a.jsonl"
line 10 >"$site/d.jsonl"
run transcript-tail --once --state state
ok "a later run goes on behind what was printed" has_lines "$out" 9,10
run transcript-tail --once --state state
out_empty "what was printed does not come again"
printf '{"type":"user","n":11' >>"$site/a.jsonl"
run transcript-tail --once --state state
is "$status $(cat "$out" "$err")" "0 " "a line that is not whole is left"
echo '}' >>"$site/a.jsonl"
run transcript-tail --once --state state
ok "a line comes when it is whole" has_lines "$out" 11
t 2 "a state of another place is refused" transcript-tail --once --state state "$site"
err_like "^transcript-tail: state: holds the state of $projects, not of $site\$" \
  "the message names both places"
echo '{"type":"transcript_state","source":"x","files":[{"path":1}]}' >wrong
t 2 "a file that is not a state is refused" transcript-tail --once --state wrong
err_one_line transcript-tail "a file that is not a state is told in one line"
t 2 "a full disk is an error" sh -c 'transcript-tail --once --all --state full >/dev/full'
ok "what a full disk did not take is not noted as printed" test ! -e full
run transcript-tail --once --all
ok "--all prints all sessions, the newest last" test "$(lines "$out")" = 9

printf '{"type":"us' >>"$site/a.jsonl"
start new transcript-tail -L --new
wait_until 10 has new.out '"open"'
wait_until 10 sh -c 'kill -0 "$1" && sleep 0.2' - "$pid"
printf 'er","n":0}\n{"type":"user","n":12}\n' >>"$site/a.jsonl"
ok "a line that becomes whole and a new one come with --new" wait_until 10 has_lines new.out 0,12
is "$(cat new.err)" "" "nothing is said of the rest of a line"
stop "$pid"
like "$(cat new.out)" '"type":"end","reason":"signal 15"' "--lifecycle tells the end by a signal"
run sh -c 'transcript-tail | head -n 1 | jq -r .event'
out_is user "a reader that leaves ends transcript-tail"

done_testing
