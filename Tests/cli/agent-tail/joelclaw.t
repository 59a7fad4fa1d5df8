#!/bin/sh
# The frames of a joelclaw gateway: statuses that are asked for, losses, silence, rubbish.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-tail turn-fold jq python3

came() { wait_until 20 has "$tmp/tail.out" "$1"; }
asked() { frames joel status | wc -l | tr -d ' '; }

start_joelgate joel --token jc-secret
printf 'token-command = printf jc-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
start tail agent-tail -p joel -L --retry-wait 0.1
tail=$pid
came '"event":"status"'
like "$(sed -n 1p "$tmp/tail.out")" '"type":"open"' "the connection is open, with the token"
like "$(sed -n 2p "$tmp/tail.out")" '^\{"event":"status","id":"","data":\{"type": ?"status"' \
  "a frame is an event of its type, without an id, as it came"
is "$(asked)" 0 "an idle gateway is asked for nothing"
tell joel raw '{"type":"note","n":1.10}'
came '"event":"note","id":"","data":\{"type":"note","n":1.10\}'
ok "types that nobody knows pass" true

tell joel other telegram tool
came '"activeRequest": ?\{"id": ?"req-1"'
ok "what the agent is at is asked for when it speaks" true
came 'High at'
come_to_rest() { [ "$(grep -c '"activeRequest": \?null' "$tmp/tail.out")" -ge 2 ]; }
ok "what the agent is at is asked for again until it is over" wait_until 20 come_to_rest
is "$(grep -c '"event":"status"' "$tmp/tail.out")" 3 "a status that tells nothing new is not printed"
isnt "$(asked)" 2 "more statuses were asked for than were printed"
turn-fold <"$tmp/tail.out" >"$tmp/folded"
is "$(jq -r 'select(.type == "turn") | .id + " " + .state' "$tmp/folded" | uniq)" \
  'req-1 running
req-1 completed' "turn-fold knows when a turn begins and ends"
is "$(jq -r 'select(.state == "final") | .turn + " " + .text' "$tmp/folded" | tail -n 1)" \
  'req-1 High at 06:12.' "turn-fold knows which turn a message is of"
rested=$(asked)

tell joel drop
came '"type":"resumed"'
ok "a loss is told, and mended" has "$tmp/tail.out" '"type":"lost"'
tell joel raw '{"type":'
tell joel raw '["type"]'
tell joel bytes binary
tell joel raw '{"type":"odd","t":"\u001b[2J"}'
came '"event":"odd"'
ok "what is not a frame is named, and the next one is taken" \
  has "$tmp/tail.err" '^agent-tail: a frame that cannot be read: '
ok "a frame that is not text is named, too" \
  has "$tmp/tail.err" '^agent-tail: a frame that is not text$'
is "$(asked)" "$rested" "nothing is asked while the agent rests"
stop "$tail"
not_ok "no token is in records and messages" grep -q jc-secret "$tmp/tail.out" "$tmp/tail.err"
wait_until 10 test -s "$tmp/joel.log.closed"
like "$(cat "$tmp/joel.log.closed")" '^1000$' "the gateway is told that nobody listens any more"

# A gateway that answers nothing, and pings neither.
start silent agent-tail -p joel -L --retry-wait 0.1 --idle-timeout 0.6
wait_until 20 has "$tmp/silent.out" '"type":"open"'
ok "a gateway that says nothing but answers pings is alive" sleep 1
not_ok "nothing is lost while pings are answered" has "$tmp/silent.out" '"type":"lost"'
tell joel mute
ok "two pings without an answer are a loss" wait_until 20 has "$tmp/silent.out" '"type":"lost"'
stop "$pid"

# Refusals.
printf '[profile bare]\nkind = joelclaw\nurl = %s\n[profile far]\nkind = joelclaw\nurl = %s\n' \
  "$url" ws://gateway.invalid:1 >>"$XDG_CONFIG_HOME/agentutils/config"
t 77 "a proxy that wants a token has status 77" agent-tail -p bare
err_like 'no token was sent \(profile bare\)' "the message says that no token was sent"
t 2 "nothing goes in clear text to another machine" agent-tail -p far
err_like 'clear text; see --allow-plaintext' "the message says how to allow clear text"
t 2 "--from is refused, as the frames have no numbers" agent-tail -p joel --from 3
t 2 "a thread is refused, as the gateway has one conversation" agent-tail -p joel side
err_is 'agent-tail: a joelclaw gateway: has one conversation: name no thread' \
  "the message says that there is one conversation"

# The port file of a gateway on this machine.
printf '[profile here]\nkind = joelclaw\n' >>"$XDG_CONFIG_HOME/agentutils/config"
folder=/tmp/joelclaw
if mkdir "$folder" 2>/dev/null; then
  # shellcheck disable=SC2317  # called at the end
  remove() { rm -f "$folder/gateway.ws.port"; rmdir "$folder"; }
  at_end=remove
  file=$folder/gateway.ws.port
  run agent-tail -p here --max-retries 0 --max-time 5
  err_like '^agent-tail: ws://127.0.0.1:3018/' \
    "the usual port is meant without a url and a port file"
  start_joelgate near
  printf '%s\n' "$port" >"$file"
  t 0 "a gateway on this machine is found by its port file" agent-tail -p here -n 1
  out_like '"event":"status"' "a gateway by its port file is followed"
  for rubbish in '' 0 65536 '80 81' 3018x '-1' "$(printf '\033[2J')"; do
    printf '%s\n' "$rubbish" >"$file"
    run agent-tail -p here
    [ "$status" -eq 2 ] || break
    err_is "agent-tail: $file: not a port number" \
      "a port file is refused: $(printf '%s' "$rubbish" | tr -d '\033')"
  done
  chmod g+w "$file"
  run agent-tail -p here
  err_is "agent-tail: $file: refused: others can write to it" "a file of others is not trusted"
else
  skip 1 "there is a $folder"
fi
done_testing
