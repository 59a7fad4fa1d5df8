#!/bin/sh
# agent-notify --check and refusals beside an ntfy server, which has users of its own; and its limit
# of requests. Runs with NTFY_NOTICES and NTFY_TOKENS set.
. "${0%/*}/../../cli/lib.sh"
[ -n "${NTFY_NOTICES-}" ] || skip_all "runs beside an ntfy server"
needs jq server phone
bound=300

server stop
server start
phone list --json >"$tmp/before"
# new: what came since, as the server sent it.
new() { phone list --all --json | tail -n "+$(($(lines "$tmp/before") + 1))"; }
t 0 "a topic that may be written" agent-notify --check --ntfy "$NTFY_NOTICES" --ntfy-token "$NTFY_TOKENS/host"
out_is "$NTFY_NOTICES: nobody may read it without a token
$NTFY_NOTICES: with the token it may not be read
$NTFY_NOTICES: it may be written: one notice was sent" "is said to be that"
is "$(new | jq -r .title)" "agent-notify --check" "and the notice arrives"
t 77 "one that may not" agent-notify --check --ntfy "$NTFY_NOTICES" --ntfy-token "$NTFY_TOKENS/phone"
err_is "agent-notify: $NTFY_NOTICES: 403 Forbidden: forbidden (40301): it may not be written" "is said, too"
(umask 077 && echo tk_wrong >"$tmp/wrong")
echo '{"urgency":"urgent","category":"x","title":"hello"}' >"$tmp/in"
t 77 "a token that nobody has" agent-notify --ntfy "$NTFY_NOTICES" --ntfy-token "$tmp/wrong" <"$tmp/in"
err_like '401 Unauthorized: unauthorized \(40101\)' "is refused"

# More than 60 at once: the rest goes one in five seconds.
server stop
server start
seq 65 | while read -r number; do
  printf '{"urgency":"emergency","category":"x","title":"e%s."}\n' "$number"
done >"$tmp/in"
t 0 "more than the server takes at once" agent-notify --state "$tmp/state" --ntfy "$NTFY_NOTICES" \
  --ntfy-token "$NTFY_TOKENS/host" <"$tmp/in"
err_like '42901' "is told more slowly"
# The limit is for reading as well.
sleep 6
is "$(new | jq -r .message | grep -c '^e[0-9]*\.$')" 65 "all of it arrives"

done_testing
