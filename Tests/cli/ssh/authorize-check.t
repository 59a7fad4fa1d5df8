#!/bin/sh
# What --authorize prints lets us in when it is pasted, and
# --check tells what stands in the way of an attach, and what to do.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

state=$XDG_STATE_HOME/agentutils
own_port nobody >"$tmp/nobody"
nobody=$(cat "$tmp/nobody")
start_sshd
box_keys=$ssh_dir/box/authorized_keys
host="$remote_user@127.0.0.1:$port"
check() { run tmux-attach --transport "$transport" --check "$@"; }
# what_failed: the names of the lines.
what_failed() { sed -n 's/^FAILED  \([a-z ]*[a-z]\)  .*/\1/p' "$out"; }

# --- our own key
t 0 "--authorize needs no host" tmux-attach --authorize
line=$(sed -n 1p "$out")
is "$line" "$(cat "$state/id_ed25519.pub")" \
  "--authorize prints the public half of a key made for that"
like "$line" '^ssh-ed25519 AAAA[^ ]* agentutils@' "the key is named after the suite"
is "$(perl -e 'printf "%o %o", map { (stat)[2] & 0777 } @ARGV' "$state/id_ed25519" "$state")" \
  "600 700" "the key is the user's alone"
is "$(ssh-keygen -y -P '' -f "$state/id_ed25519" | cut -d ' ' -f 1,2)" \
  "$(printf '%s' "$line" | cut -d ' ' -f 1,2)" "the private half of the key fits"
run tmux-attach --authorize "$host"
is "$(sed -n 1p "$out")" "$line" "the key stays the same"
paste=$(sed -n 2p "$out")
is "$(lines "$out")" 2 "--authorize prints a second line, to be pasted"
like "$paste" "echo 'ssh-ed25519 .*' >> ~/.ssh/authorized_keys" \
  "the line to be pasted has the words of the contract"

for transport in $transports; do
  # --- it is not let in yet; pasted, it is
  cp "$id.pub" "$box_keys"
  check "$host"
  status_is 77 "$transport: a key that the host does not know is refused"
  is "$(what_failed)" 'our key' "$transport: nothing but our key fails"
  out_like "^FAILED +our key .*tmux-attach --authorize $host" \
    "$transport: the message says what to do about our key"
  for shell in sh bash zsh fish; do
    if ! command -v "$shell" >/dev/null; then
      skip 3 "no $shell"
      continue
    fi
    rm -rf "$tmp/there"
    mkdir "$tmp/there"
    ok "$transport: the line can be pasted into $shell" \
      sh -c "umask 002; HOME='$tmp/there' $shell" <<EOF
$paste
EOF
    is "$(perl -e 'printf "%o %o", map { (stat)[2] & 0777 } @ARGV' \
      "$tmp/there/.ssh" "$tmp/there/.ssh/authorized_keys")" "700 600" \
      "$transport, $shell: folder and file are as sshd wants them"
    cp "$tmp/there/.ssh/authorized_keys" "$box_keys"
    check "$host"
    is "$status $(what_failed)" "0 " "$transport, $shell: the pasted key lets us in"
  done
  is "$(grep -c '^ok ' "$out")" 5 "$transport: five things are in place"
  out_like "^ok +tmux +tmux [0-9].*$(command -v tmux)" \
    "$transport: tmux is named with its version and place"
  out_like "^ok +harness +$remote_home/bin/claude" \
    "$transport: the agent is found on the login PATH"

  # --- what else can be amiss
  check -H 'codex --model x' "$host"
  status_is 1 "$transport: a harness that is not there has status 1"
  out_like '^FAILED +harness +codex is not on the PATH' \
    "$transport: a harness that is not there is named"
  # shellcheck disable=SC2016
  check -H '$SHELL' "$host"
  out_like '^ok +harness +/' "$transport: \$SHELL is found"
  check -H '"$(touch $HOME/ran)"' "$host"
  status_is 0 "$transport: a harness that does more than call a program has status 0"
  out_like '^ok +harness +not looked for' "$transport: a harness that does more is not looked for"
  not_ok "$transport: a harness that does more is not run" test -e "$remote_home/ran"
  mkdir -p "$tmp/few"
  for tool in sh cat; do ln -sf "$(command -v "$tool")" "$tmp/few/$tool"; done
  cp "$remote_home/.profile" "$tmp/profile"
  echo "PATH=$tmp/few; echo noise" >"$remote_home/.profile"
  check "$host"
  status_is 1 "$transport: a login PATH without tmux is found out"
  is "$(what_failed | tr '\n' ' ')" 'tmux harness ' \
    "$transport: a login PATH without tmux lacks tmux and harness"
  echo 'exit 3' >"$remote_home/.profile"
  check "$host"
  is "$(what_failed)" login "$transport: a login shell that leaves is found out"
  status_is 2 "$transport: another try is not advised for a login shell that leaves"
  cp "$tmp/profile" "$remote_home/.profile"

  check -P "$nobody" "$remote_user@127.0.0.1"
  status_is 75 "$transport: a host that does not listen has status 75"
  is "$(what_failed)" reach "$transport: a host that does not listen fails at reach"
  check "$remote_user@nowhere.invalid"
  status_is 75 "$transport: a name that does not exist has status 75"
  is "$(what_failed)" reach "$transport: a name that does not exist fails at reach"
  check -i "$tmp/none" "$host"
  status_is 2 "$transport: a key file that is not there is our own fault"
  printf '%s ssh-ed25519 AAAA\n' "[127.0.0.1]:$port" >"$tmp/pins"
  check --pins "$tmp/pins" "$host"
  status_is 77 "$transport: damaged pins are refused"
  is "$(what_failed)" 'host key' "$transport: damaged pins fail at the host key"
done

# --- which key
run tmux-attach --authorize -i "$id"
is "$(sed -n 1p "$out")" "$(cat "$id.pub")" "-i names the key that is shown"
rm "$id.pub"
run tmux-attach --authorize -i "$id" "$host"
is "$(sed -n 1p "$out" | cut -d ' ' -f 2)" "$(ssh-keygen -y -f "$id" | cut -d ' ' -f 2)" \
  "-i shows the key when only the private half is there"
printf '[host box]\nidentity = %s\n' "$id" >"$XDG_CONFIG_HOME/agentutils/config"
run tmux-attach --authorize box
is "$(sed -n 1p "$out" | cut -d ' ' -f 2)" "$(ssh-keygen -y -f "$id" | cut -d ' ' -f 2)" \
  "the key that the configuration names is shown"
rm "$XDG_CONFIG_HOME/agentutils/config"
t 2 "--authorize --agent needs the name of a key" tmux-attach --authorize --agent
err_one_line tmux-attach "the message about --agent is one line"
chmod 644 "$state/id_ed25519"
t 77 "a key that others can read is refused" tmux-attach --authorize
err_like 'chmod 600' "the message says what to do about a key that others can read"

# Two that come at once make one key.
rm -rf "$state"
tmux-attach --authorize >"$tmp/one" &
one=$!
tmux-attach --authorize >"$tmp/two"
wait "$one"
ok "two at once have the same key" cmp "$tmp/one" "$tmp/two"

done_testing
