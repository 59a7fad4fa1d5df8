#!/bin/sh
# Hosts as people have them: few sessions, login shells that run nothing, agents with
# many keys, certificates of hosts.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

list() { # shellcheck disable=SC2086
  run tmux-attach $attach_args "$@" -l
}
tail_host() {
  run transcript-tail --transport "$transport" -i "$id" --pins "$tmp/pins" -P "$port" \
    "$remote_user@127.0.0.1:"
}

# --- one session to a connection
start_sshd one 'MaxSessions 1'
echo note >"$tmp/note.txt"
for transport in $transports; do
  attach_args
  no_server
  rtmux new-session -d -s riff 'sleep 600'
  failed=0
  for _ in 1 2 3 4 5 6 7 8; do
    # shellcheck disable=SC2086
    tmux-attach $attach_args --capture >"$tmp/out" 2>>"$tmp/err" || failed=$((failed + 1))
    # shellcheck disable=SC2086
    tmux-attach $attach_args -l >"$tmp/out" 2>>"$tmp/err" || failed=$((failed + 1))
  done
  is "$failed" 0 "$transport: MaxSessions 1: every call gets through" || diag "$(cat "$tmp/err")"
  failed=0
  for _ in 1 2 3 4; do
    share-inbox --inbox "$tmp/inbox" add "$tmp/note.txt" >"$tmp/out" 2>&1
    # shellcheck disable=SC2086
    share-inbox --inbox "$tmp/inbox" drain $attach_args >"$tmp/out" 2>"$tmp/err" ||
      failed=$((failed + 1))
  done
  is "$failed" 0 "$transport: MaxSessions 1: every file is handed over" || diag "$(cat "$tmp/err")"
done

# --- none at all
start_sshd none 'MaxSessions 0'
for transport in $transports; do
  attach_args
  list
  ok "$transport: MaxSessions 0 is not for another try" [ "$status" -eq 2 ]
  err_like 'grants no session' "$transport: the message says that the host grants no session"
done

# --- login files that run something else, and a command that the host forces
start_sshd files

for transport in $transports; do
  attach_args
  for line in 'exec true' 'exit 3' 'echo not available; exit 1' 'exec /no/shell'; do
    printf '%s\n' "$line" >"$remote_home/.bash_profile"
    list
    status_is 2 "$transport: $line: another try is not advised"
    err_like 'login shell there ran no command' \
      "$transport: $line: the message says that the login shell ran no command"
    attach me
    # At a terminal their own status counts, as with ssh.
    case $line in
    *exit*) own=${line##* } ;;
    *) own=2 ;;
    esac
    ended me "$own" "$transport: $line: attaching"
    ok "$transport: $line: attaching says that the login shell ran no command" \
      has "$tmp/me.screen" 'login shell there ran no command'
    rm -f "$tmp/me.screen"
  done
  err_like '/no/shell' "$transport: the words of the login shell are told"
  tail_host
  status_is 2 "$transport: transcript-tail has status 2 for such a login shell, too"
  err_like 'login shell there ran no command' "$transport: transcript-tail uses the same words"
  echo 'echo not available; exit 1' >"$remote_home/.bash_profile"
  tail_host
  err_like 'ran no command: not available' \
    "$transport: transcript-tail tells what the login shell printed"
  # shellcheck disable=SC2016
  printf 'echo welcome\nread -r line\nPATH=$HOME/bin:$PATH\n' >"$remote_home/.bash_profile"
  list -q
  isnt "$status" 2 "$transport: a banner and a read do no harm" || diag "$(cat "$tmp/err")"
done
# The shell of the account may be one that is no shell of POSIX's.
for shell in tcsh csh fish; do
  program=$(command -v "$shell") || {
    diag "not installed: $shell"
    continue
  }
  start_sshd "$shell" "SetEnv HOME=$ssh_dir/$shell/home TMUX_TMPDIR=$ssh_dir/$shell/tm SHELL=$program"
  for transport in $transports; do
    attach_args
    list
    isnt "$status" 75 "$transport: $shell works, or says so" || diag "$(cat "$tmp/err")"
  done
done
start_sshd forced 'ForceCommand echo only backups here'
for transport in $transports; do
  attach_args
  list
  status_is 2 "$transport: ForceCommand is not tried again"
  err_like 'only backups here.*ForceCommand' \
    "$transport: the message tells what ForceCommand printed"
done

# --- an agent with nine keys
start_sshd tries 'MaxAuthTries 3'
eval "$(ssh-agent -a "$tmp/agent")" >/dev/null
agent_pid=$SSH_AGENT_PID
for number in 1 2 3 4 5 6 7 8; do
  ssh-keygen -q -t ed25519 -N '' -C "key$number" -f "$tmp/key$number"
  ssh-add -q "$tmp/key$number" 2>/dev/null
done
ssh-add -q "$id" 2>/dev/null
cp "$id.pub" "$tmp/right.pub"
for transport in $transports; do
  t 77 "$transport: too many keys are refused" \
    tmux-attach --transport "$transport" --agent --pins "$tmp/pins" -P "$port" \
    "$remote_user@127.0.0.1" -l
  err_like 'Too many authentication failures.*-i KEY.pub' \
    "$transport: the message about too many keys says what to do"
  run tmux-attach --transport "$transport" --agent -i "$tmp/right.pub" --pins "$tmp/pins" \
    -P "$port" "$remote_user@127.0.0.1" -q -l
  isnt "$status" 77 "$transport: naming a key with -i helps" || diag "$(cat "$tmp/err")"
done
kill "$agent_pid"
unset SSH_AUTH_SOCK

# --- an authority for hosts
ssh-keygen -q -t ed25519 -N '' -f "$tmp/ca"
start_sshd signed "HostCertificate $ssh_dir/signed/host-cert.pub"
sign() {
  ssh-keygen -q -s "$tmp/ca" -I box -h -n "${1:-127.0.0.1}" "$ssh_dir/signed/host.pub"
  stop_sshd signed
  start_sshd signed "HostCertificate $ssh_dir/signed/host-cert.pub"
}
believe() { printf '%s\n' "@cert-authority $1 $(cut -d' ' -f1,2 "$tmp/ca.pub")" >"$tmp/known"; }
visit() {
  run tmux-attach --transport "$1" -i "$id" --pins "$tmp/certpins" --known-hosts="$tmp/known" \
    -P "$port" "$remote_user@127.0.0.1" -v -q -l
}
pinned() { [ -s "$tmp/certpins" ]; }
sign
for name in "[127.0.0.1]:$port" '127.0.0.*' '*,!other'; do
  believe "$name"
  visit auto
  isnt "$status" 77 "$name: the certificate counts" || diag "$(cat "$tmp/err")"
  err_like 'by ssh: an authority signs' "$name: ssh is used"
  not_ok "$name: nothing is pinned" pinned
done
rm -f "$ssh_dir/signed/host" "$ssh_dir/signed/host.pub"
ssh-keygen -q -t ed25519 -N '' -f "$ssh_dir/signed/host"
sign
visit auto
isnt "$status" 77 "a host that was rebuilt is the same" || diag "$(cat "$tmp/err")"
visit libssh2
status_is 77 "libssh2 reads no certificates"
err_like 'take --transport ssh' "the message says what to do"
sign elsewhere
visit auto
status_is 77 "a certificate for another host does not count"
not_ok "a certificate for another host does not pin at first sight" pinned
believe "*,!127.0.0.1,![127.0.0.1]:$port"
visit libssh2
isnt "$status" 77 "an authority for other hosts does not count"
ok "the key of a host without an authority is pinned" pinned
rm -f "$ssh_dir/signed/host" "$ssh_dir/signed/host.pub"
ssh-keygen -q -t ed25519 -N '' -f "$ssh_dir/signed/host"
sign
believe '*'
for transport in $transports; do
  visit "$transport"
  status_is 77 "$transport: a pin outweighs a good certificate"
  err_like 'HOST KEY CHANGED' "$transport: the message says that the key changed"
done
done_testing
