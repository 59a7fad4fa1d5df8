#!/bin/sh
# action-filter --usage on transcripts: their answers are actions, between days, and by a list.
. "${0%/*}/../lib.sh"
needs action-filter jq
cd "$tmp" || exit
TZ=UTC
export TZ
mkdir -p all/project
answer() {
  printf '{"type":"assistant","uuid":"u%s","timestamp":"%s","sessionId":"s","cwd":"/home/ada/tide","message":{"id":"msg_of_answer_%s","model":"tide-1","usage":{"input_tokens":1000,"output_tokens":10}}}\n' \
    "$1" "$2" "$1"
}
{
  answer 1 2026-05-04T00:00:00Z
  answer 2 2026-05-04T23:59:59.999Z
  answer 3 2026-05-05T00:00:00Z
  answer 4 "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo '{"type":"assistant","uu'
} >all/project/s.jsonl
printf 'date 2030-01-02\nmodel tide-1 1 10 0 0 0\n' >list

t 0 "transcripts in a folder are read" action-filter --usage --prices list all
is "$(jq -c '[.id, .kind, .usd_cost]' "$out" | head -n 1)" '["msg_of_answer_1","llm_call",0.0011]' \
  "an answer is an action, by the prices of the list"
is "$(jq -c .metadata "$out" | head -n 1)" '{"agent":"claude","model":"tide-1","sessionId":"s","project":"/home/ada/tide","usage":{"input_tokens":1000,"output_tokens":10,"cache_write_5m_tokens":0,"cache_write_1h_tokens":0,"cache_read_tokens":0,"web_searches":0},"prices":"2030-01-02","usd":{"input":0.001,"output":0.0001,"cache_write_5m":0,"cache_write_1h":0,"cache_read":0,"web_search":0}}' \
  "the metadata of an answer say whose it is, and what it cost for what"
err_empty "a line that was cut is passed over"
run action-filter --usage --verbose --prices list -N all
err_is "action-filter: all/project/s.jsonl: 1 line is no JSON" \
  "--verbose counts the line that was cut"
t 1 "without --usage, a folder is an archive" action-filter -N all
mkdir archive archive/old
cp all/project/s.jsonl archive/old
echo '{"id":1,"kind":"llm_call","usd_cost":1}' >archive/2026-05-04.ndjson
run action-filter --usage -N archive
out_is 1 "an archive with transcripts below it is an archive"
count() { run action-filter --usage --prices list -N "$@" all; }
count --until 2026-05-04
out_is 2 "--until has the whole of a day"
count --until '2026-05-04 12:00'
out_is 1 "--until ends at a time"
count --last 1
out_is 1 "--last 1 is today"
run action-filter --last 1 -N all/project/s.jsonl
out_is 0 "--last is for any action"
run action-filter --last 36500 --usage --prices list --by session,project,subagent all
is "$(jq -c '[.session, .title, .project, .subagent, .count]' "$out")" '["s",null,"/home/ada/tide",null,4]' \
  "answers are counted by session, project and subagent"

# --- what was counted once
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
counted() { run action-filter -u --usage --prices list --by model --times times all; }
counted
is "$(jq .count "$out") $(jq -s 'map(.count) | add' times)" "4 4" "--times writes the counts by hour"
kept=$(find cache -type f)
is "$(printf '%s\n' "$kept" | wc -l | tr -d ' ')" 1 "what was counted is remembered"
LC_ALL=C sed 's/"count":4/"count":7/; s/"count":1,/"count":8,/' "$kept" >changed
cat changed >"$kept"
rm times
counted
is "$(jq .count "$out") $(jq -s 'map(.count) | max' times)" "7 8" "an unchanged folder is not read again"
answer 5 2026-05-06T00:00:00Z >>all/project/s.jsonl
counted
is "$(jq .count "$out")" 5 "a folder that changed is read again"
counted
is "$(jq .count "$out")" 5 "a folder that changed is remembered again"
printf 'date 2030-01-03\nmodel tide-1 2 20 0 0 0\n' >list
counted
is "$(jq -c '[.usd_cost, .prices]' "$out")" '[0.011,"2030-01-03"]' \
  "a folder whose prices changed is read again"
TZ=Asia/Tokyo counted
is "$(jq .count "$out")" 5 "a folder is read again in another time zone"
rm -rf cache
echo x >cache
counted
is "$status$(jq .count "$out")" 05 "answers are counted where nothing can be remembered"
rm cache
t 2 "--times without --by is refused" action-filter --usage --times times all
run action-filter --usage --prices list --by model --times none/times all
is "$status" 2 "a file that cannot be written is an error"

for words in '--last 0' '--last 1.5' '--until x'; do
  # shellcheck disable=SC2086  # two words
  t 2 "$words is refused" action-filter $words all
done
t 2 "a list of prices that cannot be read is an error" action-filter --usage --prices all all
out_empty "nothing is printed when the list cannot be read"

done_testing
