#!/bin/sh
# outbox: the file itself: what is added to it, what else is found in it, a full disk, and the
# outboxes of several profiles.
. "${0%/*}/../lib.sh"
needs outbox jq prlimit
box=$XDG_STATE_HOME/agentutils/outbox
printf '[profile me]\nkind = pds\nurl = http://127.0.0.1:9\nidentifier = alice.test\n%s\n' \
  'token-command = echo x' \
  >"$XDG_CONFIG_HOME/agentutils/config"
printf '[profile claw]\nkind = openclaw\nurl = ws://127.0.0.1:9\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
AGENT_PROFILE=me
export AGENT_PROFILE
put() { printf '{"op":"put","collection":"com.example.a","rkey":"%s","record":%s}\n' "$1" "$2"; }

# --- what comes in

cat >"$tmp/lines" <<'END'
{"op":"put","collection":"com.example.a","rkey":"a","base":null,"record":{"n":10}}
{"op":"delete","collection":"com.example.a","rkey":"b","base":"bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4"}
{"op":"prompt","text":"hello","thread":"t"}
{"type":"message","role":"user","text":"again"}
{"uri":"at://alice.test/com.example.a/c","cid":"bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4","value":{"n":1}}
{"uri":"at://bob.test/com.example.a/c"}
{"op":"put","collection":"com.example.a","rkey":"../x","record":{}}
{"op":"put","collection":"../../x","rkey":"x","record":{}}
{"op":"put","collection":"com.example.a","rkey":"x","record":{"n":1.5}}
{"op":"delete","collection":"com.example.a","rkey":"x","base":"x"}
{"op":"ack","id":"3n2ylal4w2nhd"}
{"type":"message","role":"assistant","text":"no"}
{"rkey":"x","value":{}}
not JSON
END
t 2 "bad lines among good ones are an error" sh -c "outbox add <$tmp/lines"
is "$(sed 's/^outbox: standard input://' "$err")" "6: neither op nor value
7: rkey is not a record key
8: collection is not the name of a collection
9: no floats in records: 1.5
10: base is neither a CID nor null
11: op is not put, delete or prompt: ack
12: a message that is not the user's
13: a key alone, and no collection
14: a word without quotes at byte 0" "each line is named"
is "$(jq -r '[.op, .state, .rkey, .base, .text, .thread] | join(" ")' "$out")" \
  "put queued a   
delete queued b bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4  
prompt queued   hello t
prompt queued   again 
put queued c bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4  " "and the others are kept"
is "$(stat -c %a "$box" "$box/me.ndjson" | xargs)" "700 600" "it is for its owner alone"
is "$(outbox list | jq -r .id)" "$(jq -r .id "$out")" "they are in their order"
ok "each has an id of its own" [ "$(jq -r .id "$out" | sort -u | wc -l)" -eq 5 ]
run outbox list -o tsv --header
is "$(head -n 2 "$out" | cut -f 1-3 | sed 1q)" "id	op	state" "-o tsv is a table for scripts"
t 2 "nothing can be sent" outbox flush --max-time 1
is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "5 queued" "and all of it is told"
err_like 'a personal data server only keeps records' "and prompts go on waiting"

run outbox list --output table --width 70 --color always
ok "a table is as wide as it may be" [ "$(sed "s/$(printf '\033')\[[0-9;]*m//g" "$out" | wc -L)" -le 70 ]
out_like "$(printf '\033')\[" "it is coloured"
t 2 "authorities that are not there" outbox flush --cacert "$tmp/none"
outbox drop --all >"$tmp/other"
new='{"op":"put","collection":"com.example.a","rkey":"new","base":null,"record":{}}'
echo "$new" | outbox add >"$tmp/other"
echo secret-word >"$tmp/password"
chmod 644 "$tmp/password"
t 77 "a password that others can read is refused" \
  outbox flush --verbose --max-time 1 --token-file "$tmp/password"
is "$(jq -r .state "$out" | sort -u)" queued "loses nothing"
chmod 600 "$tmp/password"
printf '[profile far]\nkind = pds\nurl = http://pds.invalid\nidentifier = alice.test\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
echo "$new" | outbox --profile far add >"$tmp/other"
t 77 "a password is not sent in clear text" \
  outbox --profile far flush --max-time 1 --token-file "$tmp/password"
t 75 "unless it may be" \
  outbox --profile far flush --max-time 1 --token-file "$tmp/password" --allow-plaintext
outbox --profile far drop --all >"$tmp/other"

# --- what else is found there

outbox drop --all >"$tmp/other"
put a '{"n":1}' | outbox add >"$tmp/other"
printf '%s\n' '{"op":"future","x":[1.50]}' "no\033[2J" '{"op":"put","id":"x"}' '[]' \
  "$(head -n 1 "$box/me.ndjson")" '{"op":"ack","id":"2222222222222","at":"2026-01-01T00:00:00Z","state":"odd"}' \
  >>"$box/me.ndjson"
printf '{"op":"put","id":"3n2yl' >>"$box/me.ndjson"
t 0 "a file with lines that are none has status 0" outbox list
is "$(jq -r .rkey "$out")" a "the good line is read"
is "$(cut -d : -f 3 "$err" | xargs)" "3 4 5 6 8" "each of them is told by its number"
not_ok "none is obeyed" grep -q "$(printf '\033')" "$err"
is "$(lines "$box/me.bad")" 5 "and kept beside it"
is "$(jq -c .op "$box/me.ndjson" | xargs)" "put future ack" "what a later version wrote stays"
run outbox list
err_empty "they are told once"
outbox drop --all >"$tmp/other"
is "$(cat "$box/me.ndjson")" '{"op":"future","x":[1.50]}
{"op":"ack","id":"2222222222222","at":"2026-01-01T00:00:00Z","state":"odd"}' \
  "and stays when the rest is left out"
rm "$box/me.ndjson"
ln -s /etc/passwd "$box/me.ndjson"
chmod 777 "$box"
t 2 "a link that others could have made is not followed" outbox list
chmod 700 "$box"
rm "$box/me.ndjson"

# --- a full disk

put a '{"n":1}' | outbox add >"$tmp/other"
put b "{\"n\":\"$(printf %3000s x)\"}" >"$tmp/large"
size=$(stat -c %s "$box/me.ndjson")
t 2 "a disk that is full is an error" \
  sh -c "trap '' XFSZ; prlimit --fsize=2048 outbox add <$tmp/large"
out_empty "nothing is said to be kept"
err_one_line outbox "the reason is told"
is "$(stat -c %s "$box/me.ndjson")" "$size" "and nothing is left of it"
t 2 "an answer that cannot be kept" sh -c "trap '' XFSZ; prlimit --fsize=10 outbox drop --all"
out_empty "nothing is printed"
is "$(outbox list | jq -r .rkey)" a "and nothing is given up"

printf '{"op":"put","id":"3n2yl' >>"$box/me.ndjson"
ok "a file that takes no more" chmod 400 "$box/me.bad"
size=$(stat -c %s "$box/me.bad")
t 0 "a line that cannot be moved has status 0" \
  sh -c "trap '' XFSZ; prlimit --fsize=$size outbox list"
is "$(jq -r .rkey "$out")" a "stops nobody"
err_like 'left there: ' "and it is said"
ok "it is still there" grep -q '3n2yl$' "$box/me.ndjson"
chmod 600 "$box/me.bad"
outbox list >"$tmp/other" 2>&1
is "$(lines "$box/me.bad")" 6 "until it can"

# --- several profiles

echo '{"op":"prompt","text":"hello"}' | outbox -p claw add >"$tmp/other"
: >"$box/odd name.ndjson"
t 75 "--all sends all of them" outbox flush --all --max-time 1
is "$(jq -r '.profile + " " + .op' "$out" | xargs)" "claw prompt me put" "all profiles are tried"
err_like '^outbox: me: http' "each failure says whose it is"
printf '{"op":"put","collection":"com.example.a","rkey":"b","record":{}}\n' | outbox -p claw add \
  >"$tmp/other"
t 2 "a record of one that has no records is an error" outbox flush --all --max-time 1
is "$(jq -r '.profile + " " + .op' "$out" | xargs)" "claw put claw prompt me put" \
  "keeps nothing else from being tried"
t 2 "one address is not that of all" env AGENT_URL=http://127.0.0.1:9 outbox flush --all

done_testing
