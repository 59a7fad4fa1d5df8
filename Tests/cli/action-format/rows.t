#!/bin/sh
# action-format: what it reads, what it shows, how it ends.
. "${0%/*}/../lib.sh"
needs python3 perl

recorded=$cli/servers/recorded/activity.sse
cd "$tmp" || exit 1

# The recorded stream as records: snapshot, actions, stats.
awk '/^event: /{event=substr($0,8)} /^data: /{print "{\"event\":\"" event "\",\"id\":\"\",\"data\":" substr($0,7) "}"}' \
  "$recorded" >wrapped
jq -c 'select(.event == "action_event").data' wrapped >bare
rows=$(jq -s '[.[] | select(.event == "activity_snapshot").data.actions | length] | add' wrapped)
actions=$((rows + $(lines bare)))

t 0 "a recorded stream is shown" action-format wrapped
err_empty "nothing is said of a recorded stream on standard error"
is "$(lines "$out")" "$actions" "each action of the snapshot and after it has a row"
out_like '◆ llm_call +\$0\.0084  sample-opus · 1\.2k in, 892 cached, 340 out · web_search, memory_search · “let me' \
  "a model call has model, tokens, tools, cost and words"
out_like '◆ llm_tool_call .*sample-opus · 900 in, 44 out · web_search\(fern news\)' "a tool call has its input"
out_like '♪ voice_session_end .*left · after 45m12s · inactivity_timeout' "a session has its duration"
out_like '» sent_reply .*#200000000000000010 · 44 chars · 4\.1s · Two lines about ferns: ↵ 1\.' \
  "a reply has channel, length, text and a mark for the line break"
out_like '■ memory_fact .*other · 66% · Ada has a new fern' "a fact has type, confidence and text"
out_like '✗ llm_error .*529 overloaded · status 529' "an error has its words"
out_like '♪ voice_runtime .*: “play something calm”' "a transcript shows who says what"
is "$(grep -n 'voice_joined\|voice_session_start' "$out" | head -n 1 | cut -d: -f1)" 1 "the oldest comes first"

cp "$out" all
run sh -c 'cat bare | action-format'
is "$(cat "$out")" "$(tail -n "$(lines bare)" all | sed 's/  ada · voice_a/  300000000000000001 · voice_a/; s/about ada/about 300000000000000001/')" \
  "bare actions from a pipe are shown alike"

run sh -c "head -n 1 wrapped | jq -c .data | action-format"
is "$(lines "$out")" "$rows" "a bare snapshot is expanded"
run sh -c "head -n 1 wrapped | jq -c .data.actions | action-format"
is "$(lines "$out")" "$rows" "a plain list is expanded, too"

run action-format -n 3 wrapped
is "$(lines "$out")" 3 "-n stops after so many rows"
run action-format -n 3 wrapped wrapped
is "$(lines "$out")" 3 "-n counts over all files"

run action-format -x -n 40 wrapped
out_like '^    tokens +1247 in, 340 out, 892 cache read' "-x has every token"
out_like '^    cost +\$0\.0000004$' "-x has the cost in full"
out_like '^    system prompt +[0-9]+ chars$' "-x has the size of a prompt"

TZ=UTC0 run action-format -t -n 1 bare
out_like '^2026-[0-9-]+ [0-9:]{8}  . ' "-t has date and time"
utc=$(cut -c 1-19 "$out")
TZ=EST5 run action-format -t -n 1 bare
isnt "$(cut -c 1-19 "$out")" "$utc" "the time is that of the user's zone"

# Columns for programs: never a tab or a line too many, whatever is in an id.
cat >keys <<'END'
{"id":7,"kind":"sent_reply","channelId":"c1","content":"hello","profile":"home"}
{"id":"a\t'b\"$(touch evil)\n#{x}\u001b[2J\u202e","kind":"k\t1","metadata":{"sessionId":"s1"},"channel_id":"c2"}
{"kind":"live","content":"words that go on and on and on and on and on and on and on to the end"}
{"type":"lost","reason":"reset","profile":"work"}
END
t 0 "--key succeeds" action-format --key id,kind,profile,line,thread keys
is "$(cut -f 1-5 "$out")" "$(printf '%s\t%s\t%s\t%s\t%s\n' \
  7 sent_reply home 1 c1 "a\\t'b\"\$(touch evil)\\n#{x}\\e[2J\\u{202e}" 'k\t1' '' 2 s1 \
  '' live '' 3 '' '' '' work 4 '')" "--key begins rows with their fields"
is "$(awk -F '\t' 'NF != 6' "$out")" "" "a tab stands behind each field and nowhere else"
like "$(cut -f 6 "$out" | head -n 1)" '^home +-  » sent_reply ' "the row follows its fields"
run action-format --key line -W 40 keys
out_like "^3$(printf '\t')  -  . live  .*to the end\$" \
  "rows with --key are laid out for a width, but whole"
run sh -c 'action-format --color always --key line <keys'
is "$(cut -f 1 "$out" | xargs)" "1 2 3 4" "fields of --key have no colour"
run action-format -x --key line keys
is "$(cut -f 1 "$out" | uniq | xargs)" "1 2 3 4" \
  "fields of --key stand before all that is below a row, too"
run action-format --key id,number keys
err_like '^action-format: --key id,number: not id, kind, line, profile or thread$' \
  "the message says which five fields --key takes"

run action-format --name "$(printf 'de\033[1mn')" --key profile keys
is "$(cut -f 1 "$out" | uniq -c | awk '{ print $1 $2 }' | paste -s -d ' ' -)" '1home 2de\e[1mn 1work' \
  "--name is for records that have no profile"
out_like '^de.e\[1mn	de.e\[1mn  +-' "the name of --name stands in front of the row"
run sh -c 'head -n 2 keys | jq -sc . | action-format --name den'
is "$(cut -d ' ' -f 1 "$out" | sort | xargs)" "den home" "--name is for the rows of a list, too"

# Faults: each bad line is named, nothing good is lost.
printf '%s\n' '{"kind":"a","content":"one"}' 'junk' '{"kind":"b"' '' '42' \
  '{"kind":"c","content":"cut \ud83d","id":99999999999999999999}' '{"actions":[1,{"kind":"d"}]}' \
  >faulty
printf '{"kind":"e","content":"no line end"}' >>faulty
t 2 "bad lines end in status 2" action-format faulty
is "$(lines "$out")" 4 "the good lines between bad ones are shown"
out_like 'no line end' "the last line is shown, though it has no end"
out_like 'cut �' "a line with half a character is shown, too"
err_like '^action-format: faulty:2: invalid JSON at byte [0-9]+$' \
  "the file, the line and the reason are told"
err_like '^action-format: faulty:3: unfinished JSON$' "an unfinished line is told"
err_like '^action-format: faulty:5: not an object$' "what is no object is told"
err_like '^action-format: faulty:7: 1 of 2 actions' "an element that is not an action is told"
is "$(lines "$err")" 4 "each bad line is told once"
perl -e 'print "{\"kind\":\"a\",\"metadata\":", "[" x 100000, "]" x 100000, "}\n{\"kind\":\"b\"}\n"' >deep
t 2 "a bottomless record is a fault" action-format deep
err_like 'deep:1: nested too deep' "a record nested too deep is told in one line"
out_like ' b$' "the line behind a record nested too deep is shown"

yes junk | head -n 23 >junk
run action-format junk junk
is "$(lines "$err")" 11 "only ten bad lines are named"
is "$(tail -n 1 "$err")" "action-format: 36 more bad lines" "the rest of the bad lines is counted"

t 2 "a missing file is a fault" action-format /nowhere/at/all bare
err_is "action-format: /nowhere/at/all: no such file or directory" \
  "a missing file is told in one line"
is "$(lines "$out")" "$(lines bare)" "the file behind a missing one is shown"
t 2 "a folder is a fault" action-format "$tmp"
err_one_line action-format "a folder is told in one line"

t 0 "no input is no fault" sh -c ': | action-format --stats -x'
out_empty "nothing is shown of no input"
t 2 "a wrong colour is a usage error" action-format --color mauve
err_like '^usage: action-format' "the usage is shown for a wrong colour"
printf '\357\273\277{"kind":"x","content":"after a mark"}\r\n' >mark
t 0 "a byte order mark and CR LF are no fault" action-format mark
printf '%s\n' '{"type":"lost","reason":"reset","retry_in":3.2}' '{"type":"gap","after":"a","before":"b"}' \
  '{"type":"comment","text":"hush"}' '{"type":"resumed"}' '{"event":"voice_state","id":"","data":{"sessions":[]}}' >notices
run action-format notices
is "$(lines "$out")" 3 "of the records of a stream only those a reader should know are shown"
out_like '! stream lost .*reset · next try in 3\.2s' "a lost stream is shown"
out_like '! stream gap .*actions between a and b may be missing' "a gap is shown"

# What action-filter --by prints is a table with bars.
cat >counts <<'END'
{"type":"count","kind":"llm_call","count":80,"usd_cost":2.25}
{"type":"count","kind":"llm_error","count":19,"usd_cost":0}
{"type":"count","kind":null,"count":1,"usd_cost":-0.5}
END
t 0 "counts are shown" action-format -W 40 counts
err_empty "nothing is said of counts"
out_is 'kind       count  share      cost
llm_call      80    80%     $2.25  █████
llm_error     19    19%            █▎
(none)         1     1%  -$0.5000  ▏' "counts are shown as a table with bars"
run action-format counts
out_like "^llm_call +80 +80% +\\\$2\\.25  █{30}\$" "the longest bar has 30 cells where nothing is cut"
run action-format -W 24 counts
out_unlike '.{25}' "no row of counts is too wide in a narrow place"
run action-format --color always -W 40 counts
out_like '\[31mllm_error' "failures among counts are red"
run sh -c 'action-filter --by domain bare | action-format'
is "$(lines "$out")" "$(($(action-filter --by domain bare | wc -l) + 1))" "each domain has a row"
printf '%s\n' '{"type":"count","user":"1","count":3,"usd_cost":1e309}' '{"kind":"k","content":"between"}' \
  '{"type":"count","hour":"2026-03-01T10:00:00.000Z","count":2,"usd_cost":1}' \
  '{"type":"count","user":"\u001b[2J\u202e","count":1e300,"usd_cost":"x"}' \
  '{"type":"count"}' '{"type":"count","count":[],"a":{},"usd_cost":{}}' '{"type":"count","count":-1,"b":1,"usd_cost":null}' >odd
TZ=UTC0 run action-format odd
status_is 0 "odd counts are no fault"
is "$(grep -n -e '^user' -e between -e '^hour' "$out" | cut -c 1-6 | tr '\n' ' ')" "1:user 3:     4:hour 6:user " \
  "odd counts stay in their order, with a table for each member"
out_like '^2026-03-01 10:00 +2 +100% +\$1\.00  █{30}$' "an hour is a time"
out_unlike "$(printf '\033')" "nothing in odd counts reaches the terminal"

# Live: a row is out before the next record comes.
mkfifo feed
start live sh -c 'exec action-format <feed'
exec 9<>feed
echo '{"kind":"a","content":"first"}' >&9
ok "a row comes at once" wait_until 30 has "$tmp/live.out" first
echo '{"kind":"a","content":"second"}' >&9
ok "the next row comes at once, too" wait_until 30 has "$tmp/live.out" second
exec 9>&-
finished "$pid"
is "$status" 0 "the end of the input is the end"

# Where the output goes.
t 0 "a closed pipe is no fault" \
  sh -c 'for i in 1 2 3 4 5 6 7 8 9; do cat wrapped; done | action-format | head -n 1'
err_empty "nothing is said about a closed pipe"
run perl -e 'my $reader = open STDOUT, "|-", "true" or die; waitpid $reader, 0; exec "action-format", ("wrapped") x 20'
is "$status" 141 "SIGPIPE ends it when nobody reads"
if [ -c /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'action-format wrapped >/dev/full'
  err_is "action-format: standard output: no space left on device" "a full disk is told in one line"
else
  skip 2 "no /dev/full"
fi

# --- whose an action is, where records say so
of() { printf '{"event":"action_event","id":"",%s"data":{"kind":"k","createdAt":"2026-03-01T12:00:00Z"}}\n' "${1:-}"; }
{ of; of '"profile":"home",'; of '"profile":"a",'; of; of '"profile":"\u001b[31mx\u202e",'
  of '"profile":"a-name-that-is-far-too-long",'
  echo '{"kind":"k","profile":"a","created_at":"2026-03-01T12:00:00Z"}'
  echo '{"type":"lost","profile":"home","reason":"r","retry_in":3.0,"time":"2026-03-01T12:00:00Z"}'
} >named
run action-format -t --color never named
is "$(cut -c 1-33 "$out" | sed 's/ *$//')" '2026-03-01 12:00:00  ? k
home  2026-03-01 12:00:00  ? k
a     2026-03-01 12:00:00  ? k
2026-03-01 12:00:00  ? k
\e[31mx\u{202e}  2026-03-01 12:00
a-name-that-is-…  2026-03-01 12
a                 2026-03-01 12:0
home              2026-03-01 12:0' \
  "a profile stands in front, in a column as wide as the longest so far"
run action-format -t --color always named
is "$(grep -c "^$(printf '\033')\[[0-9;]*mhome" "$out")" 2 "profiles have a colour of their own"
is "$(grep -o "^$(printf '\033')\[[0-9;]*mhome" "$out" | sort -u | wc -l)" 1 \
  "a profile has always the same colour"
unlike "$(cat -v "$out")" '\^\[\[31mx' "no text of a profile makes a colour"

# --- the times of a day that was recorded
# first: the column of times, row by row
first() { action-format -W 80 | sed 's/ *[^ -~].*//; s/^ *//'; }
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
row() { printf '{"kind":"llm_call","created_at":"%s"}\n' "$@"; }
is "$(row 2026-03-01T12:00:00Z 2026-03-01T12:00:01Z | first)" "2026-03-01 12:00:00
2026-03-01 12:00:01" "Rows of a past day have its date and their times."
is "$(row "$now" 2026-03-01T12:00:00Z | first | sed 's/[0-9][0-9]*w$/weeks/')" "now
weeks" "Where one of the last day came before, rows have ages."
is "$(row 2026-03-01T12:00:00Z "$now" | first)" "2026-03-01 12:00:00
now" "What follows an agent has ages again as soon as something happens."
is "$(printf '{"actions":[%s]}\n' "$(row "$now" 2026-03-01T12:00:00Z | paste -s -d ,)" | first |
  sed 's/[0-9][0-9]*w$/weeks/')" "weeks
now" "The newest of a list counts for all of it."
is "$(row x | first)" "?" "A time that cannot be read is no time of the past."

# --- who is meant by an id, in counts
{
  echo '{"type":"name","of":"guild","id":"7","name":"The Workshop"}'
  printf '{"type":"name","of":"user","id":"8","name":"Ada\\u001b[31m"}\n'
  for who in 8 9; do
    printf '{"type":"count","guild":"7","user":"%s","count":1,"usd_cost":0}\n' "$who"
  done
} >counted
is "$(action-format counted | sed -n 's/  *1 .*//; s/   */ | /; 2,$p')" "The Workshop | Ada\\e[31m
The Workshop | 9" "Guilds and people go by names that were told, visible."
is "$(action-format -o tsv counted | sed 1d | cut -f 1,2 | tr '\t\n' ' ,')" "7 8,7 9," "TSV has their ids."

# --- what voice_runtime is about, at a terminal
python3 - >voice <<'END'
import json
for metadata in ({"toolName": "web_search"}, {"transcript": "fig", "transcriptEventType": "delta"},
                 {"transcript": "fig is it"}, {"transcript": "It is.", "transcriptSource": "output"},
                 {"heard": "fig is it", "allow": True}, {"replyText": "It is."}, {"stage": "audio"},
                 {"responseStatus": "completed"}, {"displayName": "Ada", "eventType": "join"}, {}):
    print(json.dumps({"kind": "voice_runtime", "content": "c", "metadata": metadata}))
END
# events COLUMNS: the column of kinds of a terminal so wide.
events() {
  python3 "$cli/terminal.py" "24x$1" action-format --color never voice | tr -d '\r' |
    sed 's/^ *-  ♪ //; s/  .*//' | paste -s -d , -
}
is "$(events 80)" "tool,hears,heard,says,decides,reply,timing,answer,people,voice_runtime" \
  "A terminal is shown what happened."
is "$(events 100 | cut -d , -f 1,2,10)" "tool voice_runtime,hears voice_runtime,voice_runtime" \
  "Where there is room, the kind stands behind it."
is "$(action-format voice | grep -c '♪ voice_runtime')" 10 "The kind is shown in a pipe."
done_testing
