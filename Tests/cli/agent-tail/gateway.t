#!/bin/sh
# The events of an OpenClaw gateway: greeting, ticks, holes, losses, pairing.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-tail jq python3

came() { wait_until 20 has "$tmp/tail.out" "$1"; }

start_gateway claw --token gw-secret
printf 'token-command = printf gw-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
start tail agent-tail -p claw -L --retry-wait 0.1
tail=$pid
came '"type":"open"'
is "$(frames claw connect | jq -c '[.minProtocol, .maxProtocol, .scopes]')" \
  '[3,4,["operator.read"]]' "agent-tail offers both protocols and asks for no more than reading"
came_frames claw sessions.subscribe 1
tell claw event chat '{"runId":"r1","sessionKey":"agent:heron:main","seq":1,"state":"delta","deltaText":"a","x":1.10}'
came '"event":"chat","id":"1","data":{"runId":"r1","sessionKey":"agent:heron:main","seq":1,"state":"delta","deltaText":"a","x":1.1'
ok "an event has its name, its number and its payload" true
tell claw event tick '{"ts":1}'
tell claw event news '[1,2]'
came '"event":"news","id":"3","data":\[1,2\]'
not_ok "a tick is not printed" has "$tmp/tail.out" '"event":"tick"'

tell claw skip 2
tell claw event lost 1
tell claw event lost 2
tell claw event found 3
came '"event":"found"'
ok "a hole is told with its numbers" has "$tmp/tail.out" '"type":"gap","from":4,"to":5'
came '"event":"chat.history"'
ok "the reply under way is fetched behind a hole" true

tell claw drop
came '"type":"resumed"'
wait_until 20 came_frames claw connect 2
ok "a loss is told, and mended" has "$tmp/tail.out" '"type":"lost"'
is "$(frames claw connect | jq -r '.auth.token' | sort -u)" gw-secret "the profile's token goes along"
is "$(frames claw connect | tail -n 1 | jq -r '.auth.deviceToken | length > 3')" true \
  "the device's own token goes with the profile's later"
tell claw raw '{"type":"event",'
tell claw raw '{"type":"event","event":"odd","payload":{"t":"\u001b[2J"},"seq":1}'
came '"event":"odd"'
ok "a frame that cannot be read is named, and the next is taken" \
  has "$tmp/tail.err" 'agent-tail: a frame that cannot be read: '
stop "$tail"
not_ok "no token is in records and messages" \
  grep -q 'gw-secret\|dt-' "$tmp/tail.out" "$tmp/tail.err"
is "$(find "$XDG_STATE_HOME/agentutils/openclaw" -type f ! -perm 600)" "" \
  "the key is for its owner alone"

# Runs that say nothing yet.
start_gateway busy
start work agent-tail -p busy --retry-wait 0.1
wait_until 20 came_frames busy sessions.subscribe 1
tell busy event agent '{"runId":"w1","sessionKey":"agent:heron:quiet","seq":1,"stream":"lifecycle","data":{"phase":"start"}}'
tell busy event session.tool '{"runId":"w2","sessionKey":"agent:heron:tools","seq":1,"stream":"tool","data":{"phase":"start"}}'
tell busy event agent '{"runId":"w3","sessionKey":"agent:heron:over","seq":1,"stream":"lifecycle","data":{"phase":"start"}}'
tell busy event chat '{"runId":"w3","sessionKey":"agent:heron:over","seq":2,"state":"final"}'
tell busy event agent '{"runId":"w3","sessionKey":"agent:heron:over","seq":3,"stream":"lifecycle","data":{"phase":"end"}}'
wait_until 20 has "$tmp/work.out" '"phase":"end"'
tell busy drop
ok "a run of which only lifecycle and tools were seen is under way when the connection breaks" \
  wait_until 20 came_frames busy chat.history 2
is "$(frames busy chat.history | jq -r .sessionKey | sort | xargs)" \
  "agent:heron:quiet agent:heron:tools" "a run that has ended is not under way"
tell busy event session.tool '{"runId":"w4","sessionKey":"agent:heron:tools","seq":1,"stream":"tool","data":{"phase":"start"}}'
tell busy skip 1
tell busy event lost 1
tell busy event news 1
ok "a run that is under way is not forgotten at a hole" \
  wait_until 20 came_frames busy chat.history 3
stop "$pid"

# Silence.
start_gateway quiet --tick 300
start silent agent-tail -p quiet -L --retry-wait 0.1
wait_until 20 has "$tmp/silent.out" '"type":"open"'
tell quiet hush
ok "the loss of ticks is a loss" wait_until 20 has "$tmp/silent.out" 'nothing came for 0.6 s'
ok "the stream is resumed after a silence" wait_until 20 has "$tmp/silent.out" '"type":"resumed"'
stop "$pid"

# Protocol 3: one counter for all clients.
start_gateway old --protocol 3
start three agent-tail -p old -L
wait_until 20 has "$tmp/three.out" '"type":"open"'
tell old event one 1
tell old skip 1
tell old event two 2
tell old event three 3
ok "protocol 3 is spoken" wait_until 20 has "$tmp/three.out" '"event":"three"'
not_ok "a hole in protocol 3 means nothing" has "$tmp/three.out" '"type":"gap"'
stop "$pid"

# Pairing.
start_gateway shy --pair
t 77 "a device that is not paired is refused" agent-tail -p shy
err_is "agent-tail: $url/: this device is not paired: run on the gateway: openclaw devices approve pr-9" \
  "a device that is not paired is told what to do"
start waits agent-tail -w -L -p shy --retry-wait 0.1
wait_until 20 has "$tmp/waits.out" '"reason":"this device is not paired'
tell shy pair
ok "-w waits until a person lets it in" wait_until 20 has "$tmp/waits.out" '"type":"open"'
stop "$pid"

# Refusals.
tell shy refuse '{"code":"INVALID_REQUEST","message":"bad \u001b[31m","details":{"code":"AUTH_TOKEN_MISMATCH"}}'
refused() { run agent-tail -p shy && false || [ "$status" -eq 77 ]; }
ok "a token that is refused ends with 77" wait_until 10 refused
err_like '^agent-tail: .*bad .*\(AUTH_TOKEN_MISMATCH\)$' \
  "a token that is refused is told with the gateway's reason, made visible"
tell shy refuse '{"code":"INVALID_REQUEST","message":"no","details":{"code":"PROTOCOL_MISMATCH","expectedProtocol":9}}'
mismatched() { run agent-tail -p shy && false || [ "$status" -eq 2 ]; }
ok "another protocol ends with 2" wait_until 10 mismatched
err_like 'wants protocol 9; this version speaks 3 and 4' "both protocols are named"

# Several agents, one of them a gateway.
serve_agent clanky
printf '[profile home]\nurl = %s\n' "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
start both agent-tail -L -p home,old
ok "two kinds are followed at once" \
  wait_until 20 has "$tmp/both.out" '"type":"open","profile":"old"'
ok "a dashboard is followed beside a gateway" \
  wait_until 20 has "$tmp/both.out" '"type":"open","profile":"home"'
stop "$pid"
printf '[profile web]\nkind = openclaw\nurl = http://127.0.0.1:9\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a gateway without a WebSocket has no events" agent-tail -p web
err_like 'begins with ws:// or wss://' "the message says what a URL needs"
printf '[profile far]\nkind = openclaw\nurl = ws://gateway.invalid:1\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "nothing is said in clear text to another machine" agent-tail -p far
err_like 'clear text; see --allow-plaintext' "the message says how to allow clear text"
done_testing
