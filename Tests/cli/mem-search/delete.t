#!/bin/sh
# mem-search --delete and --undo: what is gone is written down, whatever happens.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq curl

start_server memory python3 "$cli/servers/memory.py" --create "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
export AGENT_URL
log=$XDG_STATE_HOME/agentutils/memory-deleted.ndjson
left() { curl -sS "$url/control/facts" | jq -r .id | sort -n | tr '\n' ' '; }

t 2 "--delete without a terminal is refused" mem-search --delete 42
err_is "mem-search: --delete: no terminal to ask at: give --yes" \
  "the message says that nobody can be asked"
t 2 "one wrong id is refused" mem-search --delete -y 42 x
is "$(left)" "12 40 41 42 77 90 611 612 613 " "nothing is deleted with a wrong id"
ok "nothing is written down with a wrong id" test ! -e "$log"

row=$(mem-search -f 'bell rings')
t 1 "one of two facts that is missing has status 1" mem-search --delete --yes 42 999 42
is "$(jq -r '"\(.type) \(.id) \(.result)"' "$out" | tr '\n' ',')" \
  "fact_delete 42 deleted,fact_delete 999 not_found," "each fact to delete has one record"
is "$(jq -c 'select(.id == "42").fact' "$out")" "$row" "the record has the fact's own bytes"
is "$(left)" "12 40 41 77 90 611 612 613 " "a deleted fact is gone"
is "$(jq -r '"\(.id) \(.result)"' "$log" | tr '\n' ',')" "42 sent,42 deleted," \
  "a deletion is written down"
is "$(ls -l "$log" | cut -c 1-10)" "-rw-------" "the file of deletions is for the user alone"
t 1 "a deleted fact is not there a second time" mem-search --delete -y 42

# --- from standard input

t 2 "ids from standard input need --yes" \
  sh -c 'printf "611\n\n{\"id\":612}\n90\tsubject\n" | mem-search --delete -'
t 0 "--yes takes bare ids, records and TSV" \
  sh -c 'printf "611\n\n{\"id\":612}\n90\tsubject\n" | mem-search --delete -y -o tsv -'
is "$(cut -f 1,2 "$out" | tr '\t\n' ' ,')" "611 deleted,612 deleted,90 deleted," \
  "all three facts of standard input are deleted"
t 1 "no id on standard input has status 1" \
  sh -c 'mem-search -f nosuch -o tsv | mem-search --delete -y -'
t 2 "a line that is not an id is an error" sh -c 'echo hello | mem-search --delete -y -'
err_like 'standard input:1: not a fact' "the line is named"

# --- at a terminal

t 1 "a no has status 1" python3 "$cli/terminal.py" typing 'n\n' mem-search --delete 40 41
out_like 'Delete these 2 facts\? \[y/N\]' "a question is asked"
out_like 'sailing club chat' "the facts are shown"
is "$(left)" "12 40 41 77 613 " "a no deletes nothing"
t 0 "a yes has status 0" \
  python3 "$cli/terminal.py" typing 'y\n' mem-search --color never --delete 41
out_like '41 .*deleted' "a yes deletes"

# --- the way back

t 0 "--undo lists what was deleted" mem-search --undo
is "$(jq -r .id "$out" | tr '\n' ' ')" "41 90 612 611 42 " "--undo lists the last deletion first"
run mem-search --undo -n 1 -o table
out_like '読書会' "a person can read the list"
t 1 "one of two facts that was not deleted has status 1" mem-search --undo 612 999
is "$(jq -r '"\(.type) \(.id) \(.result) \(.new_id)"' "$out")" "fact_restore 612 restored 614" \
  "a restored fact is there again"
is "$(curl -sS "$url/control/facts" | jq -c 'select(.id == 614) | [.fact, .scope, .user_id, .confidence]')" \
  '["Mika is allergic to peanuts 🥜","user","400118822734659584",1]' \
    "the members of a restored fact are as they were"
run mem-search --undo
is "$(jq -r .id "$out" | tr '\n' ' ')" "41 90 611 42 " "a restored fact is not in the list any more"
t 2 "the deletions of another guild are not there" mem-search -g 5 --undo

# --- a torn line at the end of the file

printf '{"type":"fact_delete","time":"2026' >>"$log"
t 0 "a fact is deleted after a crash in the middle of a line" mem-search --delete -y 613
run mem-search --undo
is "$(jq -r .id "$out" | head -n 2 | tr '\n' ' ')" "613 41 " \
  "no deletion is lost behind a torn line"

# --- nothing is deleted that cannot be written down

mv "$log" "$tmp/old"
mkdir "$log"
t 2 "a file that cannot be written is an error" mem-search --delete -y 77
rmdir "$log"
like "$(left)" ' 77 ' "a fact is untouched when the deletion cannot be written down"

# --- a dashboard cannot make facts

start_server plain python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
t 0 "a fact is deleted from a dashboard" mem-search --delete -y 42
t 1 "a fact of a dashboard cannot come back" mem-search --undo 42
is "$(jq -r '"\(.result): \(.fact.fact)"' "$out")" \
  "lost: The bell rings at noon, everybody posts a picture of the harbour then" \
    "the text of a lost fact is told"
run mem-search --undo
is "$(jq -r .id "$out")" 42 "a lost fact stays written down"

# --- a fault in the middle

start_server broken python3 "$cli/servers/memory.py" --fault 500 "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
t 75 "a backend that breaks has status 75" mem-search --delete -y 42 40
err_one_line mem-search "one line says that the backend broke"
t 1 "what a broken backend did not delete is not listed" mem-search --undo

# --- killed in the middle, again and again

python3 "$cli/servers/many_facts.py" 60 3 >"$tmp/many"
start_server slow python3 "$cli/servers/memory.py" --slow-delete 0.01 "$tmp/many"
AGENT_URL=$url
rm -f "$log"
curl -sS "$url/control/facts" | jq -r .id | sort >"$tmp/all"
for round in 1 2 3 4 5 6; do
  curl -sS "$url/control/facts" | jq -r .id >"$tmp/ids"
  # shellcheck disable=SC2046  # ids are digits
  start delete mem-search --delete -y $(cat "$tmp/ids")
  wait_until 30 at_least "$tmp/delete.out" "$round"
  # Each time a little further into the next one.
  sleep "0.01$round"
  kill -9 "$pid" 2>/dev/null
  finished "$pid"
done
# The server ends what it had begun; then nobody is connected but who asks.
nobody_else() { [ "$(curl -sS "$url/control/connected")" = 1 ]; }
wait_until 30 nobody_else
curl -sS "$url/control/facts" | jq -r .id | sort >"$tmp/left"
run mem-search --undo
jq -r .id "$out" | sort >"$tmp/undo"
comm -23 "$tmp/all" "$tmp/left" >"$tmp/gone"
ok "some are gone and some are left ($(lines "$tmp/gone") of 60)" \
  test -s "$tmp/gone" -a -s "$tmp/left"
ok "each fact that is gone is listed, and no other" cmp "$tmp/gone" "$tmp/undo"
jq -c .fact "$out" | jq -r .id | sort | cmp -s - "$tmp/gone"
is "$?" 0 "each deletion has the whole fact"

done_testing
