#!/bin/sh
# mem-search against agent-serve: what is made is found, corrected, deleted, and
# comes back.
. "${0%/*}/../lib.sh"
needs mem-search agent-serve python3 jq curl

start_server serve agent-serve --listen 127.0.0.1:0 --database :memory:
AGENT_URL=$url
export AGENT_URL
[ "$(curl -sS -o /dev/null -w '%{http_code}' "$url/api/memory/facts")" = 200 ] ||
  skip_all "this agent-serve has no memory"
guild=771204458812997633
curl -sS -o "$tmp/made" -H 'Content-Type: application/x-ndjson' --data-binary @- \
  "$url/api/memory/facts" <<END
{"guildId":"$guild","subject":"__lore__","fact":"The server started as a sailing club chat","confidence":0.78}
{"guildId":"$guild","subject":"__lore__","fact":"The bell rings at noon","evidenceText":"ding dong","confidence":0.5}
{"scope":"user","userId":"4001","subject":"4001","fact":"Mika is allergic to peanuts 🥜","factType":"profile","confidence":1}
END

t 0 "facts are listed" mem-search -g "$guild" -f
is "$(jq -r .fact "$out" | sort | head -n 1)" "Mika is allergic to peanuts 🥜" \
  "facts are listed as they were made"
is "$(lines "$out")" 3 "all of them are listed"
run mem-search -g "$guild" --subjects
is "$(jq -s -r 'map(.fact_count) | add' "$out")" 3 "subjects are counted"
t 0 "a search finds a fact" mem-search -g "$guild" -1 sailing club
out_like 'sailing club' "the fact is found"
id=$(jq -r .id "$out")
t 0 "a fact is edited" mem-search -g "$guild" --edit "$id" --confidence 0.95 -t project
is "$(jq -c '[.confidence, .fact_type]' "$out")" '[0.95,"project"]' "the edit is stored"
t 1 "a duplicate has status 1" mem-search -g "$guild" --edit "$id" --fact "The bell rings at noon"
t 0 "all facts are deleted" \
  sh -c "mem-search -g $guild -f -o tsv | mem-search -g $guild --delete -y -"
is "$(lines "$out")" 3 "each deleted fact has a record"
t 1 "deleted facts are gone" mem-search -g "$guild" -f
t 0 "all deleted facts come back" \
  sh -c "mem-search -g $guild --undo | mem-search -g $guild --undo -"
run mem-search -g "$guild" -f -o tsv
is "$(cut -f 2-6 "$out" | sort | head -n 1)" \
  "4001	profile	1	Mika is allergic to peanuts 🥜	" "facts that come back are as they were"
is "$(lines "$out")" 3 "each fact that comes back is there once"
curl -sS --data-binary '{"kind":"voice_runtime","userId":"4001","content":"voice_membership_changed","metadata":{"eventType":"join","memberUserId":"4001","displayName":"Mika\u001b[2J"}}' \
  "$url/api/actions" >/dev/null
terminal() { run python3 "$cli/terminal.py" 24x100 mem-search -g "$guild" --color never "$@"; }
terminal -f
out_like ' Mika.e\[2J +profile ' "At a terminal, facts have the names of people that the agent tells."
terminal --subjects
out_like '^Mika.e\[2J ' "at a terminal, subjects have the names of people, too"
terminal -v -f
out_like ' 4001 +profile ' "with -v the ids are shown at a terminal"
run mem-search -g "$guild" --subjects
is "$(jq -r '.subject' "$out" | sort | head -n 1)$(grep -c subject_name "$out")" 40010 \
  "Records are what the backend has."
run mem-search -g "$guild" --fact-profile 4001
is "$(jq -r '.durableProfile.userFacts[0].fact' "$out")" "Mika is allergic to peanuts 🥜" \
  "a profile is shown"
t 0 "a snapshot is shown" mem-search -g "$guild" --snapshot -u 4001 bell
run mem-search -g "$guild" -M
out_like 'sailing club' "the markdown is shown"

done_testing
