#!/bin/sh
# A transcript read aloud by espeak-ng, and heard again by pocketsphinx.
. "${0%/*}/../lib.sh"
needs reply-narrate espeak-ng jq python3

turn() {
  jq -nc --arg text "$1" '{type:"assistant",isSidechain:false,sessionId:"s1",uuid:$text,message:{
    role:"assistant",stop_reason:"end_turn",content:[{type:"text",text:$text}]}}'
}
{
  turn "**The tests** have [passed](https://ci.example/nothing/was/changed)
in seven minutes.
\`\`\`
before midnight
\`\`\`"
  turn '## The build has failed `nothing was changed` before midnight.'
  turn '- Nothing was changed.'
} >"$tmp/turns"
cd "$tmp" || exit
speak='read -r text; n=$(ls *.wav 2>/dev/null | wc -l); echo "$text" | espeak-ng --stdin -v en-us -s 120 -w "$n.wav"'
t 0 "a transcript is read aloud" \
  reply-narrate --exec "$speak" "$root/Tests/fixtures/transcript.ndjson" "$tmp/turns"
is "$(echo *.wav)" "0.wav 1.wav 2.wav 3.wav 4.wav" "each turn has a file"
# length FILE: tenths of seconds.
length() {
  python3 -c 'import sys, wave; f = wave.open(sys.argv[1]); print(10 * f.getnframes() // f.getframerate())' "$1"
}
ok "the first turn takes as long as its words" \
  sh -c "[ $(length 0.wav) -gt 20 ] && [ $(length 0.wav) -lt 80 ]"
ok "the second turn is shorter, as it has fewer words" test "$(length 1.wav)" -lt "$(length 0.wav)"

if ! command -v pocketsphinx_continuous >/dev/null 2>&1; then
  skip 3 "needs pocketsphinx_continuous"
  done_testing
fi
# What may be heard: each of these sentences with each ending, or without one.
cat >"$tmp/words.jsgf" <<'END'
#JSGF V1.0;
grammar words;
public <words> = (the tests have passed | the build has failed | nothing was changed)
  [in seven minutes | before midnight];
END
hear() {
  pocketsphinx_continuous -infile "$1" -samprate 22050 -nfft 1024 -jsgf "$tmp/words.jsgf" 2>/dev/null |
    xargs
}
is "$(hear 2.wav)" "the tests have passed in seven minutes" "what was said can be heard again"
is "$(hear 3.wav)" "the build has failed before midnight" "code is left out"
is "$(hear 4.wav)" "nothing was changed" "marks are left out, too"

done_testing
