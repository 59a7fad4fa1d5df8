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
err_empty "and has nothing to add"
is "$(jq -r .id "$out")" 40 "the records are printed"
is "$(jq -c 'keys_unsorted[-3:]' "$out" | sort -u)" '["score","semanticScore","lexicalScore"]' \
  "they have the backend's members in its order"
curl -sS "$url/api/memory/search?q=sailing&guildId=$guild&limit=10" >"$tmp/answer"
echo >>"$tmp/answer"
sed 's/^.*"results":\[//; s/\]}$//; s/},{"id"/}\
{"id"/' "$tmp/answer" >"$tmp/want"
ok "they are the same, byte for byte" cmp "$out" "$tmp/want"
run mem-search -1 the harbour
is "$(jq -r .id "$out")" 42 "-1 gives the best"
is "$(lines "$out")" 1 "nothing else is given"
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
is "$(jq -r .id "$out")" 611 "it is found by its words"
err_like "$note" "and it is said how"
run mem-search BOAT small
is "$(jq -r .id "$out")" 611 "all words count, in any case and order"
t 1 "all of them must be there" mem-search boat peanuts
err_empty "and nothing is said of nothing"
run mem-search -t profile sailing
is "$(jq -r .id "$out")" 611 "where hits are of other types, too"
run mem-search --subject 400118822734659584 sailing
is "$(jq -r .id "$out")" 611 "it is found beside hits of other subjects, too"
run mem-search --limit 1 mika
is "$(lines "$out")" 1 "no more of them than --limit says"
t 0 "-q tells by the status" mem-search -q boat
err_empty "nothing is said"
t 1 "what has no score has none that is good enough" mem-search --min-score 0.1 boat
t 1 "nothing found" mem-search zeppelin
out_empty "nothing is printed"
err_empty "and says nothing to a script"
t 2 "an empty query is a mistake" mem-search " "
t 0 "-q tells by the status" mem-search -q sailing
out_empty "nothing is printed"
t 0 "a channel may be named" mem-search -c 5 --max-time 10 sailing
run mem-search -v sailing
err_like '^mem-search: GET http://127.0.0.1:[0-9]+/api/memory/search$' "-v says what is asked"

# --- lists

t 0 "-f lists" mem-search -f
is "$(jq -r .id "$out" | sort -n | tr '\n' ' ')" "12 40 41 42 77 90 611 612 613 " \
  "all facts are listed"
is "$(jq -r .updated_at "$out" | sort -rc && echo sorted)" sorted "the newest comes first"
run mem-search -f HARBOUR
is "$(jq -r .id "$out")" 42 "-f selects by a text, in any case"
run mem-search -f -t preference,guidance
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "12 613 77 " "of some types"
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
  "id, type and fact are among them"
run mem-search -f -o tsv --header Mika
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 14 "--header names them"
is "$(cut -f 1,3,5 "$out" | head -n 1)" "id	fact_type	fact" "it names all of them"
run mem-search -f -o tsv --header nothing of the kind
is "$status $(cut -f 1 "$out")" "1 id" "also where there are no facts"
run mem-search --subjects -o tsv --header
is "$(head -n 1 "$out" | cut -f 1)" subject "and of other lists"

# --- for a person

run mem-search -f -o table -W 76
is "$(awk 'length > 76' "$out" | grep -v '第' || :)" "" "-W breaks the rows"
out_like '^ {40,}“we are out on the boat' "the evidence stands below its fact"
run mem-search -f -o table -W 40
out_like '^  “wie immer um sieben”$' "narrow rows have the fact below its members"
is "$(LC_ALL=C tr -d '\12\40-\176\200-\377' <"$out" | wc -c)" 0 "nothing that a terminal obeys"
out_like 'red .e\[31malert.e\[0m, .u\{202e\}evil' "it is shown"
run python3 "$cli/terminal.py" 24x70 mem-search -f alert
ok "a terminal gets nothing of it, either" sh -c 'LC_ALL=C grep -c "$(printf "\033\\]0;owned")" "$1" | grep -qx 0' - "$out"
out_like 'SUBJECT' "which gets the table by itself"
run python3 "$cli/terminal.py" mem-search -f -o json alert
unlike "$(LC_ALL=C tr -d '\r\n\40-\176\200-\377' <"$out" | wc -c)" '[1-9]' \
  "JSON on a terminal escapes, too"
run mem-search -f -o tsv alert
out_unlike "$(printf '\033')" "and so does TSV"
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
t 0 "the option wins" mem-search -p p -g "$guild" -f --subject __lore__
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
t 0 "both are searched" mem-search ferns
is "$(jq -r "[.id, .guild_id, .guild_name] | @tsv" "$out" | sort)" \
  "$(printf '1\t1\tHarbour\n2\t2\tFern "& Co. 🌿')" "and each hit says where it is from"
run mem-search --limit 1 ferns
is "$(lines "$out")" 1 "no more than were asked for"
run mem-search -g 2 ferns
is "$(jq -c '[.id, has("guild_name")]' "$out")" '[2,false]' "one guild is as it is"
run mem-search -f
is "$(jq -r .id "$out" | tr '\n' ' ')" "4 3 2 1 " "all facts come once, the newest first"
is "$(jq -r "$names" "$out" | tr '\n' ',')" \
  '"Fern \"& Co. 🌿",null,"Fern \"& Co. 🌿","Harbour",' "with the guilds' names"
run mem-search -f -o tsv
is "$(awk -F '\t' '{ print NF }' "$out" | sort -u)" 15 "which is one more field"
is "$(cut -f 1,15 "$out" | tail -n 1)" "1	Harbour" "it is the last one"
run mem-search -f -o table
out_like '^ID +GUILD +SUBJECT' "the table has a column more"
out_like '^ 3 +[(]person[)] +4001 +' "and that a fact is of a person"
run mem-search boat
is "$(jq -r .id "$out")" 3 "a fact of a person is found once"
run mem-search --subjects
is "$(jq -r '[.guild_name, .subject, .fact_count] | @csv' "$out" | sort)" '"Fern ""& Co. 🌿","__lore__",2
"Harbour","__lore__",1
,"4001",1' "the subjects of both guilds are listed, those of persons once"
t 0 "an edit finds the guild of its fact" mem-search --edit 4 --fact "Game night is on Friday"
is "$(jq -r .guild_id "$out")" 2 "the guild is found by itself"
t 0 "the guild of a person's fact is found, too" mem-search --edit 3 --fact "Mika has a small boat"
t 1 "but not in another guild than was named" mem-search -g 1 --edit 4 --fact "no"
t 1 "the word that means everything to a dashboard is a word" mem-search -g 1 __ALL__
t 1 "it is one in any case" mem-search -g 1 __all__
run mem-search --mirror
is "$(jq -r .guild_id "$out" | tr '\n' ' ')" "1 2 " "both guilds are copied"
run mem-search --offline -f
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "1 2 3 4 " "is looked into as one"
t 2 "a profile is of one guild" mem-search --fact-profile 4001
err_like 'there are several, name one with --guild: 1 \(Harbour\), 2 \(Fern "& Co. 🌿\)' "they are named"
t 0 "facts of several guilds are deleted" mem-search --delete -y 4 3
is "$(jq -r .guild_id "$out" | tr '\n' ' ')" "2 1 " "each is deleted in its own guild"
run mem-search --undo
is "$(jq -r .id "$out" | sort | tr '\n' ' ')" "3 4 " "they are listed"

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
    "as many hits as -n $count asks for, each once"
done
run mem-search frond
is "$(lines "$out")" 10 "10 come without -n"
run mem-search -n 24 fern
is "$(jq -r .guild_id "$out" | sort -u | tr '\n' ' ')" "1 2 3 " "of the guilds that the agent is in"
for guild in 1 2 3; do
  run mem-search -g "$guild" -n 5 fern
  is "$(jq -r .guild_id "$out" | uniq -c | tr -s ' ')" " 5 $guild" "-g $guild: as many as were asked for, of it alone"
done
err_empty "and nothing is said when they are all there"
run mem-search -g 2 -n 20 fern
is "$(jq -r .guild_id "$out" | sort -u)" 2 "more than it gives of a guild"
err_is "mem-search: search: hits of other guilds left out: there may be more, the dashboard gives no more" \
  "the message says so"
run mem-search -q -g 2 -n 20 fern
err_empty "-q says nothing of it"
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
err_one_line mem-search "is said in one line"

done_testing
