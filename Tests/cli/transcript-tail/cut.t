#!/bin/sh
# A connection that is lost at any byte, again and again, while transcripts grow: each line
# is printed once, in order, with the bytes it has. Both transports at once.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"
needs transcript-tail
cd "$tmp" || exit 1
start_sshd
direct=$port
site=$remote_home/.claude/projects/x
mkdir -p "$site"
# lines FROM TO: of a transcript, some of them long, with bytes of all kinds.
lines_of() {
  perl -e 'for ($ARGV[0] .. $ARGV[1]) {
    print "{\"type\":\"user\",\"n\":$_,\"x\":\"" . "caf\303\251 " x ($_ % 50 ? $_ % 97 : 9000) . "\"}\n" }' \
    "$1" "$2"
}
lines_of 1 1000 >"$site/s.jsonl"
follows=
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  attach_args
  # shellcheck disable=SC2086
  start "follow-$transport" transcript-tail -L -v --keepalive 1 --state "state-$transport" $attach_args:
  follows="$follows $pid"
done
each() { for link in $transports; do link "$@"; done; }
# printed NUMBER: all transports have printed that line.
printed() {
  for transport in $transports; do has "follow-$transport.out" "\"n\":$1," || return 1; done
}
ok "what is there comes over both transports" wait_until 60 printed 1000
# losing COUNT: each transport has lost so many connections, or more.
losing() {
  for transport in $transports; do
    [ "$(grep -c '"type":"lost"' "follow-$transport.out")" -ge "$1" ] || return 1
  done
}
next=1001
losses=0
# While login, greeting and list go over the wire, and in the middle of pieces.
for fault in 'cuts 3000 1999' 'cut 30011' 'cut 60013 fin' pass; do
  # shellcheck disable=SC2086
  each $fault
  lines_of "$next" $((next + 99)) >>"$site/s.jsonl"
  next=$((next + 100))
  each rst
  losses=$((losses + 1))
  wait_until 30 losing "$losses"
done
each pass
ok "all lines come after lost connections" wait_until 60 printed $((next - 1))
each blackhole
lines_of "$next" $((next + 9)) >>"$site/s.jsonl"
next=$((next + 10))
ok "a host that is silent is left, and found again" wait_until 60 printed $((next - 1))
for transport in $transports; do
  grep '^{"event"' "follow-$transport.out" | jq -r .data.n >numbers
  seq $((next - 1)) >want
  ok "$transport: each line comes once, in order" cmp numbers want
  grep '^{"event"' "follow-$transport.out" | perl -pe 's/^.*?"data":(.*)\}$/$1/' >data
  ok "$transport: the bytes are the same" cmp data "$site/s.jsonl"
  ok "$transport: many connections were needed" \
    test "$(grep -c '"type":"resumed"' "follow-$transport.out")" -ge 2
  like "$(cat "follow-$transport.err")" 'link is down: .*; next try in 1 s$' "$transport: a person is told"
  like "$(cat "follow-$transport.err")" 'link is back after [0-9]+ s$' \
    "$transport: a person is told when the link is back"
done
for pid in $follows; do stop "$pid"; done

# Given up when that is asked for.
port=$direct
start_proxy given
attach_args
# shellcheck disable=SC2086
start given transcript-tail -L --max-retries 1 --new $attach_args:
given=$pid
wait_until 20 has given.out '"open"'
link listen off
link rst
finished "$given"
is "$status" 75 "a host is given up when it is asked for"
like "$(tail -n 1 given.out)" '"type":"end","reason":"' \
  "a host that is given up is told by --lifecycle"
done_testing
