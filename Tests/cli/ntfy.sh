# shellcheck shell=sh
# ntfy.sh: a stand-in for an ntfy server, with users as one needs them; sourced behind lib.sh.
#
#   start_ntfy [OPTION...]  one that lets in who has the token of $tmp/host (writes notices,
#                           reads answers) or of $tmp/phone (reads notices), and nobody else;
#                           the next one has the same port, users and messages. $notices
#   got [JQ-FILTER]         what was published, in order, of each message a line
#   asked                   a line for each request: method, path, status

# shellcheck disable=SC2154  # of lib.sh
ntfy_port=$(free_ports)
# shellcheck disable=SC2034  # read by the tests
notices=http://127.0.0.1:$ntfy_port/notices-ada
ntfy_pid=
# shellcheck disable=SC2154
(
  umask 077
  echo tk_host1 >"$tmp/host"
  echo tk_phone >"$tmp/phone"
  echo tk_wrong >"$tmp/wrong"
  cat >"$tmp/users" <<'END'
{"host": {"tokens": ["tk_host1"], "topics": {"notices-ada": "wo", "answers-ada": "ro"}},
 "phone": {"tokens": ["tk_phone"], "topics": {"notices-ada": "ro"}},
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
