#!/bin/sh
# A terminal that takes nothing, a client that is stopped, and one that has nothing to
# do: no memory, no processor, and then it goes on.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"
[ -r /proc/self/schedstat ] || skip_all 'needs /proc'

start_sshd box
# A process and those below it.
family() {
  echo "$1"
  cat /proc/"$1"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r _child; do
    [ -z "$_child" ] || family "$_child"
  done
}
# used PID: milliseconds on a processor. peak PID: kilobytes.
used() {
  for _one in $(family "$1"); do cat /proc/"$_one"/task/*/schedstat 2>/dev/null; done |
    awk '{ sum += $1 } END { printf "%d\n", sum / 1000000 }'
}
peak() {
  for _one in $(family "$1"); do cat "/proc/$_one/status" 2>/dev/null; done |
    awk '/^VmHWM/ { sum += $2 } END { print sum }'
}

direct=$port
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  attach "$transport" -s "$transport" --keepalive 2
  ok "$transport: the prompt is there" at "$transport" expect 'claude> '
  at "$transport" quiet 0.3
  eval "pid_$transport=\$(seat_says \$transport .pid)"
done

measure() { for transport in $transports; do eval "before_$transport=\$(used \$pid_$transport)"; done; }
# busy TITLE MILLISECONDS: no more than that since `measure`.
busy() {
  for transport in $transports; do
    _took=
    eval "_took=\$((\$(used \$pid_$transport) - before_$transport))"
    ok "$transport: $1 costs no processor ($_took ms)" test "$_took" -le "$2"
  done
}

# at_rest TRANSPORT: the flood has filled what there is of ours to fill. An ssh below
# may go on with what it keeps itself, but slowly.
at_rest() {
  _pid=
  eval "_pid=\$pid_$1"
  _used=$(alone "$_pid")
  # Half a second in which next to no processor time is used.
  sleep 0.5
  [ "$(alone "$_pid")" -le $((_used + 2)) ]
}
has_its_order() { agent_typed "$1" | grep -q flood; }
alone() { cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum / 1000000 }'; }

# What is measured is the processor time in some seconds of real time. Generous: the
# bench says how much it is.
measure
sleep 3
busy 'to be idle for 3 s' 40

for transport in $transports; do
  eval "peak_$transport=\$(peak \$pid_$transport)"
  at "$transport" stall
  at "$transport" send 'flood 30000000\r'
done
for transport in $transports; do
  wait_until 30 has_its_order "$transport"
  wait_until 30 at_rest "$transport"
done
measure
# Real time again, as long as before.
sleep 3
busy 'a stalled terminal' 60
for transport in $transports; do
  _grown=
  eval "_grown=\$((\$(peak \$pid_$transport) - peak_$transport))"
  ok "$transport: a stalled terminal takes no memory ($_grown kB)" test "$_grown" -lt 16384
  at "$transport" read
done
for transport in $transports; do
  link=$transport
  ok "$transport: a stalled terminal goes on" at "$transport" within 60 expect flooded
  at "$transport" send 'inc\r'
  ok "$transport: a stalled terminal takes keys again" at "$transport" expect 'count 1'
  is "$(tries)" 1 "$transport: a stalled terminal keeps its link"
done

# Real time: longer than a silent link is given (6 s); nothing was wrong with this one.
for transport in $transports; do at "$transport" stop; done
sleep 7
for transport in $transports; do at "$transport" continue; done
for transport in $transports; do
  link=$transport
  at "$transport" send 'inc\r'
  ok "$transport: a terminal that was stopped and continued takes keys" \
    at "$transport" expect 'count 2'
  is "$(tries)" 1 "$transport: a terminal that was stopped keeps its link"
done

for transport in $transports; do
  link=$transport
  link hold
done
measure
# Real time: shorter than a silent link is given, and processor time in it.
sleep 3
busy 'a silent link' 60
for transport in $transports; do
  link=$transport
  link pass
  at "$transport" send 'inc\r'
  ok "$transport: a link that was held brings keys again" at "$transport" expect 'count 3'
  is "$(tries)" 1 "$transport: no other connection is made for a held link"
done

# An ssh that is held back must not stay when nobody is left to let it go on. tmux
# drops most of a flood for a client that is slow: it takes some until what there is of
# ours is full.
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
held_back() {
  is_stopped "$1" && return
  at ssh send 'flood 1000000\r'
  false
}
for transport in $transports; do
  [ "$transport" = ssh ] || continue
  # shellcheck disable=SC2154  # set by attach
  ours=$pid_ssh
  child=$(pgrep -P "$ours" ssh)
  at ssh stall
  ok "ssh: an ssh that is held back is stopped" wait_until 30 held_back "$child"
  kill -9 "$ours"
  ok "ssh: an ssh that is held back goes with its parent" wait_until 30 gone "$child"
done
done_testing
