#!/bin/sh
# -i: a person at a terminal is asked, sees all that would run, and says no by default.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve jq python3
TERM=xterm
export TERM

start_gateway claw
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
listed() { agent-approve -p claw -l 2>/dev/null | grep -q "\"id\":\"$1\""; }
ask() {
  tell claw ask "$1" "$2"
  wait_until 20 listed "$1" || bail "$1 is not asked"
}
# talk: a conversation of standard input, see talk.py.
talk() { run python3 "$cli/talk.py" agent-approve -p claw -i --color never --retry-wait 0.1; }
shown() { cat "$out"; }

talk <<'END'
nothing waits; ^D ends|^D
END
status_is 0 "that nothing waits is said"

long=$(printf 'x%.0s' $(seq 300))
ask a1 "$(jq -cn --arg long "$long" '{command: "sh -c x", commandArgv: ["sh", "-c", "rm -rf \"$HOME\"; echo it'"'"'s\n\u001b[2Jgone \u202e", $long, "", "a;b", "-f"], cwd: "/srv/my site", host: "gateway\u001b]0;x\u0007", resolvedPath: "/bin/sh", commandPreview: "tidy up", sessionKey: "agent:heron:main", security: "allowlist", env: {A: "1"}, allowedDecisions: ["allow-once", "deny"]}')"
talk <<'END'
allow it once? y, n or later [n] |maybe
spelled out|-
[n] |y
a1 allow-once: accepted|^D
END
status_is 0 "what was approved is accepted"
is "$(resolved)" "a1 allow-once" "the answer is sent"
like "$(shown)" "^  runs     sh -c \\$'rm -rf \"\\\$HOME\"; echo it\\\\'s\\\\n\\\\e\[2Jgone \\\\342\\\\200\\\\256' $long '' 'a;b' -f\$" \
  "the words of a command are shown as a shell reads them, whole"
ok "the words shown are to the byte what would run" \
  test "$(shown | sed -n 's/^  runs     sh -c \(.*\) x*xxx .*/\1/p' | sed 's/^/printf %s /' | bash | od -c)" = \
  "$(printf 'rm -rf "$HOME"; echo it'"'"'s\n\033[2Jgone \342\200\256' | od -c)"
like "$(shown)" '^  command  sh -c x$' "a command that differs from its words is shown too"
like "$(shown)" '^  in       /srv/my site$' "-i tells in which folder"
like "$(shown)" "^  host     \\$'gateway.e\]0;x.007'\$" "-i tells on which machine, made visible"
like "$(shown)" '^  program  /bin/sh$' "-i tells which program"
like "$(shown)" '^  preview  tidy up \(not the command: words about it\)$' \
  "a preview is told apart from the command"
like "$(shown)" '^  env      \{"A": ?"1"\}$' "-i tells whatever else the gateway says"
like "$(shown)" '^  answers  allow-once, deny$' "-i tells what may be answered"
not_ok "no control byte of the request reaches the terminal" grep -q "$(printf '[\033\007\342]')" "$out"

# Enter alone denies; later puts off; another of its answers, spelled out.
ask b1 '{"command":"make a"}'
ask b2 '{"command":"make b"}'
ask b3 '{"command":"make c"}'
talk <<'END'
approval b1|-
[n] |
b1 deny: accepted|-
approval b2|-
[n] |later
approval b3|-
[n] |allow-always
b3 allow-always: accepted|
approval b2|-
[n] |n
b2 deny: accepted|^D
END
status_is 0 "all approvals are answered, some of them later"
is "$(resolved | tail -n 3 | xargs)" "b1 deny b3 allow-always b2 deny" \
  "no is the default, and later comes back"
like "$(shown)" '^  command  make a$' "a line of which the words are not known is called a command"
like "$(shown)" '^  in       not said$' "what is not known is not invented"

# Somebody else answers while it asks; what was being typed is not for the next one.
ask c1 '{"command":"make a"}'
talk <<END
approval c1|-
[n] |!echo 'ask c2 {"command":"make b"}' >"$tmp/claw.fifo"
|y\\c
|!echo 'resolve c1 deny' >"$tmp/claw.fifo"
c1 rejected: deny by someone|-
approval c2|-
[n] |
once more|-
[n] |^D
END
status_is 0 "-i ends when another answers in between"
like "$(shown)" '^approval c1 rejected: deny by someone$' "a question that somebody else answered goes away"
is "$(resolved | grep -c c2)" 0 "what was typed for a question that went away answers no other"
like "$(shown)" '^agent-approve: 1 not answered$' "a question left unanswered is told"
tell claw resolve c2 deny

# The link goes while it asks: the question stays, and the answer counts.
ask d1 '{"command":"make a"}'
talk <<END
approval d1|-
[n] |!echo drop >"$tmp/claw.fifo"
link is down|-
link is back|-
[n] |y
d1 allow-once: accepted|^C
END
status_is 130 "^C ends it by the signal"
is "$(resolved | tail -n 1)" "d1 allow-once" \
  "the link comes back while -i asks, and the answer counts"

t 2 "without a terminal nobody can be asked" agent-approve -p claw -i </dev/null
err_like '^agent-approve: --interactive needs a terminal$' "the message asks for a terminal"
ask e1 '{"command":"make","commandArgv":["make","-j"],"cwd":"/srv"}'
run python3 "$cli/terminal.py" agent-approve -p claw -l --color never
like "$(tr -d '\r' <"$out")" '^  runs     make -j$' "-l on a terminal is for people"
run python3 "$cli/terminal.py" agent-approve -p claw -l -o json --color always
like "$(tr -d '\r' <"$out")" '^\{"type":"approval"' \
  "-l on a terminal prints records where they are wanted"
run python3 "$cli/terminal.py" agent-approve -p claw --deny e1
like "$(tr -d '\r' <"$out")" '^approval e1 deny: .*accepted' "a result on a terminal is for people"
done_testing
