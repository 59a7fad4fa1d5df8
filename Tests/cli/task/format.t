#!/bin/sh
# task: rows of a personal data server shown to people and scripts, and tasks read from
# words; by a clock and in zones that the test names.
. "${0%/*}/../lib.sh"
needs task jq python3

now=2026-11-23T10:30:00Z
TZ=Europe/Berlin
export TZ
format() { run task format --now $now "$@" "$tmp/rows"; }
row() { printf '{"uri":"at://did:web:alice.test/dev.joelclaw.task.item/%s","cid":"c","value":%s}\n' "$1" "$2"; }
{
  row 3kaaaaaaaaa22 '{"title":"no day, urgent","status":"open","priority":1}'
  row 3kaaaaaaaab22 '{"title":"at noon","status":"open","due":"2026-11-23T11:00:00.000Z","priority":4}'
  row 3kaaaaaaaac22 '{"title":"some time today","status":"open","due":"2026-11-23","labels":["ops","home"]}'
  row 3kaaaaaaaad22 '{"title":"this morning","status":"open","due":"2026-11-23T07:00:00.000Z"}'
  row 3kaaaaaaaae22 '{"title":"last week","status":"open","due":"2026-11-16","project":"attic"}'
  row 3kaaaaaaaaf22 '{"title":"tomorrow","status":"open","due":"2026-11-23T23:30:00Z"}'
  row 3kaaaaaaaag22 '{"title":"no day","status":"open","assignee":"bob.test"}'
  row 3kaaaaaaaah22 '{"title":"over","status":"done","due":"2026-11-01"}'
  row 3kaaaaaaaai22 '{"title":"off","status":"cancelled"}'
  row 3kaaaaaaaaj22 '{"title":"no day, low","status":"someday","priority":3}'
} >"$tmp/rows"

# --- the order

format -o text
status_is 0 "tasks are shown"
out_is 'last week, due Mon 16 Nov, +attic
this morning, due Mon 23 Nov 08:00
at noon, due Mon 23 Nov 12:00, !4
some time today, due Mon 23 Nov, #ops #home
tomorrow, due Tue 24 Nov 00:30
no day, urgent, !1
no day, low, !3
no day, @bob.test' \
  "tasks come overdue, today, by the day and by priority, without those that are over"
run env TZ=America/New_York task format --now $now -o text "$tmp/rows"
is "$(sed -n '4,5p' "$out")" 'tomorrow, due Mon 23 Nov 18:30
some time today, due Mon 23 Nov, #ops #home' "a task is on another day in another zone"
format -a -o text
is "$(tail -n 2 "$out")" 'over, due Sun 1 Nov
off' "-a prints what is over last"
format -a -o text --unsorted
is "$(sed -n 1p "$out")" 'no day, urgent, !1' "--unsorted keeps the order"
format -o line
out_is '2 overdue, 2 today' "a bar gets one line"
format -o line --label nothing
status_is 1 "a bar without a task has status 1"
out_empty "a bar without a task prints no line"
format -o text --label home
out_is 'some time today, due Mon 23 Nov, #ops #home' "--label selects tasks"
format -o text --project attic
out_is 'last week, due Mon 16 Nov, +attic' "--project selects tasks"
format -q
status_is 0 "-q has status 0 when there are tasks"
out_empty "-q prints nothing"
t 1 "what is over gives no line in a bar" sh -c "grep over $tmp/rows | task format -o line"

# --- records

format -o json
is "$(jq -r 'select(.title == "some time today") | keys_unsorted | join(" ")' "$out")" \
  'type backend id title state kind due labels' "records are as agentutils-records(5) says"
is "$(jq -rs '.[0] | [.type, .backend, .id, .state, .kind] | join(" ")' "$out")" \
  'task joelclaw at://did:web:alice.test/dev.joelclaw.task.item/3kaaaaaaaae22 open task' \
    "the first record is whole"
format -p me
is "$(jq -rs '.[0].profile' "$out")" me "records have the profile"
format -o tsv --header
is "$(sed -n '1p;5p' "$out" | tr '\t' ';')" \
  'id;state;priority;due;title;project;labels;assignee;notes
at://did:web:alice.test/dev.joelclaw.task.item/3kaaaaaaaac22;open;;2026-11-23;some time today;;ops,home;;' \
  "TSV has the id first"

# --- a family's items, and whatever else stands there

{
  row 3a '{"text":"paper towels","qty":2,"list":"at://did:web:bob.test/dev.joelclaw.family.list/groceries","done":false}'
  row 3b '{"text":"milk","done":true,"list":"at://did:web:bob.test/dev.joelclaw.family.list/groceries"}'
  row 3c '{"title":7,"status":[],"priority":"high","due":"soon","labels":[1],"assignee":{},"createdAt":3}'
  row 3d '{}'
  echo '{"uri":"at://a/b/c"}'
  echo 'no JSON'
  echo '{"uri":7,"value":{}}'
  echo
} >"$tmp/rows"
format -o tsv
status_is 2 "lines that are not rows are an error"
is "$(sed "s/^[^:]*: [^:]*://" "$err")" '5: has no value
6: a word without quotes
7: the member uri is not a string' "each line that is not a row is named"
is "$(cut -f 2- "$out" | tr '\t' ';')" 'open;;;;;;;
open;;;;;;;
open;;;paper towels;at://did:web:bob.test/dev.joelclaw.family.list/groceries;;;quantity 2' \
  "odd rows are shown as far as can be"
format -o text --project groceries
out_is 'paper towels, +groceries' "an item is found by the key of its list"

# --- as other writers have it

{
  row 3a '{"title":"local","due":"2026-11-23T12:00"}'
  row 3b '{"title":"with seconds","due":"2026-11-23T12:00:30"}'
  row 3c '{"title":"over","status":"completed"}'
  row 3d '{"title":"Over","status":"Done"}'
  row 3e '{"title":"off","status":"Canceled"}'
  row 3f '{"title":"ticked","completed":true}'
} >"$tmp/rows"
format -o tsv
is "$(cut -f 2,4 "$out" | tr '\t' ' ')" 'open 2026-11-23T11:00:00.000Z
open 2026-11-23T11:00:30.000Z' "a time without a zone is local, and what is completed is done"
format -a -o tsv
is "$(cut -f 2 "$out" | sort | tr '\n' ' ')" 'cancelled done done done open open ' \
  "a task in other words is in its state"
format --done 3c,3d
out_empty "what is done is not done again by --done"

# --- a terminal

# shellcheck disable=SC2016  # a dollar for jq
row 3x "$(jq -nc '{status: "open", due: "2026-11-01", labels: ["a\tb"],
  title: "\u001b]0;x\u0007 red\u001b[31m\r\n\u202egnp.exe", notes: "a\nb"}')" >"$tmp/rows"
row 3y '{"title":"calm","status":"open","priority":2}' >>"$tmp/rows"
TERM=xterm-256color python3 "$cli/terminal.py" 24x100 task format --now $now "$tmp/rows" >"$tmp/seen"
escape=$(printf '\033')
is "$(sed "s/$escape\[[0-9;]*m//g" "$tmp/seen" | tr -d '\r' | sed 's/ *$//')" \
  'ID  DUE        !  TASK                                    LABELS  NOTES
3x  Sun 1 Nov     \e]0;x\x07 red\e[31m ↵ \u{202e}gnp.exe  #a b    a ↵ b
3y             2  calm' "a table shows control characters, and obeys none"
like "$(grep '3x' "$tmp/seen")" "$escape\[[0-9;]*mSun 1 Nov" "a task that is overdue has a colour"
is "$(NO_COLOR=1 TERM=xterm-256color python3 "$cli/terminal.py" task format --now $now "$tmp/rows" |
  grep -c "$escape")" 0 "NO_COLOR leaves the colours out"
run task format --color always -o table --now $now "$tmp/rows"
like "$(cat "$out")" "$escape\[[0-9;]*mSun" "--color always keeps the colours"
format --color never -o table -W 20
is "$(head -n 1 "$out")" 'ID  DUE        !  T…' "-W cuts the table"
format -o text
is "$(LC_ALL=C tr -d '\n -~' <"$out" | LC_ALL=C sed 's/\xe2\x86\xb5//g')" "" \
  "a line of text shows control characters, and obeys none"
format -o tsv
is "$(lines "$out")" 2 "TSV has a line for each task"

# --- words

quick() { run sh -c 'printf "%s\n" "$1" | task format --quick --now "$2"' sh "$1" $now; }
quick 'deploy the pipeline tomorrow 9:00 !1 #ops'
out_is '{"title":"deploy the pipeline","status":"open","priority":1,"due":"2026-11-24T08:00:00.000Z","dueText":"tomorrow 9:00","labels":["ops"]}' \
  "a task is read from words"
quick 'minutes of dec 7'
is "$status $(cat "$err")" "2 task: standard input:1: not understood: of dec 7; \\ before a word keeps it in the title" \
  "a day of which more is said is refused"
t 2 "lines that are not understood are an error" \
  sh -c 'printf "%s\n" "x 31 feb" "" "next fri y" "z 25:00" "#a" | task format --quick --now "$1"' sh $now
is "$(sed "s/^[^:]*: [^:]*://" "$err")" '1: no such date: 31 feb
4: no such time: 25:00
5: no title' "each line that is not understood is named"
is "$(jq -r .due "$out")" 2026-12-04 "the lines that are understood are read"
for word in x 'x tomorrow '; do
  yes "$word" | head -n 9000000 | tr -d '\n' | { cat && printf '\ncall Ada tomorrow\n'; } >"$tmp/endless"
  t 2 "a line without end is an error" \
    sh -c 'task format --quick --now "$1" <"$2"' sh $now "$tmp/endless"
  like "$(cat "$err")" '1: a line of more than 65536 bytes$' "a line without end is named"
  is "$(jq -r .title "$out")" "call Ada" "the line behind one without end is read"
done
quick 'clean the home-directory and reach zero-defects'
is "$(jq -r .title "$out")" "clean the home-directory and reach zero-defects" \
  "a word with a dash is not taken for a date"
while IFS=\| read -r due words; do
  quick "pay Ada $words"
  is "$(jq -r '.title + " " + .due' "$out")" "pay Ada $due" "the words $words are read as a date"
done <<'END'
2026-11-25|the day after tomorrow
2026-12-04|a week from friday
2026-12-07|first monday of december
2026-12-07|in two weeks
2026-12-11|friday fortnight
2026-11-23|tonight
2026-12-24|24.12.
2026-11-23T11:00:00.000Z|at noon
2026-11-23T19:00:00.000Z|tonight at 8
2026-11-27|the last friday of the month
2026-12-11|the friday after next
2026-11-30|by the end of the month
2026-11-26|before friday
2026-12-28|the monday after christmas
2026-11-27|Friday, Nov. 27th
2026-12-24|on 24/12/2026
END
while IFS=\| read -r phrase words; do
  quick "pay Ada $words"
  status_is 2 "the words $words are refused"
  like "$(cat "$err")" "$phrase" "the refused phrase of $words is named"
  out_empty "a task of $words is not printed"
done <<'END'
after friday|after friday
last friday|last friday
second friday|on the second friday
early next week|early next week
mid december|mid december
the week before christmas|the week before christmas
9:00 est|fri 9:00 EST
friday to sunday|friday to sunday
in a few days|in a few days
fri 24 dec|fri 24 dec
1/2/2026|1/2/2026
tomorrow, and friday|tomorrow or friday
END
quick 'version 1.2.3 is open 24/7 for 24.12 a month, half an hour by 5'
is "$(jq -r '.title, .due' "$out")" 'version 1.2.3 is open 24/7 for 24.12 a month, half an hour by 5
null' "what is not a date stays in the title"
quick 'paint #ops, #home. +house, !1, @alice.test.'
is "$(jq -c '[.title, .labels, .project, .priority, .assignee]' "$out")" \
  '["paint",["ops","home"],"house",1,"alice.test"]' "signs behind words are not part of them"
t 2 "a day before the year 0 is refused" sh -c 'echo x tomorrow | task format --quick --now 900000d'
err_is "task: standard input:1: no such date: tomorrow" \
  "the message says that the day cannot be written"
echo '2  l milk #1 fri' >"$tmp/item"
run task format --quick --list at://a.test/dev.joelclaw.family.list/l "$tmp/item"
out_is '{"list":"at://a.test/dev.joelclaw.family.list/l","text":"2 l milk #1 fri","done":false}' \
  "an item of a list is text as a whole"
printf 'caf\351\n' >"$tmp/latin"
t 2 "a line that is not UTF-8 is an error" task format --quick "$tmp/latin"
err_is "task: $tmp/latin:1: not UTF-8" "the line is named"

# --- done

{
  row 3kaaa22 '{"$type":"x.y.z","title":"one","status":"open","more":{"a":[1,2]},"n\u0061me":"é"}'
  row 3kaab22 '{"title":"two","status":"open"}'
  row 3kbbb33 '{"text":"three","done":false}'
  row 3kccc33 '{"title":"four","status":"cancelled"}'
  row 3kcdd44 '{"title":"five","status":"done"}'
} >"$tmp/rows"
format --done 3kaaa
out_is '{"uri":"at://did:web:alice.test/dev.joelclaw.task.item/3kaaa22","cid":"c","value":{"$type":"x.y.z","title":"one","status":"done","more":{"a":[1,2]},"n\u0061me":"é","completedAt":"2026-11-23T10:30:00.000Z","updatedAt":"2026-11-23T10:30:00.000Z"}}' \
  "--done changes the state, and all else stays as it was"
format --done b33,at://alice.test/dev.joelclaw.task.item/3kbbb33
is "$(jq -c .value "$out")" \
  '{"text":"three","done":true,"doneBy":"did:web:alice.test","updatedAt":"2026-11-23T10:30:00.000Z"}' \
  "an item of a list is done once by two names"
format --done 3ka,22,44,nothing,3kc,3kaab22
status_is 2 "a key that fits more than one is refused"
is "$(sort "$err")" 'task: 22: several tasks: 3kaaa22, 3kaab22
task: 3ka: several tasks: 3kaaa22, 3kaab22
task: 3kc: several tasks: 3kccc33, 3kcdd44
task: nothing: no such task' "the names of tasks that are not done are told"
is "$(jq -r .value.title "$out")" two "the task that a key fits alone is done"
format --done 3kcd
status_is 0 "a task that is done already is no error"
out_empty "a task that is done already is not written again"
format --done 3kcc
status_is 1 "a task that was cancelled is not done"
err_is "task: 3kccc33: already cancelled" "the message says that a task was cancelled"

row 3k '{"title":"two of them","status":"open","updatedAt":"x","n":1,"n":2,"st\u0061tus":"open"}' >"$tmp/rows"
format --done 3k
is "$(jq -c --stream 'select(length == 2) | [.[0][-1], .[1]]' "$out" | grep -c '^."status"')" 1 \
  "a member that is there twice is there once"
like "$(cat "$out")" '"status":"done".*"n":1,"n":2,' "members that do not change stay twice"

# --- usage

for words in '--done a --quick' '--list at://a/b/c' '--quick --list groceries' '--done a -o json' '--quick -q' '--quick -a' '--done a --label x' \
  '--now soon' '-o xml'; do
  # shellcheck disable=SC2086  # words
  t 2 "task format $words is refused" task format $words /dev/null
done
t 2 "a file that is not there is an error" task format "$tmp/missing"

done_testing
