#!/bin/sh
# mem-search --edit: by options, in the editor, and when somebody else was faster.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq curl

start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
TMPDIR=$tmp/forms
mkdir "$TMPDIR"
export AGENT_URL TMPDIR
unset VISUAL EDITOR
guild=771204458812997633
stored() { curl -sS "$url/control/facts" | jq -c "select(.id == $1)"; }
# change ID FACT: somebody else's edit.
cat >"$tmp/change" <<END
#!/bin/sh
exec curl -sS -o /dev/null -X PUT -H 'Content-Type: application/json' "$url/api/memory/facts/\$1" \
  -d '{"guildId":"$guild","subject":"__lore__","fact":"'"\$2"'","confidence":0.3}'
END
chmod +x "$tmp/change"

# --- by options

before=$(stored 611)
t 0 "options edit a fact" mem-search --edit 611 --fact '  Mika crews   on a boat ' --confidence 0.9
is "$(cat "$out")" "$(curl -sS "$url/api/memory/facts?guildId=$guild&subject=400118822734659584" |
  jq -c '.facts[] | select(.id == 611)')" "an edit prints the record as stored"
is "$(stored 611 | jq -c '[.fact, .confidence]')" '["Mika crews on a boat",0.9]' \
  "an edit changes what its options say"
is "$(stored 611 | jq -c 'del(.fact, .confidence, .updated_at)')" \
  "$(echo "$before" | jq -c 'del(.fact, .confidence, .updated_at)')" "an edit changes nothing else"
err_empty "an edit says nothing more"
run mem-search --edit 611 -t Relationship --evidence '' --subject 400118822734659777
is "$(stored 611 | jq -c '[.subject, .fact_type, .evidence_text]')" \
  '["400118822734659777","relationship",null]' "type, subject and evidence change"
t 0 "an edit that changes nothing is done" mem-search --edit 611 --confidence 0.9
is "$(jq -r .id "$out")" 611 "an edit that changes nothing shows the fact"

for words in '--confidence 1.5' '--confidence high' '--fact=' '--confidence='; do
  before=$(stored 40)
  run mem-search --edit 40 "$words"
  # shellcheck disable=SC2086  # words
  t 2 "$words is refused" mem-search --edit 40 $words
  err_one_line mem-search "the reason is told in one line"
  is "$(stored 40)" "$before" "nothing is sent for $words"
done
# 200 emoji are 400 UTF-16 units.
long=$(printf '%200s' '' | sed 's/ /🥜/g')
t 0 "a fact of 400 units is taken" mem-search --edit 40 --fact "$long"
is "$(stored 40 | jq -r .fact)" "$long" "all 400 units of a fact are stored"
t 2 "a fact of 401 units is refused" mem-search --edit 40 --fact "${long}x"
err_is "mem-search: fact 40: fact: 401 characters, 400 at most" \
  "the message tells the length of a fact that is too long"
t 1 "a duplicate has status 1" \
  mem-search --edit 40 --fact "The bell rings at noon, everybody posts a picture of the harbour then"
err_like '409 Conflict: duplicate' "the backend's word is told"
t 2 "a fact of another encoding is refused" mem-search --edit 40 --fact "$(printf 'caf\351')"
t 1 "a fact that does not exist has status 1" mem-search --edit 999 --fact x
err_is "mem-search: fact 999: not found" "the fact is named"
for id in abc 0 -1 1x 99999999999999999999; do
  t 2 "$id is no id" mem-search --fact x --edit="$id"
done

# --- in the editor

# Writes a copy of the form, then what it is told.
cat >"$tmp/editor" <<'END'
#!/bin/sh
eval "file=\${$#}"
cp "$file" "$FORM"
echo "noise of the editor"
[ -z "${MEANWHILE:-}" ] || sh -c "$MEANWHILE"
sed -i.old "$SED" "$file"
rm -f "$file.old"
END
chmod +x "$tmp/editor"
FORM=$tmp/form
SED='s/^fact: .*/fact: Summaries before 9am,\n  short ones/'
EDITOR="$tmp/editor -x"
export FORM SED EDITOR

t 0 "the editor edits a fact" mem-search --edit 77 --yes
is "$(grep -v '^#' "$tmp/form")" "subject: __owner__
type: preference
confidence: 0.91
fact: Prefers summaries before 9am
evidence: send me the digest early" "the editor gets a form"
is "$(stored 77 | jq -r .fact)" "Summaries before 9am, short ones" "the text of the form is sent"
is "$(lines "$out")" 1 "one record is printed"
err_like '^- fact +Prefers summaries' "the old text is shown"
err_like '^\+ fact +Summaries before 9am, short ones' "the new text is shown"
is "$(ls "$TMPDIR")" "" "no form is left behind"

SED='s/x/x/' run mem-search --edit 90 -y
status_is 0 "a form that is left as it is has status 0"
is "$(stored 90 | jq -c .fact)" "$(jq -c 'select(.id == 90).fact' "$cli/servers/harbour-facts.ndjson")" \
  "a form that is left as it is changes nothing, controls and all"
like "$(cat "$tmp/form")" '^fact: red .e\[31malert' "the editor gets no control characters"
SED=d run mem-search --edit 77 -y
status_is 1 "an emptied form gives up"
SED='s/^fact:.*//' run mem-search --edit 77 -y
status_is 2 "a form without a fact is refused"
err_like 'form: fact: missing' "the message names what is missing"
EDITOR=false run mem-search --edit 77 -y
status_is 2 "an editor that fails is an error"
err_like 'editor: status 1' "the message tells the status"
t 2 "nobody can be asked without --yes" mem-search --edit 77

before=$(stored 12)
SED='s/short/terse/' run python3 "$cli/terminal.py" typing 'n\n' mem-search --edit 12
status_is 1 "a no at the terminal has status 1"
out_like 'Change fact 12\? \[y/N\]' "a question is asked"
is "$(stored 12)" "$before" "a no at the terminal sends nothing"
rm -f "$TMPDIR"/*
SED='s/short/terse/' run python3 "$cli/terminal.py" typing 'y\n' mem-search --edit 12
status_is 0 "a yes has status 0"
is "$(stored 12 | jq -r .fact)" "Keeps answers terse in voice" \
  "a yes at the terminal sends the edit"
SED='s/^confidence.*/confidence: much/' run python3 "$cli/terminal.py" typing 'n\n' mem-search --edit 12
out_like 'confidence much: not a number from 0 to 1' "a fault of the form is told"
out_like 'Edit it again' "a faulty form can be edited again"

# --- somebody else was faster

SED='s/^fact: .*/fact: mine/' MEANWHILE="'$tmp/change' 41 theirs" run mem-search --edit 41 -y
status_is 1 "a conflict has status 1"
err_like 'fact 41: changed meanwhile; nothing was sent' "the message says that nothing was sent"
err_like '^\+ fact +theirs' "the other change is shown"
is "$(stored 41 | jq -r .fact)" theirs "the other change stays"
kept=$(sed -n 's/.*the form is kept in //p' "$err")
like "$(cat "$kept")" '^fact: mine' "a form with a conflict is kept"
MEANWHILE="curl -sS -o /dev/null -X DELETE -H Content-Type:application/json -d '{\"guildId\":\"$guild\"}' $url/api/memory/facts/41" \
  SED='s/^fact: .*/fact: mine/' run mem-search --edit 41 -y
status_is 1 "a fact that was deleted meanwhile has status 1"
err_like 'deleted meanwhile' "the message says that the fact was deleted meanwhile"

done_testing
