#!/bin/sh
# libssh2: what is agreed on is modern, a host with which nothing can be
# agreed on is told apart, and the key that is pinned is the one that is asked for.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

start_sshd
rtmux new-session -d -s riff cat
list() {
  attach_args libssh2
  # shellcheck disable=SC2086
  run tmux-attach $attach_args "$@" -l
}
list -v
status_is 0 "an ordinary host is reached"
err_like 'curve25519-sha256.*, ssh-ed25519, aes256-ctr, hmac-sha2-256' \
  "-v says which algorithms are agreed on"
not_ok "nothing old is offered" grep -Eiq 'debug.*(arcfour|3des|md5|group1|cbc)' "$sshd_log"

# hardened LINE KIND HOST OURS: the host takes nothing that libssh2 has.
hardened() {
  stop_sshd
  start_sshd box "$1"
  list
  status_is 2 "$2 alone has nothing in common with us"
  err_one_line tmux-attach "$2: a host without a common algorithm is told in one line"
  err_like "no common algorithm: $2 \\(host: $3[^;]*; ours: $4" "$2: the message has both lists"
  not_ok "$2: nothing of signing in is sent" grep -q userauth-request "$sshd_log"
}
hardened 'MACs hmac-sha2-256-etm@openssh.com' MAC 'hmac-sha2-256-etm@openssh.com' 'hmac-sha2-256,'
hardened 'Ciphers chacha20-poly1305@openssh.com' cipher 'chacha20-poly1305' 'aes256-ctr,'
hardened 'KexAlgorithms sntrup761x25519-sha512@openssh.com' 'key exchange' sntrup761x25519 curve25519

ssh-keygen -q -t rsa -b 2048 -N '' -f "$tmp/rsa"
stop_sshd
start_sshd box "HostKey $tmp/rsa" 'HostKeyAlgorithms rsa-sha2-512'
list
status_is 2 "a host with an RSA key alone has nothing in common with us"
err_like 'host key \(host: rsa-sha2-512; ours: ssh-ed25519,' "the host keys are named"

# --- the pinned type is asked for first
ssh-keygen -q -t ecdsa -N '' -f "$tmp/ecdsa"
stop_sshd
start_sshd box "HostKey $tmp/ecdsa"
echo "[127.0.0.1]:$port $(cut -d ' ' -f 1,2 "$tmp/ecdsa.pub")" >"$tmp/pins"
cp "$tmp/pins" "$tmp/pins.before"
list -v
status_is 0 "a host with two keys is known by the one that is pinned"
err_like ', ecdsa-sha2-nistp256, ' "the key of the pinned type is asked for"
ok "nothing is pinned besides the key of that type" cmp "$tmp/pins" "$tmp/pins.before"

# --- an RSA key of the user's is not signed with SHA-1
cp "$tmp/rsa.pub" "$ssh_dir/box/authorized_keys"
t 77 "a user's RSA key is refused" \
  tmux-attach --transport libssh2 --pins "$tmp/pins" -P "$port" -i "$tmp/rsa" \
  "$remote_user@127.0.0.1" -l
err_like 'RSA SHA256:[^ ]*\): not with libssh2' "the message says that RSA is not for libssh2"
done_testing
