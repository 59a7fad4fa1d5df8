#!/bin/sh
# share-inbox hands files over to a session of a real box: whole, once, in order. Over
# both transports once; what goes many at a time is one stream to either.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

start_box
paths() { jq -r .remote_path "$out"; }
typed_is() { [ "$(typed_now)" = "$1" ]; }

# shellcheck disable=SC2154  # of inbox.sh
for transport in $transports; do
  printf 'one' >"$tmp/a.txt"
  head -c 300000 /dev/urandom >"$tmp/b.png"
  : >"$tmp/c.txt"
  forget_typed
  t 0 "$transport: three files are added" share-inbox add "$tmp/a.txt" "$tmp/b.png" "$tmp/c.txt"
  inbox drain
  status_is 0 "$transport: three files are drained"
  is "$(jq -r '[.type, .state, .session] | join(" ")' "$out" | sort | uniq -c | tr -s ' ')" \
    " 3 inbox_item delivered riff" "$transport: each file has a record"
  is "$(left)" 0 "$transport: the inbox is empty"
  # shellcheck disable=SC2046
  is "$(sums $(paths))" "$(sums "$tmp/a.txt" "$tmp/b.png" "$tmp/c.txt")" \
    "$transport: files come byte for byte, in order"
  wait_until 30 typed_is "$(paths | tr '\n' ' ')"
  is "$(typed_now)" "$(paths | tr '\n' ' ')" \
    "$transport: paths are typed, each with a blank, without Return"
done

# --- small ones go many at a time
transport=${transports%% *}
set --
i=0
while [ "$i" -lt 75 ]; do
  i=$((i + 1))
  head -c $((i * 40 - 40)) /dev/urandom >"$tmp/small-$i.bin"
  set -- "$@" "$tmp/small-$i.bin"
done
share-inbox add -q "$@"
rm -rf "$tmp/kept"
cp -r "$folder" "$tmp/kept"
forget_typed
before=$(grep -c 'Starting session: command' "$sshd_log")
inbox drain
is "$status $(left)" "0 0" "75 small files are drained"
ok "75 small files take few calls" \
  test $(($(grep -c 'Starting session: command' "$sshd_log") - before)) -le 5
wait_until 30 typed_is "$(paths | tr '\n' ' ')"
is "$(typed_now)" "$(paths | tr '\n' ' ')" "the paths of small files are typed in order"
came_once "small" "$@"

# Had it been killed before they left: the agent has them, and may have changed them.
changed=$(paths | head -n 1)
removed=$(paths | tail -n 1)
echo changed >"$changed"
rm "$removed"
cp "$tmp/kept"/* "$folder"
share-inbox add -q "$tmp/a.txt" "$tmp/c.txt"
forget_typed
inbox drain
is "$status $(left)" "0 0" "files that have been typed go, with new ones"
wait_until 30 typed_is "$(paths | tail -n 2 | tr '\n' ' ')"
is "$(typed_now)" "$(paths | tail -n 2 | tr '\n' ' ')" "only the paths of new files are typed"
is "$(cat "$changed") $(find "$removed" 2>/dev/null)" "changed " \
  "what has been typed is not written again"

# One of them is in trouble: it alone stays.
share-inbox add "$tmp/a.txt" "$tmp/b.png" "$tmp/c.txt" "$tmp/a.txt" "$tmp/c.txt" >"$tmp/added"
name=$(sed -n 4p "$tmp/added" | jq -r '.path | split("/") | last')
mkdir "$remote_inbox/$name"
inbox drain
is "$status $(left) $(lines "$out") $(lines "$err")" "75 1 4 1" \
  "a file that cannot be taken keeps no other from being taken"
rmdir "$remote_inbox/$name"
inbox drain -q

# A host without tar.
printf '#!/bin/sh\nexit 1\n' >"$remote_home/bin/tar"
chmod +x "$remote_home/bin/tar"
share-inbox add -q "$tmp/a.txt" "$tmp/c.txt" "$tmp/a.txt"
forget_typed
inbox drain
is "$status $(left) $(cat "$err")" "0 0 " "a host without tar takes files one by one"
came_once "no tar" "$tmp/a.txt" "$tmp/c.txt" "$tmp/a.txt"
rm "$remote_home/bin/tar"
is "$(parts)" 0 "no part of a file is left on the host"
# --- what was typed is gone, also where nothing can be said of it
if [ -w /dev/full ]; then
  forget_typed
  inbox_args
  share-inbox add -q "$tmp/a.txt" "$tmp/c.txt" "$tmp/a.txt"
  # shellcheck disable=SC2016,SC2086  # of the other sh; words
  run sh -c 'exec share-inbox drain "$@" >/dev/full' sh $inbox_args
  is "$status $(left)" "2 0" "no file stays queued because of a full standard output"
  came_once "and none is typed again" "$tmp/a.txt" "$tmp/c.txt" "$tmp/a.txt"
else
  skip 3 "needs /dev/full"
fi

# --- with a key of ssh-agent's, and the port by its long name
start agent ssh-agent -D -a "$tmp/agent"
wait_until 30 test -S "$tmp/agent"
SSH_AUTH_SOCK=$tmp/agent ssh-add -q "$id" || bail "the agent takes no key"
share-inbox add -q "$tmp/a.txt"
SSH_AUTH_SOCK=$tmp/agent run share-inbox drain --transport libssh2 --agent --pins "$tmp/pins" \
  --port "$port" "$there"
status_is 0 "a key of ssh-agent lets share-inbox in"
is "$(left)" 0 "the file is delivered with a key of ssh-agent"

# --- a host that OpenSSH's file knows needs no pin
# shellcheck disable=SC2154  # of ssh.sh
echo "[127.0.0.1]:$port $(cut -d ' ' -f 1,2 "$host_key")" >"$tmp/known_hosts"
share-inbox add -q "$tmp/a.txt"
t 0 "a host of OpenSSH's file is known" \
  share-inbox drain --transport libssh2 -i "$id" --pins "$tmp/none" \
  --known-hosts "$tmp/known_hosts" -P "$port" "$there"
not_ok "the key of a host in OpenSSH's file is not pinned" test -s "$tmp/none"

done_testing
