#!/bin/sh
# A list over a link that is cut at every byte, or in which one byte is wrong: the
# answer is right or it is a failure; an empty list means that there is no session. Over
# both transports, which have a decoder and an end of a connection each.
# EVERY_BYTE=1 leaves no place out.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
bound=200
# list OPTION...: over a connection of its own.
list() {
  # shellcheck disable=SC2086
  run env XDG_RUNTIME_DIR="$(mktemp -d -p "$tmp")" tmux-attach $attach_args "$@" -l
}
for session in alpha beta gamma; do rtmux new-session -d -s "$session" cat; done

for transport in $transports; do
  port=$(cat "$ssh_dir/box/port")
  start_proxy "$transport"
  attach_args
  list
  status_is 0 "$transport: the list comes"
  cp "$out" "$tmp/want"
  is "$(jq -r .name "$tmp/want" | tr '\n' ' ')" 'alpha beta gamma ' "$transport: the list is right"
  # OpenSSH's master keeps its connection for the next call.
  link drop
  size=$(jq 'select(.what == "close").down' "$tmp/link-$transport.log" | head -n 1)
  ok "$transport: the box sends some kilobytes" test "$size" -gt 2000

  # The greeting at every other byte, the rest in steps: more of them where they are cheap.
  case ${EVERY_BYTE:-}$transport in
  1*) steps="0:1:$size" ;;
  libssh2) steps="0:2:60 60:37:$size" ;;
  ssh) steps="0:13:60 60:101:$size" ;;
  esac
  for step in $steps; do
    from=${step%%:*}
    to=${step##*:}
    by=${step#*:}
    by=${by%:*}
    link pass
    link cuts "$from" "$by"
    # shellcheck disable=SC2086
    run "$python" "$cli/clients/cuts.py" "$tmp/want" $(((to - from) / by)) \
      tmux-attach $attach_args -l
    [ ! -s "$err" ] || diag "$(sort "$err" | uniq -c)"
    out_like '^75 ' "$transport: a list that is cut at $step fails for now"
    out_unlike 'wrong|untold|hangs' \
      "$transport: a list that is cut never has a wrong answer, and says why"
    out_unlike '^(1|2|77|126|127|[12][0-9][0-9]) ' \
      "$transport: a list that is cut never fails as if something else were wrong"
  done

  # So it is when the box seems to close the connection in order.
  wrong=
  for place in 0 20 600 1200 1700; do
    link pass
    link cut "$place" fin
    list --max-time 3
    [ "$status $(lines "$err")" = "75 1" ] || wrong="$wrong $place:$status"
  done
  is "$wrong" '' "$transport: a list whose link ends in order fails for now"

  link pass
  # Nobody has refused us, and no packet is left out. What is wrong with names of
  # algorithms, which are in the clear, looks like a host that has none for us; and
  # OpenSSH looks a key up before it sees that it is not the host's.
  case $transport in
  libssh2) from=1190 by=101 ;;
  ssh) from=1500 by=211 ;;
  esac
  [ -z "${EVERY_BYTE:-}" ] || from=0 by=1
  wrong=
  place=3
  while [ "$place" -lt "$size" ]; do
    link flip "$place"
    list --max-time 3
    case $status in
    0) cmp -s "$out" "$tmp/want" || wrong="$wrong $place:other" ;;
    75) ;;
    2) [ "$place" -lt 1190 ] || wrong="$wrong $place:2" ;;
    *)
      [ "$transport:$status" = ssh:77 ] && grep -q 'KEY CHANGED' "$err" ||
        wrong="$wrong $place:$status"
      ;;
    esac
    # Of the first packets that are encrypted some byte of each length, too.
    case ${EVERY_BYTE:-}$transport$place in
    libssh213[4-9]?) place=$((place + 7)) ;;
    *) place=$((place < from ? place + 297 : place + by)) ;;
    esac
  done
  is "$wrong" '' "$transport: one wrong byte gives the right list, or a failure for now"

  # What is no box at all: told at once, or in the time that was asked for.
  link pass
  for fault in refuse hangup 'listen off' hold; do
    case $fault in
    hold) link listen on && link blackhole all ;;
    *) link $fault ;;
    esac
    began=$(date +%s)
    list --max-time 3
    took=$(($(date +%s) - began))
    status_is 75 "$transport: $fault: the status is 75"
    err_one_line tmux-attach "$transport: $fault: the reason is told"
    ok "$transport: $fault: the list ends in time ($took s)" test "$took" -le 12
    link pass
  done
done
done_testing
