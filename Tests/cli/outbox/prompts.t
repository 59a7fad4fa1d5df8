#!/bin/sh
# agent-chat --queue and the prompts of outbox flush: what is said while nobody is there is said
# once, in order, when somebody is; and never twice, whatever is killed.
. "${0%/*}/../lib.sh"
needs outbox agent-chat curl jq python3
. "${0%/*}/../gateway.sh"
. "${0%/*}/../pincer.sh"

box=$XDG_STATE_HOME/agentutils/outbox
config=$XDG_CONFIG_HOME/agentutils/config
start_gateway claw --pace 1
gateway=$url
# away PROFILE URL; back PROFILE URL: whether a server is where its profile says.
away() { sed -i "s|^url = $2\$|url = ws://127.0.0.1:9|" "$config"; }
back() { sed -i "s|^url = ws://127.0.0.1:9\$|url = $2|" "$config"; }
states() { jq -r '.text + " " + .state' "$out"; }
said() { agent-chat -p claw --history -n 999 -o json | jq -r 'select(.role == "user").text'; }
# aged FILE HOURS: as if all in it had been written so much earlier.
aged() {
  jq -c --argjson ago "$2" '.at |= (sub("[.][0-9]*Z"; "Z") | fromdate - $ago * 3600 | todate)' \
    "$1" >"$tmp/aged" && cat "$tmp/aged" >"$1"
}

# --- while it is there

t 0 "an agent that is there has status 0" agent-chat -p claw --queue good morning
out_is "You said: good morning" "an agent that is there answers at once"
t 1 "nothing is kept for an agent that is there" outbox -p claw list

# --- away

away claw "$gateway"
t 75 "an agent that is away has status 75" agent-chat -p claw --queue one
out_empty "an agent that is away gives no answer"
err_one_line agent-chat "one line says that an agent is away"
err_like 'it is kept$' "the line says that the words are kept"
t 75 "a kept prompt can be printed as a record" agent-chat -p claw --queue -o json -t den two
is "$(jq -c '[.type, .profile, .op, .state, .text, .thread]' "$out")" \
  '["outbox_item","claw","prompt","queued","two","den"]' "a kept prompt is an outbox_item"
err_like 'others wait before it; it is kept$' "the message says that others wait before the prompt"
t 75 "flush has status 75 while the agent is away" outbox -p claw --max-time 1 flush
is "$(states)" "one queued
two queued" "both prompts wait"

back claw "$gateway"
t 75 "a prompt that comes behind waiting ones has status 75" agent-chat -p claw --queue three
err_like 'others wait before it' "a prompt that comes behind waiting ones waits, too"
t 0 "waiting prompts are said when the agent is there" outbox -p claw flush
is "$(jq -r '[.text, .state, .answer] | join("|")' "$out")" "one|done|You said: one
two|done|You said: two
three|done|You said: three" "waiting prompts are said in order, each with its answer"
is "$(said | xargs)" "good morning one three" "each prompt is said once, in its thread"
is "$(cat "$box/claw.ndjson")" "" "nothing is left when all prompts are said"

run perl -MFcntl=:flock -e 'open F, ">>", shift or die; flock F, LOCK_EX or die; system @ARGV' \
  "$box/.claw.sender" agent-chat -p claw --queue meanwhile
err_like 'another process says what waits; it is kept$' \
  "a prompt is kept while another process sends"
run outbox -p claw flush
is "$(states)" "meanwhile done" "a prompt that was kept meanwhile is said by the next flush"

# --- a token that does not come

printf '[profile hung]\nkind = openclaw\nurl = %s\ntoken-command = exec sleep 1000\n' "$gateway" >>"$config"
echo '{"op":"prompt","text":"hello"}' | run outbox -p hung add
bound=20 run outbox -p hung flush --max-time 0.5
status_is 75 "a token that does not come in time has status 75"
is "$(states)" "hello queued" "what waits goes on waiting"
run outbox -p hung drop --all

# --- lost between the words and the answer

for where in cut lose; do
  away claw "$gateway"
  agent-chat -p claw --queue "$where it" 2>"$tmp/why"
  back claw "$gateway"
  tell claw "$where chat.send"
  run outbox -p claw flush
  is "$(states)" "$where it done" "a prompt is done when its link was lost ($where)"
  is "$(said | grep -c "^$where it\$")" 1 "nothing is said twice ($where)"
done

# --- killed

number=0
away claw "$gateway"
while [ "$number" -lt 8 ]; do
  number=$((number + 1))
  agent-chat -p claw --queue "count $number" 2>"$tmp/why"
done
back claw "$gateway"
for pause in 0.01 0.03 0.05 0.06 0.07 0.08 0.1 0.12 0.15; do
  outbox -p claw flush >"$tmp/killed" 2>&1 &
  killed=$!
  sleep "$pause"
  kill -9 "$killed" 2>"$tmp/why"
  wait "$killed" 2>"$tmp/why"
done
t 0 "flush ends well after nine kills" outbox -p claw flush
is "$(said | grep '^count')" "$(seq 8 | sed 's/^/count /')" \
  "each prompt was said once, in order, after the kills"
is "$(cat "$box/claw.ndjson")" "" "nothing is left after nine kills"

# One that is known to have been said, to a gateway that knows the key no more.
echo '{"op":"prompt","text":"count 400"}' | outbox -p claw add >"$tmp/added"
before=$(frames claw chat.send | wc -l)
outbox -p claw flush >"$tmp/killed" 2>&1 &
killed=$!
wait_until 10 came_frames claw chat.send "$((before + 1))" || bail "nothing was said"
kill -9 "$killed"
wait "$killed" 2>"$tmp/why"
run outbox -p claw list
is "$(states)" "count 400 unconfirmed" "what was sent has perhaps been said"
long() { agent-chat -p claw --history -n 999 -o json | jq -r .text | grep -q ' 400$'; }
wait_until 10 long
tell claw forget
run outbox -p claw flush
is "$(states)" "count 400 done" "a prompt that was perhaps said is looked for"
is "$(said | grep -c '^count 400$')" 1 "a prompt that was perhaps said is not said again"

# The same of agent-chat itself.
before=$(frames claw chat.send | wc -l)
agent-chat -p claw --queue count 401 >"$tmp/killed" 2>&1 &
killed=$!
wait_until 10 came_frames claw chat.send "$((before + 1))" || bail "nothing was said"
kill -9 "$killed"
wait "$killed" 2>"$tmp/why"
run outbox -p claw flush
is "$(states) $(said | grep -c '^count 401$')" "count 401 done 1" \
  "a question of a killed agent-chat is said once"

# --- interrupted before anything was sent

printf '%s\n' forever switch listen >"$tmp/silent"
start_server silent python3 "$cli/servers/raw.py" "$tmp/silent" "$tmp/silent.log"
printf '[profile silent]\nkind = openclaw\nurl = ws%s\n' "${url#http}" >>"$config"
start asked agent-chat -p silent --queue never mind
waits() { outbox -p silent list | grep -q 'never mind'; }
wait_until 10 waits || bail "nothing waits"
stop "$pid" INT
status_is 130 "^C before anything was sent has status 130"
t 1 "nothing waits after ^C" outbox -p silent list --all

# --- a server without a link

start_server claudio python3 "$cli/servers/claudio.py"
printf '[profile http]\nkind = openclaw\nurl = http://127.0.0.1:9\n' >>"$config"
t 75 "a server of which nothing is known before has status 75" agent-chat -p http --queue ahoy
run outbox -p http list
is "$(states)" "ahoy queued" "words for a server of which nothing is known are queued"
sed -i "s|^url = http://127.0.0.1:9\$|url = $url|" "$config"
run outbox -p http flush
is "$(states)" "ahoy done" "a server of which nothing was known is told when it is there"

# --- a server that goes before the words

while read -r name kind path words; do
  for number in 1 2; do
    start_server "$name$number" python3 "$cli/servers/once.py"
    if [ "$number" = 1 ]; then
      printf '[profile %s]\nkind = %s\nurl = %s\n' "$name" "$kind" "$url$path" >>"$config"
      # shellcheck disable=SC2086  # words
      run agent-chat -p "$name" --queue $words
    else
      sed -i "s|^url = $before\$|url = $url$path|" "$config"
      run outbox -p "$name" flush --max-time 20
    fi
    before=$url$path
    status_is 75 "$name: a server that goes before the words has status 75 ($number)"
    is "$(outbox -p "$name" list | jq -r .state)" queued \
      "$name: words for a server that went are queued ($number)"
  done
done <<'END'
claudio openclaw / hello
responses openclaw /v1/ hello
pincer pincer / -t t1 hello
END

# --- no room to keep that it is sent

start_server full python3 "$cli/servers/claudio.py" "$tmp/full.log"
printf '[profile full]\nkind = openclaw\nurl = %s\n[profile full1]\nkind = openclaw\nurl = %s/v1\n' \
  "$url" "$url" >>"$config"
for name in full full1; do
  run python3 -c 'import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (540, 540))
os.execvp(sys.argv[1], sys.argv[1:])' agent-chat -p "$name" --queue "$(seq -s ' ' 130)"
  status_is 2 "$name: a note of sending that cannot be kept is an error"
  err_like "$name.ndjson: .*; it is kept\$" "$name: the message says that the prompt is kept"
  is "$(outbox -p "$name" list | jq -r .state)" queued "$name: the prompt is queued as it was"
done
is "$(jq -r 'select(.method == "POST").path' "$tmp/full.log")" "" \
  "nobody is told what cannot be noted as sent"

# --- a Pincer server, which knows no keys

start_pincer pin --pace 0.001
pincer=$url
thread=$(new_thread pin)
sed -i "s|^url = $pincer\$|url = http://127.0.0.1:9|" "$config"
for words in uno due; do agent-chat -p pin -t "$thread" --queue "$words" 2>"$tmp/why"; done
sed -i "s|^url = http://127.0.0.1:9\$|url = $pincer|" "$config"
run outbox -p pin flush
is "$(states)" "uno done
due done" "a server without keys is told them, too"
echo "{\"op\":\"prompt\",\"text\":\"slow 300\",\"thread\":\"$thread\"}" |
  outbox -p pin add >"$tmp/added"
outbox -p pin flush >"$tmp/killed" 2>&1 &
killed=$!
wait_until 10 came_calls pin TurnsService/StartTurn 3 || bail "nothing was said"
kill -9 "$killed"
wait "$killed" 2>"$tmp/why"
t 75 "a flush behind one that was killed has status 75" outbox -p pin flush
is "$(states)" "slow 300 unconfirmed" "a prompt of a killed flush is unconfirmed"
is "$(calls pin TurnsService/StartTurn | wc -l)" 3 \
  "a prompt of a killed flush is not said again without a person"

# --- what the agent makes of it

printf '%s\n' '{"op":"prompt","text":"fail"}' '{"op":"prompt","text":"after"}' |
  outbox -p claw add >"$tmp/added"
run outbox -p claw flush
is "$(states)" "fail done
after done" "a failure of the agent is an answer"
like "$(jq -r .reason "$out" | head -n 1)" '^the agent failed: ' \
  "the reason of the agent's failure is there"

# --- a page of somebody else's

printf 'forever\nstatus 200 text/html <html>log in\n' >"$tmp/page"
start_server portal python3 "$cli/servers/raw.py" "$tmp/page" "$tmp/portal.log"
printf '[profile portal]\nkind = openclaw\nurl = %s\n' "$url" >>"$config"
seq 2 | jq -c '{op: "prompt", text: "word \(.)"}' | outbox -p portal add >"$tmp/added"
t 75 "a page that answers everything has status 75" outbox -p portal flush --max-time 5
err_like '200 OK: a web page' "the message says that a web page answered"
is "$(states | xargs)" "word 1 queued word 2 queued" "no prompt is lost by a page"
outbox -p portal drop --all >"$tmp/other"
t 75 "agent-chat that gets a page has status 75" agent-chat -p portal --queue word 3
is "$(outbox -p portal list | jq -r .state)" queued "a prompt that a page answered is queued"
start_server there python3 "$cli/servers/claudio.py"
printf '[profile there]\nkind = openclaw\nurl = %s\n' "$url" >>"$config"
run agent-chat -p there --queue odd
is "$(outbox -p there list | jq -r .state)" unconfirmed "words with such an answer were perhaps said"

# --- old

echo '{"op":"prompt","text":"long ago"}' | outbox -p claw add >"$tmp/added"
aged "$box/claw.ndjson" 25
echo '{"op":"prompt","text":"just now"}' | outbox -p claw add >"$tmp/added"
t 75 "a prompt that is a day old has status 75" outbox -p claw flush
is "$(states)" "long ago held
just now queued" "an old prompt is held back, with what is behind it"
err_like 'written at .*: say it with --old, or drop it' \
  "the message says that an old prompt is held"
run python3 "$cli/talk.py" outbox -p claw flush <<'END'
Say it now?|n
END
out_like 'long ago' "a person is asked about an old prompt"
unlike "$(said)" 'long ago' "an old prompt is not said after a no"
run outbox -p claw flush --old
is "$(states)" "long ago done
just now done" "--old says an old prompt"

# --- words

while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run agent-chat -p claw $words </dev/null
  is "$(head -n 1 "$err")" "agent-chat: $want" "agent-chat $words is refused"
  status_is 2 "agent-chat $words has status 2"
done <<'END'
--queue --threads|--queue is for a message, not for --threads
--queue --key k hi|--key and --queue exclude each other
--queue --attach f hi|--attach and --queue exclude each other
END
run env AGENT_URL="$gateway" XDG_CONFIG_HOME="$tmp/none" agent-chat --queue hi
err_like 'no profile: an outbox belongs to one' "without a profile there is no outbox"
run outbox -p claw list --old
err_like '--old is not for list' "outbox list --old is refused"

done_testing
