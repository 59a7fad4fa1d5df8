# shellcheck shell=sh
# ssh.sh: a box reached over SSH, on this machine. Sourced behind lib.sh.
#
# A real sshd with keys of its own on a loopback port, a home of its own with the
# stub agent as `claude` in ~/bin, which only .profile puts into PATH, a real tmux
# under a folder of its own (so that the label may be the real one), a link that
# goes wrong on order, and a person at a terminal. All of it ends with the test.
#
#   start_sshd [NAME] [LINE...]  starts a box (`box`); the lines go before the rest
#                           of sshd_config. Sets $port $host_key (the public file)
#                           $id $remote_home $remote_user $sshd_log $sshd_pid.
#                           Another NAME: other host keys and home, same $id.
#                           A NAME that stands still (stop_sshd): the same again
#   stop_sshd [NAME]        the listener and all its connections
#   $transports             those to test: TRANSPORTS=ssh leaves out the other
#   $transport              the first of them, for what is the same over both: the
#                           words of a script, what it does at the host, our files
#   attach_args             sets $attach_args: for libssh2 and for ssh, see there
#   rtmux ARG...            the box's tmux -L riff
#   no_server               ends that tmux, and waits until it has gone
#   remote ARG...           a command on the box by plain ssh; run_remote: as `run`
#   start_proxy [NAME]      a link to the box (`link`); sets $port and $link
#   link ORDER...           to $link; orders: see servers/flaky.py
#   tries                   how many connections $link has accepted; tried COUNT
#   attach NAME ARG...      a person at a terminal with tmux-attach, $transport, $port
#   sit NAME [RxC] CMD...   a person at a terminal; orders: see clients/seat.py
#   at NAME ORDER...
#   seated NAME ARG...      the same at the agent's prompt; ended NAME STATUS TITLE
#   agent_log [SESSION]     the file of the newest agent in the session
#   agent_typed [SESSION]   the bytes it got; typed SESSION TEXT, for wait_until
#   agent_says SESSION FILTER   of its records, by jq

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli" "$pid" "$started"
needs ssh ssh-keygen tmux jq python3 perl
ssh_dir=$tmp/ssh
mkdir -p "$ssh_dir"
remote_user=$(id -un)
sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || skip_all "needs sshd"
unset TMUX TMUX_PANE SSH_AUTH_SOCK SSH_CONNECTION SSH_CLIENT SSH_TTY
TERM=xterm-256color
export TERM
at_end="$at_end end_ssh"
sshd_boxes=
# shellcheck disable=SC2034  # read by the tests
transports=${TRANSPORTS:-libssh2 ssh}
# shellcheck disable=SC2034
transport=${transports%% *}
python=$(python3 -c 'import sys; print(sys.executable)')

# Sessions of an sshd outlive their listener, a tmux server the session that began it.
end_ssh() {
  for _name in $sshd_boxes; do
    [ -s "$ssh_dir/$_name/pid" ] && stop_sshd "$_name"
    end_tmux "$ssh_dir/$_name/tm"
  done
}
end_tmux() {
  for _socket in "$1"/tmux-*/*; do
    [ -S "$_socket" ] && tmux -S "$_socket" kill-server 2>/dev/null
  done
}

# own_port NAME: prints a port that is the test's to its end: bound, so that nobody else
# gets it, and never listened at, so that who calls is refused while no sshd is there.
own_port() {
  start "port-$1" perl -MSocket -e '
    $| = 1;
    socket my $port, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
    setsockopt $port, SOL_SOCKET, SO_REUSEADDR, 1 or die "setsockopt: $!\n";
    bind $port, pack_sockaddr_in(0, INADDR_LOOPBACK) or die "bind: $!\n";
    print +(unpack_sockaddr_in(getsockname $port))[0], "\n";
    sleep'
  wait_until 30 test -s "$tmp/port-$1.out"
  cat "$tmp/port-$1.out"
}

# shellcheck disable=SC2034  # read by the tests
start_sshd() {
  _box=${1:-box}
  [ $# -eq 0 ] || shift
  _at=$ssh_dir/$_box
  # As root, sshd wants its folder of privilege separation.
  [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
  id=$ssh_dir/id
  [ -f "$id" ] || ssh-keygen -q -t ed25519 -N '' -C stub -f "$id"
  if [ ! -d "$_at" ]; then
    mkdir -p "$_at/home/bin" "$_at/tm" "$_at/agents"
    chmod 700 "$_at/tm"
    ssh-keygen -q -t ed25519 -N '' -C "$_box" -f "$_at/host"
    { echo "#!$python -E" && cat "$cli/servers/stub_agent.py"; } >"$_at/home/bin/claude"
    chmod +x "$_at/home/bin/claude"
    # shellcheck disable=SC2016
    echo 'PATH=$HOME/bin:$PATH' >"$_at/home/.profile"
    sshd_boxes="$sshd_boxes $_box"
  fi
  cp "$id.pub" "$_at/authorized_keys"
  _try=0
  until [ "$_try" -ge 5 ]; do
    _try=$((_try + 1))
    # Restarted, it has the port that it had.
    if [ ! -s "$_at/port" ]; then
      own_port "$_box" >"$_at/port"
      # Where a system lets no two have it, it is only known to be free.
      [ "$_try" -eq 1 ] || stop "$pid"
    fi
    port=$(cat "$_at/port")
    sshd_config "$_at" "$@" >"$_at/config"
    : >"$_at/log"
    start "sshd-$_box" "$sshd" -D -E "$_at/log" -f "$_at/config"
    sshd_pid=$pid
    echo "$pid" >"$_at/pid"
    wait_until 30 sshd_decided "$_at/log" "$pid"
    ! grep -q 'Server listening on 127' "$_at/log" || break
    diag "$(cat "$_at/log" "$tmp/sshd-$_box.err")"
    rm -f "$_at/port"
  done
  grep -q 'Server listening on 127' "$_at/log" || bail "sshd does not listen"
  sshd_log=$_at/log
  host_key=$_at/host.pub
  remote_home=$_at/home
  agents=$_at/agents
  remote_tmp=$_at/tm
}

sshd_decided() { has "$1" 'Server listening on 127' || gone "$2"; }

# sshd_config FOLDER LINE...: of a keyword, sshd takes the first.
sshd_config() {
  _folder=$1
  shift
  for _line; do printf '%s\n' "$_line"; done
  cat <<EOF
Port $port
ListenAddress 127.0.0.1
HostKey $_folder/host
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
AuthorizedKeysFile $_folder/authorized_keys
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 200
LogLevel DEBUG1
AcceptEnv LANG LC_* RIFF_*
SetEnv HOME=$_folder/home TMUX_TMPDIR=$_folder/tm STUB_LOGS=$_folder/agents
Subsystem sftp internal-sftp -d $_folder/home
EOF
}

# stop_sshd [NAME]: what its connections run gets a hang-up, as from a machine
# that goes down in order.
stop_sshd() {
  _at=$ssh_dir/${1:-box}
  _listener=$(cat "$_at/pid")
  : >"$_at/pid"
  _sessions=$(pgrep -P "$_listener" | tr '\n' ' ')
  kill "$_listener" 2>/dev/null
  # shellcheck disable=SC2086
  [ -z "$_sessions" ] || kill $_sessions 2>/dev/null
  finished "$_listener"
}

# attach_args [TRANSPORT]: how the command under test reaches the box, in
# $attach_args (split at blanks): `tmux-attach $attach_args -l`.
# shellcheck disable=SC2034  # read by the tests
# shellcheck disable=SC2120  # a test may name the transport
attach_args() {
  attach_args="--transport ${1:-$transport} -i $id --pins $tmp/pins -P $port \
$remote_user@127.0.0.1"
}

rtmux() { env -u TMUX HOME="$remote_home" TMUX_TMPDIR="$remote_tmp" tmux -L riff "$@"; }

# One that is ending is not there for who asks, but makes no session either.
no_server() {
  _server=$(rtmux display-message -p '#{pid}' 2>/dev/null)
  rtmux kill-server 2>/dev/null
  [ -z "$_server" ] || wait_until 30 gone "$_server"
  wait_until 30 silent
}
silent() { ! rtmux list-sessions >/dev/null 2>&1; }

# ssh_args: plain ssh's, for what does not go through the command under test.
ssh_args() {
  ssh_args="-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
-o LogLevel=ERROR -o IdentitiesOnly=yes -i $id -p $port $remote_user@127.0.0.1"
}
remote() {
  ssh_args
  # shellcheck disable=SC2086
  ssh $ssh_args "$@"
}
run_remote() {
  ssh_args
  # shellcheck disable=SC2086
  run ssh $ssh_args "$@"
}

# --- orders to helpers that run beside the test

# ask SOCKET ORDER: the answer; false when it is not `ok`.
ask() {
  perl -MIO::Socket::UNIX -e '
    my $socket = IO::Socket::UNIX->new(Peer => shift) or die "nobody is there: $!\n";
    print $socket "@ARGV\n";
    $socket->flush;
    my $answer = <$socket> // "no answer\n";
    my $is_ok = $answer =~ s{^ok *\n?}{};
    print $answer;
    exit !$is_ok' "$@"
}

link="link"
# shellcheck disable=SC2034  # read by the tests
start_proxy() {
  link=${1:-link}
  : >"$tmp/link-$link.log"
  start_server "link-$link" "$python" "$cli/servers/flaky.py" --to "$port" \
    --control "$tmp/link-$link.orders" --log "$tmp/link-$link.log"
}
link() { ask "$tmp/link-$link.orders" "$@"; }
tries() { grep -c '"accept"' "$tmp/link-$link.log"; }
tried() { [ "$(tries)" -ge "$1" ]; }

attach() {
  _seat=$1
  shift
  attach_args
  # shellcheck disable=SC2086
  sit "$_seat" 30x100 tmux-attach $attach_args "$@"
}

sit() {
  _seat=$1
  shift
  rm -f "$tmp/$_seat.orders"
  start "$_seat" "$python" "$cli/clients/seat.py" --control "$tmp/$_seat.orders" \
    --screen "$tmp/$_seat.screen" "$@"
  wait_until 30 test -S "$tmp/$_seat.orders" || bail "seat $_seat: $(cat "$tmp/$_seat.err")"
}
at() {
  _seat=$1
  shift
  ask "$tmp/$_seat.orders" "$@"
}
# seat_says NAME FILTER: of `state`.
seat_says() { at "$1" state | jq -c "$2"; }
# seated NAME ARG...: at the agent's prompt.
seated() {
  _name=$1
  shift
  attach_args
  # shellcheck disable=SC2086
  sit "$_name" 30x100 tmux-attach "$@" $attach_args
  at "$_name" expect 'claude> '
}
# ended NAME STATUS TITLE: it has, and the terminal is as it was.
ended() {
  ok "$3: the command ends" at "$1" end 30
  is "$(seat_says "$1" '[.status, .termios, .modes]')" "[$2,true,[]]" \
    "$3: the terminal is as before"
}

# --- what the agent saw

agent_log() {
  _tty=$(rtmux display-message -p -t "=${1:-riff}:" '#{pane_tty}') || return 1
  _tty=$(printf '%s' "${_tty#/dev/}" | tr / -)
  # shellcheck disable=SC2012  # the names are ours
  _newest=$(ls -t "$agents/$_tty".* 2>/dev/null | head -n 1)
  [ -n "$_newest" ] && printf '%s\n' "$_newest"
}
agent_typed() {
  jq -r 'select(.what == "input").hex' "$(agent_log "${1:-riff}")" |
    perl -ne 'chomp; print pack "H*", $_'
}
# untyped TEXT: none of it came to the agent of riff.
untyped() { ! agent_typed riff | grep -Fq -e "$1"; }
# typed SESSION TEXT: the agent got exactly this.
typed() { [ "$(agent_typed "$1")" = "$2" ]; }
# agent_says SESSION FILTER: of its records.
agent_says() { jq -rc "$2" "$(agent_log "$1")"; }
