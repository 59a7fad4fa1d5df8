#!/bin/sh
# a1-libssh2-link: a connection that breaks at any byte on the way ends with the right
# reason and at once; bytes stay whole while keys are exchanged anew.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

start_sshd box 'RekeyLimit 64K'
list() {
  attach_args libssh2
  # shellcheck disable=SC2086
  run tmux-attach $attach_args "$@" -l
}
# --- new keys in the middle of both directions
rtmux new-session -d -s riff -x 200 -y 50 "stty raw -echo; cat >'$tmp/typed'"
perl -e 'srand 7; print map { chr 97 + rand 26 } 1 .. 400_000' >"$tmp/text"
attach_args libssh2
# shellcheck disable=SC2086
run tmux-attach $attach_args -t <"$tmp/text"
status_is 0 "400 KB are typed"
printf ' ' >>"$tmp/text"
wait_until 10 cmp "$tmp/text" "$tmp/typed"
ok "and arrive byte for byte" cmp "$tmp/text" "$tmp/typed"
rekeyed=$(grep -c 'rekeying' "$sshd_log")
ok "with new keys on the way ($rekeyed times)" test "$rekeyed" -ge 2
rtmux new-session -d -s other cat
rtmux kill-session -t =riff

# --- cut at every so many bytes of the host's: reset, then closed in order
box_port=$port
start_proxy
list
status_is 0 "the box is reached through the link"
cut() {
  link pass >/dev/null
  # shellcheck disable=SC2086
  link cut $1 >/dev/null
  list --max-time 3
}
wrong=
at=0
while [ "$at" -lt 3400 ]; do
  cut "$at"
  [ "$status" -eq 75 ] && [ "$(lines "$err")" -eq 1 ] || wrong="$wrong $at:$status"
  # In the clear first, byte for byte nearly; then packet for packet.
  if [ "$at" -lt 60 ]; then at=$((at + 7)); else at=$((at + 149)); fi
  [ "$status" -eq 0 ] && break
done
is "$status" 0 "a cut behind the last byte harms nobody"
is "$wrong" " $((at - 149)):0" "a reset at any byte before is a link that broke, in one line"
wrong=
for at in 0 20 45 600 1200 1500 1700; do
  cut "$at fin"
  [ "$status" -eq 75 ] && [ "$(lines "$err")" -eq 1 ] || wrong="$wrong $at:$status"
done
is "$wrong" "" "so is one that the host closes"
link pass >/dev/null

# --- a byte that is changed on the way
wrong=
for at in 30 300 900 1300 1600 1900; do
  link flip "$at" >/dev/null
  list --max-time 3
  [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && [ "$(lines "$err")" -eq 1 ] ||
    wrong="$wrong $at:$status"
done
is "$wrong" "" "a byte changed on the way is noticed, and no crash"
link pass >/dev/null
list
status_is 0 "then all is well again"

# --- a link that is slow to answer each packet
link delay 40 >/dev/null
list
status_is 0 "a distant host is reached"
link pass >/dev/null
port=$box_port
done_testing
