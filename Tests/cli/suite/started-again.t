#!/bin/sh
# What ends a service that mends has a status with which its unit is started again.
. "${0%/*}/../lib.sh"
needs agent-archive agent-serve agent-call curl jq python3

# again UNIT STATUS: whether systemd starts it again.
again() { ! grep -Eq "^RestartPreventExitStatus=(.* )?$2( |\$)" "$root/units/$1" && grep -q '^Restart=on-failure$' "$root/units/$1"; }
for unit in agent-archive.service agent-notify@.service agent-serve.service bus-up.service share-inbox@.service; do
  ok "$unit starts again after 75" again "$unit" 75
  not_ok "$unit does not start again with wrong options" again "$unit" 2
done

# --- a store that somebody has locked
start_server first agent-serve --listen 127.0.0.1:0 -D "$tmp/store.sqlite"
stop "$pid"
cat >"$tmp/lock.py" <<'END'
import sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("PRAGMA locking_mode=EXCLUSIVE")
store.execute("BEGIN EXCLUSIVE")
store.execute("CREATE TABLE held (x)")
print("held", flush=True)
time.sleep(60)
END
start lock python3 "$tmp/lock.py" "$tmp/store.sqlite"
lock=$pid
wait_until 20 has "$tmp/lock.out" held
bound=60
run agent-serve --listen 127.0.0.1:0 -D "$tmp/store.sqlite"
ok "agent-serve with a store that is locked is started again" again agent-serve.service "$status"
is "$status" 75 "agent-serve with a locked store has status 75"
err_is "agent-serve: $tmp/store.sqlite: database is locked" \
  "the message says that the store is locked"
stop "$lock"

# --- a state that is damaged, of an archive that says where it ends
printf 'right-token-0123456789\n' >"$tmp/token"
chmod 600 "$tmp/token"
start_server dash agent-serve --listen 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/token
export AGENT_URL AGENT_TOKEN_FILE
put() { curl -fsS -H 'X-Dashboard-Token: right-token-0123456789' -d "{\"kind\":\"llm_call\",\"content\":\"$1\"}" "$url/api/actions" >/dev/null; }
kept() { cat "$tmp/archive"/2*.ndjson 2>/dev/null | jq -r 'select(.event == "action_event").data.content' | xargs; }
in_archive() { [ "$(kept)" = "$1" ]; }
start archive agent-archive --folder "$tmp/archive" --lifecycle
ok "an archive follows a dashboard" \
  wait_until 20 sh -c "cat '$tmp/archive'/2*.ndjson | grep -q activity_snapshot"
put one
ok "the archive is kept" wait_until 20 in_archive one
stop "$pid"
put two
for damage in garbage '{"half' '{"type":"other"}'; do
  printf '%s' "$damage" >"$tmp/archive/.state"
  start archive agent-archive --folder "$tmp/archive"
  ok "an archive with a state like $damage goes on where it ended" \
    wait_until 20 in_archive "one two"
  ok "the message says that a state like $damage is not a resume point" \
    wait_until 20 has "$tmp/archive.err" 'not a resume point'
  stop "$pid"
  is "$(cat "$tmp/archive.err")" "agent-archive: $tmp/archive/.state: not a resume point; the archive itself says where it ends" \
    "a damaged state like $damage is told in one line"
done
mkdir "$tmp/empty"
echo garbage >"$tmp/empty/.state"
t 2 "a damaged state without an archive is an error" agent-archive --folder "$tmp/empty"

# --- a token that was changed
printf 'other-token-0123456789\n' >"$tmp/token"
t 77 "a token that is refused has status 77" agent-archive --folder "$tmp/archive"
ok "agent-archive with a refused token is started again" again agent-archive.service 77
ok "agent-notify with a refused token is started again" again agent-notify@.service 77
printf 'right-token-0123456789\n' >"$tmp/token"
put three
start archive agent-archive --folder "$tmp/archive"
ok "the archive goes on with the right token" wait_until 20 in_archive "one two three"
done_testing
