#!/bin/sh
# One table: every command, in every place where commands are put to the test.
# Each has an answer to print; what differs is where it prints it, and what is there
# of a home, a terminal and a language.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day.ndjson"
umask 077
echo sample-token >"$tmp/token"
echo 0123456789abcdef0123456789abcdef >"$tmp/secret"
serve_agent serve --token-file "$tmp/token" --ingest "$tmp/day.ndjson"
serve=$url
start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
memory=$url
printf '%s\n' forever switch 'frame 81 "hello"' listen >"$tmp/socket"
start_server socket python3 "$cli/servers/raw.py" "$tmp/socket" "$tmp/socket.log"
socket=ws${url#http}
printf '%s\n' forever 'status 200 application/json {"handle":"a.test"}' >"$tmp/pds"
start_server pds python3 "$cli/servers/raw.py" "$tmp/pds" "$tmp/pds.log"
pds=$url
start_server claudio python3 "$cli/servers/claudio.py"
mkdir -p "$tmp/chat/agentutils"
printf '[profile c]\nkind = openclaw\nurl = %s\n' "$url" >"$tmp/chat/agentutils/config"
mkdir -p "$tmp/claw/agentutils"
mkfifo "$tmp/asked"
start_server claw python3 "$cli/servers/gateway.py" --control "$tmp/asked"
echo 'ask a1 {"command":"make","commandArgv":["make"],"cwd":"/srv"}' >"$tmp/asked"
printf '[profile a]\nkind = openclaw\nurl = %s\n' "$url" >"$tmp/claw/agentutils/config"
. "${0%/*}/../bus.sh"
start_bus bus
echo '{"kind":"note"}' | bus-put -s "$bus" --create || bail "nothing comes onto the bus"
start_sshd
rtmux new-session -d -s riff 'exec sleep 1000'
share-inbox add -q --inbox "$tmp/inbox" "$tmp/token" || bail "nothing comes into the inbox"
echo hello >"$tmp/words"
# The state folder is no affair of this test: what needs one is told where.
# shellcheck disable=SC2154  # of ssh.sh
box="-i $id --pins $tmp/pins -P $port $remote_user@127.0.0.1"
# shellcheck disable=SC2086
tmux-attach -l $box >/dev/null 2>&1 || bail "the box cannot be reached"

echo '{"op":"prompt","text":"hello"}' |
  XDG_CONFIG_HOME=$tmp/claw XDG_STATE_HOME=$tmp/claw outbox -p a add >/dev/null ||
  bail "nothing comes into the outbox"
echo '{"urgency":"urgent","category":"test","title":"hello"}' >"$tmp/notice"
printf 'From: ada@example.com\nSubject: hello\n\nhello\n' >"$tmp/mail"

echo '{"uri":"at://a.test/dev.joelclaw.task.item/3k","value":{"title":"call Ada"}}' >"$tmp/tasks"

# NAME: what is run, by sh.
table="
sse-tail       AGENT_URL=$serve AGENT_TOKEN_FILE=$tmp/token sse-tail -n 1 activity
ws-tail        ws-tail -n 1 $socket
agent-tail     AGENT_URL=$serve AGENT_TOKEN_FILE=$tmp/token agent-tail -n 1
agent-chat     XDG_CONFIG_HOME=$tmp/chat agent-chat -p c tides
action-filter  action-filter -n 3 $tmp/day.ndjson
action-format  action-format $tmp/day.ndjson
turn-format    turn-format $root/Tests/fixtures/turns.ndjson
turn-fold      turn-fold $tmp/day.ndjson
agent-notify   agent-notify --route $tmp/day.ndjson
agent-notify   sh -c 'exec agent-notify --to line <$tmp/notice'
mail-triage    mail-triage $tmp/mail
voice-state    voice-state $tmp/day.ndjson
agent-approve  XDG_CONFIG_HOME=$tmp/claw XDG_STATE_HOME=$tmp/claw agent-approve -p a -l
agent-call     AGENT_URL=$serve AGENT_TOKEN_FILE=$tmp/token agent-call guilds
clip-transcribe  clip-transcribe --command 'echo hello' $tmp/words
reply-narrate  reply-narrate $root/Tests/fixtures/turns.ndjson
pds-record     AGENT_URL=$pds pds-record --repo a.test describe
outbox         XDG_CONFIG_HOME=$tmp/claw XDG_STATE_HOME=$tmp/claw outbox -p a list
task           task format $tmp/tasks
agent-status   AGENT_URL=$serve AGENT_TOKEN_FILE=$tmp/token agent-status
voice-token    voice-token -k key -s $tmp/secret room
script-options  sh -c 'exec script-options --visible <$tmp/words'
bus-get        bus-get -s $bus --all -n 1
mem-search     AGENT_URL=$memory mem-search --subjects
transcript-tail  transcript-tail --once $root/Tests/fixtures/transcript.ndjson
tmux-attach    tmux-attach -l $box
share-inbox    share-inbox list --inbox $tmp/inbox
"
terminal="python3 $cli/terminal.py"
escape=$(printf '\033')
# shows FILE: escape sequences; colours FILE: those of colour.
shows() { grep -q "$escape" "$1"; }
colours() { grep -q "$escape\\[[0-9;]*m" "$1"; }
widest() { wc -L <"$1"; }

# A pipe that nobody reads, before the command writes.
cat >"$tmp/unread" <<'END'
pipe(my $from, my $to) or die;
close $from;
open STDOUT, ">&", $to or die;
$SIG{PIPE} = "DEFAULT";
exec @ARGV or die;
END

printf '%s' "$table" >"$tmp/table"
while read -r name line; do
  [ -n "$name" ] || continue

  t 0 "$name answers" sh -c "$line"
  ok "$name prints" test -s "$out"
  not_ok "$name writes no escape sequence into a pipe" shows "$out"
  cp "$out" "$tmp/usual"

  t 2 "$name: a full disk is status 2" sh -c "$line >/dev/full"
  err_like "^$name: standard output: no space left on device$" "$name says that the disk is full"
  err_one_line "$name" "$name says in one line that the disk is full"

  t 2 "$name: a closed standard output is status 2" sh -c "$line >&-"
  err_one_line "$name" "$name says in one line that standard output is closed"

  t 141 "$name: a pipe that nobody reads ends it by SIGPIPE" \
    perl "$tmp/unread" sh -c "exec env $line"
  err_empty "$name says nothing of a pipe that nobody reads"

  t 0 "$name works in LANG=C" sh -c "LC_ALL=C LANG=C $line"

  t 0 "$name works without HOME" \
    sh -c "unset HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR; $line"
  run sh -c "unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR; HOME=/dev/null $line"
  case $line in
  # These keep something there: they say which folder cannot be.
  tmux-attach* | *'agent-notify --to'*)
    status_is 2 "$name needs a state folder"
    err_one_line "$name" "$name says in one line that it needs a state folder"
    ;;
  *) status_is 0 "$name works with a home that cannot be used" ;;
  esac

  t 0 "$name works on a dumb terminal" sh -c "env -u NO_COLOR TERM=dumb $terminal 24x80 env $line"
  not_ok "$name sends no escape sequence to a dumb terminal" shows "$out"

  t 0 "$name works with NO_COLOR" sh -c "NO_COLOR=1 TERM=xterm-256color $terminal 24x80 env $line"
  not_ok "$name shows no colour with NO_COLOR" colours "$out"

  t 0 "$name works on 20 columns" sh -c "NO_COLOR=1 TERM=xterm-256color $terminal 24x20 env $line"
done <"$tmp/table"

# --- the server

t 2 "agent-serve: a full disk is status 2" \
  sh -c 'agent-serve --listen 127.0.0.1:0 --database :memory: >/dev/full'
err_one_line "agent-serve" "agent-serve says in one line that the disk is full"
t 2 "agent-serve: a closed standard output is status 2" \
  sh -c 'agent-serve --listen 127.0.0.1:0 --database :memory: >&-'
err_one_line "agent-serve" "agent-serve says in one line that standard output is closed"

done_testing
