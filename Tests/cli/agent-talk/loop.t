#!/bin/sh
# The whole way of a spoken word, with real voices and ears: espeak-ng says ten sentences,
# agent-talk records them, agent-serve hears them with pocketsphinx, and they stand at the
# prompt of a session. The recogniser knows nothing of them but its own language model.
# shellcheck disable=SC2154  # of ssh.sh and talk.sh
. "${0%/*}/../lib.sh"
needs espeak-ng pocketsphinx_batch agent-serve
. "${0%/*}/../ssh.sh"
. "${0%/*}/talk.sh"

# keyword: sentence
cat >"$tmp/sentences" <<'END'
president: write a letter to the president
children: the children are playing in the garden
kitchen: turn on the radio in the kitchen
message: send a message to my brother
music: stop the music and go to sleep
january: the meeting is on the fifth of january
hundred: we need two hundred more people
information: give me more information about the company
september: it happened on the eleventh of september
tomorrow: we will go home tomorrow
END

# Of pocketsphinx's programs, the one that takes the measure of a voice from all of a clip;
# it may be quicker than exact.
cat >"$tmp/hear" <<'END'
file=${1##*/}
echo "${file%.wav}" |
  pocketsphinx_batch -maxhmmpf 3000 -adcin yes -adchdr 44 -cepdir "${1%/*}" -cepext .wav -ctl /dev/stdin \
    -hyp /dev/stdout 2>/dev/null |
  sed 's/ *([^()]*)$//'
END
sh "$tmp/hear" "$tmp/loud.wav" >"$tmp/silence"
[ -s "$tmp/silence" ] || skip_all "needs the model pocketsphinx-en-us"

printf '%064d\n' 1 >"$tmp/secret"
chmod 600 "$tmp/secret"
start_server ears agent-serve -l 127.0.0.1:0 -D :memory: --voice-secret-file "$tmp/secret" \
  --transcriber "sh '$tmp/hear' \"\$1\""
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"

# lane FIRST: says each second sentence from here.
lane() {
  awk -v first="$1" 'NR % 2 == first % 2 { sub(/.*: /, ""); print }' "$tmp/sentences" | while read -r sentence; do
    espeak-ng -v en-us+f5 -s 160 -w "$tmp/$1.wav" "$sentence"
    python3 "$cli/terminal.py" agent-talk -p ears --recorder \
      "exec python3 '$cli/clients/microphone.py' --once --speed 8 '$tmp/$1.wav'" .
  done >"$tmp/$1.said" 2>&1
}
lane 1 &
lane 2
wait "$!"
rtmux capture-pane -p -J -t =riff: >"$tmp/screen"
heard=0
while IFS=: read -r word _; do
  ! grep -qwi "$word" "$tmp/screen" || heard=$((heard + 1))
done <"$tmp/sentences"
ok "$heard of ten words stand at the prompt" test "$heard" -ge 7
diag "$(cat "$tmp/screen")"
[ "$heard" -ge 7 ] || diag "$(cat "$tmp"/?.said)"
ok "the words were typed, and not run" grep -q '^prompt> [a-z]' "$tmp/screen"
is "$(grep -c prompt "$tmp/screen")" 1 "all words stand at one prompt"
ok "no clip is left" nothing_left
done_testing
