#!/bin/sh
# mem-search: search and lists, against a backend with a dashboard's rules.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq

start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
export AGENT_URL
guild=771204458812997633

# --- search

t 0 "a search that finds has status 0" mem-search sailing
err_empty "a search that finds says nothing"
is "$(jq -r .id "$out")" 40 "the records of a search are printed"
is "$(jq -c 'keys_unsorted[-3:]' "$out" | sort -u)" '["score","semanticScore","lexicalScore"]' \
  "records have the backend's members in its order"
curl -sS "$url/api/memory/search?q=sailing&guildId=$guild&limit=10" >"$tmp/answer"
echo >>"$tmp/answer"
sed 's/^.*"results":\[//; s/\]}$//; s/},{"id"/}\
{"id"/' "$tmp/answer" >"$tmp/want"
ok "records are the backend's, byte for byte" cmp "$out" "$tmp/want"
run mem-search -1 the harbour
is "$(jq -r .id "$out")" 42 "-1 prints the best hit"
is "$(lines "$out")" 1 "-1 prints nothing but the best hit"
run mem-search --limit 1 the
is "$(lines "$out")" 1 "--limit asks for so many"
run mem-search -n 1 the
is "$(lines "$out")" 1 "-n prints so many"
run mem-search -t other the
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "40 42 " "-t chooses a type"
run mem-search --subject __lore__ sailing
is "$(jq -r .id "$out")" 40 "-s chooses a subject"
run mem-search --min-score 0.9 the sailing
is "$(jq -r .id "$out")" 40 "--min-score leaves the others out"

# A dashboard's search passes over the facts of persons.
note='^mem-search: search: no hit among the facts of a guild; of all facts, these have the words in them$'
t 0 "a fact of a person is found" mem-search boat
is "$(jq -r .id "$out")" 611 "a fact of a person is found by its words"
err_like "$note" "the message says how a fact of a person was found"
run mem-search BOAT small
is "$(jq -r .id "$out")" 611 "all words of a search count, in any case and order"
t 1 "all words of a search must be in a fact" mem-search boat peanuts
err_empty "nothing is said of a search without hits"
run mem-search -t profile sailing
is "$(jq -r .id "$out")" 611 "a fact of a person is found where hits are of other types"
run mem-search --subject 400118822734659584 sailing
is "$(jq -r .id "$out")" 611 "a fact of a person is found beside hits of other subjects"
run mem-search --limit 1 mika
is "$(lines "$out")" 1 "--limit counts the facts of persons, too"
t 0 "-q tells by the status" mem-search -q boat
err_empty "-q says nothing of a hit"
t 1 "--min-score finds no fact that has no score" mem-search --min-score 0.1 boat
t 1 "a search without hits has status 1" mem-search zeppelin
out_empty "a search without hits prints nothing"
err_empty "a search without hits says nothing to a script"
t 2 "an empty query is a mistake" mem-search " "
t 0 "-q tells by the status" mem-search -q sailing
out_empty "-q prints no hit"
t 0 "a channel may be named" mem-search -c 5 --max-time 10 sailing
run mem-search -v sailing
err_like '^mem-search: GET http://127.0.0.1:[0-9]+/api/memory/search$' "-v says what is asked"

# --- lists

t 0 "-f lists facts" mem-search -f
is "$(jq -r .id "$out" | sort -n | tr '\n' ' ')" "12 40 41 42 77 90 611 612 613 " \
  "-f lists all facts"
is "$(jq -r .updated_at "$out" | sort -rc && echo sorted)" sorted "the newest comes first"
run mem-search -f HARBOUR
is "$(jq -r .id "$out")" 42 "-f selects by a text, in any case"
run mem-search -f -t preference,guidance
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "12 613 77 " "-t selects facts of some types"
run mem-search -f --subject __self__
is "$(jq -r .id "$out")" 12 "--subject selects"
t 1 "the status is 1 without facts" mem-search -f nothing of the kind
run mem-search --subjects
is "$(jq -r '"\(.subject) \(.fact_count)"' "$out" | sort | head -n 2 | tr '\n' ',')" \
  "400118822734659584 2,400118822734659777 1," "--subjects counts"
run mem-search --subjects -o table
out_like '^SUBJECT +SCOPE +FACTS +LAST SEEN$' "--subjects is printed as a table"
run mem-search -f -o tsv Mika
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 14 "-o tsv has 14 fields"
is "$(cut -f 1,3,5 "$out" | head -n 1)" "612	profile	Mika is allergic to peanuts 🥜" \
  "id, type and fact are among the fields of -o tsv"
run mem-search -f -o tsv --header Mika
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 14 "--header has as many fields as a row"
is "$(cut -f 1,3,5 "$out" | head -n 1)" "id	fact_type	fact" "--header names the fields"
run mem-search -f -o tsv --header nothing of the kind
is "$status $(cut -f 1 "$out")" "1 id" "--header prints its line also where there are no facts"
run mem-search --subjects -o tsv --header
is "$(head -n 1 "$out" | cut -f 1)" subject "--header names the fields of other lists"

# --- for a person

run mem-search -f -o table -W 76
is "$(awk 'length > 76' "$out" | grep -v '第' || :)" "" "-W breaks the rows"
out_like '^ {40,}“we are out on the boat' "the evidence stands below its fact"
run mem-search -f -o table -W 40
out_like '^  “wie immer um sieben”$' "narrow rows have the fact below its members"
is "$(LC_ALL=C tr -d '\12\40-\176\200-\377' <"$out" | wc -c)" 0 \
  "a table has nothing that a terminal obeys"
out_like 'red .e\[31malert.e\[0m, .u\{202e\}evil' "control characters are shown in a table"
run python3 "$cli/terminal.py" 24x70 mem-search -f alert
ok "no control character of a fact reaches a terminal" \
  sh -c 'LC_ALL=C grep -c "$(printf "\033\\]0;owned")" "$1" | grep -qx 0' - "$out"
out_like 'SUBJECT' "a terminal gets the table without -o"
run python3 "$cli/terminal.py" mem-search -f -o json alert
unlike "$(LC_ALL=C tr -d '\r\n\40-\176\200-\377' <"$out" | wc -c)" '[1-9]' \
  "JSON on a terminal escapes, too"
run mem-search -f -o tsv alert
out_unlike "$(printf '\033')" "TSV escapes control characters"
run mem-search --color always -o table sailing
out_like "$(printf '\033')\[1m" "--color always colours"

# --- the guild

for words in '-f' '-f __lore__' '--subjects' 'sailing' '-M' '-R' '--fact-profile 1' '--snapshot' '--edit 40 --fact x' \
  '--delete -y 40' '--undo' '--mirror'; do
  # shellcheck disable=SC2086  # words
  t 2 "a guild that is not there is an error: $words" mem-search -g nonsense $words
  out_empty "nothing is printed: $words"
  err_is "mem-search: guild nonsense: no such guild; there are $guild (Harbour)" \
    "the message names the guild there is: $words"
done
printf '[profile p]\nurl = %s\nguild = 5\n' "$url" >"$XDG_CONFIG_HOME/agentutils/config"
(
  unset AGENT_URL
  run mem-search -p p -f --subject __lore__
  exit "$status"
)
is "$?" 2 "the profile may name the guild"
t 0 "--guild wins over the profile" mem-search -p p -g "$guild" -f --subject __lore__
rm "$XDG_CONFIG_HOME/agentutils/config"

# --- two guilds

cat >"$tmp/two" <<'END'
{"guild":{"id":"1","name":"Harbour"}}
{"guild":{"id":"2","name":"Fern \"& Co. 🌿"}}
{"id":1,"guild_id":"1","subject":"__lore__","fact":"Ferns grow at the harbour","confidence":0.5}
{"id":2,"guild_id":"2","subject":"__lore__","fact":"Ferns and more ferns","confidence":0.5}
{"id":3,"subject":"4001","fact":"Mika has a boat","confidence":0.5}
{"id":4,"guild_id":"2","subject":"__lore__","fact":"Game night","confidence":0.5}
END
start_server two python3 "$cli/servers/memory.py" "$tmp/two"
one=$AGENT_URL
AGENT_URL=$url
names='.guild_name | tojson'
t 0 "a search looks into both guilds" mem-search ferns
is "$(jq -r "[.id, .guild_id, .guild_name] | @tsv" "$out" | sort)" \
  "$(printf '1\t1\tHarbour\n2\t2\tFern "& Co. 🌿')" "each hit of two guilds says where it is from"
run mem-search --limit 1 ferns
is "$(lines "$out")" 1 "--limit counts the hits of both guilds"
run mem-search -g 2 ferns
is "$(jq -c '[.id, has("guild_name")]' "$out")" '[2,false]' "hits of one guild do not name it"
run mem-search -f
is "$(jq -r .id "$out" | tr '\n' ' ')" "4 3 2 1 " \
  "all facts of two guilds come once, the newest first"
is "$(jq -r "$names" "$out" | tr '\n' ',')" \
  '"Fern \"& Co. 🌿",null,"Fern \"& Co. 🌿","Harbour",' "facts of two guilds have the guilds' names"
run mem-search -f -o tsv
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 15 "-o tsv has one field more for two guilds"
is "$(cut -f 1,15 "$out" | tail -n 1)" "1	Harbour" "the last field of -o tsv is the guild"
run mem-search -f -o table
out_like '^ID +GUILD +SUBJECT' "the table has a column more"
out_like '^ 3 +[(]person[)] +4001 +' "the table says that a fact is of a person"
run mem-search boat
is "$(jq -r .id "$out")" 3 "a fact of a person is found once in two guilds"
run mem-search --subjects
is "$(jq -r '[.guild_name, .subject, .fact_count] | @csv' "$out" | sort)" '"Fern ""& Co. 🌿","__lore__",2
"Harbour","__lore__",1
,"4001",1' "the subjects of both guilds are listed, those of persons once"
t 0 "an edit finds the guild of its fact" mem-search --edit 4 --fact "Game night is on Friday"
is "$(jq -r .guild_id "$out")" 2 "the guild of an edited fact is found without --guild"
t 0 "the guild of a person's fact is found, too" mem-search --edit 3 --fact "Mika has a small boat"
t 1 "an edit does not look into another guild than was named" mem-search -g 1 --edit 4 --fact "no"
t 1 "the word __ALL__ of a dashboard is searched as a word" mem-search -g 1 __ALL__
t 1 "the word __all__ is searched as a word in any case" mem-search -g 1 __all__
run mem-search --mirror
is "$(jq -r .guild_id "$out" | tr '\n' ' ')" "1 2 " "both guilds are copied"
run mem-search --offline -f
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "1 2 3 4 " \
  "the copies of two guilds are looked into as one"
t 2 "a profile is of one guild" mem-search --fact-profile 4001
err_like 'there are several, name one with --guild: 1 \(Harbour\), 2 \(Fern "& Co. 🌿\)' \
  "the message names the guilds"
t 0 "facts of several guilds are deleted" mem-search --delete -y 4 3
is "$(jq -r .guild_id "$out" | tr '\n' ' ')" "2 1 " "each is deleted in its own guild"
run mem-search --undo
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "3 4 " "deleted facts of both guilds are listed"

# Real dashboards were seen to answer each guild with the hits of all.
{
  for guild in 1 2 3; do echo "{\"guild\":{\"id\":\"$guild\",\"name\":\"G$guild\"}}"; done
  # Those of guild 9, which the agent has left, fit best.
  for number in $(seq 1 60); do
    case $((number % 4)) in 0) guild=9 ;; *) guild=$((number % 4)) ;; esac
    word=fern
    [ "$guild" -eq 9 ] || word="fern frond"
    echo "{\"id\":$number,\"guild_id\":\"$guild\",\"subject\":\"__lore__\",\"fact\":\"$word $number\"}"
  done
} >"$tmp/three"
start_server three python3 "$cli/servers/memory.py" --same-hits "$tmp/three"
AGENT_URL=$url
for count in 1 6 12; do
  run mem-search -n "$count" frond
  is "$(jq -r .id "$out" | sort -u | wc -l | tr -d ' ') $(lines "$out")" "$count $count" \
    "-n $count prints as many hits, each once"
done
run mem-search frond
is "$(lines "$out")" 10 "10 come without -n"
run mem-search -n 24 fern
is "$(jq -r .guild_id "$out" | sort -u | tr '\n' ' ')" "1 2 3 " \
  "hits are of the guilds that the agent is in"
for guild in 1 2 3; do
  run mem-search -g "$guild" -n 5 fern
  is "$(jq -r .guild_id "$out" | uniq -c | tr -s ' ')" " 5 $guild" \
    "-g $guild prints as many as were asked for, of it alone"
done
err_empty "nothing is said when all hits are there"
run mem-search -g 2 -n 20 fern
is "$(jq -r .guild_id "$out" | sort -u)" 2 "-g 2 prints hits of this guild alone"
err_is "mem-search: search: hits of other guilds left out: there may be more, the dashboard gives no more" \
  "the message says that there may be more hits"
run mem-search -q -g 2 -n 20 fern
err_empty "-q says nothing of hits left out"
for form in json tsv table; do
  run mem-search -g 3 -o "$form" fern
  out_unlike 'fern (frond )?(1|2|4|5|6|8)( |$|")' "-o $form prints no fact of another guild"
done
id=$(mem-search -g 2 -n 1 fern | jq .id)
t 0 "what was found can be edited" mem-search -g 2 --edit "$id" --fact "fern frond, changed"
AGENT_URL=$one

# --- what makes no sense

for words in '-f --subjects' '--subjects word' '--delete' '--edit x' '--limit 0 q' '--fact x q' '-o xml q' \
  '--min-score much q' '--offline -M' '-n many -f' '-R a b' '-W wide -f'; do
  # shellcheck disable=SC2086  # words
  t 2 "mem-search $words is a mistake" mem-search $words
done
AGENT_URL=http://127.0.0.1:9 run mem-search sailing
status_is 75 "without a backend the status is 75"
err_one_line mem-search "a missing backend is told of in one line"

done_testing
