#!/bin/sh
# agent-chat at a terminal: the answer as it streams, notes, and the conversation of -i.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3
TERM=xterm
export TERM

start_gateway claw
chat() { run python3 "$cli/terminal.py" 24x60 agent-chat -p claw --retry-wait 0.1 "$@"; }
# shown: without carriage returns.
shown() { tr -d '\r' <"$out"; }

chat how are you
status_is 0 "a question is answered"
is "$(shown)" "You said: how are you" "an answer at a terminal is the answer and nothing else"
chat tool
is "$(shown)" "$(printf 'Looking. \n\033[2m· exec tide --port KIL\033[0m\n\033[2m· exec tide --port KIL: ok\033[0m\nHigh at 06:12.')" \
  "a tool is a dim line when it begins and ends"
chat --color never tool
is "$(shown | sed -n 2p)" "· exec tide --port KIL" "--color never leaves the colour out"
chat --color never permit
is "$(shown)" "· exec uname -s
· paused: waits
agent-chat: in another terminal: agent-approve -p claw -i
· exec uname -s: ok
Done." "A turn that waits for an approval is told with the command that gives it."
chat --color never permit alone
is "$(shown | sed 1,2d)" "agent-chat: nobody was there to allow it; before the next try, in another terminal: agent-approve -p claw -i
Done." "A turn that was denied because nobody could allow it is told how to."
run agent-chat -p claw permit
is "$(cat "$out" "$err")" "Done." "Nothing is said in a pipe of a turn that waits for an approval."
chat draft
is "$(shown | tail -n 1)" Best "a text that is replaced is shown whole"
like "$(shown)" 'replaced by:' "a word tells that a text was replaced"
chat "$(printf 'tab\there\nline\n\033]52;c;eA==\007 \342\200\256 e\314\201')"
is "$(shown)" "$(printf 'You said: tab\there\nline\n\\e]52;c;eA==\\x07 \\u{202e} e\314\201')" \
  "what a terminal would obey is text; line ends and tabs stay"
chat -o json "$(printf '\033[2J')"
unlike "$(shown)" "$(printf '\033')" "what a terminal would obey is text in records, too"
chat --history
unlike "$(shown | sed 's/\x1b\[2m//g; s/\x1b\[0m//g')" "$(printf '\033')" \
  "what a terminal would obey is text in a history, too"
chat fail
status_is 1 "a turn that fails has status 1"
is "$(shown)" "$(printf 'half\nagent-chat: the agent failed: rate_limit: too many requests')" \
  "a turn that fails leaves what was said, and says why it ended"

# --- as it streams

sit() { # COMMAND...: someone at a terminal, who does what `order` says
  rm -f "$tmp/seat"
  start seat python3 "$cli/clients/seat.py" --control "$tmp/seat" --screen "$tmp/screen" 24x60 "$@"
  wait_until 10 test -S "$tmp/seat" || bail "no seat: $(cat "$tmp/seat.err")"
}
order() {
  perl -MIO::Socket::UNIX -e '
    my $socket = IO::Socket::UNIX->new(Peer => shift) or die "nobody is there: $!\n";
    print $socket "@ARGV\n";
    $socket->flush;
    my $answer = <$socket> // "no answer\n";
    print $answer;
    exit !($answer =~ /^ok/)' "$tmp/seat" "$@"
}

sit agent-chat -p claw --retry-wait 0.1 forever
ok "words are shown while more come" order expect 'and on and on '
tell claw drop
ok "a lost link is told" order expect 'link is down'
ok "a link that is back is told" order expect 'link is back after'
ok "the text goes on when the link is back" order expect 'and on '
order send '\x03' >/dev/null
state=$(order end 20)
like "$state" '"status": 130' "^C ends the command by the signal"
like "$state" '"termios": true' "the terminal is as before after ^C"
ok "^C ends the run at the gateway" has "$tmp/claw.log" '"chat.abort"'

# --- a conversation

history=$XDG_STATE_HOME/agentutils/chat-history
sit agent-chat -i -p claw --retry-wait 0.1 -t talk
ok "a prompt is shown" order expect '> '
order send 'hello\n' >/dev/null
ok "an answer is shown behind a prompt" order expect 'You said: hello'
ok "the prompt comes again" order expect '> '
order send 'abX\x7fcd\n' >/dev/null
ok "a line can be edited" order expect 'You said: abcd'
order expect '> ' >/dev/null
order send '\x1b[A\x1b[A\n' >/dev/null
ok "a line can be taken from the history" order expect 'You said: hello'
order expect '> ' >/dev/null
order send 'gr\xc3\xbcn\n' >/dev/null
ok "a line may be in any language" order expect "$(printf 'You said: gr\303\274n')"
order expect '> ' >/dev/null
order send 'half a li' >/dev/null
order expect 'half a li' >/dev/null
tell claw drop
ok "the link lives while a line is typed" order expect 'link is back after'
ok "a line that was typed is still there when the link is back" order expect '> half a li'
order send 'ne\n' >/dev/null
ok "a line that was typed can be ended when the link is back" order expect 'You said: half a line'
order expect '> ' >/dev/null
order send 'forever\n' >/dev/null
order expect 'and on and on' >/dev/null
order resize 30x70 >/dev/null
ok "a window may change while an answer comes" order expect 'and on and on and on'
order send '\x03' >/dev/null
ok "^C ends an answer" order expect '> '
order send 'still here\n' >/dev/null
ok "the conversation goes on after ^C" order expect 'You said: still here'
order expect '> ' >/dev/null
order send 'fail\n' >/dev/null
ok "a failure is told in the conversation" order expect 'the agent failed: rate_limit'
order expect '> ' >/dev/null
order resize 24x20 >/dev/null
order send '\x04' >/dev/null
state=$(order end 20)
like "$state" '"status": 0' "^D ends the conversation"
like "$state" '"termios": true' "the terminal is as before after ^D"
is "$(stat -c %a "$history" 2>/dev/null || stat -f %Lp "$history")" 600 "what was typed is the user's alone"
is "$(head -n 3 "$history")" 'hello
abcd
hello' "each line of the history stands by itself"
sit agent-chat -i -p claw -t talk first words
ok "words of the command line come first" order expect 'You said: first words'
order expect '> ' >/dev/null
order send '\x1b[A\n' >/dev/null
ok "the history is that of the last time" order expect 'the agent failed'
order expect '> ' >/dev/null
order send '\x03' >/dev/null
state=$(order end 20)
like "$state" '"status": 130' "^C at a prompt ends the conversation by the signal"
like "$state" '"termios": true' "the terminal is as before after ^C at a prompt"

run python3 "$cli/talk.py" agent-chat -p claw -i -t words --color never <<'END'
> |/help
/quit     leave|-
> |/status
You said: /status|-
> | /help
You said: /help|-
> |/helpless
You said: /helpless|-
> |/quit
END
status_is 0 "/quit leaves"
out_like '^ *Ctrl-C +end an answer' "/help shows the keys"
is "$(frames claw chat.send | jq -r 'select(.sessionKey | test("words")).message' | tr '\n' ' ')" \
  "/status /help /helpless " \
  "lines that are not commands go to the agent, and /help with a blank in front"

start_gateway shy --pair
sit agent-chat -i -p shy
order expect 'openclaw devices approve pr-9' >/dev/null
state=$(order end 20)
like "$state" '"status": 77' "a refusal ends a conversation"

done_testing
