#!/bin/sh
# A host's key is pinned once and then demanded, by both transports;
# what OpenSSH's file says counts; a damaged file of pins is nobody's licence.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

# check ARG...: goes as far as signing in, and says so.
check() {
  : >"$sshd_log"
  # shellcheck disable=SC2154  # of ssh.sh
  run tmux-attach --transport "$transport" -i "$id" --pins "$pins" -P "$port" --check "$@" \
    "$remote_user@127.0.0.1"
}
connections() { grep -c '^Connection from' "$sshd_log"; }
nothing_sent() { ! grep -q userauth-request "$sshd_log"; }
print_of() { ssh-keygen -lf "$1" | cut -d ' ' -f 2; }
# re TEXT: as an ERE that means just that.
# shellcheck disable=SC2016
re() { printf '%s' "$1" | sed 's/[].[*+?^$()|{}\\]/\\&/g'; }
# line_of NAME PUBLIC: a line of known_hosts.
line_of() { printf '%s %s\n' "$1" "$(cut -d ' ' -f 1,2 "$2")"; }

start_sshd
shown=$(print_of "$host_key")
shown_re=$(re "$shown")
place="[127.0.0.1]:$port"
pins=$tmp/pins
ssh-keygen -q -t ed25519 -N '' -f "$tmp/other"
ssh-keygen -q -t ecdsa -N '' -f "$tmp/ecdsa"
known=$tmp/known

for transport in $transports; do
  rm -f "$pins"

  # --- first use
  check
  status_is 0 "$transport: a host that is new is let pass"
  out_like "^ok +host key .*$shown_re, new" "$transport: its fingerprint is shown as ssh-keygen has it"
  is "$(cat "$pins")" "$(line_of "$place" "$host_key")" "$transport: its key is pinned"
  is "$(perl -e 'printf "%o", (stat shift)[2] & 0777' "$pins")" 600 \
    "$transport: the pins are for the user alone"
  check
  out_like "^ok +host key .*$shown_re, as pinned" "$transport: the key is known the second time"
  is "$(wc -l <"$pins")" 1 "$transport: the key is not pinned again"
  run tmux-attach --transport "$transport" --pins "$pins" --fingerprint "$remote_user@127.0.0.1:$port"
  out_is "$(ssh-keygen -lf "$pins")" "$transport: --fingerprint is what ssh-keygen -l says"

  # --- another key
  for kind in other ecdsa; do
    line_of "$place" "$tmp/$kind.pub" >"$pins"
    cp "$pins" "$tmp/before"
    check
    status_is 77 "$transport: a host with another key than the pinned $kind is refused"
    err_like "$shown_re" "$transport, $kind: the offered fingerprint is shown"
    err_like "$(re "$(print_of "$tmp/$kind.pub") ($pins:1)")" \
      "$transport, $kind: the pinned fingerprint is shown with its place"
    err_like "tmux-attach --forget 127.0.0.1:$port" \
      "$transport, $kind: the message tells how to pin again"
    out_like '^FAILED +host key' "$transport, $kind: the check fails at the host key"
    ok "$transport, $kind: nothing was sent that could let somebody in" nothing_sent
    is "$(connections)" 1 "$transport, $kind: there was no second try"
    ok "$transport, $kind: the pins are as they were" cmp "$pins" "$tmp/before"
  done
  t 0 "$transport: the pin is dropped" \
    tmux-attach --transport "$transport" --pins "$pins" --forget "127.0.0.1:$port"
  is "$(cat "$pins")" "" "$transport: nothing is left of a dropped pin"
  check
  out_like "$shown_re, new" "$transport: the new key is pinned when the pin was dropped"

  # --- damage
  while read -r damage; do
    { line_of "$place" "$host_key" && printf '%b\n' "$damage"; } >"$pins"
    cp "$pins" "$tmp/before"
    check
    status_is 77 "$transport: $damage: no host is trusted"
    is "$(connections)" 0 "$transport: $damage: nobody is asked"
    cat "$out" "$err" >"$tmp/said"
    ok "$transport: $damage: the line is named" grep -q "$pins:2: " "$tmp/said"
    ok "$transport: $damage: the file is left alone" cmp "$pins" "$tmp/before"
  done <<EOF
$place ssh-ed25519 AAAAC3Nza
x\\\\000y
EOF
  rm -f "$pins"
  mkdir "$pins"
  check
  status_is 77 "$transport: a folder is refused as a file of pins"
  rmdir "$pins"

  # --- what OpenSSH knows
  line_of "$place" "$host_key" >"$known"
  ssh-keygen -q -H -f "$known" 2>/dev/null
  check --known-hosts "$known"
  status_is 0 "$transport: a hashed name is found in OpenSSH's file"
  out_like "^ok +host key +known to $known" \
    "$transport: the message says that OpenSSH's file knows the key"
  not_ok "$transport: what that file knows is not pinned" test -s "$pins"
  mkdir -p "$HOME/.ssh"
  { echo "rubbish" && sed 's/$/\r/' "$known"; } >"$HOME/.ssh/known_hosts"
  check --known-hosts
  out_like "known to $HOME/.ssh/known_hosts" \
    "$transport: --known-hosts reads the user's own file, garbage, CR and all"
  line_of '[127.0.0.*]:*,!nobody' "$host_key" >"$known"
  check --known-hosts "$known"
  out_like 'known to' "$transport: a pattern fits"
  line_of '*,!*127.0.0.1*' "$host_key" >"$known"
  check --known-hosts "$known"
  out_like "$shown_re, new" "$transport: a pattern that leaves the host out does not fit"
  rm -f "$pins"
  line_of "$place" "$tmp/other.pub" >"$known"
  check --known-hosts "$known"
  status_is 77 "$transport: another key than that file's is refused"
  ok "$transport: nothing is sent to another key than that file's" nothing_sent
  not_ok "$transport: another key than that file's is not pinned" test -s "$pins"

  # A pin holds, whatever that file says; a revoked key is never believed.
  line_of "$place" "$tmp/other.pub" >"$pins"
  line_of "$place" "$host_key" >"$known"
  check --known-hosts "$known"
  status_is 77 "$transport: a pin counts more than OpenSSH's file"
  ok "$transport: nothing is sent to a host whose pin differs" nothing_sent
  line_of "$place" "$host_key" >"$pins"
  line_of '@revoked *' "$host_key" >"$known"
  check --known-hosts "$known"
  status_is 77 "$transport: a revoked key is refused though it is pinned"
  ok "$transport: nothing is sent to a revoked key" nothing_sent
  cat "$out" "$err" >"$tmp/said"
  ok "$transport: the message says that the key is revoked" grep -qi revoked "$tmp/said"
  rm -f "$pins"
  check --known-hosts /nowhere/known_hosts
  status_is 77 "$transport: a missing file of OpenSSH lets no host pass"
  rm -rf "$HOME/.ssh"
done

# --- an alias of ssh_config, by the name that OpenSSH keeps its keys under
printf 'Host work\n  HostName 127.0.0.1\n  Port %s\n  User %s\n  HostKeyAlias office\n' \
  "$port" "$remote_user" >"$tmp/ssh_config"
printf '#!/bin/sh\nexec ssh -F "%s" "$@"\n' "$tmp/ssh_config" >"$tmp/ssh.sh"
chmod +x "$tmp/ssh.sh"
AGENTUTILS_SSH=$tmp/ssh.sh
export AGENTUTILS_SSH
rm -f "$pins"
run tmux-attach -i "$id" --pins "$pins" --check work
out_like "^ok +reach +office, by ssh" "an alias goes by ssh"
is "$(cat "$pins")" "$(line_of office "$host_key")" \
  "the key of an alias is pinned by the alias for keys"
run tmux-attach --pins "$pins" --fingerprint work
out_is "256 $shown office (ED25519)" "the key of an alias is found again"
line_of office "$tmp/other.pub" >"$pins"
: >"$sshd_log"
t 77 "another key of an alias is refused" tmux-attach -i "$id" --pins "$pins" --check work
ok "nothing is sent to another key of an alias" nothing_sent
err_like '--forget work' "the way out is told in the user's words"
run tmux-attach --pins "$pins" --forget work
is "$status $(cat "$pins")" "0 " "--forget works"
unset AGENTUTILS_SSH

# --- --forget and --fingerprint alone
transport=libssh2
{
  echo '# of the office'
  line_of 'box' "$host_key"
  line_of 'a,[box]:2222,b' "$tmp/other.pub"
  line_of 'boxer' "$tmp/ecdsa.pub"
  line_of 'box' "$tmp/ecdsa.pub"
} >"$pins"
pin_job() { run tmux-attach --transport libssh2 --pins "$pins" "$@"; }
pin_job --fingerprint BOX
out_is "256 $shown BOX (ED25519)
256 $(print_of "$tmp/ecdsa.pub") BOX (ECDSA)" "all keys of a host are shown"
pin_job --forget -v box
status_is 0 "the key is dropped"
err_like "dropped 256 $shown_re" "-v tells the dropped key"
is "$(cat "$pins")" "# of the office
$(line_of 'a,[box]:2222,b' "$tmp/other.pub")
$(line_of boxer "$tmp/ecdsa.pub")" "keys of other hosts and of other ports stay"
pin_job --forget -P 2222 box
is "$(sed -n 2p "$pins")" "$(line_of a,b "$tmp/other.pub")" "a name among others is taken out"
cp "$pins" "$tmp/before"
pin_job --forget box
status_is 1 "--forget without a pin has status 1"
err_one_line tmux-attach "a missing pin is told in a line"
ok "--forget without a pin changes nothing" cmp "$pins" "$tmp/before"
pin_job --fingerprint box
status_is 1 "--fingerprint without a pin has status 1"
out_empty "--fingerprint without a pin shows nothing"
pin_job --fingerprint
status_is 2 "--fingerprint without a host is a wrong usage"
printf 'host = office\n[host office]\nhostname = boxer\n' >"$XDG_CONFIG_HOME/agentutils/config"
pin_job --fingerprint
out_is "256 $(print_of "$tmp/ecdsa.pub") boxer (ECDSA)" \
  "--fingerprint shows the configured host by the name it is connected to"

# --- damaged pins, at a terminal
for transport in libssh2 ssh auto; do
  for damage in 'cut in half' junk 'a folder'; do
    rm -rf "$pins" "$tmp/me.screen"
    case $damage in
    'cut in half') line_of "$place" "$host_key" | head -c 60 >"$pins" ;;
    junk) head -c 2000 /dev/urandom >"$pins" ;;
    *) mkdir "$pins" ;;
    esac
    attach me
    ended me 77 "$transport: $damage: at a terminal"
    ok "$transport: $damage: the reason is told" grep -aq "tmux-attach: .*$pins" "$tmp/me.screen"
  done
done

done_testing
