#!/bin/sh
# agent-call: every command against the recorded answers of a real dashboard,
# as records, tables and fields.
. "${0%/*}/../lib.sh"
needs agent-call jq python3

serve </dev/null
AGENT_URL=$url
export AGENT_URL
cp "$cli"/servers/recorded/*.http "$tmp"

# answer PATH NAME: the recorded answer NAME to every request for PATH.
answer() { printf 'on %s\nforever\nfile %s.http\n---\n' "$1" "$2"; }
body() { sed '1,/^.\{0,1\}$/d' "$tmp/$1.http"; }
{
  answer /api/guilds guilds
  answer /api/guilds/100000000000000001/channels guild-channels
  answer /api/automations automations
  answer /api/automations/runs automations-runs
  answer /api/agents/browser-sessions agents-browser-sessions
  answer /api/mcp/status mcp-status
  answer /api/voice/asr-sessions voice-asr-sessions
  answer /api/voice/tool-events voice-tool-events
  answer /api/public-https public-https
  answer /api/voice/state voice-state
  answer /api/actions actions-after-stream
  answer /api/stats stats
  answer /api/health health
} | script
targets() { requests '[.method, .target, .body] | join(" ")'; }
forget() { : >"$log"; }

# --- lists: each record is its own line, byte for byte
# list NAME FILTER COMMAND...: the records are those that FILTER finds in the
# answer NAME.
list() {
  name=$1
  filter=$2
  shift 2
  forget
  t 0 "agent-call $* succeeds" agent-call "$@"
  err_empty "nothing else is said by agent-call $*"
  is "$(jq -c . "$out")" "$(body "$name" | jq -c "$filter")" \
    "the records of agent-call $* are those of the answer"
  # The bytes of all lines, joined by commas, stand in the answer.
  ok "the records of agent-call $* have their bytes" python3 -c '
import sys
body, lines = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read().split(b"\n")
assert lines.pop() == b"" and b",".join(lines) in body' "$tmp/$name.http" "$out"
}
guild=100000000000000001
list guilds '.[]' guilds
is "$(targets)" "GET /api/guilds " "one request is made for guilds"
list guild-channels '.[]' channels $guild
list automations '.rows[]' automations -g $guild
is "$(targets)" "GET /api/guilds 
GET /api/automations?guildId=$guild&limit=120 " "automations are asked for up to the limit"
list automations-runs '.rows[]' runs 1 -g $guild
is "$(targets)" "GET /api/guilds 
GET /api/automations/runs?guildId=$guild&automationId=1&limit=120 " \
  "runs of one automation are asked for"
list agents-browser-sessions '.sessions[]' browser-sessions
is "$(targets)" "GET /api/agents/browser-sessions?limit=200 " \
  "browser sessions of all guilds are asked for"
list mcp-status '.servers[]' mcp
list voice-asr-sessions '.sessions[]' asr-sessions
list voice-tool-events '.events[]' tool-events
list actions-after-stream '.[]' actions
is "$(targets)" "GET /api/actions?limit=1000 " "as many actions are asked for as an answer holds"

# --- what is asked for
run agent-call guilds -n 1
is "$(lines "$out")" 1 "-n cuts a list"
forget
run agent-call actions -n 3 -k llm_call,sent_reply --kind asr_call -g $guild --since 2h
is "$(lines "$out")" 3 "-n cuts actions"
like "$(targets | tail -n 1)" \
  "^GET /api/actions\?limit=3&kinds=llm_call%2Csent_reply%2Casr_call&sinceHours=2(\.[0-9]+)?&guildId=$guild $" \
  "kinds, time and guild are sent to the backend"
forget
run agent-call automations -g $guild --status paused,deleted -c 77 --count 5
is "$(targets | tail -n 1)" \
  "GET /api/automations?guildId=$guild&channelId=77&status=paused%2Cdeleted&limit=5 " \
  "automations are asked for by state and channel"
forget
run agent-call browser-sessions -S 90m -n 999
like "$(targets)" "\?sinceHours=1\.5(0[0-9]*)?&limit=200 $" "a time is sent as hours"
forget
run agent-call automations -g $guild -c 'a&b=c'
like "$(targets)" "&channelId=a%26b%3Dc&" "a value stays a value in the query"
forget
t 2 "a value does not change the path" agent-call channels '../stats?x'
is "$(targets)" "GET /api/guilds " "a guild that is not known is not asked for"
forget
run agent-call runs -g $guild
is "$(targets)" "GET /api/guilds 
GET /api/automations?guildId=$guild&status=all&limit=120 
GET /api/automations/runs?guildId=$guild&automationId=2&limit=120 
GET /api/automations/runs?guildId=$guild&automationId=1&limit=120 " \
  "runs of every automation are asked for"
is "$(lines "$out")" 4 "the runs of both automations are printed"
forget
run agent-call guilds -n 0
is "$status $(lines "$out") $(targets)" "0 0 " "-n 0 has no records, and asks for none"

# --- the guild when none is named
t 2 "automations without a guild asks which of two is meant" agent-call automations
err_is "agent-call: guilds: there are several, name one with --guild: 100000000000000001 (The Workshop), 100000000000000002 (Fern & Co. 🌿)" \
  "two guilds are told with their names"
out_empty "nothing is printed when the guild is not clear"


# --- one record
t 0 "health succeeds" agent-call health
is "$(jq -c '[.type, .ok, (.latency_ms | type), .url]' "$out")" \
  "[\"health\",true,\"number\",\"$url/api/health\"]" "health is a record of ours"
like "$(cat "$out")" '^\{"type":"health","ok":true,"latency_ms":[0-9]+\.[0-9],"url":' \
  "the type of health comes first"
for pair in stats:stats tunnel:public-https; do
  t 0 "agent-call ${pair%:*} succeeds" agent-call "${pair%:*}"
  is "$(cat "$out")" "$(body "${pair#*:}")" "the record of ${pair%:*} is the backend's own"
done
run agent-call get /api/voice/state
is "$(cat "$out")" "$(body voice-state)" "get prints an object as it is"
run agent-call get api/guilds -n 1
out_is '{"id":"100000000000000001","name":"The Workshop"}' \
  "get prints an array with a record on each line"
forget
run agent-call get 'api/actions?limit=2&x=a b'
is "$(targets)" "GET /api/actions?limit=2&x=a+b " "get takes a query"

# --- tables
run agent-call guilds -o table
out_is 'ID                  NAME
100000000000000001  The Workshop
100000000000000002  Fern & Co. 🌿' "a pipe gets a whole table with -o table"
run agent-call tool-events -o table -W 60
wide='import sys; print(max(len(line) for line in sys.stdin.read().splitlines()))'
is "$(python3 -c "$wide" <"$out")" 60 "rows are cut at the width"
out_like '^2026-11-21 06:03:13  running ' "a tool call without an end is shown as running"
out_like '^2026-11-21 06:02:58  ok  ' "a tool call with an end is shown as ok"
run agent-call mcp --output table
out_like '^chat +down +0 +timeout$' "a server that is down is shown with the reason"
run agent-call automations -g $guild -o table
out_like '^ 1  active  daily 09:00  2026-01-05 09:00:00 ' "a schedule is told in words"
out_like '^ 2  paused  every 4h ' "another schedule is told in words, too"
run agent-call runs 1 -g $guild -o table
out_like '^ 2 +1  error +2026-11-21 05:03:06  5.0s +channel unavailable$' \
  "a run that failed is shown with the reason"
run agent-call browser-sessions -o table
out_like ' failed .* TimeoutError: page did not load$' \
  "a session that failed is shown with the reason"
run agent-call asr-sessions -o table
out_like '^ben +closed +idle_ttl ' "a recogniser that is closed is shown with the reason"
run agent-call actions -o table
is "$(head -n 1 "$out" | tr -s ' ')" "TIME KIND COST USER CONTENT" "actions have headings"
is "$(lines "$out")" 15 "each action has a row"
run agent-call stats -o table
out_like '^agent +connected as sample-bot#0001$' "stats have the agent"
out_like '^24 h llm_call +1$' "stats have the counts"
out_like '^cost kept +\$0\.0689 ' "stats have the cost"
run agent-call health -o table
out_like '^latency +[0-9]+\.[0-9] ms$' "health has the latency"
run agent-call tunnel -o table
out_like '^publicUrl +https://sample-tunnel.trycloudflare.com$' \
  "any record has a line for each member"

# --- fields
tab=$(printf '\t')
run agent-call guilds -o tsv
out_is "100000000000000001${tab}The Workshop
100000000000000002${tab}Fern & Co. 🌿" "fields come without a heading"
run agent-call guilds -o tsv --header
is "$(head -n 2 "$out" | tail -n 1)" "100000000000000001${tab}The Workshop" \
  "--header puts a line above"
is "$(head -n 1 "$out")" "id${tab}name" "the line of --header has the names of the columns"
run agent-call tunnel -o tsv --header
is "$(head -n 1 "$out")" "name${tab}value" "--header works for one record, too"
run agent-call guilds -o json --header
is "$(jq -r .id "$out" | head -n 1)" 100000000000000001 "JSON has no header"
run agent-call runs 1 -g $guild -o tsv
is "$(cut -f 3,6,7 "$out")" "error$tab${tab}channel unavailable
ok${tab}posted$tab" "null is an empty field, for cut and awk"
run agent-call actions -o tsv
is "$(awk -F '\t' '{ print NF }' "$out" | uniq)" 10 "each row of actions has as many fields"
is "$(cut -f 9 "$out" | sed -n '/^line one/p')" \
  "line one\\nline two: data: not a field\\n\\nline four \\u{2028} after U+2028 🌿" \
  "line ends in a field are escaped"
run agent-call tunnel -o tsv
is "$(grep '^pid' "$out")" "pid${tab}4242" "one record has a name and a value in each line"
run agent-call stats -o tsv
out_like "^runtime\.gateway\.reconnectAttempts${tab}0$" "names of members are joined by dots"
run agent-call get /api/automations -o tsv
out_like "^limit${tab}30$" "any answer has a name and a value in each line"

# --- on a terminal
terminal="python3 $cli/terminal.py"
run $terminal 24x40 env TERM=xterm agent-call guilds
out_like "^.\[1mID.\[0m +.\[1mNAME" "a terminal gets a table"
run $terminal 24x30 env TERM=xterm NO_COLOR=1 agent-call tool-events
is "$(python3 -c "$wide" <"$out")" 30 "a table is as wide as the terminal"
run $terminal env TERM=dumb agent-call guilds --output json
out_like '^\{"id":"100000000000000001"' "JSON is printed on a terminal when asked for"
run agent-call guilds -o table --color always
out_like "^.\[1mID" "colour is printed in a pipe when asked for"

# --- quiet and loud
run agent-call -q guilds
is "$status $(cat "$out" "$err")" "0 " "-q prints nothing"
run agent-call -v guilds
err_is "agent-call: GET $url/api/guilds
$(sed -n 2p "$err")" "-v names the request"
err_like '^agent-call: 200 OK, [0-9]+ bytes in [0-9.]+ ms$' "-v names the answer, too"
run agent-call guilds --quiet --verbose
out_empty "nothing is printed with -q and -v"

# --- the only guild there is
printf 'on /api/guilds\nstatus 200 application/json [{"id":77}]\n---\non /api/automations\nfile automations.http\n' |
  script
run agent-call automations
is "$status $(lines "$out")" "0 2" "the only guild is meant"
is "$(targets)" "GET /api/guilds 
GET /api/automations?guildId=77&limit=120 " "the only guild is found out first"

done_testing
