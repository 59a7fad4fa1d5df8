#!/bin/sh
# The end of a run behind a loss of the connection or a hole: each end, with each loss.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3

# ended END LOSS STATUS TEXT: how agent-chat takes it.
number=0
ended() {
  number=$((number + 1))
  name=g$number
  start_gateway "$name"
  start "chat$number" agent-chat -p "$name" -o json --retry-wait 0.3 "hold $1"
  chat=$pid
  wait_until 20 came_frames "$name" chat.send 1
  [ "$1" = silent ] || wait_until 20 has "$tmp/chat$number.out" half
  case $2 in
  cut)
    tell "$name" drop
    wait_until 20 came_frames "$name" chat.history 1
    ;;
  hole)
    tell "$name" skip 1
    tell "$name" event lost 1
    tell "$name" event news 1
    wait_until 20 came_frames "$name" chat.history 1
    ;;
  lost) tell "$name" drop ;;
  esac
  tell "$name" go
  finished "$chat"
  text=$(jq -r 'select(.type == "message" and .role == "assistant") | .state + " " + .text' \
    "$tmp/chat$number.out" | tail -n 1)
  is "$status $text" "$3 $4" "the end $1 with the loss $2 has status $3"
}
for loss in none cut hole lost; do
  case $loss in
  cut | hole) ended error $loss 1 'failed half more' ;;
  *) ended error $loss 1 'failed half ' ;;
  esac
  ok "the reason of a failed run is told with the loss $loss" \
    has "$tmp/chat$number.err" 'rate_limit'
  ended silent $loss 0 ''
done
for loss in cut hole; do ended bare $loss 0 'final half more'; done
done_testing
