#!/bin/sh
# A terminal whose link is cut, anywhere between the first byte and the agent's
# screen: the command ends, for now, and leaves the terminal as it was.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
direct=$port
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  attach first -s "$transport"
  ok "$transport: the prompt is there" at first expect 'claude> '
  at first send '\r~.'
  at first end 30
  link drop
  size=$(jq -s 'map(select(.what == "close").down) | max' "$tmp/link-$transport.log")

  bad=
  for step in 0 1 2 3 4 5 6 7 8 9 10 11; do
    place=$((size * step / 12 + 1))
    # Half of them are resets, half look like an end.
    if [ $((step % 2)) -eq 0 ]; then link cut "$place"; else link cut "$place" fin; fi
    attach "cut$step" -s "$transport" --max-retries 0
    if at "cut$step" end 30 >"$tmp/ended"; then
      found=$(jq -c '[.status, .termios, .modes]' "$tmp/ended")
    else
      found='it runs on'
    fi
    [ "$found" = '[75,true,[]]' ] || bad="$bad $place:$found"
  done
  is "$bad" '' "$transport: a cut at any of $size bytes has status 75, the terminal as it was"
done
is "$(rtmux list-sessions -F '#{session_name}' | wc -l | tr -d ' ')" \
  "$(printf '%s\n' "$transports" | wc -w | tr -d ' ')" 'the sessions stay'
done_testing
