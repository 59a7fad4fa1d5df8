#!/bin/sh
# share-inbox over a link that is cut, reset, stalled or slow at any byte: every file
# is typed exactly once in the end, and whole. Over both transports, which lose a link
# each in its way; what is cut where is the same for them, and cut more often over the
# first.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

seed=${SEED:-$$}
diag "SEED=$seed"
# chance BELOW: a number, the same for the same seed.
chance() {
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  chance=$((seed / 65536 * 32768 % $1))
}
under_way() { [ "$(link passed)" -ge "$chance" ]; }
# A link that is silent before the file is on its way takes as long as a connection may.
bound=60
start_box
direct=$port
# shellcheck disable=SC2154  # of inbox.sh
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  made=$tmp/made-$transport
  mkdir "$made"
  # The host's key is pinned first.
  echo first >"$made/first.txt"
  share-inbox add -q "$made/first.txt"
  forget_typed
  inbox drain
  set -- "$made/first.txt"
  odd=
  cut_short=0
  count=0
  cuts='up up up down down'
  [ "$transport" != "${transports%% *}" ] || cuts="$cuts $cuts"
  for cut in $cuts; do
    count=$((count + 1))
    for size in 300000 1000; do
      head -c "$size" /dev/urandom >"$made/$count-$size.bin"
      set -- "$@" "$made/$count-$size.bin"
    done
    share-inbox add -q "$made/$count-300000.bin" "$made/$count-1000.bin"
    # OpenSSH keeps connections for later; this one is to be new.
    link drop
    end=
    case $cut$count in
    up*[02468]) chance 320000 && end=fin ;;
    up*) chance 20000 ;;
    *[02468]) chance 6000 && end=fin ;;
    *) chance 6000 ;;
    esac
    case $cut in
    up) link cut $((2000 + chance)) up $end ;;
    *) link cut $((1500 + chance)) $end ;;
    esac
    before=$(left)
    inbox drain
    # What was cut may have been delivered to its last byte.
    case $status in
    75) cut_short=$((cut_short + 1)) && [ "$(lines "$err")" -eq 1 ] || odd="$odd $status:$(cat "$err")" ;;
    *) [ "$status $(left)" = "0 0" ] || odd="$odd $status:$before:$(left):$(cat "$err")" ;;
    esac
    [ "$((before - $(left)))" -eq "$(grep -c '"delivered"' "$out")" ] || odd="$odd unsaid"
  done
  is "$odd" "" "$transport: a link that is cut ends it with 75 and one line"
  diag "$cut_short of $count were cut before they were through"
  ok "$transport: most of the links were cut" test "$cut_short" -ge $((count / 2))

  # Silence, in the middle of a file.
  for silence in blackhole 'silence up' 'silence down'; do
    link drop
    link pass
    link rate 300000
    head -c 1000000 /dev/urandom >"$made/${silence#* }.bin"
    set -- "$@" "$made/${silence#* }.bin"
    share-inbox add -q "$made/${silence#* }.bin"
    inbox_args
    # shellcheck disable=SC2086
    start still share-inbox drain --keepalive 1 $inbox_args
    chance 400000
    wait_until 30 under_way
    # shellcheck disable=SC2086
    link $silence
    finished "$pid"
    is "$status $(lines "$tmp/still.err")" "75 1" \
      "$transport, $silence: a silent link is noticed, with 75 and one line"
  done

  # A byte that changed on its way is noticed by SSH.
  link drop
  link pass
  link flip 100000 up
  inbox drain
  status_is 75 "$transport: a byte that changed on its way has status 75"

  # Nothing moves for a while: no harm.
  link drop
  link pass
  link rate 2000000
  # shellcheck disable=SC2086
  start held share-inbox drain $inbox_args
  chance=20000
  wait_until 30 under_way
  link hold
  # Real time: the silence that is to do no harm. After 4 s the host would be asked.
  sleep 0.7
  link pass
  finished "$pid"
  is "$status $(left)" "0 0" "$transport: a link that was held delivers what was left"
  came_once "$transport" "$@"

  # What has left here may be on the way for longer than an answer may take.
  forget_typed
  link rate 300000
  head -c 700000 /dev/urandom >"$made/slow.bin"
  share-inbox add -q "$made/slow.bin"
  inbox drain --max-time 1.5
  is "$status $(cat "$err")" "0 " "$transport: a slow line delivers in spite of --max-time"
  came_once "$transport, slow" "$made/slow.bin"
  link pass
done
is "$(parts)" 0 "no part of a file is left on the host"
done_testing
