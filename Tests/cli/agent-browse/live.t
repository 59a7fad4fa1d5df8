#!/bin/sh
# agent-browse: what happens while one looks.
. "${0%/*}/../lib.sh"
. "${0%/*}/../browser.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
needs curl

serve_agent home
home=$url
serve_agent work
printf '[profile home]\nurl = %s\n[profile work]\nurl = %s\n' "$home" "$url" \
  >"$XDG_CONFIG_HOME/agentutils/config"
post() { curl -sf --data-binary "{\"kind\":\"$2\",\"content\":\"$3\"}" "$1/api/actions" >/dev/null; }
for number in 1 2 3; do post "$home" note "before$number"; done

browse -p home
ok "the history is on the screen" wait_until 20 shows '^> .*before3'
ok "the rows of the only profile have no name" hides ' home '
post "$home" note live1
ok "what happens comes below the history" wait_until 20 shows '^> .*live1'
keys Up
ok "moving up pauses the list" wait_until 20 shows '^paused >'
post "$home" note live2
kept() { grep -q live2 "$tmp"/made/agent-browse.*/all; }
ok "what happens in a pause is kept" wait_until 20 kept
ok "what happens in a pause is not shown" hides live2
ok "the pointer stays in a pause" shows '^> .*before3'
keys C-s
ok "Ctrl-S lets the list go on" wait_until 20 shows 'live2'
ok "the prompt does not say any more that the list is paused" wait_until 20 shows '^> *$'
keys C-s
ok "Ctrl-S pauses the list a second time" wait_until 20 shows '^paused >'
post "$home" other live3
keys C-o
ok "choosing a kind lets the list go on, too" wait_until 20 shows '^note > *$'
ok "the list then has the rows of one kind" wait_until 20 shows '^. 5/5 '
post "$home" note live4
post "$home" other live5
ok "new rows of that kind come" wait_until 20 shows '^. 6/6 '
ok "no row of another kind is shown" hides 'live[35]'
keys Escape
ok "Escape leaves the browser" wait_until 20 left
no_feed() { ! ps -e -o args= | grep -qE "^(sse-tail|agent-tail|tail).*( -p home|$tmp)"; }
ok "what was started is gone" wait_until 20 no_feed
ok "nothing is left when Escape leaves" nothing_left

# Two agents.
post "$url" note elsewhere
browse --print -p home,work
ok "the rows of both agents are there" wait_until 20 shows '^. work .*elsewhere'
ok "each row has the name of its agent" shows '^. home .*live5'
post "$home" note live6
ok "what one of two agents does is shown" wait_until 20 shows '^> home .*live6'
keys C-o
wait_until 20 shows '^note > *$'
keys Escape
wait_until 20 left
is "$(cat "$tmp/printed")" "agent-pulse --records -p home,work -n 2000 | action-filter -k note | action-format" \
  "the pipeline names several agents"

# A stream on standard input, which goes on.
mkfifo "$tmp/feed"
exec 9<>"$tmp/feed"
browse
echo '{"kind":"a","content":"first"}' >&9
ok "a record of a pipe is shown at once" wait_until 20 shows '^> .*first'
echo '{"type":"lost","reason":"reset","retry_in":3}' >&9
ok "what happens to the stream is a row, too" wait_until 20 shows '^> .*stream lost .*reset'
exec 9>&-
keys Escape
ok "Escape leaves a stream that goes on" wait_until 20 left
rm "$tmp/feed"

# No agent: told, not an empty screen.
printf '[profile gone]\nurl = http://127.0.0.1:9\ntoken-file = /nowhere\n' \
  >"$XDG_CONFIG_HOME/agentutils/config"
browse -p gone
ok "an agent that cannot be followed ends the browser" wait_until 20 left
isnt "$(cat "$tmp/status")" 0 "the status of an agent that cannot be followed is an error"
ok "the reason why an agent cannot be followed is shown" \
  wait_until 20 shows '^agent-browse: .*/nowhere'
ok "nothing is left of an agent that cannot be followed" nothing_left

done_testing
