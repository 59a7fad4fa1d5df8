#!/bin/sh
# mem-search --mirror and --offline, ten thousand facts, and --pick.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq curl

start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
memory=$pid
AGENT_URL=$url
export AGENT_URL
guild=771204458812997633

t 1 "there is no copy yet" mem-search --offline boat
err_like 'offline: no copy was taken' "the message says that no copy was taken"
mem-search -f >"$tmp/facts"
t 0 "--mirror takes a copy" mem-search --mirror
is "$(jq -c '[.type, .guild_id, .facts, .whole]' "$out")" "[\"memory_mirror\",\"$guild\",9,true]" \
  "a record says what was copied"
copy=$(jq -r .path "$out")
is "$(ls -l "$copy" | cut -c 1-10)" "-rw-------" "a copy is for the user alone"
mem-search --subjects | jq -S -c . | sort >"$tmp/subjects"
stop "$memory"

t 0 "the facts are there without the backend" mem-search --offline -f
ok "the facts of a copy are the same, byte for byte" cmp "$out" "$tmp/facts"
err_like "^mem-search: offline: a copy of 20[0-9T:.-]+Z, .*, 9 facts$" "the age of a copy is told"
run mem-search -q --offline -f
err_empty "-q does not tell the age of a copy"
run mem-search --offline SAILING boat
is "$(jq -r .id "$out")" 611 "every word must be in a fact of a copy, in any case"
run mem-search --offline -t guidance -f
is "$(jq -r .id "$out")" 12 "filters select in a copy, too"
t 1 "a word that is nowhere in a copy has status 1" mem-search --offline zeppelin
run mem-search --offline --subjects
jq -S -c . "$out" | sort >"$tmp/counted"
ok "the subjects of a copy are counted as the backend does" cmp "$tmp/counted" "$tmp/subjects"
t 1 "another guild has no copy" mem-search --offline -g 5 -f
printf 'not json\n' >>"$copy"
t 0 "a damaged copy is read" mem-search --offline -f
is "$(lines "$out")" 10 "a damaged copy keeps what it has"

# --- more than one answer holds

python3 "$cli/servers/many_facts.py" 10000 40 >"$tmp/many"
start_server many python3 "$cli/servers/memory.py" "$tmp/many"
AGENT_URL=$url
bound=60 run mem-search -f
status_is 0 "10,000 facts are listed"
is "$(jq -r .id "$out" | sort -un | wc -l | tr -d ' ')" 10000 "10,000 facts are listed, each once"
is "$(lines "$out")" 10000 "10,000 facts are 10,000 lines"
asked=$(curl -sS "$url/control/requests")
ok "a bearable number of requests was made ($asked)" test "$asked" -lt 400
t 0 "the newest of 10,000 facts is edited" mem-search --edit 10000 --confidence 0.4
is "$(($(curl -sS "$url/control/requests") - asked))" 4 \
  "an edit takes one look, one change, and one question for the guilds"
asked=$(curl -sS "$url/control/requests")
t 0 "a fact in the middle is found in the same way" mem-search --edit 4444 --confidence 0.4
asked=$(($(curl -sS "$url/control/requests") - asked))
ok "an edit asks no more often than there are full answers ($asked)" test "$asked" -lt 60
stop "$pid"
start_server slow python3 "$cli/servers/memory.py" --slow-facts 0.05 "$tmp/many"
AGENT_URL=$url
t 0 "a backend that takes its time has status 0" mem-search --edit 4444 --confidence 0.4
together=$(curl -sS "$url/control/together")
ok "a slow backend is asked several things at a time ($together)" test "$together" -gt 1
ok "a slow backend is not asked too many things at once" test "$together" -le 6
stop "$pid"
awk 'NR == 1 { print; next } NR <= 701 { sub(/"fact": "[^"]*"/, "\"fact\": \"the same\""); print }' \
  "$tmp/many" | sed 's/"subject": "[^"]*"/"subject": "one"/; s/profile/x/; s/preference/x/' >"$tmp/same"
start_server same python3 "$cli/servers/memory.py" "$tmp/same"
AGENT_URL=$url
t 2 "facts that cannot be reached are an error" mem-search -f
err_like ': 500 of 700 facts of one can be had, others are out of reach$' \
  "the message tells how many facts can be had"
is "$(lines "$out")" 500 "the facts that can be reached are printed"
t 2 "a fact among them cannot be deleted" mem-search --delete -y 1
err_like '^mem-search: fact 1: not found: 500 of 700 facts of one can be had, others are' \
  "a fact that cannot be reached is not said to be gone"
stop "$pid"

# --- --pick

if ! command -v fzf >/dev/null 2>&1; then
  skip 9 "no fzf"
  done_testing
fi
start_server pick python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
t 0 "--pick prints what fits" mem-search --pick --filter sailing --subject __lore__ -t other
cp "$out" "$tmp/picked"
is "$(cut -f 1 "$out")" 40 "the chosen facts are printed as TSV"
FZF_DEFAULT_OPTS='--filter=nothing --print0 --header-lines=9' run mem-search --pick --filter sailing --subject __lore__ -t other
ok "--pick works whatever fzf is to do elsewhere" cmp -s "$out" "$tmp/picked"
t 1 "the status is 1 when nothing was chosen" mem-search --pick --filter=zeppelin
run perl -e 'use POSIX; my $child = fork; if (!$child) { POSIX::setsid(); exec "mem-search", "--pick" }
  waitpid $child, 0; exit $? >> 8'
status_is 2 "a screen needs a terminal"
err_is "mem-search: no terminal: --filter WORDS prints without one" \
  "the message says how to go without a terminal"
# A backend whose ids are words.
mkdir "$tmp/pick"
harbour=$url
echo '{"guild":{"id":"1","name":"Odd"}}' >"$tmp/odd-facts"
for id in '"-ypother 5"' '"-y"' '"5 6"' '"5x"' '""' '"-"' 7; do
  echo '{"id":'"$id"',"fact":"a fact"}'
done >>"$tmp/odd-facts"
start_server odd python3 "$cli/servers/memory.py" "$tmp/odd-facts"
cat >"$tmp/pick/fzf" <<'END'
#!/bin/sh
printf '%s' "$SHELL" >"$DID.shell"
[ ! -e "$DID.open" ] || exit 130
: >"$DID.open"
printf '\n%s\n' "$KEY"
awk -F '\t' -v id="$ID" '$1 "" == id'
END
chmod +x "$tmp/pick/fzf"
# picks SCRIPT: the stub chooses $ID and $KEY.
picks() {
  rm -f "$tmp/did.open"
  printf '%s' "$1" | ID=$ID KEY=$KEY DID=$tmp/did AGENT_URL=$url EDITOR=true SHELL=/bin/false \
    PATH=$tmp/pick:$PATH run python3 "$cli/talk.py" mem-search --pick
}
for KEY in ctrl-d ctrl-e; do
  for ID in '-ypother 5' -y '5 6' 5x ''; do
    picks 'Enter goes on|'
    out_like "fact $ID: not a fact's id" "$KEY: the screen says that '$ID' is no id"
  done
done
ID=7
picks ''
out_like 'fact 7: nothing changed' "ctrl-e: a number is an id"
KEY=ctrl-d
picks 'Delete this fact|n
Enter goes on|'
out_like 'nothing was deleted' "ctrl-d: a number is an id, and a person is asked"
ID=-
picks 'Enter goes on|'
out_like "no terminal to ask at" "a fact that is called - does not stand for standard input"
is "$(curl -sS "$url/control/facts" | grep -c 'a fact')" 7 "all facts are still there after odd ids"
url=$harbour
is "$(cat "$tmp/did.shell")" /bin/sh "the preview is for sh, whatever shell the user has"
t 2 "a wrong option is refused" mem-search --pick --nonsense
if ! command -v tmux >/dev/null 2>&1; then
  skip 4 "no tmux"
  done_testing
fi
socket=$tmp/tmux
cat >"$tmp/editor" <<'END'
#!/bin/sh
sed 's/terse/short/; t
s/short/terse/' "$1" >"$1.new" && mv "$1.new" "$1"
END
chmod +x "$tmp/editor"
pane() { tmux -S "$socket" "$@"; }
shows() { pane capture-pane -p | grep -q -e "$1"; }
# The list is open, not only its words on the screen.
lists() { shows 'Enter print' && shows "$1"; }
pane -f /dev/null new-session -d -x 100 -y 30 \
  "env AGENT_URL=$url EDITOR='$tmp/editor' mem-search --pick; echo status \$?; cat"
server=$(pane display-message -p '#{pid}')
started="$started $server"
ok "the list opens" wait_until 30 lists 'sailing club'
pane send-keys 'answers'
wait_until 30 lists '> answers'
pane send-keys C-e
ok "C-e edits the fact" wait_until 30 shows 'Change fact 12'
pane send-keys y Enter
wait_until 30 sh -c 'curl -sS "$1/control/facts" | grep -q "answers terse"' - "$url"
ok "the list comes again after an edit" wait_until 30 lists 'Keeps answers terse'
pane send-keys C-d
wait_until 30 shows 'Delete this fact'
pane send-keys y Enter
ok "C-d deletes the fact" \
  wait_until 30 sh -c '! curl -sS "$1/control/facts" | grep -q "answers terse"' - "$url"
wait_until 30 lists ' 0/8 '
pane send-keys Escape
ok "Escape leaves the list" wait_until 30 shows 'status 1'

done_testing
