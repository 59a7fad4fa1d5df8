#!/bin/sh
# agent-say beside the real Claude Code: sixty texts of all kinds, typed while it is idle, while it is at
# work, and while it asks. Each arrives once, as it was typed, or is refused.
. "${0%/*}/lib.sh"
bound=600

mkdir "$tmp/texts" "$tmp/want"
# keep [-refused]: the text on standard input, in a file of its own.
keep() { cat >"$tmp/texts/$(($(find "$tmp/texts" -type f | wc -l) + 101))${1:-}"; }
while IFS= read -r line; do printf '%s' "$line" | keep; done <<'END'
hello
x
y
1
no
Yes
Enter
C-c
Escape Escape
running
"double", 'single', \back and `tick`
one ' quote
one " quote
ends in a backslash \
ends in two \\
\n \t \r \e[31m \x1b \033
$HOME $(id) ${x} %s %d %%
a; b && c | d > e < f
ends in a semicolon;
ends in an escaped semicolon \;
#{pane_id} #[fg=red] #(date) #S
%0 %1 $0 @0
-x --version -- -
-l
{"json": [1, 2, "three"], "four": {"five": null}}
<b>&amp;</b> <!-- no --> </pasted_content>
<pasted_content id="1">not pasted</pasted_content>
~ and ~/x and * and ? and [a-z]
äöü ß € é
e\u0301 é é
😀 👩‍👩‍👧 🇩🇪 🏳️‍🌈
日本語 한국어 中文
עברית العربية
zero​width and soft­hyphen
no-break blank and thin blank
a    b     c
what is in @README.md please
mail ada@example.test
ends in an at @
ends in a name @READ
ends in a path @/tmp/
tell me: what is 1 + 1?
/tmp/x is what I mean
https://example.test/a?b=c&d=%20#e
what about ! this
#1 is the first
END
printf '  blanks in front' | keep
printf 'blanks behind   \n\n' | keep
printf 'a\tb\tc' | keep
printf 'one\ntwo' | keep
printf 'one\n\nthree' | keep
printf 'one\ntwo\nthree\nfour' | keep
printf '\n\nfirst\n  indented\n\tdeeper\n' | keep
# shellcheck disable=SC2016
printf '```sh\nif [ "$x" = 1 ]; then\n  echo \\\n    two\nfi\n```\n' | keep
printf 'ends \\\nin \\\nbackslashes \\' | keep
printf -- '- one\n- two\n  - three\n- four\n\n> said\n' | keep
# of LENGTH WORD: one line of words, so long.
of() { perl -e 'binmode STDOUT, ":utf8"; use utf8; utf8::decode($ARGV[1]); print substr(join(" ", map { "$ARGV[1]$_" } 0 .. $ARGV[0]), 0, $ARGV[0])' "$@"; }
for length in 799 800 801 1600 1601 12000; do of "$length" word | keep; done
of 900 'ü' | keep
of 1700 '😀' | keep
awk 'BEGIN { for (i = 1; i <= 200; i++) printf "line %d of a long text, \"quoted\"\n", i }' | keep
printf 'a line\n  ! not run' | keep -refused
printf '!touch ran' | keep -refused
printf ' \t!touch ran' | keep -refused
printf 'a \033[31mred one' | keep -refused
printf 'not \377 UTF-8' | keep -refused

claude_in "$box_folder"
# What is to arrive: Claude Code makes four blanks of a tab, keeps its own marks apart, and leaves out
# what nobody sees.
for file in "$tmp/texts"/*; do
  perl -0777 -CSD -pe 's/^\s+|\s+$//g; s/\t/    /g; s{<(?=/?pasted_content)}{<\\}g; s/[\x{ad}\x{200b}]//g' "$file" >"$tmp/want/${file##*/}" 2>"$tmp/other"
done
# arrived FILE: how often it reached the model behind the first $before requests.
arrived() {
  tail -n "+$((before + 1))" "$requests" |
    jq -s --rawfile want "$tmp/want/${1##*/}" 'map(select(.prompt == $want)) | length'
}
once() { [ "$(arrived "$1")" = 1 ]; }
pasted() { tail -n 1 "$requests" | jq -r '.user | tostring' | grep -q '<pasted_content id=\\"[0-9a-f-]*\\">\\n'; }
name() { printf '%s %s' "${1##*/}" "$(head -c 40 "$1" | LC_ALL=C tr -c '[:print:]' ' ')"; }
say() {
  agent-say -q --max-wait 30 "$@" . <"$file" 2>"$tmp/why"
  status=$?
}

# reaches SITUATION: what was typed before the model is told nothing but that, and once.
reaches() {
  is "$status$(cat "$tmp/why")" 0 "$1: typed: $(name "$file")"
  ok "it arrives once, as it was" wait_until 15 once "$file"
  once "$file" || diag "$(cat "$tmp/why") $(tail -n 1 "$requests" | jq .prompt | head -c 300)"
  not_ok "as what the person said" pasted
  wait_until 15 stands idle
}

for file in "$tmp/texts"/*; do
  case $file in *-refused) continue ;; esac
  before=$(lines "$requests")
  say --when-idle
  reaches idle
  is "$(($(lines "$requests") - before))" 1 "and nothing else does"
  agent-say -q --return-delay 0.1 . -- slow 1
  wait_until 10 stands working
  before=$(lines "$requests")
  say
  reaches busy
done
for file in "$tmp/texts"/*-refused; do
  before=$(lines "$requests")
  say --when-idle
  is "$status" 2 "idle: refused: $(name "$file")"
  agent-say -q --return-delay 0.1 . -- slow 1
  wait_until 10 stands working
  say
  is "$status" 2 "busy: refused"
  wait_until 15 stands idle
  is "$(($(lines "$requests") - before))" 1 "and told to nobody"
done

# --- into what it asks
# into STATE: all texts, while it stands so.
into() {
  wait_until 30 stands "$1" || bail "it does not ask"
  before=$(lines "$requests")
  for file in "$tmp/texts"/*; do
    say
    case $status in 75 | 2) pass "$1: not typed: $(name "$file")" ;; *) fail "$1: $status: $(name "$file")" ;; esac
  done
  ok "it still asks" stands "$1"
  is "$(lines "$requests")" "$before" "nothing has reached the model"
  keys Escape
  wait_until 30 stands idle
}
agent-say -q . -- run touch /tmp/elsewhere/y
into "waiting permission prompt"
agent-say -q . -- ask
into "waiting input needed"
agent-say -q . -- /model
into "waiting dialog open"
not_ok "nothing was run" test -e /tmp/elsewhere/y
not_ok "anywhere" test -e "$box_folder/ran"
done_testing
