#!/bin/sh
# mem-search: search and lists, against a backend with a dashboard's rules.
. "${0%/*}/lib.sh"
needs mem-search python3 jq

start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
export AGENT_URL
guild=771204458812997633

# --- search

run mem-search sailing
status_is 0 "a search that finds"
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "40 611 " "gives the records"
is "$(jq -c 'keys_unsorted[-3:]' "$out" | sort -u)" '["score","semanticScore","lexicalScore"]' \
  "with the backend's members in its order"
curl -sS "$url/api/memory/search?q=sailing&guildId=$guild&limit=10" >"$tmp/answer"
echo >>"$tmp/answer"
sed 's/^.*"results":\[//; s/\]}$//; s/},{"id"/}\
{"id"/' "$tmp/answer" >"$tmp/want"
ok "byte for byte" cmp "$out" "$tmp/want"
run mem-search -1 sailing club
is "$(jq -r .id "$out")" 40 "-1 gives the best"
is "$(lines "$out")" 1 "alone"
run mem-search -k 1 sailing
is "$(lines "$out")" 1 "-k asks for so many"
run mem-search -n 1 sailing
is "$(lines "$out")" 1 "-n prints so many"
run mem-search -t profile sailing
is "$(jq -r .id "$out")" 611 "-t chooses a type"
run mem-search -s __lore__ sailing
is "$(jq -r .id "$out")" 40 "-s chooses a subject"
run mem-search --min-score 0.9 sailing weekends
is "$(jq -r .id "$out")" 611 "--min-score leaves the others out"
run mem-search zeppelin
status_is 1 "nothing found"
out_empty "prints nothing"
err_empty "and says nothing to a script"
run mem-search " "
status_is 2 "an empty query is a mistake"
run mem-search -q sailing
status_is 0 "-q tells by the status"
out_empty "alone"
run mem-search -c 5 --max-time 10 sailing
status_is 0 "a channel may be named"
run mem-search -v sailing
err_like '^mem-search: GET http://127.0.0.1:[0-9]+/api/memory/search$' "-v says what is asked"

# --- lists

run mem-search -f
status_is 0 "-f lists"
is "$(jq -r .id "$out" | sort -n | tr '\n' ' ')" "12 40 41 42 77 90 611 612 613 " "all facts"
is "$(jq -r .updated_at "$out" | sort -rc && echo sorted)" sorted "the newest first"
run mem-search -f HARBOUR
is "$(jq -r .id "$out")" 42 "with a text in them, in any case"
run mem-search -f -t preference,guidance
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "12 613 77 " "of some types"
run mem-search -f -s __self__
is "$(jq -r .id "$out")" 12 "of a subject"
run mem-search -f nothing of the kind
status_is 1 "no facts"
run mem-search -S
is "$(jq -r '"\(.subject) \(.fact_count)"' "$out" | sort | head -n 2 | tr '\n' ',')" \
  "400118822734659584 2,400118822734659777 1," "-S counts"
run mem-search -S -o table
out_like '^SUBJECT +SCOPE +FACTS +LAST SEEN$' "-S as a table"
run mem-search -f -o tsv Mika
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 14 "-o tsv has 14 fields"
is "$(cut -f 1,3,5 "$out" | head -n 1)" "612	profile	Mika is allergic to peanuts 🥜" \
  "id, type, fact among them"

# --- for a person

run mem-search -f -o table -W 76
is "$(awk 'length > 76' "$out" | grep -v '第' || :)" "" "-W breaks the rows"
out_like '^ {40,}“we are out on the boat' "the evidence below its fact"
run mem-search -f -o table -W 40
out_like '^  “wie immer um sieben”$' "narrow rows have the fact below its members"
is "$(LC_ALL=C tr -d '\12\40-\176\200-\377' <"$out" | wc -c)" 0 "nothing that a terminal obeys"
out_like 'red .e\[31malert.e\[0m, .u\{202e\}evil' "it is shown"
run python3 "$cli/terminal.py" 24x70 mem-search -f alert
ok "on a terminal, too" sh -c 'LC_ALL=C grep -c "$(printf "\033\\]0;owned")" "$1" | grep -qx 0' - "$out"
out_like 'SUBJECT' "which gets the table by itself"
run python3 "$cli/terminal.py" mem-search -f -o json alert
unlike "$(LC_ALL=C tr -d '\r\n\40-\176\200-\377' <"$out" | wc -c)" '[1-9]' \
  "JSON on a terminal escapes, too"
run mem-search -f -o tsv alert
out_unlike "$(printf '\033')" "and so does TSV"
run mem-search --color always -o table sailing
out_like "$(printf '\033')\[1m" "--color always colours"

# --- the guild

run mem-search -g 5 -f __lore__
status_is 1 "another guild has other facts"
printf '[profile p]\nurl = %s\nguild = 5\n' "$url" >"$XDG_CONFIG_HOME/agentutils/config"
(
  unset AGENT_URL
  run mem-search -p p -f -s __lore__
  exit "$status"
)
is "$?" 1 "the profile may name the guild"
run mem-search -p p -g "$guild" -f -s __lore__
status_is 0 "the option wins"
rm "$XDG_CONFIG_HOME/agentutils/config"

# --- what makes no sense

for words in '-f -S' '-S word' '--delete' '--edit x' '-k 0 q' '--fact x q' '-o xml q' \
  '--min-score much q' '--offline -M' '-n many -f' '-R a b' '-W wide -f'; do
  # shellcheck disable=SC2086  # words
  run mem-search $words
  status_is 2 "mem-search $words is a mistake"
done
AGENT_URL=http://127.0.0.1:9 run mem-search sailing
status_is 75 "nobody there"
err_one_line mem-search "is said in one line"

done_testing
