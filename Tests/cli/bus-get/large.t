#!/bin/sh
# Records larger than what bus-get asks for at once, between small ones.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
bound=30
echo 'max_payload: 8MB' >"$tmp/server.conf"
start_bus a -c "$tmp/server.conf"
bus-put -q -s "$bus" --create </dev/null
{
  rows 100
  for megabytes in 3 3 1 7; do
    printf '{"type":"health","bytes":"%0*d"}\n' "${megabytes}000000" "$megabytes"
  done
  rows 200 101
  printf '{"type":"health","bytes":"%05000000d"}\n' 5
  rows 1 301
} >"$tmp/in"
t 0 "small and large records are stored" bus-put -s "$bus" <"$tmp/in"
for way in '--idle 20' '-d shared'; do
  # shellcheck disable=SC2086  # words
  t 0 "small and large records come out again: $way" bus-get -s "$bus" --all -n 306 $way
  ok "small and large records come in their order: $way" cmp -s "$out" "$tmp/in"
done
# shellcheck disable=SC2016  # the command's own
run bus-get -s "$bus" -d each -n 5 -x 'wc -c' 'records.>' --all
is "$(tr -d ' ' <"$out" | tr '\n' ' ')" '3000029 3000029 1000029 7000029 5000029 ' \
  "a command is given large records"
done_testing
