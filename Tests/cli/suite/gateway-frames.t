#!/bin/sh
# All that the commands send to a gateway is held against a schema that was written from
# the contract, and the signatures are verified by another library.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-tail agent-chat agent-approve agent-call jq python3

peers=
for python in "$root/.build/peers/bin/python" python3; do
  if "$python" -c 'import jsonschema, cryptography' 2>/dev/null; then
    peers=$python
    break
  fi
done
[ -n "$peers" ] || skip_all "needs the Python packages jsonschema and cryptography"

listed() { agent-approve -p "$1" -l 2>/dev/null | grep -q "\"id\":\"$2\""; }
printf picture >"$tmp/a b.png"

# each GATEWAY: everything that can be said to one.
each() {
  start tail agent-tail -p "$1" -L
  tail=$pid
  wait_until 20 has "$tmp/tail.out" '"type":"open"'
  tell "$1" event chat '{"runId":"r1","sessionKey":"agent:heron:main","state":"delta","deltaText":"a"}'
  wait_until 20 has "$tmp/tail.out" '"event":"chat"'
  tell "$1" drop
  wait_until 20 has "$tmp/tail.out" '"type":"resumed"'
  wait_until 20 came_frames "$1" chat.history 1
  stop "$tail"
  agent-tail -p "$1" --max-time 0.5 main >"$tmp/said" 2>&1
  for words in agents threads models devices cron health actions audit; do
    agent-call -p "$1" "$words" >"$tmp/said" 2>&1
  done
  agent-call -p "$1" -S 2d actions >"$tmp/said" 2>&1
  agent-chat -p "$1" hello >"$tmp/said" 2>&1
  agent-chat -p "$1" -t side -a stoat --attach "$tmp/a b.png" tool >"$tmp/said" 2>&1
  agent-chat -p "$1" "wide 500000" >"$tmp/said" 2>&1
  agent-chat -p "$1" "wide 1200000" >"$tmp/said" 2>&1
  agent-chat -p "$1" --model tides/one --thinking low --busy steer --new hello >"$tmp/said" 2>&1
  agent-chat -p "$1" --history >"$tmp/said" 2>&1
  agent-chat -p "$1" --threads >"$tmp/said" 2>&1
  agent-chat -p "$1" --agents >"$tmp/said" 2>&1
  start talk agent-chat -p "$1" forever
  talk=$pid
  wait_until 20 sh -c 'frames() { '"jq -c '.frame | select(.method == \"chat.send\") | .params.message' \"\$1\""'; }; frames "$1" | grep -q forever' - "$tmp/$1.log"
  stop "$talk" INT
  agent-chat -p "$1" --abort >"$tmp/said" 2>&1
  if [ "$1" = new ]; then
    tell "$1" question ask_1 '[{"questionId":"q1","question":"Which?","options":[]}]'
    wait_until 20 listed "$1" ask_1
    for words in one two; do agent-approve -p "$1" --answer ask_1 "$words" >"$tmp/said" 2>&1; done
  fi
  for id in f1 f2 f3; do tell "$1" ask "$id" '{"command":"make"}'; done
  wait_until 20 listed "$1" f3
  agent-approve -p "$1" --approve f1 >"$tmp/said" 2>&1
  agent-approve -p "$1" --deny f2 with a reason >"$tmp/said" 2>&1
  tell "$1" crash exec.approval.resolve
  tell "$1" crash approval.resolve
  echo '{"id":"f3","decision":"allow-always"}' |
    agent-approve -p "$1" --retry-wait 0.1 --max-time 10 >"$tmp/said" 2>&1
}

start_gateway new --token gw-secret --approvals late --questions
printf 'token-command = printf gw-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
each new
start_gateway old --protocol 3
each old

"$peers" "$cli/clients/frames.py" "$root/Tests/fixtures/openclaw-schema.json" "$tmp/new.log" \
  "$tmp/old.log" >"$tmp/frames" 2>"$tmp/frames.err"
is "$?" 0 "every frame is as the contract has it, and every signature is the device's"
is "$(grep '^fault' "$tmp/frames"; cat "$tmp/frames.err")" "" "no frame has a fault"
methods=$(jq -r '."$defs" | keys[]' "$root/Tests/fixtures/openclaw-schema.json" |
  grep -v '^plugin\.')
for method in $methods; do
  ok "the method $method was among the frames" grep -q "^$method [1-9]" "$tmp/frames"
done
is "$(jq -r '.frame.method' "$tmp/new.log" "$tmp/old.log" | sort -u | grep -vxF "$methods")" "" \
  "no frame has a method that the schema does not know"

# A frame with a member too many is refused, and so is a signature of something else.
jq -c 'select(.frame.method == "connect") | .frame.params.colour = 1' "$tmp/new.log" | head -n 1 >"$tmp/odd"
not_ok "a frame with a member too many would be a fault" \
  "$peers" "$cli/clients/frames.py" "$root/Tests/fixtures/openclaw-schema.json" "$tmp/odd"
jq -c 'select(.frame.method == "connect") | .frame.params.device.nonce = "other"' "$tmp/new.log" |
  head -n 1 >"$tmp/odd"
not_ok "a frame with another nonce would be a fault" "$peers" "$cli/clients/frames.py" \
  "$root/Tests/fixtures/openclaw-schema.json" "$tmp/odd"
done_testing
