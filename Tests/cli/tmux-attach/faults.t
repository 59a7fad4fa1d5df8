#!/bin/sh
# A link that goes wrong under a session. Over both transports, for each loses it and
# finds out in its own way.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

unset COLORTERM
start_sshd box
box=$port
start_proxy

shows() { grep -aq -e "$2" "$tmp/$1.screen"; }
clients_are() { [ "$(rtmux list-clients -F '#{client_tty}' | wc -l)" -eq "$1" ]; }
# client_of WIDTH: the process of the client whose terminal is so wide.
client_of() { rtmux list-clients -F '#{client_width} #{client_pid}' | sed -n "s/^$1 //p"; }
sized() { [ "$(rtmux display-message -p -t =riff: '#{window_width}')" = "$1" ]; }
fresh() {
  link pass
  rtmux kill-server 2>/dev/null
  rm -f "$tmp/me.screen"
  seated me "$@"
}

for transport in $transports; do
  title=$transport
  # Silence is noticed after three times this.
  fresh --keepalive 1
  at me send 'mouse on\rinc\r'
  ok "$title: the screen is at the agent" at me expect 'count 1'
  # The user's other screen, on a link of its own.
  _proxy=$port
  port=$box
  seated other
  port=$_proxy
  ok "$title: another screen is there, too" wait_until 30 clients_are 2

  # Real time: stopped for longer than silence is put up with (3 s), on a link that is well.
  if [ "$transport" = libssh2 ]; then
    at me stop
    sleep 4
    at me continue
    ok "$title: a stopped screen goes on" at me expect 'count 1'
    ok "$title: a stopped screen is on the same link" at me unseen reconnecting
  fi

  # A reset; meanwhile the window gets another size, and keys go nowhere.
  link listen off
  link rst
  ok "$title: a reset is told" at me expect 'reconnecting in'
  at me send 'lost\r'
  at me resize 40x90
  at other resize 50x95
  link listen on
  ok "$title: a try is told" at me expect 'reconnecting (try'
  ok "$title: the screen is back after a reset" at me expect 'count 1'
  ok "$title: the screen says that it is connected again" at me expect 'connected again'
  at me send 'inc\r'
  ok "$title: the screen is at the same agent" at me expect 'count 2'
  ok "$title: what was typed while the link was down is not typed" untyped lost
  ok "$title: the size has followed" wait_until 30 sized 90
  ok "$title: the other screen stays" wait_until 30 clients_are 2

  # The connection is swallowed: nobody says anything any more. Our client at the
  # host lives on, and is the one that is detached.
  other=$(client_of 95)
  mine=$(client_of 90)
  tries=$(tries)
  link blackhole
  at me send 'inc\r'
  ok "$title: silence is noticed" at me within 20 expect 'nothing heard'
  at me send '\r'
  ok "$title: Return tries at once" wait_until 3 tried $((tries + 1))
  ok "$title: the screen is back when Return was pressed" at me within 10 expect 'count 2'
  ok "$title: there are two clients again" wait_until 30 clients_are 2
  is "$(client_of 95)" "$other" "$title: the client that was well stays"
  isnt "$(client_of 90)" "$mine" "$title: the client that was lost is another"
  at other send 'inc\r'
  ok "$title: the other screen lives" at other expect 'count 3'
  at other send '\x02d'
  ok "$title: the other screen is left" at other end 30

  # One wrong byte in what comes before the session: in the host's name for itself, in
  # the exchange of keys, in the answers to ours. That is no refusal. OpenSSH says much the
  # same of each.
  case $transport in
  libssh2) places='3 700 1410 1450 1490' ;;
  ssh) places='3 1450' ;;
  esac
  for place in $places; do
    link flip "$place"
    tries=$(tries)
    link rst
    ok "$title: a wrong byte $place breaks the link" wait_until 30 tried $((tries + 1))
    link pass
    # Once that has failed, Return need not wait for the next.
    at me expect 'reconnecting (try'
    at me expect 'reconnecting in'
    at me send '\r'
    ok "$title: the screen is back after a wrong byte $place" at me within 40 expect 'count 3'
  done

  # The escape needs no network: in silence, between tries, during one.
  link blackhole
  at me send '\r~.'
  ended me 0 "$title: ~. on a dead link"

  fresh
  link listen off
  link rst
  at me expect 'reconnecting in'
  at me send '~.'
  ended me 0 "$title: ~. between tries"

  link listen on
  fresh
  link blackhole all
  link rst
  at me expect 'reconnecting (try'
  at me send '~.'
  ended me 0 "$title: ~. during a try"

  link pass
  link blackhole all
  attach_args
  # shellcheck disable=SC2086
  sit me 30x100 tmux-attach $attach_args
  ok "$title: a first connection is told" at me expect 'connecting'
  at me send '~.'
  ended me 75 "$title: ~. while it connects"

  # The session ends while the link is down.
  fresh
  at me send 'mouse on\r'
  at me expect '1006h'
  link listen off
  link rst
  at me expect 'reconnecting in'
  rtmux kill-server
  link listen on
  ended me 1 "$title: a session that is gone"
  ok "$title: the screen says that the session ended" \
    shows me 'session riff ended while the link was down'
  not_ok "$title: no other session is begun" rtmux has-session -t =riff

  # So many tries and no more.
  fresh --max-retries 1
  link listen off
  link rst
  ended me 75 "$title: --max-retries"
  ok "$title: the screen says that it gave up" shows me 'gave up after 1 more try'
  link listen on
  fresh --max-retries 0
  link rst
  ended me 75 "$title: no retries"

  # A host that cannot be reached at first is no matter of patience.
  link listen off
  attach_args
  # shellcheck disable=SC2086
  sit me 30x100 tmux-attach $attach_args
  ended me 75 "$title: refused at first"
  ok "$title: the screen says that the host refused" shows me 'efused'
  link listen on

  # A terminal that takes nothing, before a flood.
  fresh
  rss() { ps -o rss= -p "$(seat_says me .pid)" | tr -d ' '; }
  before=$(rss)
  at me stall
  port=$box
  seated other
  port=$_proxy
  at other send 'flood 20000000\r'
  ok "$title: a stalled terminal holds nobody up" at other within 20 expect 'flooded'
  grown=$(($(rss) - before))
  ok "$title: a stalled terminal does not grow ($grown KB)" test "$grown" -lt 4096
  # ssh itself waits for its terminal.
  at me send 'inc\r'
  if [ "$transport" = libssh2 ]; then
    ok "$title: a stalled terminal takes keys" at other expect 'count 1'
  fi
  at other send '\x02d'
  at me send '\r~.'
  ok "$title: ~. ends a stalled terminal, too" at me end 30
  is "$(seat_says me .termios)" true "$title: the modes of a stalled terminal are as before"
done
# tmux drops what the host's terminal has not passed on when it takes it over, now and
# then the answer of the script before it. Here it never comes.
link pass
rtmux kill-server 2>/dev/null
cat >"$remote_home/bin/sh" <<'END'
#!/bin/sh
[ "$#" -eq 4 ] || exec /bin/sh "$@"
script=$(printf %b "$4" | sed 's/; s ok;/; :;/')
exec /bin/sh -c "$script"
END
chmod +x "$remote_home/bin/sh"
for transport in $transports; do
  title="$transport, without the answer"
  rm -f "$tmp/me.screen"
  seated me
  at me send 'inc\r'
  ok "$title: the screen is at the agent" at me expect 'count '
  rm "$remote_home/bin/sh.off" 2>/dev/null
  mv "$remote_home/bin/sh" "$remote_home/bin/sh.off"
  link rst
  ok "$title: a link that is lost is made again" at me expect 'connected again'
  at me send '\r~.'
  ended me 0 "$title"
  mv "$remote_home/bin/sh.off" "$remote_home/bin/sh"
done

done_testing
