#!/bin/sh
# tmux-attach --asks and --decide: what agent-ask holds on a host, over both ways to it, and answers
# that are taken there. What reads them is agent-approve.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
needs jq

start_sshd
# shellcheck disable=SC2154  # of ssh.sh
asks=$remote_home/.local/state/agentutils/asks
mkdir -p "$asks"
chmod 700 "$asks"
# holds ID [COMMAND]: a hook that waits, as agent-ask does, and takes a whole answer.
holds() {
  mkdir "$asks/.$1"
  start "hook-$1" sh -c 'until [ -s "$1/answer" ] && [ ! -e "$1/deaf" ]; do sleep 0.05; done; echo taken >>"$1/answer"; rm -r "$1"' hook "$asks/$1"
  began=
  [ ! -r "/proc/$pid/stat" ] || began=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
  printf '%s\n' "$pid" "$began" site >"$asks/.$1/about"
  printf '{"name":"the site","statusUpdatedAt":1795641100493}' >"$asks/.$1/session"
  jq -cn --arg command "${2-make}" '{session_id: "s1", cwd: "/srv", hook_event_name: "PermissionRequest",
    tool_name: "Bash", tool_input: {command: $command}}' >"$asks/.$1/request"
  mv "$asks/.$1" "$asks/$1"
}
one=0123456789abcdef0123456789abcdef
two=1123456789abcdef0123456789abcdef
three=2123456789abcdef0123456789abcdef
allow='{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
hostile=$(printf '\033]0;x\007\342\200\256 $(id) `id` #{pane_id} "quoted"')

for transport in $transports; do
  attach_args "$transport"
  holds "$one" "$hostile"
  # shellcheck disable=SC2086
  start watch tmux-attach --asks $attach_args
  ok "$transport: what waits is told, and then that it was all" \
    wait_until 20 grep -q '"type":"open"' "$tmp/watch.out"
  is "$(sed -n 1p "$tmp/watch.out" | jq -r '[.type, .id, .state, .tool, .request.session, .request.title, .request.tool_input.command] | join("|")')" \
    "approval|$one|pending|Bash|site|the site|$hostile" \
      "$transport: a record has the text of a request as it came"
  not_ok "$transport: no control byte is in a record" \
    grep -q "$(printf '[\033\007]')" "$tmp/watch.out"
  holds "$two"
  ok "$transport: a request that comes is told" wait_until 5 grep -q "$two" "$tmp/watch.out"
  printf '%s %s\n' "$one" "$allow" "$two" "$allow" "$one" "$allow" ../../x "$allow" >"$tmp/answers"
  # shellcheck disable=SC2086
  t 0 "$transport: answers are taken on the host" tmux-attach --decide $attach_args <"$tmp/answers"
  is "$(xargs <"$out")" "taken taken notFound notFound" \
    "$transport: a word says what came of each answer"
  gone() { [ "$(grep -c cancelled "$tmp/watch.out")" -eq 2 ]; }
  ok "$transport: requests that do not wait any more are told" wait_until 5 gone
  holds "$three"
  touch "$asks/$three/deaf"
  hook=$pid
  wait_until 5 grep -q "$three" "$tmp/watch.out"
  echo "$three $allow" >"$tmp/answers"
  # shellcheck disable=SC2086
  start give sh -c "tmux-attach --decide $attach_args <$tmp/answers"
  wait_until 5 test -s "$asks/$three/answer"
  # shellcheck disable=SC2086
  t 0 "$transport: a second answer is given" tmux-attach --decide $attach_args <"$tmp/answers"
  out_is late "$transport: the second of two answers is late"
  stop "$hook" KILL
  ok "$transport: a hook that was killed holds nothing" wait_until 5 test ! -e "$asks/$three"
  finished_give() { [ -s "$tmp/give.out" ]; }
  wait_until 10 finished_give
  is "$(cat "$tmp/give.out")" over "$transport: a hook that was killed takes no answer"
  is "$(ls -A "$asks")" "" "$transport: nothing is left of the requests"
  stop "$(cat "$tmp/watch.pid")"
done

# --- a lost link
start_proxy
attach_args
holds "$one"
# shellcheck disable=SC2086
start watch tmux-attach --asks $attach_args
wait_until 20 grep -q '"type":"open"' "$tmp/watch.out"
link drop
lost() { grep -q '"type":"lost"' "$tmp/watch.out"; }
ok "a lost link is told" wait_until 20 lost
again() { [ "$(grep -c '"type":"open"' "$tmp/watch.out")" -eq 2 ]; }
ok "a link that is back is told" wait_until 40 again
is "$(grep -c "$one.*pending" "$tmp/watch.out")" 1 "a request that still waits is not told again"
done_testing
