#!/bin/sh
# The helpers themselves: an assertion that cannot fail would hide everything else.
. "${0%/*}/../lib.sh"

t 3 "run keeps the status" sh -c 'echo hi; echo oops >&2; exit 3'
out_is hi "run keeps standard output"
err_is oops "run keeps standard error"

t 143 "a signal is 128 and its number" sh -c 'kill -TERM $$'

bound=1
t 142 "a command that does not end is ended" sh -c 'sleep 30 | sleep 30'
bound=20

start waits sh -c 'trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done'
wait_until 30 has "$tmp/waits.out" ready
stop "$pid"
status_is 7 "stop gives a started process's status"

start waits sleep 30
stop "$pid" INT
status_is 130 "a started process can be interrupted"

start_server server sh -c \
  'echo "{\"type\":\"listening\",\"url\":\"http://127.0.0.1:123\",\"time\":\"x\"}"; exec sleep 30'
is "$url $port" "http://127.0.0.1:123 123" "start_server reads the record"
started_before=$pid

t 0 "terminal.py gives a terminal" \
  python3 "$cli/terminal.py" 10x50 sh -c 'stty size; test -t 1 && test -t 2'
out_like '^10 50' "terminal.py gives a terminal of the size asked for"

# A second shell that includes the library and fails in each way.
mkdir -p "$tmp/inner/Tests/cli/inner"
cp "$cli/lib.sh" "$tmp/inner/Tests/cli/"
cat >"$tmp/inner/Tests/cli/inner/inner.t" <<'INNER'
. "${0%/*}/../lib.sh"
ok "ok" false
not_ok "not_ok" true
is a b "is"
isnt a a "isnt"
like a b "like"
unlike a a "unlike"
t 1 "status_is" true
out_is a "out_is"
out_like a "out_like"
err_one_line sh "err_one_line"
wait_until 0 false && pass "wait_until"
echo "$tmp" >&3
start stays sleep 30
echo "$pid" >&3
done_testing
INNER
exec 3>"$tmp/said"
run sh "$tmp/inner/Tests/cli/inner/inner.t"
exec 3>&-
status_is 1 "a test with failures fails"
is "$(grep -c '^not ok' "$out")" 10 "each assertion can fail"
not_ok "wait_until can fail" has "$out" '^ok'
not_ok "the temporary folder is removed" test -e "$(sed -n 1p "$tmp/said")"
ok "started processes are ended" gone "$(sed -n 2p "$tmp/said")"
not_ok "a server that is still there is not gone" gone "$started_before"
done_testing
