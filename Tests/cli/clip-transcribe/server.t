#!/bin/sh
# clip-transcribe with a voice server: what is sent, what comes back, what is sent again.
. "${0%/*}/../lib.sh"
needs clip-transcribe jq python3

secret=00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100
printf '%s\n' "$secret" >"$tmp/secret"
chmod 600 "$tmp/secret"
answers() { printf '%s\n' "$@" >"$tmp/answers"; }
answers '{"body":"{\"transcript\":\"hello there\"}"}'
start_server riff python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/log" \
  --answers "$tmp/answers"
: >"$tmp/log"
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
transcribe() { run clip-transcribe -p ears "$@"; }
clips() { jq -r 'select(.path) | .path' "$tmp/log" | wc -l | tr -d ' '; }
# clip NAME BYTES...: a file that begins like a clip of its kind.
wav="$tmp/one.wav"
printf 'RIFF\044\000\000\000WAVEfmt \000\377\n"\\' >"$wav"
head -c 3000 /dev/urandom >>"$wav"

# --- what is sent

transcribe "$wav"
status_is 0 "a clip is heard"
out_is "hello there" "what was said in a clip is printed"
err_empty "nothing but the words is said"
is "$(jq -r '[.path, .signed, .bytes] | join(" ")' "$tmp/log")" \
  "/riff/transcribe-only true $(wc -c <"$wav" | tr -d ' ')" "a clip is signed, byte for byte"
is "$(jq -r .sha256 "$tmp/log")" "$(sha256sum <"$wav" | cut -d' ' -f1)" "a clip is sent as it is"
is "$(jq -r '.headers["x-riff-audio-format"]' "$tmp/log")" wav "a clip is sent with its format"
like "$(jq -r '.headers["x-riff-ts"]' "$tmp/log")" '^[0-9]{10}$' \
  "a clip is sent with the time when it was recorded"
like "$(jq -r '.headers["x-riff-device-id"]' "$tmp/log")" '^[A-Za-z0-9_-]{1,64}$' \
  "the clip says by whom it is"
unlike "$(cat "$tmp/log")" "$secret" "the secret does not travel"
for kind in m4a:'\000\000\000\030ftypM4A ' ogg:'OggS\000\002' aac:'\377\361\120'; do
  # shellcheck disable=SC2059  # escapes
  printf "${kind#*:}rest of it" >"$tmp/clip"
  transcribe - <"$tmp/clip"
  is "$(tail -n 1 "$tmp/log" | jq -r '.headers["x-riff-audio-format"]')" "${kind%%:*}" \
    "a clip of ${kind%%:*} is told by its bytes"
done
before=$(clips)
echo 'no sound at all' >"$tmp/text"
transcribe "$tmp/text"
status_is 2 "what is not a clip is refused"
err_is "clip-transcribe: $tmp/text: not a WAV, m4a, Ogg or AAC file; see --format" \
  "the message names the formats that are taken"
: >"$tmp/empty.wav"
transcribe "$tmp/empty.wav"
status_is 2 "an empty clip is refused, too"
truncate -s 26214401 "$tmp/large.wav"
transcribe "$tmp/large.wav"
status_is 2 "a large clip is refused"
err_is "clip-transcribe: $tmp/large.wav: too large (26 MB > 25 MB)" \
  "the size of a large clip is told"
t 2 "a large clip is refused from a pipe, too" \
  sh -c 'head -c 26214401 /dev/zero | clip-transcribe -p ears --format wav -'
transcribe "$tmp/nowhere.wav"
status_is 2 "a missing clip is an error"
is "$(clips)" "$before" "nothing of refused clips is sent"
transcribe --format wav "$tmp/text"
status_is 0 "a format that is named is believed"
transcribe -o json "$wav"
is "$(jq -r '[.type, .text, .format, .bytes > 3000, (.time | length)] | join(" ")' "$out")" \
  "transcript hello there wav true 24" "a record can be printed"

# --- what comes back

answers '{"body":"{\"transcript\":\"  \\n \"}"}'
transcribe "$wav"
status_is 1 "a transcript that is blank has status 1"
out_empty "nothing is printed of a blank transcript"
answers '{"body":"{\"transcript\":\"one\\ntwo \\u001b[31mred\\u202e\"}"}'
transcribe "$wav"
out_is 'one two \e[31mred\u{202e}' "a transcript is one line, in which nothing hides"
answers '{"body":"{\"words\":1}"}'
transcribe "$wav"
status_is 2 "an answer without a transcript is an error"
err_one_line clip-transcribe "one line says what an answer without a transcript lacks"
answers '{"status":413,"body":"{\"error\":\"too large\"}"}'
before=$(clips)
transcribe "$wav"
status_is 2 "a refusal is an error"
is "$(clips)" $((before + 1)) "a clip that was refused is not sent again"

for code in 301 303 307 308; do
  answers "{\"status\":$code,\"headers\":{\"Location\":\"$url/elsewhere\"}}" \
    '{"body":"{\"transcript\":\"elsewhere\"}"}'
  before=$(clips)
  transcribe "$wav"
  status_is 2 "a redirect by $code is not followed"
  err_one_line clip-transcribe "one line says that a redirect by $code is not followed"
  is "$(clips)" $((before + 1)) "nothing else is asked after a redirect by $code"
done

# --- not now

answers '{"status":503}' '{"status":502}' '{"body":"{\"transcript\":\"at last\"}"}'
before=$(clips)
transcribe "$wav"
status_is 0 "a server that is not ready is asked again"
out_is "at last" "a server is asked again until it is ready"
is "$(clips)" $((before + 3)) "a server that is ready at the third time is asked three times"
answers '{"status":502,"body":"{\"error\":\"recogniser failed\"}"}'
transcribe "$wav"
status_is 75 "a server that is never ready is not tried for ever"
err_like '502 Bad Gateway: recogniser failed$' "the word of a server that is not ready is told"

# --- a clip may have been paid for

answers '{"close":"body"}' '{"body":"{\"transcript\":\"twice\"}"}'
before=$(clips)
transcribe "$wav"
status_is 75 "an answer that is lost has status 75"
out_empty "no words are printed of an answer that is lost"
is "$(clips)" $((before + 1)) "a clip whose answer is lost is not sent again"
answers '{"wait":30,"body":"{\"transcript\":\"late\"}"}'
before=$(clips)
transcribe --timeout 0.5 "$wav"
status_is 75 "a late answer is given up with status 75"
err_like 'no whole answer in 0.5 s; see --timeout$' "the message tells the time"
is "$(clips)" $((before + 1)) "a late answer is not asked for again"
stop "$pid"
transcribe "$wav"
status_is 75 "an unreachable server has status 75"

# --- who asks

answers '{"body":"{\"transcript\":\"hello\"}"}'
start_server other python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/log" \
  --answers "$tmp/answers"
tr 0 1 <"$tmp/secret" >"$tmp/wrong"
chmod 600 "$tmp/wrong"
printf '[profile wrong]\nkind = riff\nurl = %s\nsecret-command = cat %s\n' "$url" "$tmp/wrong" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 77 "another secret is refused" clip-transcribe -p wrong "$wav"
err_one_line clip-transcribe "another secret is refused in one line"
err_unlike "$(cat "$tmp/wrong")" "the message does not show the secret"
echo 1234 >"$tmp/short"
chmod 600 "$tmp/short"
t 2 "a secret that cannot be one is an error" \
  clip-transcribe -p wrong --token-file "$tmp/short" "$wav"
err_like 'the secret is not 64 hexadecimal digits$' "the message says what is wrong with it"
printf '[profile hung]\nkind = riff\nurl = %s\nsecret-command = exec sleep 1000\n' "$url" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
bound=20 run clip-transcribe -p hung --timeout 0.5 "$wav"
status_is 75 "a secret that does not come in time has status 75"
err_one_line clip-transcribe "one line says that the secret did not come"
chmod 644 "$tmp/secret"
transcribe "$wav"
status_is 77 "a secret that others can read is refused"
chmod 600 "$tmp/secret"
transcribe --verbose --allow-plaintext --cacert /dev/null "$wav"
err_like 'POST .*/riff/transcribe-only, [0-9]+ bytes' "--verbose tells what is asked"
t 2 "a dashboard hears no clips" env AGENT_URL=http://127.0.0.1:1 clip-transcribe "$wav"
err_is "clip-transcribe: AGENT_URL: a Clanky dashboard hears no clips: name a voice server with -p, or give --command" \
  "the message about a dashboard says what to do"

done_testing
