#!/bin/sh
# agent-pulse: the whole feed in one command.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ]; }

run agent-pulse --help
status_is 0 "agent-pulse --help"
out_like "^usage: agent-pulse" "says how it is called"
run agent-pulse --version
status_is 0 "agent-pulse --version"
out_is "agent-pulse ${suite:=$(sse-tail -V | sed 's/.* //')}" "is that of the suite"

# Mistakes are told before anything is asked of the network.
AGENT_URL=http://127.0.0.1:9
export AGENT_URL
run agent-pulse --no-such-option
status_is 2 "an option that the filter does not know"
out_empty "prints nothing"
err_like "^agent-pulse: unknown option --no-such-option" "and is named by us"
run agent-pulse -- --no-such-option
status_is 2 "an option that the format does not know"
err_like "^agent-pulse: unknown option --no-such-option" "is named by us"
run agent-pulse -p
status_is 2 "-p alone"
err_like "^agent-pulse: option -p needs an argument" "is told"
ok "nothing is left of these" nothing_left

# Its status is that of the command that failed.
unset AGENT_URL
run agent-pulse
status_is 2 "no agent is configured"
err_like "^sse-tail: " "says sse-tail"
umask 077
echo right-token >"$tmp/right"
echo wrong-token >"$tmp/wrong"
start_server serve agent-serve --listen 127.0.0.1:0 --database "$tmp/serve.sqlite" \
  --token-file "$tmp/right" --ingest "$root/Tests/fixtures/sample-day.ndjson"
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/wrong
export AGENT_URL AGENT_TOKEN_FILE
run agent-pulse
status_is 77 "a wrong token"
ok "nothing is left of these, either" nothing_left

# Filters before --, looks behind it.
AGENT_TOKEN_FILE=$tmp/right
run agent-pulse -k sent_reply -n 3 -- --color never --width 60
status_is 0 "it ends with -n"
is "$(grep -c sent_reply "$out")" 3 "three actions were chosen"
is "$(grep -vc sent_reply "$out")" "$(grep -c 'cost\|\$' "$out" | sed 's/.*/0/')" "and no other"
ok "in 60 columns" perl -CSD -ne 'chomp; exit 1 if length > 60' "$out"
err_empty "without a word"

cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[profile other]
url = $url
token-file = $tmp/right
END
run env -u AGENT_URL -u AGENT_TOKEN_FILE agent-pulse -p other -k sent_reply -n 1
status_is 0 "a profile"
out_like sent_reply "is followed"

# Live, and ended by a signal: everything it started is gone.
post() {
  curl -sS -H @"$tmp/header" --data-binary "$1" "$url/api/actions" >/dev/null
}
echo "x-dashboard-token: right-token" >"$tmp/header"
no_children() { ! ps -e -o args= | grep -qE '^(sse-tail activity|action-filter -u -a -k live_[a-z]*)$'; }
for signal in TERM INT HUP; do
  kind=live_$(echo "$signal" | tr '[:upper:]' '[:lower:]')
  start pulse agent-pulse -k "$kind"
  tries=0
  until grep -q "$kind" "$tmp/pulse.out" || [ "$tries" -gt 100 ]; do
    post "{\"kind\":\"$kind\",\"content\":\"hello\"}"
    tries=$((tries + 1))
    sleep 0.1
  done
  ok "an action that is posted is shown" grep -q "$kind .*hello" "$tmp/pulse.out"
  stop "$pid" "$signal"
  is "$(kill -l "$status" 2>/dev/null)" "$signal" "$signal ends it by that signal"
  ok "its commands are gone" wait_until 5 no_children
  ok "and its folder" nothing_left
  is "$(cat "$tmp/pulse.err")" "" "without a word"
done

# Ctrl-C at a terminal.
run python3 - <<'END'
import os, pty, select, sys, time
child, master = pty.fork()
if child == 0:
    os.execvp("agent-pulse", ["agent-pulse"])
shown, deadline = b"", time.time() + 15
while b"live_hup" not in shown and time.time() < deadline:
    if select.select([master], [], [], 0.2)[0]:
        shown += os.read(master, 65536)
os.write(master, b"\x03")
try:
    while os.read(master, 65536):
        pass
except OSError:
    pass
status = os.waitpid(child, 0)[1]
print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status))
END
out_is 2 "an interrupt at a terminal ends it by that signal"
ok "and its folder" nothing_left

# A reader that goes away.
run sh -c 'agent-pulse | head -n 1'
status_is 0 "a closed pipe ends it"
is "$(lines "$out")" 1 "after the line that was wanted"
err_empty "quietly"
ok "nothing is left" nothing_left

# A dashboard that sends everything again after a lost connection.
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.1
log() { curl -sf --data-binary @- "$url/control/actions" >/dev/null; }
AGENT_URL=$url
unset AGENT_TOKEN_FILE
seq 5 | sed 's/.*/{"kind":"before","content":"&"}/' | log
start pulse agent-pulse -- --color never
ok "what was before is shown" wait_until 10 has "$tmp/pulse.out" "before .*5"
seq 5 | sed 's/.*/{"kind":"during","content":"&"}/' | log
ok "and what comes" wait_until 10 has "$tmp/pulse.out" "during .*5"
curl -sf -X POST "$url/control/drop" >/dev/null
seq 5 | sed 's/.*/{"kind":"missed","content":"&"}/' | log
ok "and what was missed" wait_until 15 has "$tmp/pulse.out" "missed .*5"
seq 1 | sed 's/.*/{"kind":"after","content":"&"}/' | log
ok "and what comes then" wait_until 10 has "$tmp/pulse.out" "after .*1"
is "$(grep -oE '[?] (before|during|missed|after) ' "$tmp/pulse.out" | sort | uniq -c | xargs)" \
  "1 ? after 5 ? before 5 ? during 5 ? missed" "each action once"
stop "$pid"

done_testing
