# shellcheck shell=sh
# ntfy.sh: a stand-in for an ntfy server, with users as one needs them; sourced behind lib.sh.
#
#   start_ntfy [OPTION...]  one that lets in who has the token of $tmp/host (writes notices,
#                           reads answers), of $tmp/phone (reads notices) or of $tmp/buttons
#                           (writes answers), and nobody else; the next one has the same port,
#                           users and messages. $notices, $answers
#   got [JQ-FILTER]         what was published, in order, of each message a line
#   asked                   a line for each request: method, path, status
#   press LABEL [TEXT]      tap a button of the newest notice that has it, and TEXT; $code
#   post CODE               what a button posts

# shellcheck disable=SC2154  # of lib.sh
ntfy_port=$(free_ports)
# shellcheck disable=SC2034  # read by the tests
notices=http://127.0.0.1:$ntfy_port/notices-ada
# shellcheck disable=SC2034  # read by the tests
answers=http://127.0.0.1:$ntfy_port/answers-ada
ntfy_pid=
# shellcheck disable=SC2154
(
  umask 077
  echo tk_host1 >"$tmp/host"
  echo tk_phone >"$tmp/phone"
  echo tk_buttons >"$tmp/buttons"
  echo tk_wrong >"$tmp/wrong"
  cat >"$tmp/users" <<'END'
{"host": {"tokens": ["tk_host1"], "topics": {"notices-ada": "wo", "answers-ada": "ro"}},
 "phone": {"tokens": ["tk_phone"], "topics": {"notices-ada": "ro"}},
 "buttons": {"tokens": ["tk_buttons"], "topics": {"answers-ada": "wo"}},
 "everyone": {"topics": {"open": "rw"}}}
END
)

# shellcheck disable=SC2154
start_ntfy() {
  start_server ntfy python3 "$root/Tests/cli/servers/ntfy.py" \
    --listen-http "127.0.0.1:$ntfy_port" --cache-file "$tmp/cache" --auth-file "$tmp/users" \
    --auth-default-access deny-all --visitor-request-limit-burst 1000 "$@"
  # shellcheck disable=SC2034  # read by the tests
  ntfy_pid=$pid
}
got() { jq -c ".[0][] | ${1:-.}" "$tmp/cache" 2>/dev/null; }
asked() { sed -n 's/.*"\([A-Z]* [^ ]*\) HTTP[^"]*" \([0-9]*\).*/\1 \2/p' "$tmp/ntfy.err"; }

post() {
  curl -s -o /dev/null -w '%{http_code}\n' --noproxy '*' -H "Authorization: Bearer tk_buttons" \
    -d "$1" "$answers"
}
# As a phone does it: what the button says, and nothing of its own.
press() {
  got 'select(.actions)' | jq -cs --arg name "$1" --arg text "${2-}" '
    [.[] | select(.message | contains($text)) | .actions[] | select(.label == $name)] |
      last // empty' >"$tmp/action"
  [ -s "$tmp/action" ] || return 2
  code=$(jq -r .body "$tmp/action")
  jq -r '(.headers // {}) | to_entries[] | "header = " + (.key + ": " + .value | @json)' \
    "$tmp/action" >"$tmp/action.curl"
  curl -sf -o /dev/null --noproxy '*' -K "$tmp/action.curl" -X "$(jq -r .method "$tmp/action")" \
    -d "$code" "$(jq -r .url "$tmp/action")"
}
