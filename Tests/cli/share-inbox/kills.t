#!/bin/sh
# share-inbox killed at any moment, and many at once: every file is typed exactly once.
# Killed over both transports, since an ssh goes on for a moment when nobody is left;
# KILLS is how often, a third of a second each.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

kills=${KILLS:-16}
seed=${SEED:-$$}
diag "SEED=$seed"
start_box
direct=$port
# shellcheck disable=SC2154  # of inbox.sh
for transport in $transports; do
  mkdir "$tmp/made-$transport"
  forget_typed
  # Far enough away that there is time between a path that is typed and a file that
  # goes.
  port=$direct
  start_proxy "$transport"
  link delay 10
  inbox_args
  # shellcheck disable=SC2086
  bound=300 run python3 "$cli/clients/killer.py" "$kills" "$seed" "$tmp/made-$transport" \
    share-inbox add -q -- share-inbox drain $inbox_args
  status_is 0 "$transport: after all kills a last drain goes well"
  diag "$(tail -n 1 "$err")"
  err_like "^$kills of " "$transport: drains were killed $kills times"
  cp "$out" "$tmp/files"
  is "$(left)" 0 "$transport: no file is left after the kills"
  # shellcheck disable=SC2046  # names without blanks
  came_once "$transport, killed" $(cat "$tmp/files")
done

# Eight at once.
transport=${transports%% *}
port=$direct
inbox_args
set --
mkdir "$tmp/crowd"
i=0
while [ "$i" -lt 24 ]; do
  i=$((i + 1))
  head -c $((i * 5000)) /dev/urandom >"$tmp/crowd/crowd-$i.bin"
  set -- "$@" "$tmp/crowd/crowd-$i.bin"
done
forget_typed
share-inbox add -q "$@"
crowd=
i=0
while [ "$i" -lt 8 ]; do
  i=$((i + 1))
  # shellcheck disable=SC2086
  start "crowd-$i" share-inbox drain $inbox_args
  crowd="$crowd $pid"
done
bad=0
for one in $crowd; do
  finished "$one"
  [ "$status" -eq 0 ] || bad=$((bad + 1))
done
is "$bad $(left)" "0 0" "eight drains at once end well, and no file is left"
came_once "eight at once" "$@"
is "$(cat "$tmp"/crowd-*.out | jq -r .id | sort | uniq -d)" "" \
  "each file has one record of its delivery"

# And without the lock, which is no part of what makes it exact: each drain has an
# inbox of its own with the same items in it.
forget_typed
share-inbox add -q --inbox "$tmp/twin-1" "$@"
crowd=
for i in 1 2 3 4; do
  [ "$i" -eq 1 ] || cp -r "$tmp/twin-1" "$tmp/twin-$i"
done
for i in 1 2 3 4; do
  # shellcheck disable=SC2086
  start "twin-$i" share-inbox drain --inbox "$tmp/twin-$i" $inbox_args
  crowd="$crowd $pid"
done
bad=0
for one in $crowd; do
  finished "$one"
  [ "$status" -eq 0 ] || bad=$((bad + 1))
done
is "$bad" 0 "four drains that share no lock end well"
came_once "no lock" "$@"
is "$(parts)" 0 "no part of a file is left on the host"
done_testing
