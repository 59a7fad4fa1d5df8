#!/bin/sh
# task add against arroba: tasks in words, in several zones; what is not understood is not sent.
. "${0%/*}/../lib.sh"
needs task pds-record jq curl python3
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
add() { run task add -p me "$@"; }
# tomorrow ZONE: the date; at ZONE TIME: an instant in UTC, of tomorrow.
tomorrow() { TZ=$1 date -d tomorrow +%F 2>/dev/null || TZ=$1 date -v +1d +%F; }
at() {
  date -u -d "$(TZ=$1 date -d "$(tomorrow "$1") $2" +@%s)" +%FT%T.000Z 2>/dev/null ||
    date -u -r "$(TZ=$1 date -j -f '%F %H:%M:%S' "$(tomorrow "$1") $2:00" +%s)" +%FT%T.000Z
}

# --- one task

for zone in Europe/Berlin America/New_York Asia/Kathmandu UTC; do
  t 0 "a task is added in $zone" \
    env TZ=$zone task add -p me 'deploy the pipeline' tomorrow 9:00 '!1' '#ops'
  is "$(stored me | jq -sr '.[0] | [.title, .status, .priority, .due, .dueText, .labels[0]] | join("|")')" \
    "deploy the pipeline|open|1|$(at $zone 9:00)|tomorrow 9:00|ops" \
      "a task of $zone is there, at nine on the wall"
done
is "$(jq -r '[.type, .profile, .title, .state, (.id | startswith("at://"))] | join(" ")' "$out")" \
  'task me deploy the pipeline open true' "in a pipe the record is printed"
is "$(stored me | jq -r '.["$type"] + " " + (.createdAt | length | tostring)' | sort -u)" \
  "$task 24" "a task has its type and the time"
run env TZ=UTC LC_ALL=C TERM=xterm python3 "$cli/terminal.py" task add -p me 'call Ada tomorrow #home +boat'
is "$(tr -d '\r' <"$out")" \
  "added: call Ada, due $(LC_ALL=C TZ=UTC date -d "$(tomorrow UTC)" '+%a %-d %b'), +boat, #home" \
  "a person is told what was understood"
add -q keep '\#1' '\tomorrow' out of it
out_empty "-q prints nothing"
is "$(stored me | jq -sr '.[0] | [.title, .due, .labels] | tostring')" \
  '["keep #1 tomorrow out of it",null,null]' "a backslash keeps a word in the title"
add -q -- -5 degrees outside
is "$(stored me | jq -sr '.[0].title')" '-5 degrees outside' "words behind -- are the title"
add -q "two
lines	$(printf '\033')[31m"
is "$(stored me | jq -sr '.[0].title')" "two lines $(printf '\033')[31m" "a title is one line"

# --- what is not understood

requests=$(lines "$tmp/me.log")
while read -r reason words; do
  add "$words"
  status_is 2 "$words is not understood"
  err_is "task: $(printf %s "$reason" | tr _ ' ')" "the message says why $words is not understood"
done <<'END'
no_such_date:_31_feb pay the rent 31 feb
no_such_time:_25:00 pay the rent 25:00
no_title #ops !1
a_task_is_for_one_day:_every_monday stand-up every monday
END
add ''
status_is 2 "an empty title is no task"
err_is "task: no task" "the message says that there is no task"
is "$(lines "$tmp/me.log")" "$requests" "nothing was sent of what is not understood"

# --- many

t 2 "lines of which one is not understood are an error" \
  sh -c "printf '%s\n' 'one !1' '' 'two 31 feb' 'three fri' | task add -p me -"
err_is "task: standard input:3: no such date: 31 feb" "the line is named"
is "$(jq -r .title "$out" | tr '\n' ' ')" 'one three ' \
  "the lines that are understood are written, in their order"
run sh -c "echo four | task add -p me"
is "$(stored me | jq -sr '.[0].title')" four "standard input is read without words"

cat >"$tmp/pds-record" <<'END'
#!/bin/sh
cat >"$GOT"
END
chmod +x "$tmp/pds-record"
yes 'one of many' | head -n 20000 | PATH=$tmp:$PATH GOT=$tmp/got run task add -q
is "$(lines "$tmp/got")" 20000 "more tasks than a pipe holds are written as well"
rm "$tmp/pds-record"

# --- a family's list

add -C dev.joelclaw.family.item milk
status_is 2 "an item needs a list"
err_like 'an item belongs to a list: --list' "the message says that an item belongs to a list"
add --list groceries milk
status_is 1 "a list that is not there has status 1"
err_is "task: groceries: no such list" "the message names the list"
echo '{"title":"groceries","sharedWith":[]}' |
  pds-record -p me put dev.joelclaw.family.list groceries >"$tmp/put"
add --list groceries 2 fri milk '#1'
status_is 0 "a list is found by its key"
add --list at://did:web:bob.test/dev.joelclaw.family.list/theirs bread
status_is 0 "a list is found by its address"
is "$(pds-record -p me list dev.joelclaw.family.item | jq -r '.value | [.list, .text, .done] | join(" ")')" \
  'at://did:web:bob.test/dev.joelclaw.family.list/theirs bread false
at://did:web:alice.test/dev.joelclaw.family.list/groceries 2 fri milk #1 false' \
  "items are stored as they were said"
add --list at://did:web:bob.test/dev.joelclaw.task.item/theirs bread
status_is 2 "a record that is no list is an error"
err_like '^task: --list: not of dev.joelclaw.family.list: at://' \
  "the message says that the record is not a list"
add --list at://did:web:bob.test/dev.joelclaw.family.list/ bread
status_is 2 "a list without a key is refused"
add --list 'at://x' bread
status_is 2 "an address that is not one is refused"

# --- what goes wrong

fault me '{"method": "putRecord", "status": 400, "text": "no"}'
add refused
status_is 2 "a server that refuses is an error"
err_like '^task: .*no$' "the words of a server that refuses are told"
fault me '{"method": "putRecord", "lose": true}'
add -q lost and found
status_is 0 "a task whose answer is lost is added"
is "$(stored me | jq -r .title | grep -c 'lost and found')" 1 \
  "a task whose answer is lost is there once"
printf 'wrong-pass\n' >"$tmp/pds.password"
rm -rf "${XDG_STATE_HOME:?}/agentutils/pds"
add denied
status_is 77 "a wrong password is refused"
for words in '-o json x' '--list' '-C= x' '--profile= x'; do
  # shellcheck disable=SC2086  # words
  t 2 "task add $words is refused" task add $words
done

done_testing
