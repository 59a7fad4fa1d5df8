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
put queued c bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4  " \
  "the good lines among bad ones are kept"
is "$(stat -c %a "$box" "$box/me.ndjson" | xargs)" "700 600" \
  "the file of an outbox is for its owner alone"
is "$(outbox list | jq -r .id)" "$(jq -r .id "$out")" "what waits is listed in its order"
ok "each thing that waits has an id of its own" [ "$(jq -r .id "$out" | sort -u | wc -l)" -eq 5 ]
run outbox list -o tsv --header
is "$(head -n 2 "$out" | cut -f 1-3 | sed 1q)" "id	op	state" "-o tsv is a table for scripts"
t 2 "a record and prompts in one outbox cannot be sent: status 2" outbox flush --max-time 1
is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "5 queued" "all that goes on waiting is told"
err_like 'a personal data server only keeps records' "the message says that prompts go on waiting"

run outbox list --output table --width 70 --color always
ok "a table is as wide as it may be" [ "$(sed "s/$(printf '\033')\[[0-9;]*m//g" "$out" | wc -L)" -le 70 ]
out_like "$(printf '\033')\[" "a table is coloured"
t 2 "a file of authorities that is not there is an error" outbox flush --cacert "$tmp/none"
outbox drop --all >"$tmp/other"
new='{"op":"put","collection":"com.example.a","rkey":"new","base":null,"record":{}}'
echo "$new" | outbox add >"$tmp/other"
echo secret-word >"$tmp/password"
chmod 644 "$tmp/password"
t 77 "a password that others can read is refused" \
  outbox flush --verbose --max-time 1 --token-file "$tmp/password"
is "$(jq -r .state "$out" | sort -u)" queued "a refused password loses nothing"
chmod 600 "$tmp/password"
printf '[profile far]\nkind = pds\nurl = http://pds.invalid\nidentifier = alice.test\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
echo "$new" | outbox --profile far add >"$tmp/other"
t 77 "a password is not sent in clear text" \
  outbox --profile far flush --max-time 1 --token-file "$tmp/password"
t 75 "--allow-plaintext lets a password travel in clear text" \
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
is "$(cut -d : -f 3 "$err" | xargs)" "3 4 5 6 8" "each bad line is told by its number"
not_ok "no bad line is obeyed by the terminal" grep -q "$(printf '\033')" "$err"
is "$(lines "$box/me.bad")" 5 "bad lines are kept beside the file"
is "$(jq -c .op "$box/me.ndjson" | xargs)" "put future ack" "what a later version wrote stays"
run outbox list
err_empty "bad lines are told once"
outbox drop --all >"$tmp/other"
is "$(cat "$box/me.ndjson")" '{"op":"future","x":[1.50]}
{"op":"ack","id":"2222222222222","at":"2026-01-01T00:00:00Z","state":"odd"}' \
  "what a later version wrote stays when the rest is left out"
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
out_empty "nothing is said to be kept on a full disk"
err_one_line outbox "the reason why a disk is full is told"
is "$(stat -c %s "$box/me.ndjson")" "$size" "nothing is left of what a full disk did not take"
t 2 "a drop that cannot be kept is an error" \
  sh -c "trap '' XFSZ; prlimit --fsize=10 outbox drop --all"
out_empty "nothing is printed of a drop that cannot be kept"
is "$(outbox list | jq -r .rkey)" a "nothing is given up by a drop that cannot be kept"

printf '{"op":"put","id":"3n2yl' >>"$box/me.ndjson"
ok "a file can be made to take no more" chmod 400 "$box/me.bad"
size=$(stat -c %s "$box/me.bad")
t 0 "a line that cannot be moved has status 0" \
  sh -c "trap '' XFSZ; prlimit --fsize=$size outbox list"
is "$(jq -r .rkey "$out")" a "a line that cannot be moved stops no other"
err_like 'left there: ' "the message says that the line was left there"
ok "a line that cannot be moved is still there" grep -q '3n2yl$' "$box/me.ndjson"
chmod 600 "$box/me.bad"
outbox list >"$tmp/other" 2>&1
is "$(lines "$box/me.bad")" 6 "a line is moved as soon as it can be"

# --- several profiles

echo '{"op":"prompt","text":"hello"}' | outbox -p claw add >"$tmp/other"
: >"$box/odd name.ndjson"
t 75 "flush --all sends the outboxes of all profiles" outbox flush --all --max-time 1
is "$(jq -r '.profile + " " + .op' "$out" | xargs)" "claw prompt me put" "all profiles are tried"
err_like '^outbox: me: http' "each failure says whose it is"
printf '{"op":"put","collection":"com.example.a","rkey":"b","record":{}}\n' | outbox -p claw add \
  >"$tmp/other"
t 2 "a record for a profile without records is an error" outbox flush --all --max-time 1
is "$(jq -r '.profile + " " + .op' "$out" | xargs)" "claw put claw prompt me put" \
  "a record that cannot be sent keeps nothing else from being tried"
t 2 "AGENT_URL and --all exclude each other" env AGENT_URL=http://127.0.0.1:9 outbox flush --all

done_testing
