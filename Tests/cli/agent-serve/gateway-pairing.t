#!/bin/sh
# agent-serve: devices that want to come in by the gateway.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve

checks gateway-pairing.py terminal "$tmp/terminal.sqlite"
checks gateway-pairing.py by_device "$tmp/device.sqlite"
start_gateway silent -D "$tmp/silent.sqlite"
checks gateway-pairing.py by_others "$gateway"
is "$(find "$tmp/silent.sqlite" -perm 600)" "$tmp/silent.sqlite" \
  "the database with pairings is for its owner alone"
stop "$pid"
is "$(cat "$tmp/silent.err")" "" "nobody was asked without --pairing"
done_testing
