#!/bin/sh
# agent-notify --answers: nobody is asked anything where others could answer, or answers are not heard.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ntfy.sh"
. "${0%/*}/../gateway.sh"
needs jq python3 curl agent-approve
bound=60

start_gateway claw
tell claw ask a1 '{"command":"make test"}'
cp "$tmp/users" "$tmp/users.good"
# rights JQ-FILTER: the users as they are to be but for this.
rights() {
  jq "$1" "$tmp/users.good" >"$tmp/users.new"
  mv "$tmp/users.new" "$tmp/users"
}
fresh() {
  [ -z "$ntfy_pid" ] || stop "$ntfy_pid"
  rm -f "$tmp/cache" "$XDG_STATE_HOME/agentutils/notify"*
  start_ntfy "$@"
}
listen() {
  run agent-notify -p claw --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
    --answers "$answers" --buttons-token "$tmp/buttons" "$@"
}
# refused WHAT LINE: status 77, one line, and nobody was asked.
refused() {
  status_is 77 "$1 is refused"
  err_is "agent-notify: $2" "one line says what to change: $1"
  is "$(got 'select(.actions)')" "" "nobody is asked: $1"
}

fresh
rights '.everyone.topics["notices-ada"] = "ro"'
listen
refused "a topic that anybody may read" \
  "$notices: anybody may read it, and so press the buttons: deny it to everyone"
fresh
rights '.host.topics["answers-ada"] = "wo"'
listen
refused "a host that may not hear the answers" \
  "$answers: it may not be read with the token: make its user read-only"
fresh
rights '.buttons.topics["answers-ada"] = "rw"'
listen
refused "a token in the buttons that may read the answers" \
  "$answers: the buttons' token may read it: let that write answers-ada and nothing else"
fresh
rights '.buttons.topics["notices-ada"] = "ro"'
listen
refused "a token in the buttons that may read the notices" \
  "$notices: the buttons' token may read it: let that write answers-ada and nothing else"
fresh
rights '.'
listen --buttons-token "$tmp/host"
refused "the host's own token in the buttons" \
  "$answers: the buttons' token may read it: let that write answers-ada and nothing else"
fresh
rights '.buttons.role = "admin"'
listen
refused "a token of an administrator in the buttons" \
  "$answers: the buttons' token is not one of a plain user: anybody who gets a notice has it"
fresh
rights '.buttons.topics = {}'
listen
refused "a token in the buttons that may not write" \
  "$answers: the buttons may not write it: make it write-only for the buttons' user"
fresh
rights '.everyone.topics["answers-ada"] = "rw"'
run agent-notify -p claw --ntfy "$notices" --ntfy-token "$tmp/host" --answers "$answers"
refused "a topic of answers that anybody may read" \
  "$answers: anybody may read it: let that write answers-ada and nothing else"
fresh
rights '.'
run agent-notify -p claw --ntfy "$notices" --ntfy-token "$tmp/host" --answers "$answers"
refused "a button without a token, where one is needed," \
  "$answers: the buttons may not write it: make it write-only for everyone"
for file in host buttons; do
  fresh
  cp "$tmp/$file" "$tmp/kept"
  cp "$tmp/wrong" "$tmp/$file"
  chmod 600 "$tmp/$file"
  listen
  cp "$tmp/kept" "$tmp/$file"
  refused "a wrong token of the $file" "$answers: 401 Unauthorized: unauthorized (40101): the token was refused"
  is "$(asked | grep -c ' 401$')" 1 "a wrong token of the $file is tried once"
done
fresh --auth-file '' --auth-default-access read-write
listen
refused "a server that lets everybody in" \
  "$notices: anybody may read it, and so press the buttons: deny it to everyone"
chmod 644 "$tmp/buttons"
fresh
listen
status_is 77 "a token in a file that others can read is refused"
chmod 600 "$tmp/buttons"

# --- what is given
for words in "--answers $answers" "-p claw --answers $answers" "-p claw --ntfy $notices --answers deny" \
  "--ntfy $notices --answers $answers" "-p claw --ntfy $notices --buttons $answers" \
  "-p claw --ntfy $notices --buttons-token $tmp/buttons" \
  "-p claw --ntfy $notices --answers $answers --answers $answers"; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-notify $words is refused" agent-notify $words </dev/null
  err_like "^usage: agent-notify" "the usage is shown"
done
for words in "--answers $notices" "--answers http://127.0.0.1:1/answers-ada" "--answers ${answers%/*}/" \
  "--answers $answers --buttons http://127.0.0.1:1/other" "--answers $answers --buttons http://far.example/answers-ada"; do
  # shellcheck disable=SC2086  # words
  t 2 "--ntfy $words is refused" agent-notify -p claw --ntfy "$notices" --buttons-token "$tmp/buttons" $words
  is "$(lines "$err")" 1 "--ntfy $words is refused in one line"
done

# --- what will be
fresh
t 0 "--check has status 0 when answers are heard" \
  agent-notify --check --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "$answers" --buttons-token "$tmp/buttons"
is "$(tail -n 1 "$out")" "$answers: who gets the notices can answer, and is heard" \
  "--check says that answers are heard"
rights '.buttons.topics["notices-ada"] = "ro"'
t 77 "--check has status 77 when a token may read too much" \
  agent-notify --check --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "$answers" --buttons-token "$tmp/buttons"
rights '.'
stop "$ntfy_pid"
rm -f "$tmp/cache"
start notify agent-notify -p claw --settle 0 --to line --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "$answers" --buttons-token "$tmp/buttons"
notify=$pid
ok "other ways tell a question while the server is away" \
  wait_until 20 has "$tmp/notify.out" 'make test'
ok "the server that is away is tried again" wait_until 20 has "$tmp/notify.err" 'tried again'
start_ntfy
asked_for() { got 'select(.actions) | .message' | grep -q "$1"; }
ok "the phone is asked when the server is back" wait_until 30 asked_for 'make test'
stop "$notify"
is "$(cat "$tmp/notify.err")" "$(grep 'tried again$' "$tmp/notify.err" | head -n 1)" \
  "the server that is away is told once"

done_testing
