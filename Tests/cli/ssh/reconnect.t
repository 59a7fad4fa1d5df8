#!/bin/sh
# The link goes, in every way that links go, and comes back: when, how often, and to
# what. In real time, both transports at once; what becomes of a session that is gone
# meanwhile is in tmux-attach/faults.t.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
direct=$port
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  attach "$transport" -s "$transport"
  ok "$transport: the prompt is there" at "$transport" expect 'claude> '
  at "$transport" send 'token\r'
  ok "$transport: the agent tells who it is" at "$transport" expect 'token '
  at "$transport" quiet 0.3
  at "$transport" seen
done
# each ORDER...: to both links.
each() { for link in $transports; do link "$@"; done; }
# waits: seconds from the last `close` before each accept, in tenths, rounded down.
waits() {
  jq -rs '. as $all | [range(length) | select($all[.].what == "accept" and . > 0)
    | ($all[.].t - $all[. - 1].t) * 10 | floor] | @tsv' "$tmp/link-$link.log"
}
# back TITLE: the prompt of the same agent, on one more connection.
back() {
  for transport in $transports; do
    link=$transport
    # tmux draws the prompt anew now and then; this it sends to a new client alone.
    ok "$transport: $1: the screen is back" at "$transport" within 25 expect '\e[?1049h'
    at "$transport" expect 'claude> '
    at "$transport" quiet 0.3
    at "$transport" send 'token\r'
    ok "$transport: $1: the terminal is at the same agent" at "$transport" expect \
      "token $(agent_says "$transport" 'select(.what == "start").token')"
    at "$transport" quiet 0.3
    at "$transport" seen
    is "$(rtmux list-clients -t "=$transport" | wc -l | tr -d ' ')" 1 \
      "$transport: $1: the terminal is the only client"
  done
}

# Waits of 1, 2 and 4 s while the box resets all who come; on a busy machine it may be
# more, but none is as long as the next.
each refuse
each rst
for link in $transports; do
  wait_until 30 tried 3
  link pass
done
back 'a reset'
for link in $transports; do
  waits=$(waits)
  ok "$link: tries come after 1, 2 and 4 s ($waits)" \
    matches "$waits" '^(9|1[0-8])	(19|2[0-9]|3[0-8])	(39|[4-7][0-9])$'
done

# A success sets the waits back. Its size changed meanwhile.
each rst
for transport in $transports; do at "$transport" resize 40x90; done
back 'another'
for link in $transports; do
  ok "$link: the first try comes after 1 s again" matches "$(waits)" '	(9|1[0-8])$'
  is "$(rtmux display-message -p -t "=$link:" '#{client_width}x#{window_width}')" 90x90 \
    "$link: the session has the size that the terminal got while it was away"
done

# Half-open: in time, by default.
for link in $transports; do tries >"$tmp/$link.tries"; done
each blackhole
began=$(date +%s)
for link in $transports; do
  ok "$link: a silent link is noticed within 20 s" wait_until 20 tried $(($(cat "$tmp/$link.tries") + 1))
done
took=$(($(date +%s) - began))
ok "a silent link is not noticed before its time ($took s)" test "$took" -ge 8
back 'a silent link'

each drop
back 'an end in order'
each hangup
each rst
for link in $transports; do tries >"$tmp/$link.tries"; done
for link in $transports; do wait_until 30 tried $(($(cat "$tmp/$link.tries") + 1)); done
each pass
back 'a box that hangs up at once'

# The box starts anew: its sessions stay.
for link in $transports; do tries >"$tmp/$link.tries"; done
stop_sshd box
for link in $transports; do wait_until 30 tried $(($(cat "$tmp/$link.tries") + 1)); done
start_sshd box
back 'the box was down'

# Keys that come before tmux has the terminal come as they are.
cat >"$remote_home/bin/tmux" <<END
#!/bin/sh
case " \$* " in *" attach-session "*) sleep 0.5 ;; esac
exec $(command -v tmux) "\$@"
END
chmod +x "$remote_home/bin/tmux"
for link in $transports; do
  : >"$(agent_log "$link")"
  link rst
  i=0
  while [ "$i" -lt 60 ]; do
    at "$link" send 'a\r\x04'
    sleep 0.05
    i=$((i + 1))
  done
  at "$link" quiet 0.3
  keys=$(agent_says "$link" 'select(.what == "input").hex' | tr -d '\n' | fold -w 2 | sort -u | tr '\n' ' ')
  is "$keys" "04 0d 61 " "$link: keys come as they were typed"
done
done_testing
