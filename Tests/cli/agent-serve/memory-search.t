#!/bin/sh
# agent-serve: what a search of the memory finds, by words and by vectors.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
day=$root/Tests/fixtures/sample-day.ndjson
questions=$root/Tests/fixtures/memory-questions.ndjson
guild=1184019000000000513
client() { bounded 60 python3 "$cli/clients/memory.py" "$@"; }
find() { curl -s -G "$url/api/memory/search" --data-urlencode "q=$1" -d "guildId=${2-$guild}" -d limit=5; }
first() { find "$@" | jq -r '.results[0].fact // "nothing"'; }
at_least_part() { awk "BEGIN { exit !($1 >= $2) }"; }

start_server words agent-serve -l 127.0.0.1:0 -D :memory: --ingest "$day"
is "$(curl -s "$url/api/memory/facts?guildId=$guild&limit=500" | jq '.facts | length')" 190 \
  "all facts of the sample day are there, but for those of the other guild"

is "$(curl -s "$url/api/memory/reflections" | jq -c '.runs | map([.runId, .status, .durationMs])')" \
  '[["run_30","error",null],["run_31","completed",459]]' \
  "the reflections of the sample day are there, too"
is "$(curl -s "$url/api/memory" | jq -r .markdown | grep -c '^## ')" 7 \
  "the markdown has a heading for each subject"

# --- words
like "$(first 'DRILL press fuse')" '^The drill press takes' "case does not matter"
like "$(first 'schlussel LAGER')" '^Den Schlüssel zum Lager' \
  "a word without an accent finds one with it"
like "$(first "$(printf 'Schlu\314\210ssel Lager')")" '^Den Schlüssel' \
  "a word with a combining accent finds one with it"
like "$(first strassenfest)" '^Das Straßenfest' "ß is ss"
like "$(first Flussmit)" 'Flussmittel' "the beginning of a word finds it"
is "$(first ussmittel)" nothing "the end of a word does not find it"
like "$(first '鍵')" '土曜日の鍵' "one character of Japanese finds a fact"
like "$(first '扇風機')" '古い扇風機' "a word inside a sentence without blanks is found"
like "$(first '保险丝')" '^万用表' "Chinese is found"
like "$(first '고양이가')" '^가게 고양이는' "Korean is found with another particle"
like "$(first 'مفتاح')" 'الورشة' "Arabic is found without its vowel points"
like "$(first 'ПАЯЛЬНИК')" '^Паяльник' "Russian is found"
is "$(find 'zeppelin' | jq -c '[.limit, .results]')" '[5,[]]' "nothing is found about a zeppelin"
is "$(find 'EL84' 2>/dev/null | jq '.results | length')" 0 "another guild's valves are not found"
like "$(first 'EL84' 1184019000000000771)" '^Valve EL84' \
  "another guild's valves are found by that guild"
is "$(find key | jq -c '.results[0] | keys_unsorted' | tr -d '"')" \
  '[id,created_at,updated_at,scope,guild_id,channel_id,user_id,subject,fact,fact_type,evidence_text,source_message_id,confidence,score,semanticScore,lexicalScore]' \
  "a result has these members"
is "$(find 'the key of the workshop' | jq -c '.results | map(.score) | . == (sort | reverse)')" true "results are sorted by score"
is "$(curl -s "$url/api/memory/search?q=key&guildId=$guild&limit=99" | jq -c '[.limit, (.results | length <= 24)]')" \
  '[99,true]' "a limit is echoed and clamped"
is "$(client hostile "$url" "$guild")" fine "hostile queries are queries"
client recall "$url" "$guild" "$questions" >"$tmp/words.recall"
by_words=$(head -n 1 "$tmp/words.recall")
echo "# recall at 5 of 60 questions, FTS5: $by_words"
sed -n 's/^missed/# missed/p' "$tmp/words.recall"
ok "recall by words is 0.9 or more" at_least_part "$by_words" 0.9

# --- vectors; those of the tests know letters and no meaning
start_server vectors python3 "$cli/servers/embeddings.py"
vectors=$url
asked() { curl -s "$vectors/control"; }
mode() { curl -s -o "$tmp/mode" -X PUT -d "$1" "$vectors/control"; }
embedded() { [ "$(asked | awk '$2 > 1 || NR > 1 { n += $2 } END { print n + 0 }')" -ge "$1" ]; }
start_server fused agent-serve -l 127.0.0.1:0 -D "$tmp/fused.sqlite" --ingest "$day" --embed-url "$vectors"
ok "every fact of a guild gets a vector" wait_until 30 embedded 162
is "$(asked | awk '{ print $1 }' | sort -u)" nomic-embed-text \
  "the vectors are of the model that is meant by default"
ok "many vectors are asked for at a time" \
  sh -c "curl -s $vectors/control | awk '{ if (\$2 > 64) bad = 1; if (\$2 == 64) full = 1 } END { exit bad || !full }'"
semantic() { [ "$(find "${1-workshp keyes}" | jq -r '.results[0].semanticScore // 0 | . > 0')" = true ]; }
ok "a search has vectors" wait_until 30 semantic
like "$(find 'workshp keyes' | jq -r '.results[].fact')" 'Noor keeps the key' "a word misspelt is found by its letters"
is "$(find 'Captain Flux' | jq -c '.results[0] | [.score, (.semanticScore > 0.1), (.lexicalScore > 0.9)]')" \
  '[1,true,true]' "what is first in both rankings has a score of 1"
client recall "$url" "$guild" "$questions" >"$tmp/fused.recall"
by_both=$(head -n 1 "$tmp/fused.recall")
echo "# recall at 5 of 60 questions, FTS5 fused with hashed n-grams (no model): $by_both"
ok "recall of both is 0.9 or more" at_least_part "$by_both" 0.9

# --- a server that fails costs a search nothing but the vectors, and once 3 s
post() { curl -s -d "{\"guildId\":\"$guild\",\"subject\":\"__lore__\",\"fact\":\"$1\"}" "$url/api/memory/facts"; }
for failure in 500 html short; do
  mode "$failure"
  is "$(post "A $failure happened to the pelican" | jq -c '[.ok, .stored]')" '[true,1]' "$failure: a fact is stored"
  like "$(first "$failure pelican")" "^A $failure" "$failure: a fact is found by its words"
done
mode hang
post "The hanging pelican waits" >"$tmp/answer"
began=$(date +%s)
like "$(first 'hanging pelican')" '^The hanging' "a server that hangs does not hide a fact"
ok "a server that hangs holds a search up for a moment" test $(($(date +%s) - began)) -le 20
began=$(date +%s)
first 'hanging pelican' >"$tmp/answer"
ok "the next search does not wait" test $(($(date +%s) - began)) -le 2
has "$tmp/fused.err" 'embeddings: .*; searching by words' && pass "one line tells of it" || fail "one line tells of it"
is "$(grep -c 'searching by words' "$tmp/fused.err")" 1 \
  "a server that hangs is told in no more than one line"

# --- the same database, another model; what the first one missed comes too
stop "$pid"
mode poison
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/fused.sqlite" --embed-url "$vectors/v1" --embed-model other-model
post "The poison cupboard is locked" >"$tmp/answer"
count() { [ "$(asked | awk '$1 == "other-model" { n += $2 } END { print n + 0 }')" -ge "$1" ]; }
ok "all vectors are made again with another model" wait_until 30 count 166
ok "facts are found by the vectors of another model" wait_until 30 semantic
like "$(first 'poison cupboard')" '^The poison' "what the server refuses is found by its words"
pelican() { find 'hngng pelikan' | jq -e '.results | any(.fact | startswith("The hanging pelican"))'; }
ok "the other facts are found one by one, by their vectors" wait_until 30 pelican
before=$(asked | wc -l)
stop "$pid"
start_server kept agent-serve -l 127.0.0.1:0 -D "$tmp/fused.sqlite" --embed-url "$vectors/v1/embeddings" --embed-model other-model
ok "vectors are kept over a restart" wait_until 30 semantic
ok "vectors that are kept are not made again" \
  test "$(asked | awk -v from="$before" 'NR > from && $2 > 1' | wc -l)" -eq 0

# --- edits
mode ok
id=$(find 'Captain Flux mascot' | jq '.results[0].id')
curl -s -o "$tmp/answer" -X PUT -H 'Content-Type: application/json' "$url/api/memory/facts/$id" \
  -d "{\"guildId\":\"$guild\",\"subject\":\"__lore__\",\"fact\":\"Heliotrope umbrellas are mended in April\",\"confidence\":1}"
renewed() { find 'umbrela heliotropes' | jq -e --argjson id "$id" '.results | any(.id == $id and .semanticScore > 0.1)'; }
ok "an edited fact gets a new vector" wait_until 30 renewed
is "$(find 'Captain Flux' | jq --argjson id "$id" '.results | any(.id == $id and .lexicalScore > 0)')" false \
  "an edited fact is not found by its old words"
curl -s -o "$tmp/answer" -X DELETE -H 'Content-Type: application/json' "$url/api/memory/facts/$id" -d "{\"guildId\":\"$guild\"}"
is "$(find 'umbrela heliotropes' | jq --argjson id "$id" '.results | any(.id == $id)')" false \
  "a deleted fact is not found at all"
stop "$pid"

# --- a real model, where somebody has one
if [ -n "${AGENTUTILS_EMBED_URL-}" ]; then
  start_server real agent-serve -l 127.0.0.1:0 -D :memory: --ingest "$day" --embed-url "$AGENTUTILS_EMBED_URL" \
    --embed-model "${AGENTUTILS_EMBED_MODEL-nomic-embed-text}"
  ok "a real model's vectors find a fact" wait_until 60 semantic 'where is the key'
  # It grows while the facts get theirs.
  recalls() {
    client recall "$url" "$guild" "$questions" >"$tmp/real.recall" &&
      at_least_part "$(head -n 1 "$tmp/real.recall")" 0.9
  }
  ok "recall with a real model is 0.9 or more" wait_until 60 recalls
  echo "# recall at 5 of 60 questions, FTS5 fused with a real model: $(head -n 1 "$tmp/real.recall")"
else
  skip 2 "no package brings a small model: AGENTUTILS_EMBED_URL names no server of one"
fi

# --- options
t 2 "a URL of another kind is refused" agent-serve -l 127.0.0.1:0 -D :memory: --embed-url 'ftp://x'
err_like '^agent-serve: --embed-url ftp://x: ' "the message names the URL"
t 2 "a model needs a server" agent-serve -l 127.0.0.1:0 -D :memory: --embed-model x
done_testing
