#!/bin/sh
# agent-browse: the keys, in a real terminal, on recorded actions that mean harm.
. "${0%/*}/../lib.sh"
. "${0%/*}/../browser.sh"

cd "$tmp" || exit 1
python3 - >day.ndjson <<'END'
import json
odd = "k$(touch evil)'\"`touch evil`\x1b[2J"
for number in range(60):
    kind = ("llm_call", "sent_reply", odd)[number % 3]
    print(json.dumps({
        "id": "'%d\"$(touch evil)\n#(touch evil)\t\x1b[31m" % number, "kind": kind,
        "created_at": "2026-01-01T00:00:%02d.000Z" % number, "content": "number%d" % number,
        "channel_id": "chan'$(touch evil)%d" % (number % 2),
        "metadata": {"note": "note%d; touch evil; {1} {q} #(touch evil)" % number}}))
END

browse day.ndjson
ok "the newest row is next to the prompt" wait_until 20 shows '^> .*number59'
ok "the rows before the newest are above it" shows 'number50'
ok "the detail of a row is below" wait_until 20 shows 'note +note59; touch evil; \{1\} \{q\}'
ok "the detail has the odd id made visible" shows "id +'59.*touch evil"
ok "the keys are named" shows 'Enter detail  Ctrl-S pause.*\? keys'

keys number6
ok "words search the rows" wait_until 20 shows '^  1/60 '
ok "words choose the detail, too" wait_until 20 shows 'note6;'
keys Enter
ok "Enter shows the whole detail in less" wait_until 20 shows '^\(END\)|^:'
ok "the detail in less begins at its top" shows '^ *[0-9a-z]+ .*number6'
keys C-c
# An interrupt makes less forget what was typed.
hears() {
  keys '='
  shows '(lines|line|byte) '
}
ok "an interrupt does not end less" wait_until 20 hears
keys q
ok "q comes back from less" wait_until 20 shows '^  1/60 '

keys C-o
ok "Ctrl-O leaves only this kind" wait_until 20 shows '^llm_call?.*> number6'
keys C-u
ok "a kind that is chosen has a third of the rows" wait_until 20 shows '^  20/20 '
keys C-x
ok "Ctrl-X shows the pipeline" \
  wait_until 20 shows 'filter -u day.ndjson \| action-filter -k (llm_call|.k)'
keys C-o
ok "Ctrl-O again brings back all kinds" wait_until 20 shows '^  60/60 '
keys C-o
ok "an odd kind can be chosen" wait_until 20 shows '^k.\(touch evil.*> *$'
ok "an odd kind is chosen as it is" wait_until 20 shows '^  20/20 '
ok "the rows of an odd kind have their detail" wait_until 20 shows 'note59;'
keys C-t
ok "an odd channel can be chosen as well" wait_until 20 shows '^  10/10 '
keys '?'
ok "? tells the keys" wait_until 20 shows 'Ctrl-S +pause'
keys Escape
ok "Escape leaves the browser" wait_until 20 left
is "$(cat status)" 0 "Escape leaves with status 0"
is "$(cat printed)" "" "nothing is printed when Escape leaves"
ok "nothing is left when Escape leaves" nothing_left
ok "no text of the records was a command" test ! -e evil -a ! -e made/evil

# What is printed shows the same.
browse --print day.ndjson
wait_until 20 shows '^> .*number59'
keys C-o
wait_until 20 shows '^  20/20 '
keys C-t
wait_until 20 shows '^  10/10 '
keys "number5 !number53"
ok "words leave few rows" wait_until 20 shows '^  2/10 '
keys C-c
ok "an interrupt leaves the browser" wait_until 20 left
run sh printed
is "$(grep -o 'number[0-9]*' "$out" | xargs)" "number5 number59" \
  "the pipeline that --print prints selects what was shown"
ok "the pipeline that --print prints runs nothing else" test ! -e evil
browse --print -k 'llm_*' -F "number2" day.ndjson
wait_until 20 shows '^> .*number2[47]'
keys Escape
wait_until 20 left
is "$(cat printed)" "action-filter -u -k 'llm_*' -F number2 day.ndjson | action-format" "words that a shell reads are quoted"
browse --print -v -F "nobody
" day.ndjson
wait_until 20 shows '^> .*number59'
keys Escape
wait_until 20 left
is "$(cat printed)" "action-filter -u -v -F 'nobody
' day.ndjson | action-format" "a word of two lines is quoted"

# The newest come first.
reversed() { sed '1!G;h;$!d' day.ndjson; }
reversed >backwards.ndjson
browse backwards.ndjson
ok "the newest row is next to the prompt of a list that begins with it, too" \
  wait_until 20 shows '^> .*number59'
ok "the rows before the newest are above it in such a list, too" shows 'number50'
keys C-o
ok "one kind can be chosen in a list that begins with the newest, too" \
  wait_until 20 shows '^  20/20 '
ok "the rows of one kind stay in their order" shows '^> .*number59'
keys Escape
wait_until 20 left
mkfifo feed
exec 9<>feed
browse
reversed >&9
ok "the newest row of a pipe is next to the prompt, too" wait_until 20 shows '^> .*number59'
exec 9>&-
keys Escape
wait_until 20 left
rm feed

# Signals.
for signal in TERM HUP; do
  browse day.ndjson
  wait_until 20 shows '^> .*number59'
  folder=$(echo made/agent-browse.*)
  like "$(ls -ld "$folder")" '^drwx------' \
    "the folder of the browser is for nobody else before $signal"
  kill -s "$signal" "$(ps -e -o pid= -o ppid= | awk -v up="$(mux display-message -p -t =look: '#{pane_pid}')" \
    '$2 == up { print $1; exit }')"
  ok "$signal ends the browser" wait_until 20 left
  is "$(kill -l "$(cat status)")" "$signal" "the browser ends by the signal $signal"
  ok "nothing is left after $signal" nothing_left
done

# Without a screen.
run agent-browse -k llm_call,sent_reply --filter 'llm number1' day.ndjson
is "$status $(grep -o 'number[0-9]*' "$out" | xargs)" \
  "0 number12 number15 number18" "--filter prints what fits"
if [ -c /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'agent-browse --filter number day.ndjson >/dev/full'
  err_like '^agent-browse: standard output: [Nn]o space left on device$' \
    "the message says that the disk is full"
  err_one_line agent-browse "the message is one line"
fi
run sh -c '{ agent-browse --filter number day.ndjson; echo $? >&2; } | true'
err_is 141 "a reader that leaves ends it by SIGPIPE"
run agent-browse --filter=number59 -F number5 day.ndjson
is "$(lines "$out")" 1 "--filter works with a sign, and before other options"
t 1 "the status is 1 when nothing fits" agent-browse --filter nowhere day.ndjson
run sh -c 'agent-browse --filter number59 <day.ndjson'
is "$(lines "$out")" 1 "--filter reads standard input, too"
browse -k nothing_like_it day.ndjson
ok "the browser does not start when nothing is selected" wait_until 20 left
is "$(cat status)" 1 "the status is 1 when nothing is selected"
ok "the message says that nothing is selected" shows '^agent-browse: nothing is selected'
t 2 "an option without its argument is refused" agent-browse -k
err_like '^agent-browse: option -k needs an argument' "the message names the option"
run agent-browse -p
err_like '^agent-browse: option -p needs an argument: NAME' \
  "an option of our own without its argument is refused"
run perl -MPOSIX -e 'setsid() or fork && exit; setsid(); exec @ARGV' agent-browse day.ndjson
err_is "agent-browse: no terminal: --filter WORDS prints without one" "the browser needs a terminal"
ok "nothing is left without a terminal" nothing_left


# What goes wrong is told in its own name.
for words in '--filter x yesterday' 'yesterday' '--filter x day.ndjson yesterday'; do
  # shellcheck disable=SC2086  # words
  run agent-browse $words </dev/null
  case $words in
  yesterday) want="agent-browse: no terminal: --filter WORDS prints without one" ;;
  *) want="agent-browse: yesterday: no such file or directory" ;;
  esac
  is "$status $(cat "$err")" "2 $want" "agent-browse $words names what is wrong"
done
wide=160 browse day.ndjson
ok "on a wide screen the detail is beside the rows" wait_until 20 shows '^  .*number50.*│ .*│$'
at_top() { screen && head -n 2 "$tmp/screen" | grep -q '│ .*? k'; }
ok "the detail begins in the first rows of the screen" wait_until 20 at_top
keys Enter
ok "in less the detail has all of the screen" wait_until 20 shows '^\(END\)|^:'
keys q
keys Escape
wait_until 20 left
high=16 browse day.ndjson
ok "the counter of fzf covers nothing of the detail" wait_until 20 shows '^│ .*number59 .*…  +1/[0-9]+│'
keys Escape
wait_until 20 left
browse yesterday
ok "a file that is missing ends the browser" wait_until 20 left
ok "a file that is missing is told on the screen" \
  shows '^agent-browse: yesterday: no such file or directory'
is "$(cat status)" 2 "a file that is missing is an error"
run agent-browse --filter number5 day.ndjson
is "$status $(lines "$out")" "0 11" "words are looked for without a screen"
run agent-browse --filter nothing day.ndjson
is "$status$(cat "$out" "$err")" 1 "the status is 1 when nothing fits"
run sh -c 'agent-browse --filter number5 day.ndjson >/dev/full'
is "$status $(cat "$err")" "2 agent-browse: standard output: no space left on device" \
  "a full disk is told"
for words in --count '--by kind' --total -q '-o user_id' --contents --pack '-R file' '-p a,' '-p ,' '-p a,,b'; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-browse $words is refused" agent-browse --filter x $words day.ndjson </dev/null
  like "$(head -n 1 "$err")" '^agent-browse: ' "agent-browse $words is refused by our name"
  like "$(sed -n 2p "$err")" '^usage: agent-browse ' "our usage is shown for agent-browse $words"
done
run agent-browse --filter x -p
is "$status $(head -n 1 "$err")" "2 agent-browse: option -p needs an argument: NAME,..." "an option without its argument is told"
done_testing
