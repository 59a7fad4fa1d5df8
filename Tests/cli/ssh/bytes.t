#!/bin/sh
# Every byte, both ways and over both transports, while keys are exchanged anew. At first
# the box's `tmux` is a script, so that nothing draws in between.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box 'RekeyLimit 1M'
# Pours out what is in ~/down, then keeps what comes in, up to the size of ~/up.
cat >"$remote_home/bin/tmux" <<'EOF'
#!/bin/sh
case " $* " in *' new-session '* | *' attach-session '*) ;; *) exec "$REAL_TMUX" "$@" ;; esac
stty raw -echo
printf 'HERE IT COMES'
cat "$HOME/down"
printf 'THAT WAS ALL'
head -c "$(wc -c <"$HOME/up")" >"$HOME/came"
printf 'GOT ALL'
# Until somebody leaves.
exec sleep 60
EOF
sed "s|\"\$REAL_TMUX\"|$(command -v tmux)|" "$remote_home/bin/tmux" >"$tmp/tmux"
cat "$tmp/tmux" >"$remote_home/bin/tmux"
chmod +x "$remote_home/bin/tmux"
at_least_rekeys() { [ "$(grep -c "rekey out after\|rekeying in progress\|NEWKEYS sent" "$sshd_log")" -ge "$1" ]; }
# All bytes; upwards none that begins an escape of the client's.
perl -e 'srand 7; print map { pack "N", rand 2**32 } 1..3000000' >"$remote_home/down"
perl -e 'srand 8; $_ = join "", map { pack "N", rand 2**32 } 1..750000; s/[\r\n]~/xx/g; print' \
  >"$remote_home/up"

for transport in $transports; do
  : >"$sshd_log"
  rm -f "$remote_home/came"
  attach "$transport"
  ok "$transport: all of the 12 MB comes" at "$transport" within 60 expect 'THAT WAS ALL'
  perl -e 'local $/; $_ = <>; print substr $_, index($_, "HERE IT COMES") + 13' "$tmp/$transport.screen" |
    head -c 12000000 >"$tmp/went"
  ok "$transport: 12 MB came as they were" cmp "$tmp/went" "$remote_home/down"
  at "$transport" paste "$remote_home/up"
  ok "$transport: 3 MB are typed" at "$transport" within 60 expect 'GOT ALL'
  ok "$transport: the 3 MB arrive as they were" cmp "$remote_home/came" "$remote_home/up"
  ok "$transport: the keys were exchanged anew" at_least_rekeys 10
  at "$transport" send '\r~.'
  ok "$transport: ~. ends the terminal" at "$transport" end 30
  is "$(seat_says "$transport" '.termios')" true "$transport: ~. gives the terminal back"
done
rm "$remote_home/bin/tmux"

# Typed through a script, with new keys each 64 KB: libssh2 exchanges them while it sends.
start_sshd often 'RekeyLimit 64K'
rtmux new-session -d -s riff -x 200 -y 50 "stty raw -echo; cat >'$tmp/typed'"
perl -e 'srand 7; print map { chr 97 + rand 26 } 1 .. 400_000' >"$tmp/text"
attach_args libssh2
# shellcheck disable=SC2086
t 0 "400 KB are typed" tmux-attach $attach_args -t <"$tmp/text"
printf ' ' >>"$tmp/text"
wait_until 30 cmp "$tmp/text" "$tmp/typed"
ok "400 KB arrive byte for byte" cmp "$tmp/text" "$tmp/typed"
rekeyed=$(grep -c 'rekeying' "$sshd_log")
ok "keys are exchanged anew on the way ($rekeyed times)" test "$rekeyed" -ge 2
done_testing
