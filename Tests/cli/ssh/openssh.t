#!/bin/sh
# tmux-attach --transport ssh: OpenSSH's configuration at its worst, hosts on the way,
# questions, and connections that several commands share.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; words
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

# OpenSSH's own configuration, which HOME does not move.
config=$tmp/ssh_config
cat >"$tmp/my-ssh" <<END
#!/bin/sh
exec $(command -v ssh) -F "$config" "\$@"
END
chmod +x "$tmp/my-ssh"
AGENTUTILS_SSH=$tmp/my-ssh
export AGENTUTILS_SSH

start_sshd box
box=$port
attach_args ssh
list() { run tmux-attach $attach_args -l "$@"; }
masters() { find "$XDG_RUNTIME_DIR/agentutils" -name 'm*' -type s | wc -l | tr -d ' '; }
accepted() { grep -c 'Accepted publickey' "$sshd_log"; }

# --- a configuration that wants something else
cat >"$config" <<END
Host *
  RequestTTY no
  RemoteCommand echo hijacked
  SessionType none
  ForkAfterAuthentication yes
  StdinNull yes
  ControlMaster auto
  ControlPath $tmp/theirs-%C
  ControlPersist 600
  LogLevel QUIET
  PermitLocalCommand yes
  LocalCommand touch $tmp/local-command
  VisualHostKey yes
  EscapeChar x
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  NoHostAuthenticationForLocalhost yes
  FingerprintHash md5
  HashKnownHosts yes
  ConnectionAttempts 5
  ExitOnForwardFailure yes
  LocalForward 1 127.0.0.1:1
END
list
status_is 1 "a hostile configuration does no harm"
err_like "new host, pinned its ED25519 key $(ssh-keygen -lf "$host_key" | cut -d ' ' -f 2 | tr + .)" \
  'the fingerprint of a new host is told'
is "$(cut -d ' ' -f 1,2 "$tmp/pins")" "[127.0.0.1]:$port ssh-ed25519" \
  'the key of a new host is pinned in plain'
sit me 30x100 tmux-attach $attach_args
ok 'a hostile configuration: an agent is sat at' at me expect 'claude> '
at me send 'xyz inc\r'
at me send 'inc\r'
ok 'an agent behind a hostile configuration takes keys' at me expect 'count 1'
like "$(agent_typed)" 'xyz inc' "no escape character eats a key"
at me resize 20x70
ok "sizes follow the terminal" \
  wait_until 30 sh -c "tmux -S '$remote_tmp'/tmux-*/riff list-clients -F '#{client_width}' | grep -q 70"
at me send '\r~.'
ok '~. leaves an agent behind a hostile configuration' at me end 30
is "$(seat_says me '[.termios, .modes]')" '[true,[]]' 'the terminal is as before'
not_ok 'no command ran here' test -e "$tmp/local-command"
is "$(find "$tmp" -maxdepth 1 -name 'theirs-*')" '' 'no connection of another kind was shared'

# --- another key, whatever the configuration thinks of it
start_sshd other
before=$(cat "$tmp/pins")
printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d ' ' -f 1,2 "$ssh_dir/box/host.pub")" >"$tmp/wrong"
t 77 'a changed key is refused' \
  tmux-attach --transport ssh -i "$id" --pins "$tmp/wrong" -P "$port" "$remote_user@127.0.0.1" -l
err_like 'HOST KEY CHANGED' "the message warns of a changed key"
err_like "pinned is: .*wrong:1" "the place of the pin is told"
ok 'nothing was sent to a changed key' lacks "$sshd_log" 'userauth-request'
is "$(cat "$tmp/pins")" "$before" "nothing is pinned for a changed key"
stop_sshd other

# --- one connection for many calls
: >"$config"
port=$box
sshd_log=$ssh_dir/box/log
attach_args ssh
list
count=$(accepted)
list
list
is "$(accepted)" "$count" 'calls share a connection'
is "$(find "$XDG_RUNTIME_DIR/agentutils" -name 'log*')" '' 'no log is left'
list -i "$tmp/none"
status_is 2 'a key file that is not there is told'
cp "$id" "$tmp/copy"
run tmux-attach --transport ssh -i "$tmp/copy" --pins "$tmp/pins" -P "$port" "$remote_user@127.0.0.1" -l
is "$(accepted)" $((count + 1)) 'another key is another connection'
printf 'damaged\n' >>"$tmp/pins"
list
status_is 77 'with a damaged pin file nothing is shared'
printf '%s\n' "$before" >"$tmp/pins"

# --- a connection that is shared and dead
start_proxy
attach_args ssh
through() { run tmux-attach $attach_args --keepalive 1 -l "$@"; }
through
status_is 0 "a list works through a link"
link blackhole
begun=$(date +%s)
through
status_is 0 'a dead connection is not waited for'
ok "a dead connection does not take long" test $(($(date +%s) - begun)) -le 12
is "$(tries)" 2 'another connection is made for a dead one'
link blackhole all
begun=$(date +%s)
through --max-time 2
status_is 75 'a dead link is given up'
ok "a dead link is given up in time" test $(($(date +%s) - begun)) -le 12
link pass

# --- what others have left behind
left=$XDG_RUNTIME_DIR/agentutils
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => shift, Listen => 1) or die' "$left/mold"
mkfifo "$left/log.old" "$left/other"
touch -t 202001010000 "$left/mold" "$left/log.old" "$left/other"
cp "$id" "$tmp/third"
run tmux-attach --transport ssh -i "$tmp/third" --pins "$tmp/pins" -P "$box" "$remote_user@127.0.0.1" -l
is "$(find "$left" -name mold -o -name log.old -o -name other)" "$left/other" \
  'old sockets and logs are swept away, and nothing else'

# --- many at once
pids=
for n in 1 2 3 4 5 6; do
  tmux-attach $attach_args -l >"$tmp/at-once.$n" 2>&1 &
  pids="$pids $!"
done
bad=0
for p in $pids; do wait "$p" || bad=$((bad + 1)); done
is "$bad" 0 'six at once, without a connection yet, all get their answer'

# --- a host on the way
port=$box
start_sshd jump
jump=$port
cat >"$config" <<END
Host jump
  HostName 127.0.0.1
  Port $jump
  User $remote_user
  IdentityFile $id
  UserKnownHostsFile $tmp/jump-known
  StrictHostKeyChecking accept-new
Host box
  HostName 127.0.0.1
  Port $box
  User $remote_user
  IdentityFile $id
  ProxyJump jump
END
remote_tmp=$ssh_dir/box/tm
t 0 "a host behind a jump is reached" tmux-attach -v --pins "$tmp/pins" box -l
err_like 'by ssh: (an alias|ssh_config has ProxyJump)' "a host behind a jump is reached by OpenSSH"
sit me 30x100 tmux-attach --pins "$tmp/pins" box
ok 'a host behind a jump is sat at' at me expect 'claude> '
at me send '\r~.'
ok "~. leaves a host behind a jump" at me end 30
echo >"$ssh_dir/jump/authorized_keys"
stop_sshd jump
sit me 30x100 tmux-attach --pins "$tmp/pins" box
ok 'an attach without the jump ends' at me end 30
is "$(seat_says me .status)" 75 'an attach without the jump has status 75'
like "$(tail -c 1000 "$tmp/me.screen")" 'efused' 'the message tells the reason that the jump has'

# --- questions
: >"$config"
port=$box
ssh-keygen -q -t ed25519 -N 'pass word' -f "$tmp/locked"
cat "$tmp/locked.pub" >>"$ssh_dir/box/authorized_keys"
sit me 30x100 tmux-attach --transport ssh -i "$tmp/locked" --pins "$tmp/pins" -P "$port" \
  "$remote_user@127.0.0.1"
ok 'a passphrase is asked for' at me expect "passphrase for key '$tmp/locked'"
at me send 'pass word\r'
ok 'a passphrase opens the key' at me expect 'claude> '
at me send '\r~.'
ok '~. leaves a terminal with a passphrase' at me end 30
not_ok 'the passphrase was not shown' has "$tmp/me.screen" 'pass word'
t 77 'a passphrase with nobody to ask fails at once' \
  tmux-attach --transport ssh -i "$tmp/locked" --pins "$tmp/pins" -P "$port" \
  "$remote_user@127.0.0.1" -l
err_like "access refused .*$tmp/locked" 'the message names the key with a passphrase'

# --- a master that is lost as soon as it has begun a command
rm -f "$XDG_RUNTIME_DIR/agentutils"/m*
attach_args ssh
list
socket=$(find "$XDG_RUNTIME_DIR/agentutils" -name 'm*' -type s)
rm -f "$socket"
start lost "$python" "$cli/servers/lost_master.py" "$socket"
wait_until 30 test -S "$socket"
list
status_is 75 'a master that is lost on the way is told'
is "$(cat "$tmp/lost.out")" begun 'what it has begun is not begun again'

# --- endings
rm -f "$XDG_RUNTIME_DIR/agentutils"/m*
list
stop_sshd box
list
status_is 75 "a host that is gone has status 75"
err_like '127.0.0.1: .*(refused|reset|closed)' "the message says why"
done_testing
