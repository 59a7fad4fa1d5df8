#!/bin/sh
# task list against arroba: what is to be done, what is done by id while others write, a family's
# items, and a server that is away.
. "${0%/*}/../lib.sh"
needs task pds-record action-filter jq curl python3
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
tasks() { run task list -p me "$@"; }
day() { date -d "$1 days" +%F 2>/dev/null || date -v "$1d" +%F; }
here=at://did:web:alice.test/$task

tasks
status_is 1 "the status is 1 without tasks"
out_empty "nothing is printed without tasks"
err_empty "no word is said without tasks"
is "$(python3 "$cli/terminal.py" task list -p me | tr -d '\r')" 'nothing to do' \
  "a person is told that there is nothing to do"
tasks -o line
status_is 1 "a bar without tasks has status 1, too"
out_empty "a bar without tasks prints nothing"
tasks --done 3k
status_is 1 "--done of a missing task has status 1"
err_is "task: 3k: no such task" "a missing task is named"

row() { jq -nc --arg uri "$here/$1" --argjson value "$2" '{uri: $uri, value: $value}'; }
{
  row 3kaaa22 '{"title":"sometime","status":"open","priority":2,"createdAt":"2026-01-01T00:00:00Z"}'
  row 3kaab22 "{\"title\":\"today\",\"status\":\"open\",\"due\":\"$(day +0)\",\"labels\":[\"ops\"]}"
  row 3kbbb33 "{\"title\":\"late\",\"status\":\"open\",\"due\":\"$(day -2)\",\"project\":\"attic\"}"
  row 3kccc33 '{"title":"\u001b]0;x\u0007\ttab\n\u202ered","status":"open"}'
  row 3kddd44 '{"title":"gone by","status":"done"}'
} >"$tmp/rows"
pds-record -p me put <"$tmp/rows" >"$tmp/put"
is "$(lines "$tmp/put")" 5 "five tasks were written"
logins=$(asked me com.atproto.server.createSession)

# --- lists

tasks
status_is 0 "tasks are listed"
is "$(jq -r '.type + " " + .profile + " " + .title' "$out" | head -n 3)" 'task me late
task me today
task me sometime' "records come with the most urgent first"
cp "$out" "$tmp/listed"
run task -p me
ok "task without a command lists" cmp -s "$out" "$tmp/listed"
tasks -o tsv
is "$(cut -f 1,5 "$out" | tr '\t' ' ')" "$here/3kbbb33 late
$here/3kaab22 today
$here/3kaaa22 sometime
$here/3kccc33 \\e]0;x\\x07\\ttab\\n\\u{202e}red" "TSV has the id first and a line for each task"
tasks -o line
out_is '1 overdue, 1 today' "a bar gets one line"
tasks -a -o text
is "$(tail -n 1 "$out")" 'gone by' "-a prints what is done, too"
tasks --label ops -o text
is "$(cut -d, -f 1 "$out")" today "--label selects tasks"
tasks --project=attic -o text
is "$(cut -d, -f 1 "$out")" late "--project selects tasks"
tasks --project none -q
status_is 1 "the status is 1 when none is selected"
is "$(asked me com.atproto.server.createSession)" "$logins" "nobody logged in again"
escape=$(printf '\033')
TERM=xterm-256color python3 "$cli/terminal.py" 24x80 task list -p me >"$tmp/seen"
is "$(sed "s/$escape\[[0-9;]*m//g" "$tmp/seen" | sed -n '1s/  */ /gp' | tr -d '\r')" \
  'ID DUE ! TASK PROJECT LABELS' "a terminal gets a table"
is "$(sed "s/$escape\[[0-9;]*m//g" "$tmp/seen" | LC_ALL=C tr -d '\r\n -~' | LC_ALL=C sed 's/\xe2\x86\xb5//g')" \
  "" "no control character of a task reaches a terminal"

# --- done

tasks --done 3kbbb
status_is 0 "a task is done by the beginning of its key"
is "$(jq -r '[.id, .state] | join(" ")' "$out")" "$here/3kbbb33 done" \
  "a task that was done is printed as it is now"
pds-record -p me get $task 3kbbb33 >"$tmp/row"
is "$(jq -r '.value | [.status, .project, (.completedAt[:10]), (.updatedAt | length)] | join(" ")' "$tmp/row")" \
  "done attic $(date -u +%F) 24" "a task that was done has the time, and the rest stays"
tasks --done 3kbbb33 3ka
status_is 2 "a name that two have is an error"
err_is 'task: 3ka: several tasks: 3kaab22, 3kaaa22' "both tasks of a name are told"
tasks --done nothing "$here/3kccc33"
status_is 1 "a task that is not there has status 1"
err_is 'task: nothing: no such task' "the task is named"
is "$(jq -r .id "$out")" "$here/3kccc33" "the task beside a missing one is done"
tasks --done 3kccc33
status_is 0 "a task that is done already has status 0"
out_empty "a task that is done already is not written again"
run task -p me "done" -q 3kddd 3kccc
status_is 0 "task done does the same as --done"
run task "done" -p me 3kddd nothing
err_is 'task: nothing: no such task' "task done says what is not there"
is "$(python3 "$cli/terminal.py" task list -p me --done 3kccc33 | tr -d '\r')" 'done already' \
  "a person is told that a task is done already"

# --- somebody else writes in between

cat >"$tmp/pds-record" <<END
#!/bin/sh
# The first list is followed by a change of somebody else's.
case " \$* " in
*' put '*)
  if [ -s "$tmp/others" ]; then
    head -n 1 "$tmp/others" | "$(command -v pds-record)" -p me put >/dev/null
    sed -i.bak 1d "$tmp/others"
  fi
  ;;
esac
exec "$(command -v pds-record)" "\$@"
END
chmod +x "$tmp/pds-record"
row 3kaaa22 '{"title":"sometime","status":"open","notes":"theirs"}' >"$tmp/others"
t 0 "a record that changed meanwhile has status 0" \
  env PATH="$tmp:$PATH" task list -p me --done 3kaaa22 -o text
err_empty "nothing is said of a record that changed meanwhile"
is "$(pds-record -p me get $task 3kaaa22 | jq -r '.value | .status + " " + .notes')" 'done theirs' \
  "what was written meanwhile is kept"
for n in 1 2 3 4 5 6; do row 3kaab22 '{"title":"today","status":"open","notes":"'$n'"}'; done >"$tmp/others"
t 1 "a record that changes again and again has status 1" \
  env PATH="$tmp:$PATH" task list -p me --done 3kaab22
err_like '^task: 3kaab22: ' "a record that changes again and again is named by its key"
err_like '^task: .*nothing was written' \
  "a record that changes again and again is given up, and told"
rm "$tmp/pds-record"

# --- a family's items

list=at://did:web:bob.test/dev.joelclaw.family.list/groceries
cat >"$tmp/rows" <<END
{"uri":"at://did:web:alice.test/dev.joelclaw.family.item/i1","value":{"list":"$list","text":"milk","qty":2}}
{"uri":"at://did:web:alice.test/dev.joelclaw.family.item/i2","value":{"list":"$list","text":"bread","done":true}}
END
pds-record -p me put <"$tmp/rows" >"$tmp/put"
tasks -C dev.joelclaw.family.item --project groceries -o text
out_is 'milk, +groceries' "items of a list are shown"
tasks -C dev.joelclaw.family.item --done i1
status_is 0 "an item can be bought"
is "$(pds-record -p me get dev.joelclaw.family.item i1 | jq -c '.value | [.text, .qty, .done, .doneBy]')" \
  '["milk",2,true,"did:web:alice.test"]' "a bought item says by whom"

# --- what goes wrong

fault me '{"method": "listRecords", "status": 400, "text": "no"}'
tasks
status_is 2 "a server that refuses is an error"
err_like '^task: http' "the server is named"
printf '[profile away]\nkind = pds\nurl = http://127.0.0.1:9\nidentifier = alice.test\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
# pds-record waits a minute for a server.
cat >"$tmp/pds-record" <<END
#!/bin/sh
exec "$(command -v pds-record)" --max-retries 0 "\$@"
END
chmod +x "$tmp/pds-record"
t 75 "a server that is away has status 75" env PATH="$tmp:$PATH" task list -p away -o line
out_is '○ unreachable' "a server that is away has a line for a bar"
rm "$tmp/pds-record"
for words in '--done' '3kaaa' 'done' 'dnoe 3k' '-o xml' '--done -a 3k' '--done a,b' '-W wide' '--label' '-z' '--label='; do
  # shellcheck disable=SC2086  # words
  tasks $words
  status_is 2 "task list $words is refused"
  like "$(sed -n 2p "$err")" '^usage: task ' "task list $words shows its usage"
done

done_testing
