#!/bin/sh
# agent-notify --answers: whatever ends in between, an answer counts once, and for what it was given.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ntfy.sh"
. "${0%/*}/../gateway.sh"
needs jq python3 curl agent-approve
bound=300

start_ntfy
start_gateway claw
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
wants() {
  tell claw ask "$1" "{\"command\":\"$2\"}"
  wait_until 30 asked_for "$2"
}
asked_for() { got 'select(.actions) | .message' | jq -r . | grep -qxF -- "$1"; }
said() {
  got "select(.priority == 2 and .title == \"$1\").message" | jq -r . | grep -qF -- "$2"
}
button() {
  got 'select(.actions)' | jq -rs --arg name "$1" --arg text "$2" '
    [.[] | select(.message == $text) | .actions[] | select(.label == $name)] | last.body'
}
listen() {
  start notify agent-notify -p claw --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
    --answers "$answers" --buttons-token "$tmp/buttons"
  notify=$pid
}
listen

# --- the server
for signal in KILL TERM; do
  ok "$signal: a question is asked on the phone" wants "s$signal" "server $signal"
  stop "$ntfy_pid" "$signal"
  start_ntfy
  press Yes "server $signal"
  ok "$signal of the server: an answer counts that came while nobody listened" \
    wait_until 30 said allowed "server $signal"
done
wants s3 'withdrawn meanwhile'
stop "$ntfy_pid" KILL
tell claw expire s3
start_ntfy
press Yes 'withdrawn meanwhile'
ok "what ended while the server was away is too late" wait_until 30 said 'too late' 'withdrawn meanwhile'
is "$(resolved | xargs)" "sKILL allow-once sTERM allow-once" \
  "nothing is sent to the agent for what ended meanwhile"

# --- the agent
for how in lose cut; do
  wants "$how" "gateway $how"
  tell claw "$how" exec.approval.resolve
  press Yes "gateway $how"
  done_now() { said allowed "gateway $how" || said 'answered at the desk' "gateway $how" || said 'too late' "gateway $how"; }
  ok "a connection that is cut ($how) costs no answer" wait_until 30 done_now
  is "$(resolved | sort -u | grep "^$how")" "$how allow-once" \
    "the answer through a connection that is cut ($how) is the one that was given"
done
wants r1 'refused once'
tell claw reply exec.approval.resolve '{"ok":false}'
first=$(button Yes 'refused once')
press Yes 'refused once'
ok "an answer that the agent does not take is told" wait_until 20 said 'not answered' 'refused once'
again() { [ "$(button Yes 'refused once')" != "$first" ]; }
ok "a refused answer is asked for again, with other codes" wait_until 20 again
press Yes 'refused once'
ok "an answer with the other codes counts" wait_until 20 said allowed 'refused once'

# --- this program
wants k1 'killed between'
old=$(button Yes 'killed between')
kill -9 "$notify"
finished "$notify"
is "$(post "$old")" 200 "the server takes what is tapped while the program is gone"
listen
renewed() { [ "$(button Yes 'killed between')" != "$old" ]; }
ok "what still waits after kill -9 is asked again, with other codes" wait_until 30 renewed
post "$old" >/dev/null
wants k2 'behind it'
press No 'behind it'
ok "another question is answered after kill -9" wait_until 20 said denied 'behind it'
is "$(resolved | grep k1)" "" "a code from before kill -9 does nothing"
press Yes 'killed between'
ok "the new code counts after kill -9" wait_until 20 said allowed 'killed between'
is "$(got 'select(.actions and .message == "killed between").message' | wc -l | tr -d ' ')" 2 \
  "a question is asked twice over a kill -9"
stop "$notify"

# --- many at once, and a server with little patience
stop "$ntfy_pid"
rm -f "$tmp/cache"
start_ntfy --visitor-request-limit-burst 12 --visitor-request-limit-replenish 300ms
listen
proven() { asked | grep -q '^POST /answers-ada 200'; }
wait_until 20 proven || bail "it does not listen"
seq 30 | while read -r number; do tell claw ask "m$number" "{\"command\":\"many $number.\"}"; done
all_asked() { [ "$(got 'select(.actions).message' | grep -c many)" -ge 30 ]; }
ok "thirty questions in a burst are asked" wait_until 60 all_asked
is "$(got 'select(.actions).message' | grep many | sort -u | wc -l | tr -d ' ')" 30 \
  "each of thirty questions is asked by itself"
: >"$tmp/taps"
got 'select(.actions) | [.message, (.actions | map({(.label): .body}) | add)]' |
  jq -r '(.[0] | capture("(?<n>[0-9]+)").n | tonumber) as $n |
    "\($n) \(if $n % 3 == 0 then .[1].No elif $n % 3 == 1 then .[1].Yes else .[1].Always end)"' |
  while read -r number code; do
    until [ "$(post "$code")" = 200 ]; do sleep 0.3; done
  done
all_done() { [ "$(resolved | grep -c '^m')" -ge 30 ]; }
ok "all of thirty questions are answered" wait_until 60 all_done
is "$(resolved | grep '^m' | sort)" "$(seq 30 | awk '{ print "m" $1, $1 % 3 == 0 ? "deny" : $1 % 3 == 1 ? "allow-once" : "allow-always" }' | sort)" \
  "each of thirty questions is answered with what was tapped"
stop "$notify"

# --- a server that keeps nothing
stop "$ntfy_pid"
rm -f "$tmp/cache"
start_ntfy
listen
wants n1 'memory'
code=$(button Yes memory)
stop "$ntfy_pid" KILL
rm -f "$tmp/cache"
start_ntfy
post "$code" >/dev/null
ok "a server that has forgotten all loses no open question" wait_until 30 said allowed memory

# --- a token that is taken back
wants t1 'before'
jq '.host.tokens = ["tk_other"]' "$tmp/users" >"$tmp/users.new"
mv "$tmp/users.new" "$tmp/users"
stop "$ntfy_pid"
start_ntfy
finished "$notify"
status_is 77 "a token that was taken back ends the command"
is "$(asked | grep -c ' 401$')" 1 "a token that was taken back is tried once"

done_testing
