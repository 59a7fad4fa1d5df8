#!/bin/sh
# action-format on a terminal: colour, width, the line of stats; and text that
# means harm.
. "${0%/*}/../lib.sh"
needs python3 perl jq

cd "$tmp" || exit 1
terminal="python3 $cli/terminal.py"
awk '/^event: /{event=substr($0,8)} /^data: /{print "{\"event\":\"" event "\",\"id\":\"\",\"data\":" substr($0,7) "}"}' \
  "$cli/servers/recorded/activity.sse" >wrapped
jq -c 'select(.event == "action_event").data' wrapped >bare
esc=$(printf '\033')
coloured() { grep -q "$esc\[" "$1"; }
# The terminal's own CR before each LF is not ours.
screen() { tr -d '\r' <"$out"; }

run action-format bare
not_ok "a pipe gets no colour" coloured "$out"
run action-format --color always bare
ok "--color always colours a pipe" coloured "$out"
NO_COLOR=1 TERM=dumb run action-format --color always bare
ok "--color always colours a pipe whatever the environment says" coloured "$out"
TERM=xterm run $terminal action-format bare
ok "a terminal has colour" coloured "$out"
like "$(screen)" "$esc\[35m◆" "the colour of a plain terminal is one of 16"
TERM=xterm-256color run $terminal action-format bare
like "$(screen)" "$esc\[38;5;[0-9]+m◆" "the colour of xterm-256color is one of 256"
TERM=xterm COLORTERM=truecolor run $terminal action-format bare
like "$(screen)" "$esc\[38;2;139;92;246m◆" "the colour of a truecolor terminal is the exact one"
like "$(screen)" "$esc\[1;38;2;220;38;38m✗" "failures are in the dashboard's red"
TERM=xterm NO_COLOR=1 run $terminal action-format bare
not_ok "NO_COLOR is heeded" coloured "$out"
TERM=xterm NO_COLOR='' run $terminal action-format bare
ok "an empty NO_COLOR is not heeded" coloured "$out"
TERM=dumb run $terminal action-format bare
not_ok "a dumb terminal has no colour" coloured "$out"
TERM=xterm run $terminal action-format --color never bare
not_ok "--color never leaves the colour out" coloured "$out"

# Width in cells, by an implementation of its own.
cat >wide.py <<'END'
import sys, unicodedata
limit, most = int(sys.argv[1]), 0
for line in sys.stdin.read().replace("\r", "").split("\n"):
    cells = sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Cf")
        else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
    most = max(most, cells)
print(most)
sys.exit(0 if most <= limit else 1)
END
for width in 20 41 80 133; do
  TERM=dumb run $terminal "24x$width" action-format bare
  ok "no row is wider than a terminal of $width columns" python3 wide.py "$width" <"$out"
  python3 - "$width" >cjk <<'END'
import json
for text in ("漢字" * 200, "e\u0301" * 200, "한글 words " * 90, "🌊" * 300):
    print(json.dumps({"kind": "sent_reply", "content": text}))
END
  run action-format -W "$width" cjk
  ok "wide text is not wider than -W $width, either" python3 wide.py "$width" <"$out"
  is "$(lines "$out")" 4 "each wide text has one row with -W $width"
done
run action-format -W 70 cjk
like "$(head -n 1 "$out")" '漢…$' "a cut row ends in an ellipsis"
like "$(sed -n 2p "$out")" "$(printf 'e\314\201…$')" "a cut row keeps accents with their letters"
run action-format bare
out_like 'xxxxxxxxxxxxx$' "a pipe cuts nothing"
ok "2100 characters are not cut in a pipe, either" \
  python3 -c 'import sys; sys.exit(max(map(len, open(sys.argv[1]))) < 2100)' "$out"

# Nothing from outside is obeyed: with every escape of ours taken away there is
# no control left, in no place that text can come from.
python3 - >hostile <<'END'
import json
bad = ["\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x9b31m\x90q\x9c", "\x7f\x00\x08\r\n\x0b", "\u202egpj.exe\u2066x\u2069",
       "\u2028\u2029\u061c\u200e\ufeff", "\ud800 half"]
kinds = ["llm_call", "llm_tool_call", "sent_reply", "voice_runtime", "voice_turn_in", "memory_fact", "bot_error",
         "search_call", "browser_tool_step", "automation_created", "asr_call", "image_call", "reacted", "nobody_knows"]
names = ["model", "provider", "toolNames", "toolName", "transcript", "speakerName", "error", "query", "factType",
         "subject", "tool", "stopReason", "title", "channelName", "status", "systemPrompt", "schedule", "reason", "heard"]
for text in bad:
    for kind in kinds:
        meta = {name: text for name in names}
        meta[text] = {text: [text, {text: text}]}
        meta["toolCalls"] = [{"name": text, "input": {text: text}}]
        print(json.dumps({"kind": kind, "content": text, "createdAt": text, "guildId": text, "channelId": text, "userId": text, "level": text, text: text, "metadata": meta}))
    print(json.dumps({"kind": text, "metadata": text}))
    print(json.dumps({"type": "lost", "reason": text, "time": text}))
    print(json.dumps({"type": "gap", "after": text, "before": text}))
    print(json.dumps({"event": "stats_update", "id": text, "data": {"stats": {"last24h": {text: 3}, "dailyCost": [{"day": text, "usd": 1}]}, "runtime": {"voice": {"sessions": [{"participants": [{"userId": text, "displayName": text}]}]}}}}))
END
printf '{"kind":"x","content":"raw \233 \377 \303( \355\240\200 bytes"}\n' >>hostile
cat >harmless.pl <<'END'
undef $/;
my $text = <STDIN>;
$text =~ s/\x1b\[[0-9;]*m//g;
exit($text =~ /[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|\xef\xbb\xbf/ ? 1 : 0);
END
for options in "" "-x" "-x -W 40" "--stats -t" "-x --stats --color always"; do
  # shellcheck disable=SC2086  # several words
  t 0 "hostile text is read with '$options'" action-format $options hostile
  ok "nothing of hostile text is obeyed with '$options'" perl harmless.pl <"$out"
  ok "hostile text comes out as UTF-8 with '$options'" \
    perl -MEncode -e 'undef $/; decode("UTF-8", <STDIN>, Encode::FB_CROAK)' <"$out"
done
printf '%s\n' "$(printf 'bad\033[31m \302\233')" >"$(printf 'odd\033[31mname')"
run action-format odd*
err_like '^action-format: odd\\e\[31mname:1: ' "a file's name in a message is made visible, too"

# The line of stats.
run action-format --stats wrapped
is "$(tail -n 1 "$out" | cut -d' ' -f1)" today "in a pipe the stats are the last line"
out_like '^today \$[0-9.]+ · total \$0\.08 .*voice_error 1.*llm_call 2' \
  "the line of stats has cost and counts"
is "$(grep -c '^today' "$out")" 1 "the line of stats stands once, as a file has no pauses"
run action-format wrapped
out_unlike '^today' "the line of stats is not shown without --stats"

mkfifo feed
start live sh -c 'exec action-format --stats <feed'
exec 9<>feed
grep stats_update wrapped | head -n 1 >&9
ok "the line of stats is written in a pause" wait_until 30 has "$tmp/live.out" '^today'
grep stats_update wrapped | head -n 1 >&9
echo '{"kind":"a","content":"marker"}' >&9
ok "the feed goes on" wait_until 30 has "$tmp/live.out" marker
exec 9>&-
finished "$pid"
is "$(grep -c '^today' "$tmp/live.out")" 1 "the same counters are not said twice"

TERM=xterm run $terminal 24x100 action-format --stats --color never wrapped
like "$(screen | tail -n 1)" '^today .* total' \
  "a terminal has the line of stats as the last row at the end"
TERM=dumb run $terminal 24x100 action-format --stats wrapped
unlike "$(screen)" "$esc" "a dumb terminal does not have the line of stats in place"

# In place: a real terminal shows the rows and the line below them, and at the
# end, by itself or by a signal, nothing of the line is left.
if command -v tmux >/dev/null 2>&1; then
  mux() { tmux -S "$tmp/tmux" -f /dev/null "$@"; }
  shown() { mux capture-pane -p -t format >"$tmp/pane" 2>/dev/null && has "$tmp/pane" "$1"; }
  gone_from() { mux capture-pane -p -t format >"$tmp/pane" 2>/dev/null && ! has "$tmp/pane" "$1"; }
  # Read and write: the shell must not wait for a reader. The first session
  # keeps the server, which would end with its last one.
  mux new-session -d -s keep cat
  for end in eof INT TERM; do
    rm -f format.pid
    mux new-session -d -x 100 -y 30 -s format \
      "sh -c 'echo \$\$ >format.pid; exec action-format --stats <feed'; echo ended; cat"
    exec 9<>feed
    grep stats_update wrapped | head -n 1 >&9
    ok "the line of stats is drawn before $end" wait_until 30 shown '^today'
    echo '{"kind":"a","content":"a row above"}' >&9
    ok "a row appears above the line of stats before $end" wait_until 30 shown 'a row above'
    like "$(grep -v '^ *$' "$tmp/pane" | tail -n 1)" '^today' \
      "the line of stats stays below the row before $end"
    is "$(grep -c '^today' "$tmp/pane")" 1 "the line of stats stands there once before $end"
    case $end in
    eof) exec 9>&- ;;
    *) kill "-$end" "$(cat format.pid)" ;;
    esac
    ok "$end ends it" wait_until 30 shown '^ended'
    ok "nothing of the line of stats is left after $end" gone_from '^today'
    ok "the row stays after $end" has "$tmp/pane" 'a row above'
    exec 9>&-
    mux kill-session -t format
  done
  mux kill-server 2>/dev/null
else
  skip 21 "no tmux"
fi

done_testing
