#!/bin/sh
# share-inbox: files that change under its hands, the tmux of this machine, and
# commands of the user's.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

start_box
transport=libssh2
put() {
  printf '%s' "${1:-some text}" >"$tmp/put.txt"
  share-inbox add -q "$tmp/put.txt"
}
# This machine's own tmux: the box's, for the home is.
local_inbox() {
  HOME=$remote_home TMUX_TMPDIR=$remote_tmp run share-inbox "$@" --local --inbox "$folder"
}

# --- --local
printf 'a b' >"$tmp/a.txt"
head -c 3000000 /dev/urandom >"$tmp/b.png"
share-inbox add -q "$tmp/a.txt" "$tmp/b.png"
local_inbox drain
is "$status $(jq -r '[.state, .session] | join(" ")' "$out" | sort -u) $(left)" \
  "0 delivered riff 0" "--local hands over to the tmux of this machine"
came_once "--local" "$tmp/a.txt" "$tmp/b.png"
forget_typed
put
local_inbox drain -s nobody
is "$status $(cat "$err")" "75 share-inbox: this machine: no session nobody; 1 file stays queued" \
  "--local needs the session"
rtmux -L other new-session -d -s riff cat
local_inbox drain --label other -r
is "$status $(left)" "0 0" "--local uses the tmux server of --label"
wait_until 30 eval 'rtmux -L other capture-pane -p -t =riff: | tr -d "\n" | grep -q /.riff/inbox/'
is "$(rtmux -L other capture-pane -p -t =riff: | tr -d '\n' | grep -o '/\.riff/inbox/' | wc -l | tr -d ' ')" 2 \
  "--local presses Return on the server of --label"
rtmux -L other kill-server

# --- --exec
head -c 200000 /dev/urandom >"$tmp/c.bin"
share-inbox add "$tmp/c.bin" "$tmp/a.txt" >"$tmp/added"
run share-inbox drain --exec "echo \"\$INBOX_ID \$INBOX_NAME\" >>'$tmp/names'; cat >>'$tmp/all'"
is "$status $(left)" "0 0" "--exec: a command takes the files"
ok "--exec gives every byte, the oldest file first" sh -c "cat '$tmp/c.bin' '$tmp/a.txt' | cmp - '$tmp/all'"
is "$(cat "$tmp/names")" "$(jq -r '.id + " " + (.path | split("/") | last)' "$tmp/added")" \
  "--exec: a command is told the files' ids and names"
is "$(jq -r '[.state, .session, .remote_path] | tostring' "$out" | sort -u)" \
  '["delivered",null,null]' "--exec: the record does not say where a file went"
put one
put two
# shellcheck disable=SC2016
run share-inbox drain --exec 'read -r line; [ "$line" = two ] || kill $$'
is "$status $(left)" "75 1" "--exec: a command that fails keeps its file, the next is handed on"
err_like ': stays queued: ended by signal 15$' "--exec: the message says how a command ended"
run share-inbox drain --exec 'no-such-command'
is "$status $(jq -r .reason <"$(find "$folder" -name '.note-*')")" \
  "75 ended with status 127" "--exec: a command that is not there keeps the file"
# shellcheck disable=SC2016
start caught share-inbox drain --exec "echo \$\$ >'$tmp/begun'; trap 'exit 3' TERM; sleep 60 & wait"
wait_until 30 test -s "$tmp/begun"
stop "$pid"
is "$status $(left)" "143 1" "--exec: TERM is handed on, and the file stays"
ok "--exec: no process of an ended command goes on" gone "$(cat "$tmp/begun")"
put more
start taken share-inbox drain --exec "trap '' TERM; cat >'$tmp/taken-now'; kill -TERM \$PPID; sleep 0.1"
finished "$pid"
is "$(left)" 1 "--exec: a file that was taken as TERM came has gone, the next stays"
run share-inbox drain -q --exec 'cat >/dev/null'
# What it started may live on; the file does not wait for that.
echo again >"$tmp/again"
share-inbox add -q "$tmp/again"
start dead share-inbox drain --exec "echo \$\$ >'$tmp/lives'; cat; exec sleep 60"
wait_until 30 has "$tmp/dead.out" again
kill -9 "$pid"
finished "$pid"
run share-inbox drain --exec 'cat >&2'
is "$status $(left) $(cat "$err")" "0 0 again" \
  "--exec: a killed drain hands its file on again at once"
kill "$(cat "$tmp/lives")"

# --- files that change
put growing
grows=$(share-inbox list | jq -r .path)
exec 9>>"$grows"
inbox drain
is "$status $(left)" "75 1" "a file that is being written waits"
err_like ': stays queued: still being written$' "the message says that a file is being written"
printf ', grown' >&9
exec 9>&-
inbox drain
is "$status $(cat "$(jq -r .remote_path "$out")")" "0 growing, grown" \
  "a file that was written is delivered whole"

# One that is opened for each piece, more often than a quiet half second would be.
pieces() {
  perl -e 'my ($name, $enough) = @ARGV;
    for (my $piece = 1; ; $piece++) {
      my $is_last = -e $enough;
      open my $file, ">>", $name or die;
      print $file $is_last ? "last\n" : "$piece\n";
      close $file;
      last if $is_last;
      select undef, undef, undef, 0.02;
    }' "$1" "$tmp/enough"
}
by_pieces="$folder/$(date +%s)-01a1ffa7-e1cb-4f15-8217-413cf80e4413.log"
pieces "$by_pieces" &
writer=$!
wait_until 30 test -s "$by_pieces"
inbox drain
is "$status $(left)" "75 1" "a file that grows by pieces waits"
err_like ': stays queued: still being written$' \
  "the message says that a file is still being written"
: >"$tmp/enough"
wait "$writer"
inbox drain
is "$status $(tail -n 1 "$(jq -r .remote_path "$out")")" "0 last" \
  "a file that grew by pieces is delivered with all of them"

# It grows when its sending has begun: over a slow link, by another that opens it then.
start_proxy slow
link rate 4000000
for change in grows shrinks; do
  head -c 12000000 /dev/urandom >"$tmp/moving.bin"
  share-inbox add -q -m "$tmp/moving.bin"
  moving=$(share-inbox list | jq -r .path)
  inbox_args
  # shellcheck disable=SC2086
  start "$change" share-inbox drain $inbox_args
  sends() { find "$remote_inbox" -name '.part-*' -size +20k | grep -q .; }
  wait_until 30 sends
  if [ "$change" = grows ]; then echo more >>"$moving"; else truncate -s 100000 "$moving"; fi
  finished "$pid"
  is "$status $(left)" "75 1" "a file that $change while it is sent stays"
  ok "nothing of a file that $change is at the host" wait_until 30 eval '[ "$(parts)" -eq 0 ]'
  like "$(cat "$tmp/$change.err")" ': stays queued: the file (changed while it was sent|became shorter)' \
    "the message says that the file $change"
  link rate 0
  inbox drain
  is "$status $(left) $(jq -r .size "$out")" \
    "0 0 $([ "$change" = grows ] && echo 12000005 || echo 100000)" \
      "the next drain delivers the file that $change"
  link rate 4000000
done
# What comes when all has been read is not in what was sent, and not to be removed.
link rate 100000
head -c 100000 /dev/urandom >"$tmp/late.bin"
share-inbox add -q -m "$tmp/late.bin"
late=$(share-inbox list | jq -r .path)
# shellcheck disable=SC2086
start late share-inbox drain $inbox_args
wait_until 30 sends
echo more >>"$late"
finished "$pid"
is "$status $(left) $(jq -r .state "$tmp/late.out")" "2 1 failed" "a file that changes when it has been read stays"
like "$(cat "$tmp/late.err")" ': delivered, but changed since: kept here$' \
  "the message says that a file changed after it was delivered"
inbox drain
is "$status $(left)" "0 1" "a file that changed after it was delivered is not sent twice"
share-inbox remove "$(share-inbox list | jq -r .id)" >"$tmp/removed"
link pass

# --- the name is taken by something else, between the look and the opening
# Whichever comes first, nothing that is not in the folder itself is ever sent.
echo secret >"$tmp/secret"
uuid=11111111-2222-3333-4444-555555555555
python3 - "$folder" "$tmp/secret" "$uuid" <<'END' &
import os, sys, time
folder, secret, uuid = sys.argv[1:]
names = [f"{folder}/{n}-{uuid}.txt" for n in range(1700000000, 1700000040)]
end = time.time() + 2
turn = 0
while time.time() < end:
    turn += 1
    for name in names:
        new = name + ".new"
        if turn % 2:
            os.symlink(secret, new)
        else:
            with open(new, "w") as file:
                file.write("harmless")
            os.utime(new, (1, 1))  # quiet for long
        os.rename(new, name)
for name in names:
    if os.path.lexists(name):
        os.unlink(name)
END
swapper=$!
count=0
while kill -0 "$swapper" 2>/dev/null; do
  count=$((count + 1))
  share-inbox drain -a 9999d --exec "cat >>'$tmp/swapped'" >"$tmp/said" 2>&1
done
wait "$swapper"
diag "$count drains, $(wc -c <"$tmp/swapped") bytes"
ok "files were handed over while names were swapped" grep -q harmless "$tmp/swapped"
not_ok "a file that a link points to is never sent" grep -q secret "$tmp/swapped"
is "$(cat "$tmp/secret")" secret "the file that a link points to is there as before"
done_testing
