#!/bin/sh
# agent-cost on transcripts of Claude Code: what is an answer, what it cost, and what is said of it.
. "${0%/*}/../lib.sh"
needs action-filter action-format jq
cd "$tmp" || exit
TZ=UTC
export TZ
tab=$(printf '\t')
one=aaaaaaaa-0000-4000-8000-000000000001
two=bbbbbbbb-0000-4000-8000-000000000002

# --- how a case is made
# A line of a transcript, of 100 tokens in, 10 out, 200 written for 5 minutes, 300 for an hour and
# 1000 read. line FILE WHAT-IS-ELSE: `.m` is the message, `.u` its usage.
number=0
base='{type: "assistant", uuid: "u\($n)", timestamp: "2026-05-04T10:00:00.000Z", sessionId: $s,
  cwd: "/home/ada/tide", isSidechain: false,
  message: {id: "msg_of_answer_\($n)", role: "assistant", model: "claude-sonnet-4-5", content: [],
    usage: {input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 500,
      cache_creation: {ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 300}}}}'
line() {
  number=$((number + 1))
  mkdir -p "$(dirname "all/$1")"
  session=${1#*/}
  jq -nc --arg n "$number" --arg s "${session%%[./]*}" \
    "$base | .m = .message | .u = .message.usage | ${2:-.}
      | (if .u then .m.usage = .u else . end) | .message = .m | del(.m, .u)" >>"all/$1"
}
# costs TITLE COUNT IN OUT WRITTEN-5M WRITTEN-1H READ USD: what all came to; then it is forgotten.
costs() {
  title=$1
  shift
  run agent-cost -o json all
  is "$status $(tail -n 1 "$out" | sed 's/"[a-z0-9_]*"://g; s/^{"count",//' | cut -d , -f 1-7)" \
    "0 $1,$7,$2,$3,$4,$5,$6" "$title"
  rm -rf all
}
home=-home-ada-tide
# 100 x 3 + 10 x 15 + 200 x 3.75 + 300 x 6 + 1000 x 0.3 dollars a million
usual='1 100 10 200 300 1000 0.0033'
double='2 200 20 400 600 2000 0.0066'

# --- what is an answer
line $home/$one.jsonl
# shellcheck disable=SC2086  # seven words
costs "an answer costs what its tokens cost" $usual
err_empty "nothing is said beside the costs of an answer"
line $home/$one.jsonl '.m.id = "msg_of_one_answer" | .u.output_tokens = 1'
line $home/$one.jsonl '.m.id = "msg_of_one_answer"'
line $home/$one.jsonl '.m.id = "msg_of_one_answer" | .u.output_tokens = 4 | .requestId = "other"'
# shellcheck disable=SC2086
costs "several lines of one answer count once, with the most output" $usual
line $home/$one.jsonl 'del(.m.id)'
line $home/$one.jsonl 'del(.m.id)'
# shellcheck disable=SC2086
costs "without an id, each line is an answer" $double
for copy in $home/$two.jsonl -home-ada-other/$two.jsonl $home/$one/subagents/agent-a1.jsonl; do
  line $home/$one.jsonl '.m.id = "msg_of_one_answer" | .u.output_tokens = 1'
  line $copy '.m.id = "msg_of_one_answer"'
  # shellcheck disable=SC2086
  costs "a copy in $copy is no second answer" $usual
done
line $home/$one.jsonl '.m.model = "<synthetic>"'
line $home/$one.jsonl '.isApiErrorMessage = true'
line $home/$one.jsonl 'del(.m.usage, .u)'
line $home/$one.jsonl '.u = null | .m.usage = null'
line $home/$one.jsonl '.type = "user" | .toolUseResult = {usage: .u} | .m = {role: "user", content: "x"} | del(.u)'
line $home/$one.jsonl
# shellcheck disable=SC2086
costs "what no model answered costs nothing, and a sum of others does not count" $usual
progress='.data = {type: "agent_progress", message: {type: "assistant", message: (.m | .id = "msg_of_subagent")}} | .type = "progress" | del(.m, .u, .message)'
line $home/$one.jsonl "$progress"
# shellcheck disable=SC2086
costs "what a subagent was answered counts where only its progress tells it" $usual
line $home/$one.jsonl "$progress"
line $home/$one/subagents/agent-a1.jsonl '.m.id = "msg_of_subagent" | .u.output_tokens = 1 | .isSidechain = true'
costs "what a subagent was answered counts by the subagent's own file where there is one" \
  1 100 1 200 300 1000 0.003165
line $home/$one.jsonl '.m.id = "msg_1"'
line $home/$two.jsonl '.m.id = "msg_1"'
# shellcheck disable=SC2086
costs "msg_1 of two sessions is two answers" $double
err_is "agent-cost: msg_1 is an answer in several sessions: such ids count in each by itself" \
  "a line says that such ids count by session"

# --- tokens
line $home/$one.jsonl 'del(.u.cache_creation)'
costs "what is written without a time is for five minutes" 1 100 10 500 0 1000 0.002625
line $home/$one.jsonl '.u.cache_creation_input_tokens = 700'
costs "tokens that the parts do not have are written for five minutes" 1 100 10 400 300 1000 0.00405
line $home/$one.jsonl '.u.cache_creation_input_tokens = 100'
# shellcheck disable=SC2086
costs "parts that are more than their sum count" $usual
line $home/$one.jsonl '.u = {input_tokens: null, output_tokens: 10}'
costs "a number that is null or missing is 0" 1 0 10 0 0 0 0.00015
line $home/$one.jsonl '.u.input_tokens = 4000000000000'
costs "many tokens are counted to the last digit" 1 4000000000000 10 200 300 1000 12000000.003
line $home/$one.jsonl '.u.iterations = [{type: "message", input_tokens: 100}, {type: "advisor_message", model: "claude-opus-4-5", input_tokens: 1000, output_tokens: 100}]'
costs "what another model advised costs more, by its own price" 2 1100 110 200 300 1000 0.0108

# --- prices
line $home/$one.jsonl '.m.model = "claude-haiku-5-5" | .u.cache_read_input_tokens = 99400'
costs "up to a threshold the usual prices hold" 1 100 10 200 300 99400 0.001094
line $home/$one.jsonl '.m.model = "claude-haiku-5-5" | .u.cache_read_input_tokens = 99401'
costs "above a threshold other prices hold, for all tokens" 1 100 10 200 300 99401 0.00547005
line $home/$one.jsonl '.u.speed = "fast" | .m.model = "claude-opus-4-6"'
costs "fast mode costs more" 1 100 10 200 300 1000 0.033
line $home/$one.jsonl '.u.speed = "fast"'
# shellcheck disable=SC2086
costs "fast mode costs the usual with a model that has no price for it" $usual
line $home/$one.jsonl '.u.inference_geo = "us"'
costs "a region costs more" 1 100 10 200 300 1000 0.00363
line $home/$one.jsonl '.u.server_tool_use = {web_search_requests: 2, web_fetch_requests: 5}'
costs "searches cost, fetches do not" 1 100 10 200 300 1000 0.0233
line $home/$one.jsonl '.u.service_tier = "batch" | .costUSD = 9'
# shellcheck disable=SC2086
costs "neither the tier nor a cost in the line changes the price" $usual
for model in claude-sonnet-4-5-20250929 'claude-sonnet-4-5[1m]' anthropic/claude-sonnet-4.5 \
  claude-sonnet-4-20250514 claude-sonnet-4-5@20250929 eu.anthropic.claude-sonnet-4-5-20250929-v1:0; do
  line $home/$one.jsonl ".m.model = \"$model\""
  # shellcheck disable=SC2086
  costs "the price of $model is found" $usual
done
line $home/$one.jsonl '.m.model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"'
costs "us. in front of a name is a region" 1 100 10 200 300 1000 0.00363

# --- no price
line $home/$one.jsonl
line $home/$one.jsonl '.m.model = "tide-1"'
line $home/$one.jsonl 'del(.m.model)'
cp -R all kept
costs "tokens without a price are counted" 3 300 30 600 900 3000 0.0033
err_is "agent-cost: answers of ?, tide-1 have no price: the dollars are at least what was spent" \
  "a line says which models have no price"
is "$(tail -n 1 "$out" | jq -c .unpriced)" '["?","tide-1"]' \
  "the total names the models without a price"
run agent-cost -o table kept
out_like '^tide-1 .* no price' "a row says that there is no price"
out_like '^total .* at least \$0\.0033' "the total of a table says that it is at least so much"
out_like '^by the list prices of 20' "a table tells the day of the prices"
run agent-cost -o line kept
# shellcheck disable=SC2016  # a dollar
out_like '^at least \$0\.0033  3 calls' "a bar says that its dollars are at least what was spent"
is "$(agent-cost -q kept 2>&1)" "" "-q says nothing of models without a price"
line $home/$one.jsonl '.m.model = "tide-1" | .costUSD = 0.25'
costs "where there is no price, a cost in the line counts" 1 100 10 200 300 1000 0.25
line $home/$one.jsonl '.m.model = "tide-1" | .costUSD = 0'
costs "a cost of 0 in the line does not count as a price" 1 100 10 200 300 1000 0
err_like 'answers of tide-1 have no price' \
  "a cost of 0 in the line leaves the model without a price"

# --- another list
cat >list <<'END'
date 2030-01-02   # a comment
model tide-1  1 2 3 4 0.000001
fast 1.5 tide-1
END
for way in option file; do
  line $home/$one.jsonl '.m.model = "tide-1" | .u.speed = "fast" | .u.cache_read_input_tokens = 1'
  case $way in
  option) is "$(agent-cost --prices list -o json all | tail -n 1 | jq -c '[.usd_cost, .prices]')" \
    '[0.0028800000015,"2030-01-02"]' "--prices names another list" ;;
  file)
    mkdir -p "$XDG_CONFIG_HOME/agentutils"
    printf 'prices = ~/list\n' >>"$XDG_CONFIG_HOME/agentutils/config"
    cp list "$HOME/list"
    is "$(agent-cost -o json all | tail -n 1 | jq -c '[.usd_cost, .prices]')" \
      '[0.0028800000015,"2030-01-02"]' "the configuration names another list"
    rm "$XDG_CONFIG_HOME/agentutils/config"
    ;;
  esac
  rm -rf all
done
line $home/$one.jsonl
for word in 'model tide-1 1 2 3 4' 'model tide-1 1 2 3 4 -5' 'model a 1 2 3 4 0.0000001' 'fast 2 none' \
  'above 1 none 1 2 3 4 5' 'price 1' 'search x' 'region us'; do
  printf 'date 2030-01-02\n%s\n' "$word" >bad
  t 2 "a list with a bad line is refused: $word" agent-cost --prices bad all
  err_like '^agent-cost: bad:2: not a price$' "the bad line of a list is named: $word"
done
t 2 "a list that is not there is an error" agent-cost --prices nowhere all
err_like 'agent-cost: nowhere: no such file' "the list that is not there is named"
rm -rf all

# --- lines and times of all kinds
line $home/$one.jsonl
{
  printf '\357\273\277'
  cat all/$home/$one.jsonl
} >bom
for how in 's/^/   /' 's/$/\r/' 's/":/" : /g; s/,"/ , "/g'; do
  sed "$how" "all/$home/$one.jsonl" >changed
  mv changed "all/$home/$one.jsonl"
  cp "all/$home/$one.jsonl" spaced
  # shellcheck disable=SC2086
  costs "blanks and ends of lines do not matter: $how" $usual
  mkdir -p all/$home
  mv spaced all/$home/$one.jsonl
done
mv bom all/$home/$one.jsonl
# shellcheck disable=SC2086
costs "a byte order mark does not matter" $usual
line $home/$one.jsonl
{
  echo garbage
  printf '{"type":"assistant","timestamp":"2026\n\n\0\0\0\n'
  printf '{"type":"assistant","timest'
} >>all/$home/$one.jsonl
line $home/$one.jsonl
cp -R all torn
# shellcheck disable=SC2086
costs "an answer behind a line that was cut is counted" $double
err_empty "lines that are no JSON are passed over"
run agent-cost -v torn
err_is "agent-cost: torn/$home/$one.jsonl: 3 lines are no JSON" \
  "-v counts the lines that are not JSON"
for time in '"2026-05-04T23:30:00"' '"2026-05-04 23:30:00Z"' '"2026-05-04T23:30:00.123456Z"' \
  '"2026-05-05T01:30:00+02:00"' 1777937400000 1777937400; do
  line $home/$one.jsonl ".timestamp = $time"
  is "$(agent-cost --by hour -o json all | head -n 1 | jq -r .hour)" 2026-05-04T23:00:00.000Z \
    "a time is read: $time"
  rm -rf all
done
line $home/$one.jsonl
line $home/$one.jsonl '.timestamp = "yesterday"'
line $home/$one.jsonl 'del(.timestamp)'
run agent-cost -o table --by day all
out_like '^no date +2 ' "what has no time is at no date"
# shellcheck disable=SC2086
costs "an answer without a time is counted" 3 300 30 600 900 3000 0.0099

# --- by what
mkdir -p all/$home
printf '%s\n' '{"type":"user","sessionId":"x","cwd":"/home/ada/tide","timestamp":"2026-05-04T09:00:00Z","message":{"role":"user","content":"When is\nhigh tide?"}}' \
  >all/$home/$one.jsonl
line $home/$one.jsonl
line $home/$one/subagents/agent-a1.jsonl '.isSidechain = true | .attributionAgent = "Explore"'
line $home/$one/subagents/agent-a2.jsonl '.isSidechain = true'
printf '{"agentType":"Plan"}\n' >all/$home/$one/subagents/agent-a2.meta.json
line $home/$one/subagents/agent-a3.jsonl '.isSidechain = true'
line $home/$two.jsonl '.timestamp = "2026-05-05T03:30:00Z" | .cwd = "/home/ada/ship"'
printf '%s\n' '{"type":"agent-name","agentName":"Tug"}' \
  '{"type":"custom-title","customTitle":"Ship \u001b]0;x\u0007"}' >>all/$home/$two.jsonl
run agent-cost --by session all
is "$(cut -f 1-4 "$out" | sed 1d)" "$one${tab}When is${tab}4${tab}0.0132
$two${tab}Ship \\e]0;x\\x07${tab}1${tab}0.0033" "subagents are of their session, which has a title"
run agent-cost -o table --by session all
out_like '^When is +4 ' "a table has the titles alone"
out_like '^Ship ' "the title of a person is shown before that of the agent"
out_unlike "$(printf '\033')|$(printf '\007')" "a table has nothing that a terminal obeys"
run agent-cost --by subagent all
is "$(sed 1d "$out" | cut -f 1,2 | sort)" "${tab}2
Explore${tab}1
Plan${tab}1
subagent${tab}1" "the kind of a subagent is told by its lines, or by the file beside them"
run agent-cost --by project,agent -o json all
is "$(jq -c '[.project, .agent, .count]' "$out")" '["/home/ada/tide","claude",4]
["/home/ada/ship","claude",1]
[null,null,5]' "the project is the folder in which the session is"
run agent-cost --by day --zone America/New_York all
is "$(sed 1d "$out" | cut -f 1,2)" "2026-05-04T04:00:00.000Z${tab}5" "--zone says where a day begins"
run agent-cost --until 2026-05-04 all
is "$(cut -f 2 "$out" | tail -n 1)" 4 "--until has all of a day"
run agent-cost --until '2026-05-04 09:00' all
is "$(lines "$out")" 1 "--until an hour has only what is before it"
run agent-cost -S 2026-05-05 all
is "$(cut -f 2 "$out" | tail -n 1)" 1 "-S leaves out what is before"
touch -t 202605040100 all/$home/$one.jsonl
run agent-cost -S 2026-05-05 all
is "$(cut -f 2 "$out" | tail -n 1)" 1 "a file that was not written to since then is not needed"
sed "s/2026-05-05T03:30:00Z/$(date -u +%Y-%m-%dT%H:%M:%SZ)/" all/$home/$two.jsonl >now
mv now all/$home/$two.jsonl
run agent-cost --last 1 all
is "$(cut -f 2 "$out" | tail -n 1)" 1 "--last 1 is today"
run agent-cost --last 36500 all
is "$(cut -f 2 "$out" | tail -n 1)" 5 "--last has so many days"

# --- ways in
run agent-cost -o json all/$home/$one.jsonl
is "$(tail -n 1 "$out" | jq .count)" 1 "a file is read alone"
cp all/$home/$one.jsonl a-name
run agent-cost -o json a-name
is "$(tail -n 1 "$out" | jq .count)" 1 "a file is read whatever it is called"
run sh -c "cat all/$home/*.jsonl | agent-cost -o json -"
is "$(tail -n 1 "$out" | jq .count)" 2 "a pipe is read"
run sh -c 'transcript-tail --once --all all | agent-cost --by session -'
is "$(sed 1d "$out" | cut -f 3 | sort | tr '\n' ' ')" "1 4 " "a pipe of transcript-tail is read"
run sh -c "cat all/$home/$one.jsonl all/$home/$one/subagents/*.jsonl | turn-fold | agent-cost -o json -"
is "$(tail -n 1 "$out" | jq -c '[.usd_cost, .input_tokens, .output_tokens]')" '[0.0132,6400,40]' \
  "a pipe of turn-fold is read, whose turns tell what they cost"
turn-fold all/$home/$one.jsonl >turns
run agent-cost -o json turns
is "$(tail -n 1 "$out" | jq -c '[.count, .usd_cost]')" '[1,0.0033]' "a turn counts once, as it was at last"
printf '%s\n' '{"id":7,"kind":"llm_call","usd_cost":0.5}' >actions
run agent-cost -o json actions all
is "$(tail -n 1 "$out" | jq -c '[.count, .usd_cost]')" '[6,0.5165]' "actions may stand beside transcripts"
is "$(action-filter --usage all | jq -c '[.kind, .metadata.agent]' | sort -u)" '["llm_call","claude"]' \
  "action-filter makes an action of each answer"
run agent-cost --limit 0.0165 -q all
is "$status" 0 "a limit that is met is not passed"
run agent-cost --limit 0.01649 -q all
is "$status" 1 "a limit that is not met is passed"
mkdir none
run agent-cost -o table none
out_is 'nothing was spent' "an empty folder has nothing"
# --- what is no transcript at all
perl -e 'srand 5; print chr int rand 256 for 1 .. 20000' >noise.jsonl
printf 'one\ntwo\n' >text.jsonl
for name in noise text; do
  t 2 "$name that is called a transcript is an error" agent-cost "$name.jsonl"
  err_is "agent-cost: $name.jsonl: no transcript: no line of it is JSON" \
    "a file without any JSON is told in one line: $name"
done
cp noise.jsonl "all/$home/noise.jsonl"
for again in 1 2; do
  t 2 "a file without any JSON is an error in a folder: $again" agent-cost -o json all
  err_is "agent-cost: all/$home/noise.jsonl: no transcript: no line of it is JSON" \
    "the path of a file without any JSON is named: $again"
  is "$(tail -n 1 "$out" | jq .count)" 5 "the other files in the folder are counted: $again"
done
rm "all/$home/noise.jsonl"
: >empty.jsonl
printf '{"display":"x"}\n' >other.jsonl
t 0 "an empty file, and lines of JSON that are something else, have nothing" agent-cost empty.jsonl other.jsonl
err_empty "nothing is said of empty files and other JSON"
rm -rf all

# --- what Claude Code counted
state() { printf '{"type":"cost-state","sessionId":"x","totalCostUSD":%s,"modelUsage":{}}\n' "$1" >>all/$home/$one.jsonl; }
line $home/$one.jsonl
line $home/$one/subagents/agent-a1.jsonl '.isSidechain = true'
state 0.1
state 0.00661
# shellcheck disable=SC2086
costs "what Claude Code counted at the end is not added" $double
err_empty "nothing is said where Claude Code counted the same"
line $home/$one.jsonl
state 0.005
run agent-cost all
err_is "agent-cost: session $one: Claude Code counted \$0.0050, its answers are worth \$0.0033" \
  "a line says where Claude Code counted otherwise"
run agent-cost -S 2026-01-01 all
err_empty "nothing is said of the count for a part of the time"
line $home/$one.jsonl
run agent-cost all
err_empty "nothing is said of the count where answers follow it"
rm -rf all

# --- the earliest file
for made in "$one $two" "$two $one"; do
  # shellcheck disable=SC2086  # two words
  set -- $made
  line $home/$1.jsonl '.m.id = "msg_of_the_original"'
  line $home/$2.jsonl '.m.id = "msg_of_the_original"'
  line $home/$2.jsonl
  run agent-cost --by session -o json all
  # Where the system does not tell when a file was made, the first by name is it.
  if [ "$1" = "$one" ] || stat -c %W all 2>/dev/null | grep -q '^[1-9]'; then
    is "$(jq -r --arg s "$1" 'select(.session == $s) | .count' "$out")" 1 \
      "a copy belongs to the file that was made first: $1"
  else
    skip 1 "the system does not tell when a file was made"
  fi
  rm -rf all
done

# --- the limit
now=$(date +%s)
line $home/$one.jsonl ".timestamp = \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
line $home/$one.jsonl ".timestamp = (($now - 14500) | todate)"
limits() { printf '{"model":{"id":"x"},\n"rate_limits" : {"five_hour":{%s},"seven_day":{"used_percentage":3,"resets_at":99}}}\n' "$1"; }
limits '"used_percentage":41.5,"resets_at":'$((now + 14400)) >told
run agent-cost --window -o line all <told
# shellcheck disable=SC2016  # a dollar
out_like '^\$0\.0033  \$0\.00[0-9]+/h  41% of 5 h until [0-2][0-9]:[0-5][0-9]  1 calls' \
  "--window counts since the limit began anew, and tells how much of it is used"
mkdir -p "$HOME/.claude"
cp -R all "$HOME/.claude/projects"
run agent-cost --window -o json <told
is "$(tail -n 1 "$out" | jq .count)" 1 "--window without a folder counts all transcripts"
run agent-cost --window -o line all </dev/null
# shellcheck disable=SC2016  # a dollar
out_like '^\$0\.0033  \$0\.00[0-9]+/h  41% of 5 h until ' "what was told last is kept for other bars"
limits '"used_percentage":null' >told
run agent-cost --window -o line all <told
# shellcheck disable=SC2016  # a dollar
out_like '^\$0\.0066  \$0\.00[0-9]+/h  2 calls' "--window without a limit counts the last 5 hours"
limits '"used_percentage":10,"resets_at":'$((now - 60)) >told
run agent-cost --window -o line all <told
out_unlike 'of 5 h' "--window does not tell a limit that has passed"
is "$(agent-cost --window -o line all <"$out" | grep -c calls)" 1 \
  "--window takes any other input for no limit"
t 2 "--window with -S is refused" sh -c 'agent-cost --window -S 1h all <told'
for again in 1 2 3; do agent-cost --window -o json all <told >"$again"; sleep 1; done
is "$(find "$HOME/.cache/agentutils/counts" -type f -newer told | wc -l | tr -d ' ')" 1 \
  "a bar that asks again and again is remembered once"

# Whoever counts has the lock, and the others tell what was counted last.
counts=$HOME/.cache/agentutils/counts
rm -rf "$counts"
limits '"used_percentage":10,"resets_at":'$((now + 14400)) >told
run agent-cost --window -o line all <told
before=$(cat "$out")
line $home/$one.jsonl ".timestamp = \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
start holder python3 -c '
import fcntl, sys, time
files = [open(name) for name in sys.argv[1:]]
for file in files: fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)' "$counts"/*.lock
wait_until 10 has holder.out held
run agent-cost --window -o line all <told
like "$(cat "$out")" "^\\\$0\\.0033 .*  1 calls" "the last value is told while another run counts"
is "$(sed 's/  .*//' "$out")" "${before%%  *}" "the value that is told meanwhile is that of before"
is "$(agent-cost -S 5h -o json all | tail -n 1 | jq .count)" 3 \
  "a run that is not a bar counts while another counts"
kill -9 "$pid"
finished "$pid"
run agent-cost --window -o json all <told
is "$(tail -n 1 "$out" | jq .count)" 2 "the next run counts when the one that counted was killed"
run action-filter --usage --shared --total all
is "$(jq .count "$out")" 3 "action-filter --shared counts by itself, too"
rm -rf "$counts"
for number in 1 2 3 4 5 6; do
  start "bar$number" sh -c 'exec agent-cost --window -o json all <told'
  bars="${bars:-} $pid"
done
for bar in $bars; do
  finished "$bar"
  was="${was:-}$status"
done
is "$was $(cat bar*.out | jq -c 'select(.model == null) | .count' | sort -u)" "000000 2" \
  "several bars at once tell the same"
rm -rf "$counts"
mkdir -p "$HOME/.cache/agentutils"
: >"$counts"
run agent-cost --window -o json all <told
is "$status $(tail -n 1 "$out" | jq .count)" "0 2" "a bar counts where a lock has no place"
rm -rf "$counts" all

# --- mistakes
for words in '--zone Nowhere/At_All' '--zone ../../etc/passwd' '--zone /etc/passwd' '--last 0' '--last x' \
  '--until soon' '--last 2 -S 3d' '--until today -B today' '--by session,' '--prices ""'; do
  t 2 "agent-cost $words is refused" sh -c "agent-cost $words none"
  out_empty "nothing is printed: $words"
done

done_testing
