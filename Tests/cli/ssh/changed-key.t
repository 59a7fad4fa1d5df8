#!/bin/sh
# A box with another key is a wall: before the first byte of authentication, in the
# middle of an attached life, for lists, and for good.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
box_port=$port
box_log=$sshd_log
start_sshd other 'LogLevel DEBUG3'
other_port=$port
other_log=$sshd_log
start_sshd_fingerprint() { ssh-keygen -lf "$ssh_dir/$1/host.pub" | cut -d ' ' -f 2; }
old_print=$(start_sshd_fingerprint box)
new_print=$(start_sshd_fingerprint other)
remote_home=$ssh_dir/box/home agents=$ssh_dir/box/agents remote_tmp=$ssh_dir/box/tm

connections() { grep -c 'Connection from 127' "$1"; }

for transport in $transports; do
  port=$box_port
  start_proxy "$transport"
  attach "$transport" -s "$transport"
  ok "$transport: the prompt comes" at "$transport" expect 'claude> '
  ok "$transport: the first trust shows the fingerprint" grep -qF "$old_print" "$tmp/$transport.screen"
  cp "$tmp/pins" "$tmp/pins.before"
  : >"$other_log"

  link to "$other_port"
  link rst
  ok "$transport: the command ends" at "$transport" end 30
  is "$(seat_says "$transport" '.status')" 77 "$transport: a changed key has status 77"
  is "$(seat_says "$transport" '.termios')" true "$transport: the terminal is as it was"
  is "$(seat_says "$transport" '.modes')" '[]' "$transport: no mode of the terminal is left on"
  screen=$(tr '\r' '\n' <"$tmp/$transport.screen")
  ok "$transport: the new fingerprint is shown" grep -qF "$new_print" "$tmp/$transport.screen"
  like "$screen" 'man in the middle' "$transport: the message says what a new fingerprint may mean"
  like "$screen" '--forget' "$transport: the message tells how to pin anew"
  is "$(connections "$other_log")" 1 "$transport: the other box is connected to once"
  not_ok "$transport: no authentication was sent" grep -Eq 'userauth-request|Accepted|Failed' "$other_log"
  ok "$transport: the pins are as before" cmp "$tmp/pins" "$tmp/pins.before"

  attach_args
  # shellcheck disable=SC2086
  t 77 "$transport: a list has status 77" tmux-attach $attach_args -l
  out_empty "$transport: no record is printed"
  ok "$transport: the message of a list shows the new fingerprint" grep -qF "$new_print" "$err"
  not_ok "$transport: nobody authenticated" grep -Eq 'userauth-request|Accepted|Failed' "$other_log"
  ok "$transport: the pins are as before" cmp "$tmp/pins" "$tmp/pins.before"

  # A line that cannot be read may have been the pin.
  cp "$tmp/pins" "$tmp/pins.good"
  sed 's/ssh-ed25519 AAAA/ssh-ed25519 A!AA/' "$tmp/pins.good" >"$tmp/pins"
  : >"$box_log"
  link to "$box_port"
  # shellcheck disable=SC2086
  t 77 "$transport: a damaged pin has status 77" tmux-attach $attach_args -l
  not_ok "$transport: no authentication was sent" grep -Eq 'userauth-request|Accepted' "$box_log"
  cp "$tmp/pins.good" "$tmp/pins"
  # shellcheck disable=SC2086
  t 0 "$transport: the right key and the right pin are taken again" tmux-attach $attach_args -l
done
done_testing
