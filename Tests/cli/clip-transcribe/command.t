#!/bin/sh
# clip-transcribe --command: a recogniser on this machine.
. "${0%/*}/../lib.sh"
needs clip-transcribe jq

wav="$tmp/-a \$(touch made) clip.wav"
printf 'RIFF\044\000\000\000WAVEfmt rest' >"$wav"
# shellcheck disable=SC2016  # for its own shell
hear() { run clip-transcribe --command "$@"; }

hear 'wc -c <"$1"; echo bytes' "$wav"
status_is 0 "a recogniser gets the file"
out_is "20 bytes" "its words are one line"
cd "$tmp" || bail "no folder"
hear 'cat "$1"; echo "$1"' -- "-a \$(touch made) clip.wav"
out_like './-a \$\(touch made\) clip.wav$' "a name is no option"
[ ! -e made ]
is "$?" 0 "no command is made of it"
run sh -c 'clip-transcribe --command "wc -c <\"\$1\"; ls -ld \"\${1%/*}\" | cut -c 1-10; echo \"\$1\"" <"$1"' - "$wav"
out_like '^20 drwx------ .*/clip\.[^/]*/clip\.wav$' "a clip of a pipe gets a name, for us alone"
[ ! -e "$(cut -d' ' -f3- "$out")" ]
is "$?" 0 "the clip is gone"
hear 'printf " \n "' "$wav"
status_is 1 "nothing was said"
hear 'printf "red \033[31m"' "$wav"
out_is 'red \e[31m' "what a terminal would obey is made visible"
hear 'echo half; exit 3' "$wav"
status_is 2 "a recogniser that fails is an error"
out_empty "no words are printed"
err_is "clip-transcribe: --command: ended with status 3" "and is told of"
hear 'kill -9 $$' "$wav"
err_is "clip-transcribe: --command: ended by signal 9" "how it ended"
hear 'yes' "$wav"
status_is 2 "one that says too much is an error"
hear 'sleep 1000' --timeout 0.3 "$wav"
status_is 75 "one that says nothing has status 75"
hear 'no-such-program' "$wav"
status_is 2 "a command that does not exist is an error"
t 2 "--command and a server exclude each other" clip-transcribe --command 'cat "$1"' -p ears "$wav"
run clip-transcribe --command 'echo hello' -o json "$wav"
is "$(jq -r '[.type, .text, .format, .bytes] | join(" ")' "$out")" "transcript hello wav 20" "a record can be printed"
start ears clip-transcribe --command 'echo $$ >pid; sleep 1000' "$wav"
wait_until 10 test -s pid
is "$?" 0 "it listens"
stop "$pid"
is "$status" 143 "a signal ends it"
wait_until 10 gone "$(cat pid)"
is "$?" 0 "the recogniser ends, too"

hear 'exec >&-; sleep 1000' --timeout 0.3 "$wav"
status_is 75 "one that goes on without an output has status 75"
hear 'sleep 30 & echo $! >left; echo hello' --timeout 10 "$wav"
status_is 0 "one that leaves something running has status 0"
out_is hello "has said what it has"
kill "$(cat left)"
mkfifo pipe
cat "$wav" >pipe &
hear 'wc -c <"$1"' --timeout 10 pipe
out_is 20 "a named pipe is read once"
mkdir scratch
mkfifo live
start live env TMPDIR="$tmp/scratch" clip-transcribe --command 'echo >heard; sleep 1000' live
cat "$wav" >live
wait_until 10 test -s heard
isnt "$(ls scratch)" "" "a clip without a file has one"
stop "$pid"
is "$status $(ls scratch)" "143 " "which a signal takes away, too"

done_testing
