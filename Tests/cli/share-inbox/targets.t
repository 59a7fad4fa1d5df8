#!/bin/sh
# share-inbox: into which session, with what text, and what is in the way at the host.
# Over both transports only what they may quote each in its way.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"
needs python3

start_box riff riff-1 riff-10
direct=$port
full=$remote_inbox
unfill() { ! mountpoint -q "$full" || umount "$full"; }
at_end="$at_end unfill"
put() {
  printf '%s' "${1:-some text}" >"$tmp/put.txt"
  share-inbox add -q "$tmp/put.txt"
}
# got SESSION: what its agent was given since `mark`.
mark() { for _each in riff riff-1 riff-10; do agent_typed "$_each" >"$tmp/typed-$_each"; done; }
got() { agent_typed "$1" | tail -c +$(($(wc -c <"$tmp/typed-$1") + 1)); }
got_now() { got "$1" >"$tmp/got" && [ "$(cat "$tmp/got" && echo .)" = "$2." ]; }
got_is() {
  wait_until 30 got_now "$1" "$2"
  is "$(cat "$tmp/got")" "$2" "$3"
}
path() { jq -r .remote_path "$out"; }
# Somebody has sat at a session. While the file is written, its name is longer.
sat() { cat "$XDG_STATE_HOME"/agentutils/sessions-*+riff | grep -q '"last":"riff-10"'; }

port=$direct
# --- which session
mark
put
inbox drain -s riff-1
got_is riff-1 "$(path) " "-s types into the session it names"
is "$(got riff)$(got riff-10)" "" "nothing is typed into sessions whose names begin alike"
mark
put
inbox drain --verbose -s riff-1
got_is riff-1 "$(path) " "--verbose changes nothing of what is typed"
err_like "^share-inbox: .*($transport|libssh2)" "--verbose reports the transport"
put
inbox drain -s riff-100
is "$status $(cat "$err")" "75 share-inbox: 127.0.0.1: no session riff-100; 1 file stays queued" \
  "all files stay queued for a session that is not there"
put again
inbox drain -s rif
err_like 'no session rif; 2 files stay queued' \
  "-s does not find a session by the beginning of its name"
mark
inbox drain
got_is riff "$(path | tr '\n' ' ')" "the base session is typed into by default"

# An agent that is only just starting throws away what it finds at its terminal. A new
# session is given 2 s; this one needs most of them.
rtmux new-session -d -s fresh "sleep 0.7; PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents exec claude"
put
inbox drain -s fresh
fresh() { [ "$(agent_typed fresh)" = "$(path) " ]; }
ok "a session that is quite new is given a moment" wait_until 30 fresh
rtmux kill-session -t =fresh

# What tmux-attach used last goes before the base.
not_ok "nobody has sat down yet" sat
share-inbox add -q "$tmp/put.txt"
attach seat -s riff-10
wait_until 30 sat || diag "$(tail -c 300 "$tmp/seat.screen")"
# shellcheck disable=SC2154
stop "$pid"
mark
inbox drain
got_is riff-10 "$(path) " "the session that was last sat at is typed into"
put
inbox drain -s riff
got_is riff "$(path) " "-s wins over the session that was last sat at"
rm -f "$XDG_STATE_HOME"/agentutils/sessions-*

# --- what is typed
mark
put
inbox drain --format '@{path} '
got_is riff "@$(path) " "--format types what is around {path}"
# What libssh2 sends, ssh gets as words.
for transport in $transports; do
  mark
  put
  # shellcheck disable=SC2016
  sentence='Look at "{path}", it'"'"'s $HOME #{pane_id} \; äöü ✓ 漢;'
  inbox drain --format "$sentence"
  got_is riff "$(printf '%s' "$sentence" | sed "s,{path},$(path),")" \
    "$transport: --format types quotes, shell characters and no ASCII as they are"
done
transport=${transports%% *}
mark
put
put
inbox drain -r
got_is riff "$(path | sed 's/$/ /' | tr '\n' '\r')" "-r presses Return behind each path"

# Once, wherever the answer is lost.
mark
put
start_proxy "return"
# shellcheck disable=SC2034
for cut in 1 2 3 4 5 6; do
  link drop
  link cut $((2600 + cut * 300))
  inbox drain -r
done
link pass
inbox drain -r
got_is riff "$(find "$remote_inbox" -type f | sort | tail -n 1) $(printf '\r')" \
  "Return is pressed once where answers are lost"
port=$direct

# --- the prompt is not at hand
mark
put
rtmux copy-mode -t =riff:
inbox drain
got_is riff "$(path) " "a session in copy mode is typed into"
is "$(rtmux display-message -p -t =riff: '#{pane_in_mode}')" 0 "a session in copy mode leaves it"
put
rtmux select-pane -d -t =riff:
inbox drain
is "$status $(left)" "75 1" "a file stays for a pane that takes no input"
rtmux select-pane -e -t =riff:
mark
inbox drain
got_is riff "$(path) " "a file comes when the pane takes input again"

# --- what is in the way at the host
inbox_is_in_the_way() {
  put
  inbox drain
  is "$status $(left) $(lines "$err")" "75 1 1" "$1: one line tells that the file stays queued"
  err_like "$2" "$1: the message tells what is in the way"
}
mv "$remote_inbox" "$remote_inbox.away"
mkdir "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$remote_inbox"
inbox_is_in_the_way 'a planted link' 'inbox is a symbolic link'
is "$(find "$tmp/elsewhere" | wc -l | tr -d ' ')" 1 "nothing went through the planted link"
share-inbox list >"$tmp/listed"
share-inbox remove "$(jq -r .id "$tmp/listed")" >"$tmp/removed"
rm "$remote_inbox"
echo file >"$remote_inbox"
inbox_is_in_the_way 'a file in its place' 'on the host: mkdir: '
rm "$remote_inbox"
mv "$remote_inbox.away" "$remote_inbox"
mv "$remote_home/.riff" "$tmp/elsewhere/riff"
ln -s "$tmp/elsewhere/riff" "$remote_home/.riff"
inbox drain
is "$status $(left) $(lines "$err")" "75 1 1" \
  "a link around the inbox keeps the file, told in one line"
rm "$remote_home/.riff"
mv "$tmp/elsewhere/riff" "$remote_home/.riff"

# The final name is planted, as a link and as a folder.
name=$(share-inbox list | jq -r '.path | split("/") | last')
echo mine >"$tmp/victim"
ln -s "$tmp/victim" "$remote_inbox/$name"
inbox drain
is "$status $(cat "$tmp/victim") $(cat "$remote_inbox/$name")" "0 mine some text" \
  "a link under the file's own name is replaced, not followed"
# The same to a folder, for one file and for several.
for count in 1 2; do
  while [ "$(left)" -lt "$count" ]; do put; done
  for path in "$folder"/[0-9]*; do ln -s "$tmp/elsewhere" "$remote_inbox/${path##*/}"; done
  inbox drain
  is "$status $(left) $(find "$tmp/elsewhere" | wc -l | tr -d ' ')" "0 0 1" \
    "a link to a folder is replaced, too ($count)"
done

# A name that comes again with something else in it is not typed again, nor lost.
for count in 1 2; do
  while [ "$(left)" -lt "$count" ]; do put; done
  ls "$folder" >"$tmp/names"
  inbox drain
  while read -r name; do echo "other $name" >"$folder/$name"; done <"$tmp/names"
  forget_typed
  inbox drain
  is "$status $(left) $(typed_now)" "2 $count " "a name that comes again ($count) stays"
  err_like 'delivered, but changed since: kept here' \
    "the message says that a name came with other content ($count)"
  while read -r name; do cp "$remote_inbox/$name" "$folder/$name"; done <"$tmp/names"
  share-inbox list | jq -r .id | xargs share-inbox retry -q
  inbox drain
  is "$status $(left) $(typed_now)" "0 0 " \
    "a name that comes again with the same content goes ($count)"
done
put
name=$(share-inbox list | jq -r '.path | split("/") | last')
mkdir "$remote_inbox/$name"
inbox drain
is "$status $(left) $(find "$remote_inbox/$name" -mindepth 1 | wc -l | tr -d ' ')" "75 1 0" \
  "a file stays where a folder has its name"
err_like ': stays queued: on the host: .* is a folder$' \
  "the message says that a folder has the name"
rmdir "$remote_inbox/$name"
inbox drain

if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m none "$remote_inbox" 2>/dev/null; then
  chmod 700 "$remote_inbox"
  head -c 3000000 /dev/urandom >"$tmp/large.bin"
  share-inbox add -q "$tmp/large.bin" "$tmp/put.txt"
  inbox drain
  is "$status $(left) $(lines "$err")" "75 1 1" "a full disk keeps the file, told in one line"
  err_like 'stays queued: on the host: .*[Nn]o space left' "the message says that the disk is full"
  is "$(jq -r .state "$out") $(parts)" "delivered 0" \
    "the smaller file goes on a full disk, and the part is removed"
  umount "$remote_inbox"
  mark
  inbox drain
  got_is riff "$(path) " "a file comes when there is room again"
else
  skip 4 "needs root and a tmpfs"
fi

# --- sizes
truncate -s 209715201 "$tmp/sparse.mp4"
share-inbox add -q -m --max-size 1G "$tmp/sparse.mp4"
put
mark
inbox drain
is "$status $(jq -r .state "$out" | tr '\n' ' ')" "2 failed delivered " \
  "a file over 200 MB fails, and the others go"
err_like ': too large \(201 MB > 200 MB\)$' "the message says that a file is too large"
inbox drain
is "$status $(left) $(cat "$err")" "0 1 " "a file that failed is not handed over again"
share-inbox remove "$(share-inbox list | jq -r .id)" >"$tmp/removed"
port=1 # Nobody is there.
truncate -s 3000 "$tmp/sparse.mp4"
share-inbox add -q -m "$tmp/sparse.mp4"
inbox drain --max-size 2K
is "$status $(cat "$err" | sed 's/.*: //')" "2 too large (3000 B > 2048 B)" \
  "nobody is called for a file that is too large"
share-inbox remove "$(share-inbox list | jq -r .id)" >"$tmp/removed"
put
inbox drain
is "$status $(left)" "75 1" "a file stays queued for a host that is not there"
port=$direct
inbox drain -q
is "$(parts)" 0 "no part of a file is left on the host"

# --- a home with blanks and quotes
odd="it's a \"home\" ü \$HOME"
at=$ssh_dir/odd
# shellcheck disable=SC1003
start_sshd odd "SetEnv \"HOME=$at/$(printf '%s' "$odd" | sed 's/"/\\"/g')\" TMUX_TMPDIR=$at/tm STUB_LOGS=$at/agents"
mv "$at/home" "$at/$odd"
remote_home=$at/$odd
rtmux new-session -d -s riff "PATH='$at/bin':\$PATH STUB_LOGS=$agents exec python3 -E $cli/servers/stub_agent.py"
wait_until 30 agent_is_up riff
rm -f "$tmp/pins"
got_some() { [ -n "$(got riff)" ]; }
# shellcheck disable=SC2154
for transport in $transports; do
  put
  agent_typed riff >"$tmp/typed-riff"
  inbox drain
  is "$status $(path | sed 's,/.riff/.*,,')" "0 $remote_home" \
    "$transport: a file comes to a home with blanks and quotes"
  wait_until 30 got_some
  line=$(got riff)
  # What was typed is one word for a shell, and that word is the path.
  # shellcheck disable=SC2016
  is "$(eval "set -- $line" && printf '%s:%s' $# "$1")" "1:$(path)" \
    "$transport: a path with blanks is typed as one word"
  ok "$transport: the file with blanks in its path is there" cmp "$tmp/put.txt" "$(path)"
done
done_testing
