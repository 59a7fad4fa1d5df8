#!/bin/sh
# tmux-attach --transport: which one is taken, and why.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; words
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

# OpenSSH's own configuration, which HOME does not move.
config=$tmp/ssh_config
: >"$config"
cat >"$tmp/my-ssh" <<END
#!/bin/sh
exec $(command -v ssh) -F "$config" "\$@"
END
chmod +x "$tmp/my-ssh"
AGENTUTILS_SSH=$tmp/my-ssh
export AGENTUTILS_SSH

start_sshd box
plain="--pins $tmp/pins -P $port $remote_user@127.0.0.1"
list() { run tmux-attach -v -l "$@"; }
# by TRANSPORT WHY TITLE
by() { err_like ": by $1: $2" "$3"; }

list -i "$id" $plain
status_is 1 "a plain host has no sessions"
by libssh2 'a plain host' 'a plain host is reached in process'

list -i "$id" --transport libssh2 $plain
by libssh2 'asked for' 'a transport that is asked for is taken'

# --- what OpenSSH's configuration says
cat >"$config" <<END
Host agentbox
  HostName 127.0.0.1
  Port $port
  User $remote_user
  IdentityFile $id
  IdentitiesOnly yes
END
list --pins "$tmp/pins" agentbox
status_is 1 'an alias is reached'
by ssh 'an alias of ssh_config for 127.0.0.1' 'an alias is reached by OpenSSH'
list --pins "$tmp/pins" agentbox
by ssh 'a connection is up already' 'the second time a connection that is up is taken'
list --pins "$tmp/pins" -q agentbox
err_unlike 'pinned' 'the key of an alias is pinned under the real name'
like "$(cut -d ' ' -f 1 "$tmp/pins" | sort | uniq -c)" "^ *1 \[127.0.0.1\]:$port$" "one pin serves both transports"
run tmux-attach --fingerprint --pins "$tmp/pins" agentbox
out_like "$(ssh-keygen -lf "$host_key" | cut -d ' ' -f 2 | tr + .)" \
  '--fingerprint finds the key by the alias'

cat >"$config" <<END
Host *
  ProxyCommand nc %h %p
END
list -i "$id" $plain
by ssh 'ssh_config has ProxyCommand' 'a host behind a proxy is reached by OpenSSH'
cat >"$config" <<END
Host *
  MACs hmac-sha2-256-etm@openssh.com
END
list -i "$id" $plain
status_is 1 'algorithms that the user leaves out are not used'
by ssh "ssh_config's MACs leave out hmac-sha2-256" \
  'a host with algorithms left out is reached by OpenSSH'
echo 'Nonsense yes' >"$config"
cp "$id" "$tmp/another"
list -i "$tmp/another" $plain
status_is 2 "a configuration that OpenSSH refuses is an error"
err_like 'onfiguration option' "OpenSSH's words are told"
: >"$config"

# --- keys that libssh2 cannot use
ssh-keygen -q -t rsa -N '' -f "$tmp/rsa"
cat "$tmp/rsa.pub" >>"$ssh_dir/box/authorized_keys"
list -i "$tmp/rsa" $plain
status_is 1 'an RSA key is let in'
by ssh 'the key is of the type RSA' 'an RSA key is used by OpenSSH'
cp "$tmp/rsa" "$tmp/pem"
ssh-keygen -q -p -N '' -m PEM -f "$tmp/pem" >"$out"
list -i "$tmp/pem" $plain
by ssh "the key is not in OpenSSH's form" 'a key in an old form is used by OpenSSH'

ssh-keygen -q -t ed25519 -N '' -f "$tmp/ca"
ssh-keygen -q -t ed25519 -N '' -f "$tmp/certified"
ssh-keygen -q -s "$tmp/ca" -I test -n "$remote_user" "$tmp/certified.pub"
start_sshd certified "TrustedUserCAKeys $tmp/ca.pub"
list -i "$tmp/certified" --pins "$tmp/pins" -P "$port" "$remote_user@127.0.0.1"
status_is 1 'a certificate is let in'
by ssh 'a certificate lies beside the key' 'a certificate is used by OpenSSH'

# --- hosts that libssh2 cannot talk to
start_sshd hardened 'Ciphers chacha20-poly1305@openssh.com' 'MACs hmac-sha2-512-etm@openssh.com' \
  'KexAlgorithms sntrup761x25519-sha512@openssh.com'
list -i "$id" --pins "$tmp/pins" -P "$port" "$remote_user@127.0.0.1"
status_is 1 'a hardened host is reached'
by libssh2 'a plain host' 'a hardened host is tried by libssh2 first'
by ssh 'libssh2 and the host do not agree' \
  'a hardened host is reached by OpenSSH when libssh2 has no algorithm'
attach_args auto
sit me 30x100 tmux-attach $attach_args
ok "a terminal is attached to a hardened host" at me expect 'claude> '
at me send '\r~.'
ok "~. leaves a hardened host" at me end 30
list -i "$id" --transport libssh2 --pins "$tmp/pins" -P "$port" "$remote_user@127.0.0.1"
status_is 2 'a hardened host with --transport libssh2 is an error'
err_like 'no common algorithm' "the message says that there is no common algorithm"

ssh-keygen -q -t rsa -N '' -f "$tmp/host-rsa"
start_sshd old "HostKey $tmp/host-rsa" 'HostKeyAlgorithms rsa-sha2-512'
printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d ' ' -f 1,2 "$tmp/host-rsa.pub")" >"$tmp/pins-rsa"
list -i "$id" --pins "$tmp/pins-rsa" -P "$port" "$remote_user@127.0.0.1"
status_is 1 "a host with an RSA key alone is reached by ssh"
by ssh 'only its RSA key is known' 'a host with an RSA key alone is for OpenSSH'

# --- a key in a file whose name is not UTF-8
odd=$tmp/key$(printf '\351')
if cp "$id" "$odd" 2>/dev/null; then
  cp "$id.pub" "$odd.pub"
  port=$(cat "$ssh_dir/box/port")
  for transport in libssh2 ssh; do
    list -i "$odd" --transport "$transport" $plain
    status_is 1 "$transport: a key whose name is not UTF-8 has status 1"
  done
  list -i "$odd.none" $plain
  err_like "key.xe9.none: no such file" 'a key file that is not there is told by its bytes'
fi

# --- no OpenSSH
AGENTUTILS_SSH=$tmp/none
port=$(cat "$ssh_dir/box/port")
list -i "$id" $plain
status_is 1 'without ssh a plain host is reached'
by libssh2 'no ssh here' 'a plain host without ssh is reached in process'
list -i "$id" --transport ssh $plain
status_is 2 '--transport ssh without ssh is a local error'
err_like "none: not installed" "the message names ssh"
done_testing
