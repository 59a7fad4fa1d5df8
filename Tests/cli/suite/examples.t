#!/bin/sh
# Every example of every manual runs as it stands there: each line of EXAMPLES
# that begins with `$ ` is given to sh, in a folder with day.ndjson (the sample
# day, half as bare actions, half as records), turns.ndjson, session.jsonl and clip.wav,
# beside a server with that day.
# And a host `box` is there, on which an agent runs in the session `riff`.
# It must end by itself with status 0 and print something; a comment in the
# manual's source before it says what else it does: `.\" status 1`,
# `.\" no output`.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
needs python3 perl
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day"
python3 - "$tmp/day" >"$tmp/day.ndjson" <<'END'
import json, sys
lines = open(sys.argv[1], newline="\n").read().split("\n")[:-1]
for line in lines[: len(lines) // 2]:
    record = json.loads(line)
    if record.get("event") == "action_event":
        print(json.dumps(record["data"]))
print("\n".join(lines[len(lines) // 2 :]))
END
umask 077
echo sample-token >"$tmp/token"
serve_agent serve --token-file "$tmp/token" --ingest "$tmp/day"
serve=$url
AGENT_URL=$serve
AGENT_TOKEN_FILE=$tmp/token
export AGENT_URL AGENT_TOKEN_FILE
cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
profile = clanky
[profile clanky]
url = $url
token-file = $tmp/token
[profile work]
url = $url
token-file = $tmp/token
END

# Sessions of this machine are nobody else's.
mkdir -m 700 "$tmp/sessions"
TMUX_TMPDIR=$tmp/sessions
export TMUX_TMPDIR

# The machine on which an agent runs.
start_sshd
# shellcheck disable=SC2154  # of ssh.sh
cat >>"$XDG_CONFIG_HOME/agentutils/config" <<END
[host box]
hostname = 127.0.0.1
port = $port
user = $remote_user
identity = $id
END
mkdir -p "$remote_home/src/site"
rtmux new-session -d -s riff "env PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents claude"
agent_draws() { rtmux capture-pane -p -t =riff: | grep -q 'claude>'; }
wait_until 30 agent_draws || bail "the agent does not come up"

# What the examples of the memory are about.
start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
memory=$url

# Transcripts of this machine.
mkdir -p "$HOME/.claude/projects/-home-ada-site"
cp "$root/Tests/fixtures/transcript.ndjson" \
  "$HOME/.claude/projects/-home-ada-site/7d0c9a52-3b1e-4a6f-9d57-1c2e8b90f4aa.jsonl"

# A voice server, and something to hear.
printf '%064d\n' 1 >"$tmp/secret"
echo '{"body":"{\"transcript\":\"run the tests\"}"}' >"$tmp/hears"
echo '{"body":"{\"ts\":1789000000,\"audio_b64\":\"SUQz\",\"chars\":3}"}' >"$tmp/says"
start_server ears python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/heard" \
  --answers "$tmp/hears" --narrations "$tmp/says"
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
printf 'RIFF\104\000\000\000WAVEfmt %060d' 0 >"$tmp/clip.wav"

# A personal data server, where there is one to be had.
if [ -f "$root/.build/peers/peers.txt" ]; then
  needs_peers
  . "${0%/*}/../pds.sh"
  start_pds pds
fi

# A bus with the day on it.
. "${0%/*}/../bus.sh"
start_bus bus
printf '[bus local]\nservers = %s\n' "$bus" >>"$XDG_CONFIG_HOME/agentutils/config"
bus-put --create <"$tmp/day.ndjson" || bail "no day on the bus"

# A gateway, for the examples of agents that ask before they act.
. "${0%/*}/../gateway.sh"
start_gateway claw --questions
approvals() {
  tell claw ask b1 '{"command":"git status","commandArgv":["git","status"],"cwd":"/srv/site","host":"gateway"}'
  tell claw ask b2 '{"command":"make test","commandArgv":["make","test"],"cwd":"/srv/site","host":"gateway"}'
  tell claw ask b3 '{"command":"git status; rm -rf /","commandArgv":["sh","-c","git status; rm -rf /"],"cwd":"/srv/site","host":"gateway"}'
  tell claw question ask_b7 '[{"questionId":"q1","question":"Which harbour?","options":[{"label":"North"},{"label":"South"}]}]'
  wait_until 20 sh -c 'agent-approve -p claw -l | grep -q ask_b7'
}
# A Pincer server, with a conversation and an action that waits.
. "${0%/*}/../pincer.sh"
start_pincer pincer
tell pincer thread thr_1 tides
tell pincer thread thr_2 more
env -u AGENT_URL -u AGENT_TOKEN_FILE agent-chat -q -p pincer -t thr_2 ask 1 2>"$tmp/paused"

# A WebSocket that greets, and answers what is said.
cat >"$tmp/socket" <<'END'
forever
switch
frame 81 {"type":"hello"}
frame 81 {"type":"event"}
listen
END
start_server socket python3 "$cli/servers/raw.py" "$tmp/socket" "$tmp/socket.log"
SOCKET=ws${url#http}
export SOCKET

# resolved: what was decided.
resolved() {
  frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"' | sort -u | xargs
}

# examples PAGE: `STATUS OUTPUT COMMAND` per example, OUTPUT yes or no.
examples() {
  awk '
    /^\.Sh / { inside = ($0 == ".Sh EXAMPLES") }
    !inside { next }
    /^\.\\" status [0-9]+$/ { status = $3 }
    /^\.\\" no output$/ { output = "no" }
    /^\$ / || more {
      text = $0
      sub(/^\$ /, "", text)
      gsub(/\\&/, "", text); gsub(/\\-/, "-", text); gsub(/\\\(aq/, "\047", text)
      gsub(/\\\(ga/, "`", text); gsub(/\\\(dq/, "\"", text); gsub(/\\e/, "\\", text)
      line = line text
      more = (line ~ /[\\|]$/)
      if (more) { sub(/\\$/, "", line); next }
      print (status == "" ? 0 : status), (output == "" ? "yes" : output), line
      line = ""; status = ""; output = ""
    }' "$1"
}

# What is to be committed, in the folder where the examples run.
GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@box.invalid
GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@box.invalid
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

for page in "$root"/man/*.[0-9]; do
  ! grep -q '^[.]so ' "$page" || continue
  name=${page##*/}
  mkdir "$tmp/here"
  cp "$tmp/day.ndjson" "$root/Tests/fixtures/turns.ndjson" "$tmp/clip.wav" "$tmp/here"
  cp "$root/Tests/fixtures/transcript.ndjson" "$tmp/here/session.jsonl"
  examples "$page" >"$tmp/examples"
  ok "$name has at least three examples" at_least "$tmp/examples" 3
  unset AGENT_TOKEN_FILE AGENT_URL AGENT_PROFILE
  case $name in
  agent-approve.1 | agent-chat.1 | agent-talk.1 | clip-transcribe.1 | reply-narrate.1) ;;
  outbox.1 | pds-record.1 | task.1)
    if [ -z "${peers-}" ]; then
      skip "$(lines "$tmp/examples")" "needs the Python packages of make peers"
      rm -rf "$tmp/here"
      continue
    fi
    AGENT_PROFILE=pds
    export AGENT_PROFILE
    ;;
  mem-*) AGENT_URL=$memory ;;
  *) AGENT_URL=$serve ;;
  esac
  [ -z "${AGENT_URL-}" ] || export AGENT_URL AGENT_TOKEN_FILE="$tmp/token"
  while read -r want output command; do
    case "$name $command" in
    agent-approve.1* | agentutils.7*agent-approve*) approvals ;;
    agentutils.7*'git commit'*)
      (cd "$tmp/here" && git init -q && git add day.ndjson) || bail "no git"
      ;;
    esac
    # The gateway is a profile's, which the environment would hide.
    case "$name $command" in
    agentutils.7*' -p claw '*) set -- env -u AGENT_URL -u AGENT_TOKEN_FILE ;;
    # The keys are a terminal's.
    agent-talk.1*) set -- python3 "$cli/terminal.py" ;;
    *) set -- ;;
    esac
    run "$@" sh -c "cd '$tmp/here' && $command"
    if [ "$status" -ne "$want" ] || { [ "$output" = yes ] && [ ! -s "$out" ]; } ||
      { [ "$output" = no ] && [ -s "$out" ]; }; then
      fail "$name: the example works: $command"
      diag "status $status, want $want; $(wc -c <"$out") bytes of output, want $output"
      diag "$(head -c 1000 "$err")"
    else
      pass "$name: the example works: $command"
    fi
  done <"$tmp/examples"
  rm -rf "$tmp/here"
  case $name in agent-approve.1) policies=$(resolved) ;; esac
done
is "$(frames claw chat.send | jq -r .message | grep -c '^diff --git a/day.ndjson ')" 1 \
  "a commit is shown to the agent"
is "$policies" "b1 allow-once b2 allow-once b3 deny" \
  "the policies of agent-approve(1) allow what they name and no more"

done_testing
