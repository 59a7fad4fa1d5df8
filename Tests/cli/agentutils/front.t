#!/bin/sh
# agentutils: what it shows of this machine, what doctor finds, and that it runs commands.
. "${0%/*}/../lib.sh"
needs agentutils jq tmux

TMUX_TMPDIR=$tmp
export TMUX_TMPDIR
mkdir -p "$XDG_CONFIG_HOME/agentutils"
config=$XDG_CONFIG_HOME/agentutils/config
no_sessions() { for label in riff default; do tmux -L $label kill-server 2>/dev/null; done; }
at_end="$at_end no_sessions"
ends() { [ "$(wc -l <"$out")" -le 24 ] && [ "$(awk '{ if (length > l) l = length } END { print l }' "$out")" -le 80 ]; }

at_least_twice() { [ "$(grep -c "$1" "$out")" -gt 1 ]; }

# --- nothing yet

t 0 "agentutils has status 0 where nothing is" agentutils
out_like 'running +no agent in tmux +tmux-attach \. starts one' \
  "the front page says how an agent is started"
out_like 'configured +nothing yet +agent-setup' "the front page says how an agent is configured"
out_like 'agentutils demo +shows a made-up agent' "the front page names the demonstration"
ok "the front page fits on a screen" ends
for word in agent-pulse agent-chat tmux-attach; do out_like "$word" "the page names $word"; done
t 0 "agentutils help has status 0" agentutils help
for command in $(make -s -C "$root" commands recipes AGENTUTILS_WITHOUT_SERVE=0); do
  out_like "(^| )$command( |\$)" "the list of commands has $command"
done

# --- what is here

tmux -L riff new-session -d -s site 'sleep 1000'
tmux -L riff set-option -t =site: @agent_state waiting
tmux -L default new-session -d -s mine 'sleep 1000'
esc=$(printf '\033')
cat >"$config" <<END
[profile clanky]
url = http://127.0.0.1:1
[profile mine]
kind = pds
url = http://127.0.0.1:1
identifier = did:web:a.test
[host box]
hostname = 127.0.0.1
port = 1
END
echo '{"op":"put","collection":"dev.example.note","rkey":"a","record":{}}' | outbox -p mine add >"$tmp/other"
echo picture >"$tmp/shot.png"
share-inbox add "$tmp/shot.png" >"$tmp/other"
t 0 "what is here is shown" agentutils
out_like 'running +1 session in tmux +tmux-attach -l \.$' "a session of an agent is counted, others are not"
out_like 'clanky \(clanky\) +agent-pulse -p clanky' "a profile is shown with a command for it"
out_like 'mine \(pds\) +task list -p mine' "a profile of another kind is shown with another command"
out_like 'the host box +tmux-attach box' "a host is shown"
out_like ' +1 file in the inbox +share-inbox list' "a file in the inbox waits"
out_like '1 more' "the number of the others that wait is shown"
printf '[profile claw]\nkind = openclaw\nurl = ws://127.0.0.1:1\n' >>"$config"
t 0 "agentutils has status 0 with more than fits" agentutils
out_like 'claw \(openclaw\) +agent-tail -p claw' "a gateway has another command"
out_like '^ +1 more +agentutils doctor' "the number of the other profiles and hosts is shown"
ok "all of it fits on a screen" ends
printf '[profile a%sb]\nurl = http://127.0.0.1:1\n' "$esc" >"$config"
t 0 "an odd name stops nothing" agentutils
not_ok "an escape in a name is not printed" has "$out" "$esc"

# --- doctor

cat >"$config" <<END
[profile clanky]
url = http://127.0.0.1:1
[profile bad]
nonsense
[host box]
hostname = 127.0.0.1
port = 1
END
t 1 "doctor finds what is wrong" agentutils doctor
out_like '^ok +program +tmux' "a program that is there is ok"
out_like "^FAILED +config +.*config:4: " "a line that cannot be understood is named"
not_ok "a line that cannot be understood is named once" at_least_twice "config:4: "
out_like '^FAILED +profile +clanky: .*connect' "a server that does not answer is named"
out_like '^FAILED +host +box: ' "a host that does not answer is named"
out_like '^  agent-setup -p clanky$' "what to type for a profile is said"
out_like '^  tmux-attach --check box$' "what to type for a host is said"
printf 'harness = claude\n[host box]\nurl = http://127.0.0.1:1\nservers = x\nport = 1\nhostname = 127.0.0.1\n[bus a]\nprofile = box\nkind = pds\n' >"$config"
run agentutils doctor
out_like 'config:1: unknown key harness: it belongs under \[host NAME\]$' "a key in front of all sections is sent to its own"
out_like 'config:3: unknown key url: it belongs under \[profile NAME\]$' \
  "a key of a profile is sent to a profile's section"
out_like 'config:4: unknown key servers: it belongs under \[bus NAME\]$' \
  "a key of a bus is sent to a bus's section"
out_like 'config:8: unknown key profile: it belongs in front of all sections$' "the default profile is sent to the top"
: >"$config"
mkdir -p "$HOME/.claude"
t 0 "doctor finds nothing wrong where nothing is" env TERM=dumb agentutils doctor
out_like '^ok +agents +[0-9]+ runs? here \(sleep\): agent-status -p \. shows them$' \
  "doctor says what runs here"
out_like '^missing +config +no agent and no host' "doctor says that nothing is configured"
out_like '^missing +hooks +Claude Code is here' "doctor says that Claude Code tells nothing"
out_like '^missing +terminal +TERM' "doctor says that the terminal shows no screens"
echo '{"hooks":{"Stop":[{"hooks":[{"command":"agent-state idle"}]}]}}' >"$HOME/.claude/settings.json"
run agentutils doctor
out_like '^ok +hooks' "hooks that are there are ok"
serve <<'END'
forever
status 200 application/json {"ok":true}
END
printf '[profile here]\nurl = %s\n' "$url" >"$config"
run agentutils doctor
out_like '^ok +profile +here: ' "a server that answers is ok"

# --- commands

t 0 "a command is run by its name" agentutils agent-tail --version
out_is "$(agent-tail --version)" "the command that is run by its name is the same"
t 2 "what a command says is its own" agentutils agent-tail --nonsense
err_like '^agent-tail: ' "the errors of a command have its name"
t 2 "an unknown word is refused" agentutils agent-tial
err_like 'did you mean agent-tail[?]' "the error names a command that is near"
t 2 "doctor takes no word" agentutils doctor now
t 2 "an unknown option is refused" agentutils --nonsense
t 2 "a full disk is told" sh -c 'agentutils help >/dev/full'
if command -v agent-serve >/dev/null; then
  t 0 "the demonstration runs" agentutils demo 2
  out_like 'An invented agent answers' "the demonstration says what it shows"
  t 2 "seconds that are no number are refused" agentutils demo "1$esc"
  out_empty "nothing is shown of seconds that are not a number"
fi
done_testing
