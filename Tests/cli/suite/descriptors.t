#!/bin/sh
# A program that a command starts has its standard descriptors and no others: none of the
# command's own, and none that the command was given.
. "${0%/*}/../lib.sh"
needs sse-tail jq perl python3
cd "$tmp" || bail "no $tmp"

# look: notes which descriptors are open in it, a line each time.
cat >look <<END
#!/bin/sh
exec perl -e 'open(my \$file, "<&=", \$_) and push(@found, \$_) for 3 .. 200;
  open(my \$seen, ">>", "$tmp/seen"); print \$seen "open: @found\\n"'
END
chmod +x look
# given COMMAND...: with two descriptors more, as other programs leave them open.
exec 7</dev/null 8>>given.txt
given() {
  : >seen
  run "$@"
}
alone() { is "$(sort -u seen)" "open: " "$1: no other descriptor is open"; [ -s seen ] || diag "$(cat "$err")"; }
./look
like "$(cat seen)" "^open: 7 8" "a descriptor that is left open would be seen"

# --- what tells a token
serve <<'S'
on /api/activity/events
forever
stream
send id: 7\ndata: x\n\n
---
on /xrpc/com.atproto.server.describeServer
forever
status 200 application/json {"did":"did:web:x","availableUserDomains":[]}
---
on /api/health
forever
status 200 application/json {"ok":true}
S
umask 077
config=$XDG_CONFIG_HOME/agentutils/config
for kind in clanky pincer openclaw joelclaw pds; do
  printf '[profile %s]\nkind = %s\nurl = %s\ntoken-command = %s/look; echo x\n' "$kind" "$kind" "$url" "$tmp"
done >"$config"
printf 'identifier = a.test\n[profile voice]\nkind = riff\nurl = %s\nsecret-command = %s/look; echo x\n' "$url" "$tmp" >>"$config"
echo RIFF >clip.wav
while read -r words; do
  # shellcheck disable=SC2086  # words
  given $words
  alone "$words"
done <<'END'
agent-call -p clanky health
agent-call -p pincer --max-time 2 threads
agent-call -p openclaw --max-time 2 agents
agent-call -p joelclaw --max-time 2 get health
sse-tail -n 1 -p clanky activity
agent-tail -n 1 -p clanky
clip-transcribe -p voice clip.wav
pds-record -p pds --max-retries 0 login
END

# --- an editor, and what judges, hears, says and delivers
start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
EDITOR=$tmp/look AGENT_URL=$url given mem-search --edit 611 --yes
alone "an editor"
given clip-transcribe --command ./look clip.wav
alone "clip-transcribe --command"
mkdir mail mail/cur mail/new mail/tmp
printf 'From: a@b.example\nSubject: x\n\nx\n' >mail/new/1
given mail-triage --exec ./look mail
alone "mail-triage --exec"
given reply-narrate --exec ./look "$root/Tests/fixtures/transcript.ndjson"
alone "reply-narrate --exec"
echo '{"urgency":"emergency","category":"x","title":"fire"}' >fire
given sh -c 'agent-notify --exec ./look <fire'
alone "agent-notify --exec"
echo text >file.txt
run share-inbox --inbox box add file.txt
given share-inbox --inbox box --exec ./look drain
alone "share-inbox --exec"
mkdir programs
ln -s "$tmp/look" programs/gzip
ln -s "$tmp/look" programs/ssh
printf '\037\213rest' >packed.gz
given env PATH="$tmp/programs:$PATH" action-filter packed.gz
alone "a decompressor"
given env PATH="$tmp/programs:$PATH" tmux-attach --transport ssh -l box.invalid
alone "ssh"
done_testing
