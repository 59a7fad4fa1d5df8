# shellcheck shell=sh
# lib.sh: TAP for the tests of the commands, in POSIX sh.
#
# A test begins with `#!/bin/sh` and `. "${0%/*}/../lib.sh"`, makes assertions and
# ends with `done_testing`. It runs in an empty home of its own ($tmp/home), with bin/
# first in PATH, and whatever it started is ended with it.
#
#   t STATUS TITLE CMD ARG...   `run`, and `status_is` of it
#   run CMD ARG...          run bounded; $status, files $out and $err
#   start NAME CMD ARG...   run in the background; $pid, $tmp/NAME.out, .err
#   start_server NAME CMD   the same, and wait for its `listening` record; $url
#   serve_agent NAME ARG... an agent-serve of its own
#   serve_four ARG...       two of them, and four profiles: $a, $b
#   profile NAME URL [FILE] a profile of the configuration, with a token's file
#   wait_until SECONDS CMD  poll until CMD succeeds
#   ok TITLE CMD ARG...     CMD succeeds         not_ok TITLE CMD   it fails
#   is GOT WANT TITLE       equal text           isnt GOT OTHER TITLE
#   like GOT ERE TITLE      text matches         unlike GOT ERE TITLE
#   status_is N TITLE       of the last run      out_is, out_like, out_unlike,
#   err_is, err_like, err_unlike, out_empty, err_empty, err_one_line
#
# Variables of the library that are not named here begin with `_`.
# A status above 128 is a signal's: 141 is SIGPIPE, 143 SIGTERM, 142 the bound.

set -u
# A file of settings that a group may write to is refused.
umask 022
cli=$(cd "${0%/*}/.." && pwd)
root=$(cd "$cli/../.." && pwd)
PATH=$root/bin:$PATH
LC_ALL=C.UTF-8
TZ=UTC
export PATH LC_ALL TZ

tmp=$(mktemp -d "${TMPDIR:-/tmp}/agentutils.XXXXXX") || exit 1
out=$tmp/out
err=$tmp/err
HOME=$tmp/home
XDG_CONFIG_HOME=$HOME/.config
XDG_STATE_HOME=$HOME/.local/state
XDG_DATA_HOME=$HOME/.local/share
XDG_CACHE_HOME=$HOME/.cache
XDG_RUNTIME_DIR=$tmp/runtime
export HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR
mkdir -p "$XDG_CONFIG_HOME/agentutils" "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$XDG_CACHE_HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
unset AGENT_URL AGENT_PROFILE AGENT_TOKEN_FILE CREDENTIALS_DIRECTORY
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
unset NO_COLOR CLICOLOR COLORTERM COLUMNS
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# How long one `run` may take, seconds; a test may set it.
bound=60
status=0
# shellcheck disable=SC2034  # read by the tests
{ pid=; url=; port=; }
tests=0
failures=0
planned=
started=
# Functions that are called before the processes are ended.
at_end=

cleanup() {
  _code=$?
  trap - EXIT
  for _step in $at_end; do "$_step"; done
  for _process in $started; do kill "$_process" 2>/dev/null; done
  # A process that ignores TERM must not outlive the test.
  if [ -n "$started" ]; then
    _tries=0
    while alive_any && [ "$_tries" -lt 100 ]; do
      _tries=$((_tries + 1))
      sleep 0.02
    done
    for _process in $started; do kill -9 "$_process" 2>/dev/null; done
  fi
  wait
  rm -rf "$tmp"
  exit "$_code"
}
alive_any() {
  for _process in $started; do kill -0 "$_process" 2>/dev/null && return 0; done
  return 1
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# --- plan and results

plan() {
  planned=$1
  echo "1..$1"
}

done_testing() {
  [ -n "$planned" ] || echo "1..$tests"
  [ "$failures" -eq 0 ] || exit 1
  exit 0
}

skip_all() {
  echo "1..0 # SKIP $*"
  exit 0
}

bail() {
  echo "Bail out! $*"
  exit 1
}

diag() { printf '%s\n' "$*" | sed 's/^/# /' >&2; }

pass() {
  tests=$((tests + 1))
  printf 'ok %s - %s\n' "$tests" "$*"
}

fail() {
  tests=$((tests + 1))
  failures=$((failures + 1))
  printf 'not ok %s - %s\n' "$tests" "$*"
}

# skip COUNT REASON
skip() {
  _count=$1
  shift
  while [ "$_count" -gt 0 ]; do
    tests=$((tests + 1))
    _count=$((_count - 1))
    echo "ok $tests # SKIP $*"
  done
}

# --- assertions

ok() {
  _title=$1
  shift
  if "$@" >"$tmp/ok.said" 2>&1; then
    pass "$_title"
  else
    fail "$_title"
    diag "failed: $*"
    diag "$(head -c 2000 "$tmp/ok.said")"
  fi
}

not_ok() {
  _title=$1
  shift
  if "$@" >"$tmp/ok.said" 2>&1; then
    fail "$_title"
    diag "succeeded: $*"
  else
    pass "$_title"
  fi
}

is() {
  if [ "$1" = "$2" ]; then
    pass "$3"
  else
    fail "$3"
    diag "got:  $(printf '%s' "$1" | head -c 2000)"
    diag "want: $(printf '%s' "$2" | head -c 2000)"
  fi
}

isnt() {
  if [ "$1" != "$2" ]; then
    pass "$3"
  else
    fail "$3"
    diag "got:  $(printf '%s' "$1" | head -c 2000)"
  fi
}

# matches TEXT ERE: some line of the text matches.
matches() {
  grep -Eq -e "$2" <<END
$1
END
}

like() {
  if matches "$1" "$2"; then
    pass "$3"
  else
    fail "$3"
    diag "got:  $(printf '%s' "$1" | head -c 2000)"
    diag "want: $2"
  fi
}

unlike() {
  if matches "$1" "$2"; then
    fail "$3"
    diag "got:  $(printf '%s' "$1" | head -c 2000)"
    diag "unwanted: $2"
  else
    pass "$3"
  fi
}

# --- one command, to its end

# bounded SECONDS CMD ARG...: runs in a process group of its own, which is
# killed when the time is over; the status is the command's, 128 + signal, or
# 142 for the bound.
bounded() {
  perl -e '
    my $bound = shift;
    my $child = fork;
    die "fork: $!\n" unless defined $child;
    if (!$child) { setpgrp(0, 0); exec { $ARGV[0] } @ARGV; warn "$ARGV[0]: $!\n"; exit 127 }
    my $late = 0;
    $SIG{ALRM} = sub { $late = 1; kill "KILL", -$child; };
    $SIG{TERM} = $SIG{INT} = sub { kill "TERM", -$child; };
    alarm $bound;
    while (waitpid($child, 0) < 0) { last unless $!{EINTR} }
    my $status = $?;
    exit 142 if $late;
    exit(($status & 127) ? 128 + ($status & 127) : $status >> 8);
  ' "$@"
}

# run CMD ARG...: standard input is passed on; use `run sh -c '...'` for a pipe.
# shellcheck disable=SC2034  # status is read by the tests
run() {
  bounded "$bound" "$@" >"$out" 2>"$err"
  status=$?
}

# t STATUS TITLE CMD ARG...: runs the command, which ends with that status. What it
# printed is looked at by out_is and the like behind it.
t() {
  _want=$1
  _title=$2
  shift 2
  run "$@"
  status_is "$_want" "$_title"
}

status_is() {
  if [ "$status" -eq "$1" ]; then
    pass "$2"
  else
    fail "$2"
    diag "status $status, want $1"
    diag "stdout: $(head -c 600 "$out")"
    diag "stderr: $(head -c 600 "$err")"
  fi
}

out_is() { is "$(cat "$out")" "$1" "$2"; }
err_is() { is "$(cat "$err")" "$1" "$2"; }
out_like() { like "$(cat "$out")" "$1" "$2"; }
err_like() { like "$(cat "$err")" "$1" "$2"; }
out_unlike() { unlike "$(cat "$out")" "$1" "$2"; }
err_unlike() { unlike "$(cat "$err")" "$1" "$2"; }
out_empty() { is "$(head -c 2000 "$out")" "" "$1"; }
err_empty() { is "$(head -c 2000 "$err")" "" "$1"; }

# err_one_line PROG TITLE: one line, and it is `PROG: ...`.
err_one_line() {
  _lines=$(wc -l <"$err")
  if [ "$_lines" -eq 1 ] && grep -q "^$1: " "$err"; then
    pass "$2"
  else
    fail "$2"
    diag "stderr: $(head -c 2000 "$err")"
  fi
}

# --- processes that stay

# free_ports [COUNT]: so many ports at which nobody listens, out of the range that connections
# of others are given, who could take one before it is used.
free_ports() {
  python3 - "${1:-1}" <<'END'
import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", random.randrange(10240, 32000)))
        held.append(one)
    except OSError:
        pass
print(*(each.getsockname()[1] for each in held))
END
}

# start NAME CMD ARG...: standard input is /dev/null. A shell's background jobs
# ignore INT and QUIT (under nohup HUP, too), and lose a TERM that comes at once: undo
# the first, and return when the second cannot happen any more.
start() {
  _name=$1
  shift
  rm -f "$tmp/$_name.pid"
  perl -e '
    $SIG{HUP} = $SIG{INT} = $SIG{QUIT} = $SIG{TERM} = "DEFAULT";
    my $note = shift;
    open(my $file, ">", $note) or die "$note: $!\n";
    print $file $$;
    close $file;
    exec { $ARGV[0] } @ARGV;
    die "$ARGV[0]: $!\n"' \
    "$tmp/$_name.pid" "$@" </dev/null >"$tmp/$_name.out" 2>"$tmp/$_name.err" &
  pid=$!
  started="$started $pid"
  wait_until 30 test -s "$tmp/$_name.pid"
}

# stop PID [SIGNAL]: ends a started process and sets $status.
stop() {
  kill -"${2:-TERM}" "$1" 2>/dev/null
  finished "$1"
}

# finished PID: waits (bounded) for a started process to end; sets $status.
finished() {
  wait_until "$bound" gone "$1" || kill -9 "$1" 2>/dev/null
  wait "$1" 2>/dev/null
  status=$?
  _kept=
  for _process in $started; do [ "$_process" = "$1" ] || _kept="$_kept $_process"; done
  started=$_kept
}

# gone PID: the process ended, waited for or not.
# What ps reads of every process is here read of one, without a process more.
gone() {
  if [ -r /proc/self/stat ]; then
    { read -r _stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    _stat=${_stat##*) }
  else
    _stat=$(ps -o stat= -p "$1" 2>/dev/null)
  fi
  case $_stat in
  "" | Z*) return 0 ;;
  esac
  return 1
}

# start_server NAME CMD ARG...: waits for the record
# {"type":"listening","url":"http://127.0.0.1:PORT",...} on its output and sets
# $url and $port.
# shellcheck disable=SC2034  # url and port are read by the tests
start_server() {
  start "$@"
  if ! wait_until 30 grep -q '"type":"listening"' "$tmp/$1.out"; then
    diag "$(cat "$tmp/$1.err")"
    bail "$1 does not listen"
  fi
  url=$(sed -n 's/.*"type":"listening","url":"\([^"]*\)".*/\1/p' "$tmp/$1.out" | head -n 1)
  port=${url##*:}
  port=${port%%/*}
}

# serve_agent NAME [OPTION...]: an agent-serve with a database of its own; sets $url.
serve_agent() {
  _server=$1
  shift
  start_server "$_server" agent-serve --listen 127.0.0.1:0 --database "$tmp/$_server.sqlite" "$@"
}

# profile NAME URL [FILE]: a profile of the configuration; FILE has its token.
profile() {
  printf '[profile %s]\nurl = %s\n' "$1" "$2"
  [ -z "${3-}" ] || printf 'token-file = %s\n' "$3"
} >>"$XDG_CONFIG_HOME/agentutils/config"

# serve_four [OPTION...]: two agent-serves, $a and $b, and the profiles a; b, which has a
# token, $tmp/right; wrong, which is b with $tmp/wrong; and down, where nobody listens.
# shellcheck disable=SC2034  # read by the tests
serve_four() {
  umask 077
  echo right >"$tmp/right"
  echo wrong >"$tmp/wrong"
  serve_agent a "$@"
  a=$url
  serve_agent b --token-file "$tmp/right" "$@"
  b=$url
  profile a "$a"
  profile b "$b" "$tmp/right"
  profile wrong "$b" "$tmp/wrong"
  profile down http://127.0.0.1:9
}

# start_tls HEADER JSON EVENTS: a dashboard over TLS for localhost, whose
# certificate only "$tmp/authority" vouches for; see servers/tls.py.
start_tls() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -keyout "$tmp/key" -out "$tmp/authority" -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null || bail "openssl makes no certificate"
  start_server tls python3 "$cli/servers/tls.py" "$tmp/authority" "$tmp/key" "$@"
}

# wait_until SECONDS CMD ARG...: false when the time passes first. Looks often
# at first, and less often when it takes long; at the clock, which is a process more, seldom.
wait_until() {
  _deadline=
  _seconds=$1
  _looks=0
  shift
  until "$@" >/dev/null 2>&1; do
    if [ "$((_looks % 5))" -eq 0 ]; then
      _clock=$(date +%s)
      _deadline=${_deadline:-$((_clock + _seconds + 1))}
      [ "$_clock" -lt "$_deadline" ] || return 1
    fi
    _looks=$((_looks + 1))
    if [ "$_looks" -lt 10 ]; then sleep 0.02; elif [ "$_looks" -lt 30 ]; then sleep 0.05; else sleep 0.2; fi
  done
}

# --- small conditions for wait_until and ok

# has FILE ERE, lacks FILE ERE
has() { grep -Eq -e "$2" "$1"; }
lacks() { ! grep -Eq -e "$2" "$1"; }

# lines FILE: how many. at_least FILE COUNT
lines() { wc -l <"$1" | tr -d ' '; }
at_least() { [ "$(lines "$1")" -ge "$2" ]; }

# The first COMMAND there is, or the whole test is skipped.
needs() {
  for _command; do
    command -v "$_command" >/dev/null 2>&1 || skip_all "needs $_command"
  done
}

# needs_peers: sets $peers to a Python that has the packages of .ci/peers.txt, or the
# whole test is skipped.
# shellcheck disable=SC2034  # read by the tests
needs_peers() {
  peers=$root/.build/peers/bin/python
  [ -f "$root/.build/peers/peers.txt" ] || skip_all "needs the Python packages of make peers"
}

# --- the scripted server (servers/raw.py)

# serve: starts the server with the script of standard input; later scripts
# replace it. Sets $url, $other and $log.
serve() {
  cat >"$tmp/script"
  log=$tmp/log
  start_server raw python3 "$cli/servers/raw.py" "$tmp/script" "$log"
  # shellcheck disable=SC2034  # other is read by the tests
  other=$(sed -n 's/.*"other":"\([^"]*\)".*/\1/p' "$tmp/raw.out")
}

# script: a new script for the running server, from standard input; counting
# starts over, and so does the log's (requests so far are forgotten).
script() {
  cat >"$tmp/script.next"
  : >"$tmp/log"
  mv "$tmp/script.next" "$tmp/script"
}

# requests JQ-FILTER: of each request that was logged, one line each.
requests() { jq -r "select(.what == \"request\") | $1" "$log"; }
