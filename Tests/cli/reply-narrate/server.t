#!/bin/sh
# reply-narrate with a voice server: what is asked for, what is heard, what makes no sense.
. "${0%/*}/../lib.sh"
needs reply-narrate jq python3

printf '%064d\n' 7 >"$tmp/secret"
chmod 600 "$tmp/secret"
says() { printf '%s\n' "$@" >"$tmp/says.next" && mv "$tmp/says.next" "$tmp/says"; }
# audio TS WORDS: an answer, whose audio is the words.
audio() {
  jq -nc --argjson ts "$1" --arg words "$2" \
    '{body:({ts:$ts,audio_b64:($words|@base64),chars:($words|length)}|tojson)}'
}
quiet='{"status":204,"wait":25}'
says "$quiet"
: >"$tmp/log"
start_server riff python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/log" \
  --answers "$tmp/says" --narrations "$tmp/says"
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
narrate() { run reply-narrate -p ears "$@"; }
asked() { jq -r .path "$tmp/log"; }
play="cat >>'$tmp/heard'; echo >>'$tmp/heard'"

# --- the newest

says "$(audio 1789000000.25 hello)"
narrate --latest --exec 'cat; echo'
status_is 0 "the newest turn is heard"
out_is hello "the words of the newest turn are heard"
err_empty "nothing is said of the newest turn"
is "$(jq -r '[.path, .signed, .bytes] | join(" ")' "$tmp/log")" \
  "/riff/narrate-poll?after=0 true 0" "the request for a turn is signed"
mkdir "$tmp/my site"
: >"$tmp/log"
narrate --latest --after 1700000000.5 --directory "$tmp/my site" --save "$tmp/kept/here"
is "$(asked)" "/riff/narrate-poll?after=1700000000.5&cwd_slug=$(realpath "$tmp/my site" |
  sed 's/[^A-Za-z0-9]/-/g')" "a turn is asked for by a time and a folder"
out_is "$tmp/kept/here/1789000000.25.mp3" "--save prints the name of the kept file"
is "$(cat "$tmp/kept/here/1789000000.25.mp3") $(stat -c %a "$tmp/kept/here/1789000000.25.mp3")" \
  "hello 600" "the kept file is readable for its owner alone"
says "$(audio 1789000000.25 other)"
narrate --latest --save "$tmp/kept/here"
status_is 2 "a file that is there is an error"
err_is "reply-narrate: $tmp/kept/here/1789000000.25.mp3: file exists" "the file is named"
is "$(cat "$tmp/kept/here/1789000000.25.mp3")" hello "the file is left alone"
: >"$tmp/log"
says '{"status":204}'
narrate --latest --slug 'a b&c' --save "$tmp/kept"
status_is 1 "the status is 1 when nothing is new"
is "$(asked)" "/riff/narrate-poll?after=0&cwd_slug=a%20b%26c" \
  "--slug sends the name of a folder as it is"

# --- those that follow

says "$(audio 1789000001 one)" "$(audio 1789000001 one)" '{"status":503}' \
  "$(audio 1789000003 two)" "$quiet"
: >"$tmp/log"
start live reply-narrate -p ears --after 1789000000 --exec "$play"
ok "all turns that follow are heard as they come" \
  wait_until 20 sh -c "[ \"\$(xargs <'$tmp/heard')\" = 'one two' ]"
wait_until 20 sh -c "[ \$(wc -l <'$tmp/log') -ge 5 ]"
stop "$pid"
is "$status" 143 "reply-narrate goes on until a signal"
is "$(asked | sed 's/.*after=//' | xargs)" "1789000000 1789000001 1789000001 1789000001 1789000003" \
  "each turn is asked for once"
is "$(grep -c . "$tmp/live.err")" 2 "a server that is away, and back, is told once each"
like "$(cat "$tmp/live.err")" 'narrate-poll: 503 Service Unavailable$' "the reason is told"
says "$quiet"
: >"$tmp/log"
start now reply-narrate -p ears --exec "$play"
wait_until 10 test -s "$tmp/log"
stop "$pid"
after=$(asked | sed 's/.*after=//; s/[.].*//')
ok "a turn that ended before the start is old" test $(($(date +%s) - after)) -lt 20

# --- what makes no sense

for body in '{}' x '{"ts":"soon","audio_b64":"aGk="}' '{"ts":1e300,"audio_b64":"aGk="}'; do
  says "$(jq -nc --arg body "$body" '{body:$body}')" "$(audio 1789000009 good)"
  narrate --latest --exec 'cat; echo'
  is "$status $(cat "$out") $(lines "$err")" "0 good 2" "passed over: $body"
done
err_like 'narrate-poll: no time in the answer$' "the message says that the answer has no time"
for body in '{"ts":1789000000.5,"audio_b64":"%%%%"}' '{"ts":1789000000.5,"audio_b64":[1]}' '{"ts":1789000000.5}'; do
  says "$(jq -nc --arg body "$body" '{body:$body}')" "$(audio 1789000009 good)"
  : >"$tmp/log"
  narrate --latest --exec 'cat; echo'
  is "$status $(cat "$out") $(lines "$err")" "0 good 1" "a turn without audio is skipped: $body"
  is "$(asked | sed 's/.*after=//' | xargs)" "0 1789000000.5" \
    "a turn without audio is not asked for again"
done
err_like 'narrate-poll: no audio of the turn of 1789000000\.5 in the answer$' \
  "the message says that the answer has no audio"
says "$(jq -nc '{body:"{\"ts\":1789000000.5}"}')" '{"status":204}'
narrate --latest --exec cat
status_is 2 "a turn without audio and none behind it are an error"
says '{"size":25165825}'
narrate --latest --exec cat
status_is 2 "a huge answer is an error"
err_like 'the answer is larger than 25165824 bytes$' "the message tells the limit"
err_one_line reply-narrate "one line tells of a huge answer"
rm -f "$tmp/heard"
says '{"size":25165825}' "$(audio 1789000001 next)" "$quiet"
start huge reply-narrate -p ears --after 1789000000 --exec "$play"
ok "the turn behind a huge one is heard" wait_until 10 has "$tmp/heard" next
stop "$pid"
python3 -c 'import base64, json
print(json.dumps({"body": json.dumps({"ts": 1789000001, "audio_b64": base64.b64encode(b"a" * (16 << 20)).decode()})}))' \
  >"$tmp/says.next"
mv "$tmp/says.next" "$tmp/says"
narrate --latest --exec 'wc -c'
out_is 16777216 "as much as agent-serve sends is heard"
for body in '<!DOCTYPE html><title>Sign in</title>' '{}'; do
  says "$(jq -nc --arg body "$body" '{body:$body}')"
  narrate --latest --exec cat
  status_is 2 "a page or an empty answer is an error: $body"
  out_empty "nothing is played of $body"
done
says "$(jq -nc '{body:"<html>Sign in"}')"
narrate --latest --exec cat
is "$(tail -n 1 "$err" | sed 's/.*narrate-poll: //')" "a page, not the backend's answer" "a page is named as one"

# Another server, which would say what is played.
voice=$url
says "$quiet"
: >"$tmp/elsewhere"
audio 1789000000.25 stranger >"$tmp/stranger"
start_server elsewhere python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/elsewhere" \
  --answers "$tmp/stranger" --narrations "$tmp/stranger"
elsewhere=$url
url=$voice
for code in 301 302 303 307 308; do
  says "$(jq -nc --arg url "$elsewhere/x" --argjson code "$code" '{status:$code,headers:{Location:$url}}')"
  narrate --latest --slug my-work --exec cat
  status_is 2 "a redirect to another server is not followed ($code)"
  err_like "narrate-poll: $code .*to another server$" \
    "the message says that a redirect by $code leads to another server"
done
is "$(cat "$tmp/elsewhere")" "" "the other server learns nothing"
says '{"status":302,"headers":{"Location":"/other"}}' "$(audio 1789000000.25 moved)"
narrate --latest --exec cat
out_is moved "a redirect on the same server is followed"
says '{"status":502}'
narrate --latest --exec cat
status_is 75 "a server that is not ready has status 75"
says '{"status":404}'
narrate --exec cat
status_is 2 "a server that knows no such thing is an error"
tr 7 8 <"$tmp/secret" >"$tmp/wrong"
chmod 600 "$tmp/wrong"
narrate --exec cat --token-file "$tmp/wrong"
status_is 77 "another secret is refused"
err_one_line reply-narrate "another secret is refused in one line"

# --- what goes together

printf '[profile board]\nurl = %s\n' "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a dashboard is refused" reply-narrate -p board --exec cat
err_is "reply-narrate: board: a Clanky dashboard reads nothing aloud" \
  "the message says that a dashboard reads nothing aloud"
for words in '' '--exec cat --save x' '--exec cat x' '--exec cat -o json' '--save x --slug y --directory z' \
  '--save= ' '--exec cat --directory /nowhere'; do
  # shellcheck disable=SC2086
  narrate --latest $words
  status_is 2 "this is refused: $words"
done
narrate --latest -v --allow-plaintext --cacert /dev/null --timeout 5 --exec false
err_like 'GET .*/riff/narrate-poll, after 0$' "--verbose tells what is asked"

done_testing
