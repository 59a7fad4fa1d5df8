#!/bin/sh
# agent-cost: what was spent, of files and of agents, on a terminal, in a pipe and in a bar.
. "${0%/*}/../lib.sh"
needs agent-serve action-filter action-format jq python3
cd "$tmp" || exit
day=$root/Tests/fixtures/sample-day.ndjson
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
tab=$(printf '\t')
escape=$(printf '\033')

# --- files
t 0 "a recorded day can be read" agent-cost -o table "$day"
err_empty "nothing is said beside a table"
like "$(head -n 1 "$out")" '^model +calls +in +out +share +cost *$' "the table has headings"
like "$(sed -n 2p "$out")" '^claude-opus-4-6 +45 +129k +15k +75% +\$3\.05  █{30}$' "the most expensive model comes first"
like "$(tail -n 2 "$out" | head -n 1)" '^total +170 +405k +50k +\$4\.05$' "the last row sums all"
is "$(tail -n 1 "$out")" '▂▂█▃▄▃▃▄▂▃▃▁▂▂▂  2026-03-14 06:00 to 20:00' \
  "a line of bars says when it was spent"
run agent-cost "$day"
is "$(head -n 2 "$out")" "model${tab}count${tab}usd_cost${tab}input_tokens${tab}output_tokens
claude-opus-4-6${tab}45${tab}3.046185${tab}129079${tab}14800" "a pipe gets TSV"
is "$(lines "$out")" 12 "TSV has no sum"
run agent-cost --by day,kind -o json "$day"
is "$(tail -n 1 "$out")" '{"type":"count","count":170,"usd_cost":4.0507614,"input_tokens":405324,"output_tokens":49815}' \
  "JSON has the sum last"
is "$(cut -c 1-58 "$out" | sed '$d' | sort -u)" '{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"a
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"b
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"c
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"i
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"l
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"m
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"s
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"t
{"type":"count","day":"2026-03-14T00:00:00.000Z","kind":"v' \
  "several keys make a row for each combination"
run agent-cost -o line "$day"
# shellcheck disable=SC2016  # a dollar
out_is '$4.05  170 calls  ▂▂█▃▄▃▃▄▂▃▃▁▂▂▂' "a bar gets one line"
run agent-cost -o line -S 2026-03-14T08:00:00Z -B 2026-03-14T09:00:00Z -k 'llm_*' "$day"
# shellcheck disable=SC2016  # a dollar
out_is '$0.3922  14 calls  █' "the line is about the part that was asked for"
run sh -c 'agent-cost -o json -U 1184035512000118784 - <"$0" | tail -n 1' "$day"
out_is '{"type":"count","count":1,"usd_cost":0.21,"input_tokens":0,"output_tokens":0}' "standard input is read, and a user selected"
printf '%s\n' '{"id":1,"kind":"llm_call","usd_cost":0.5}' '{"id":1,"kind":"llm_call","usd_cost":0.5}' >twice
is "$(agent-cost twice | cut -f 2,3 | tail -n 1)" "1${tab}0.5" "each action counts once"

# --- a terminal
TERM=xterm-256color python3 "$cli/terminal.py" 24x60 agent-cost --by kind "$day" >seen
ok "a terminal gets a table" grep -q total seen
ok "the table is in colour" grep -q "$escape\\[" seen
sed "s/$escape\\[[0-9;]*m//g" seen | tr -d '\r' >plain
ok "the table is as wide as it may be" python3 -c '
import sys
assert max(len(line.rstrip("\n")) for line in open("plain")) in range(50, 61)'
is "$(TERM=xterm python3 "$cli/terminal.py" agent-cost --color never "$day" | grep -c "$escape")" 0 "--color never leaves the colours out"
is "$(python3 "$cli/terminal.py" agent-cost -o tsv "$day" | head -n 1 | cut -f 1)" model \
  "-o tsv prints TSV on a terminal"

# --- the limit, to the last digit
for limit in 4.0507614 5 4.05076140 1e1; do
  run agent-cost -q --limit "$limit" "$day"
  is "$status$(cat "$out" "$err")" 0 "$limit is not passed"
done
for limit in 4.05076139999999999999 4 0 .5; do
  run agent-cost -q --limit "$limit" "$day"
  is "$status$(cat "$out" "$err")" 1 "$limit is passed"
done
t 1 "the limit is passed" agent-cost -o line --limit 4 "$day"
out_like '^\$4\.05 of \$4  170 calls' "the line tells the limit"
run agent-cost -o table --limit 4 "$day"
is "$status $(tail -n 1 "$out")" "1 over the limit of \$4" "a table tells the limit, too"

# --- this month, this week
python3 - >lately <<'END'
import datetime, json
now = datetime.datetime.now().astimezone()
day = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
month, week = day.replace(day=1), day - datetime.timedelta(now.weekday())
def spend(at, usd):
    at = at.astimezone(datetime.timezone.utc)
    print(json.dumps({"id": usd, "kind": "llm_call", "created_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "usd_cost": usd}))
second = datetime.timedelta(seconds=1)
spend(month, 1)
spend(month - second, 2)
spend(week, 4)
spend(week - second, 8)
json.dump([sum(usd for at, usd in ((month, 1), (month - second, 2), (week, 4), (week - second, 8)) if at >= since)
           for since in (month, week)], open("sums", "w"))
END
spent() { agent-cost -o json "$@" lately | tail -n 1 | jq .usd_cost; }
is "$(spent --month)" "$(jq '.[0]' sums)" "--month counts since the first day of the month"
is "$(spent --week)" "$(jq '.[1]' sums)" "--week counts since Monday"

# --- nothing
t 0 "agent-cost has status 0 when nothing was spent" agent-cost -S 1h --by user,hour "$day"
out_is "user${tab}hour${tab}count${tab}usd_cost${tab}input_tokens${tab}output_tokens" "only the headings are printed"
run agent-cost -o table -S 1h "$day"
out_is 'nothing was spent' "a table says that nothing was spent"
run agent-cost -o line -S 1h "$day"
# shellcheck disable=SC2016  # a dollar
out_is '$0  0 calls' "the line has no bars"
t 0 "nothing is not more than nothing" agent-cost --limit 0 -q -S 1h "$day"

# --- exact
cat >draw.py <<'END'
import decimal, random, subprocess, sys
decimal.getcontext().prec = 400
draw = random.Random(5)
total, models = decimal.Decimal(0), {}
with open("random", "w") as file:
    for number in range(4000):
        cost = draw.choice(["1e-9", repr(draw.random()), f"0.{draw.randrange(10**17):017}", "0.1", "2e-7"])
        model = draw.choice("abc")
        total += decimal.Decimal(cost)
        models[model] = models.get(model, 0) + decimal.Decimal(cost)
        file.write('{"id":%d,"created_at":"2026-03-01T%02d:00:00Z","kind":"llm_call",'
                   '"metadata":{"model":"%s"},"usd_cost":%s}\n' % (number, number % 24, model, cost))
lines = subprocess.run(["agent-cost", "random"], capture_output=True, text=True).stdout.split("\n")
got = {line.split("\t")[0]: decimal.Decimal(line.split("\t")[2]) for line in lines[1:-1]}
assert got == models, (got, models)
for limit, status in [(total, 0), (total - decimal.Decimal("1e-30"), 1)]:
    run = subprocess.run(["agent-cost", "-q", "--limit", str(limit), "random"])
    assert run.returncode == status, (limit, run.returncode)
END
ok "sums are exact to the last digit" python3 draw.py

# --- hostile names
cat >names <<'END'
{"id":1,"kind":"llm_call","user_id":"a\tb\u001b]0;owned\u0007\n#[fg=red]$(touch owned)`touch owned`\\","metadata":{"model":"\u202e%s%n\u009b2J"},"usd_cost":0.5}
{"id":2,"kind":"llm_call","user_id":"'; touch owned; '","metadata":{"model":"\"},{\"usd_cost\":9"},"usd_cost":0.25}
END
for form in table tsv json line; do
  t 0 "hostile names are read with -o $form" agent-cost -o "$form" --by user,model names
  out_unlike "$escape|$(printf '\302\233')|$(printf '\007')" \
    "-o $form prints nothing that a terminal obeys"
done
run agent-cost --by user,model names
is "$(lines "$out"):$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 3:6 \
  "each hostile name has one line, with six fields"
is "$(agent-cost -o json --by model names | tail -n 1 | cut -c 1-42)" '{"type":"count","count":2,"usd_cost":0.75,' \
  "the sum of hostile names is exact"
not_ok "nothing of hostile names was run" test -e owned

# --- agents
"$root/Tests/fixtures/as-of-now" "$day" >now
serve_four --ingest now
t 0 "an agent is asked" agent-cost -p a -S 48h -o json
is "$(tail -n 1 "$out")" '{"type":"count","count":170,"usd_cost":4.0507614,"input_tokens":405324,"output_tokens":49815}' \
  "the costs of an agent are those that were recorded"
run agent-cost -p b,a -S 48h --by profile
is "$(cut -f 1-3 "$out" | tail -n 2 | sort | tr '\t\n' '  ')" "a 170 4.0507614 b 170 4.0507614 " "two agents are asked"
run agent-cost -p b --profile a -p b -S 48h -o json
is "$(tail -n 1 "$out" | jq -c '[.count, .usd_cost]')" '[340,8.1015228]' \
  "agents that are named one by one are each asked once"
run agent-cost -p a -g 1184019000000000771 -S 48h --by guild
is "$(sed 1d "$out" | cut -f 1)" 1184019000000000771 "a guild is selected"
run agent-cost -p a -g 'repair café' -S 48h --by guild
is "$(sed 1d "$out" | cut -f 1)$(cat "$err")" 1184019000000000513 "a guild is selected by its name"
run agent-cost -p a -U bo -S 48h
is "$(sed 1d "$out" | cut -f 2,3)$(cat "$err")" "1${tab}0.21" \
  "a user is selected by a name that the feed tells later"
run agent-cost -p a -S 48h --by user,guild -o table
is "$(sed -n 's/ *[0-9].*//; /^Bo /s/   */ in /p' "$out")$(cat "$err")" "Bo in Repair Café 🔧" \
  "A table has the names of people and guilds."
run agent-cost -p a -S 48h --by user
is "$(sed 1d "$out" | cut -f 1 | sort | tail -n 1)" 1184035512000118784 "TSV has their ids."
run agent-cost -p a,b -U bo -S 48h --by profile
is "$(cut -f 1-3 "$out" | sed 1d | sort | tr '\t\n' '  ')" "a 1 0.21 b 1 0.21 " \
  "a user is selected at two agents"
for words in '-U nobody' '-g nowhere'; do
  # shellcheck disable=SC2086  # two words
  t 2 "a name that nobody tells is an error: $words" agent-cost -p a $words
  out_empty "nothing is printed for a name that nobody tells: $words"
  err_like '^agent-cost: (user nobody|guild nowhere): nobody tells this name; agent-call names prints' "the message says that nobody tells the name: $words"
done
for words in "-g :Repair-Café" "-U :Noor" "--by :kind" "--by :hour"; do
  # shellcheck disable=SC2086  # several words, and what is not yet typed
  is "$(AGENT_URL=$a agent-cost --completions words ${words%:*} '' | cut -f 1 | grep -cx -- "${words##*:}")" 1 \
    "$words is completed"
done
t 77 "a wrong token is refused" agent-cost -p wrong -S 48h
out_empty "nothing is said to have been spent with a wrong token"
err_like '^agent-cost: ' "the reason is told"
err_unlike 'wrong$|agent-call' "a wrong token is told in our own name, without the token"
t 75 "two agents of which one is down have status 75" agent-cost -p down,a -S 48h --limit 1 -o line
out_like '^\$4\.05 of \$1  170 calls' "the other of two agents is counted"
if action-filter -S today -N </dev/null >/dev/null 2>&1 || [ "$?" -eq 1 ]; then
  t 0 "what was spent today can be asked for" agent-cost -p a -o json
  is "$(tail -n 1 "$out")" "$(agent-cost -p a -S today -o json | tail -n 1)" "today is the default"
else
  skip 2 "no day can be named"
fi

# --- mistakes
for words in "-o csv" "--by nothing" "--by hour,day" "--by ''" "-S soon" "-W x" "--color red" "--limit x" \
  "--limit ''" "-p a day" "--limit" "-p ''" "--limit -1 day" "--limit=-0.5 day" "--limit -0 day" \
  "--by model,,user day" "--by model, day" "--by ,model day" "-p a," "-p ,a" "-p a,,b" "--profile=,"; do
  t 2 "agent-cost $words is refused" sh -c "agent-cost $words"
  out_empty "nothing is printed: $words"
  is "$(head -n 1 "$err" | grep -c '^agent-cost: ')$(sed -n 2p "$err" | grep -c '^usage: agent-cost')" 11 \
    "the reason and the usage are told: $words"
done
t 2 "a file that is not there is an error" agent-cost -o line missing "$day"
err_is "agent-cost: missing: no such file or directory" "the missing file is named"
out_like '170 calls' "the file beside a missing one is counted"

# --- it leaves nothing behind
mkfifo slow
start waiting agent-cost slow
exec 9>slow
kill -TERM "$pid"
exec 9>&-
finished "$pid"
is "$status" 143 "a signal ends agent-cost that reads a pipe"
# --- a full disk
if [ -c /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'agent-cost "$1" >/dev/full' - "$day"
  err_is "agent-cost: standard output: no space left on device" \
    "a full disk is told in our own name"
fi

for form in table tsv json line; do
  mkdir "$tmp/folders"
  # shellcheck disable=SC2016
  run env TMPDIR="$tmp/folders" perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
    $SIG{PIPE} = "DEFAULT"; exec @ARGV' agent-cost -o "$form" "$day"
  is "$status$(cat "$err")" 141 "$form: a closed pipe ends it by SIGPIPE"
  not_ok "$form: nothing is left after a closed pipe" rmdir "$tmp/folders/"*
  rmdir "$tmp/folders"
  [ -c /dev/full ] || continue
  run sh -c 'agent-cost -o "$2" "$1" >/dev/full' - "$day" "$form"
  like "$status $(cat "$err")" "^2 agent-cost: standard output: (no space left on device|I/O error)\$" \
    "$form: a full disk is told"
done

# --- nobody there
t 75 "an agent that cannot be reached has status 75" \
  env AGENT_URL=http://127.0.0.1:9 agent-cost -o line
out_is '○ unreachable' "a bar says that an agent cannot be reached"

# --- ended while nobody answers
start silent python3 -c '
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
caller = server.accept()
print("asked", flush=True)
time.sleep(1000)'
wait_until 10 test -s "$tmp/silent.out"
start waits env AGENT_URL="http://127.0.0.1:$(head -n 1 "$tmp/silent.out")" TMPDIR="$TMPDIR" agent-cost
wait_until 10 grep -q asked "$tmp/silent.out"
asks=$(cat "$TMPDIR"/agent-cost.*/asks)
began=$(date +%s)
stop "$pid"
is "$status" 143 "a signal ends agent-cost that waits for an agent"
ok "a signal ends agent-cost at once" test "$(($(date +%s) - began))" -lt 10
ok "the question to the agent ends, too" wait_until 5 gone "$asks"
mkfifo "$tmp/never"
start reads sh -c "exec agent-cost - <>'$tmp/never'"
wait_until 10 sh -c "[ -s '$TMPDIR'/agent-cost.*/reads ]"
reads=$(cat "$TMPDIR"/agent-cost.*/reads)
stop "$pid" INT
ok "nobody goes on reading after a signal" wait_until 5 gone "$reads"
run env TMPDIR="$tmp/none" agent-cost "$day"
is "$status $(cat "$err")" "2 agent-cost: $tmp/none: no folder can be made" \
  "a TMPDIR that is not there is told"

is "$(ls -A "$TMPDIR")" "" "nothing is left behind by any run"
done_testing
