#!/bin/sh
# share-inbox watch: files go as they come, through all that happens to the folder,
# the session and the host. Over the first transport all of it, over another what an
# ssh of its own may do otherwise: to rest, to lose the link, to end.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

start_box riff
direct=$port
wait_left() { [ "$(left)" -eq "$1" ]; }
said() { grep -q "$1" "$tmp/watch.err"; }
watch() {
  inbox_args
  # shellcheck disable=SC2086
  start watch share-inbox watch $inbox_args
  watch=$pid
}
is_at_rest() {
  if [ -r "/proc/$watch/stat" ]; then
    before=$(($(ticks)))
    # The time in which it has nothing to do; that it needs none of it is the test.
    sleep 2
    ok "$transport: the watch sleeps where there is nothing to do" test $(($(ticks) - before)) -le 2
  else
    skip 1 "needs /proc"
  fi
}
ticks() { cut -d ' ' -f 14,15 "/proc/$watch/stat" | tr ' ' +; }
# A signal ends it; nothing is left behind.
is_ended() {
  link rate 100000
  head -c 400000 /dev/urandom >"$tmp/last.bin"
  share-inbox add -q "$tmp/last.bin"
  wait_until 30 sends
  stop "$watch" INT
  is "$status $(left)" "130 1" "$transport: a signal ends the watch at once, and the file stays"
  link pass
  inbox drain -q
}
sends() { find "$remote_inbox" -name '.part-*' -size +20k | grep -q .; }
put() {
  put=$((${put:-0} + 1))
  head -c 50000 /dev/urandom >"$tmp/put-$put.bin"
  share-inbox add -q "$tmp/put-$put.bin"
}

port=$direct
start_proxy
forget_typed
put
watch
ok "files that are there when the watch begins go" wait_until 30 wait_left 0
put
ok "a file that comes goes, too" wait_until 30 wait_left 0
# Renamed into the folder by somebody else.
head -c 1000 /dev/urandom >"$tmp/put-$((put + 1)).bin"
put=$((put + 1))
cp "$tmp/put-$put.bin" "$folder/.coming"
mv "$folder/.coming" "$folder/$(date +%s)-11111111-2222-3333-4444-$(printf %012d "$put").png"
ok "a file that others put there goes, too" wait_until 30 wait_left 0
wait_until 30 at_least "$tmp/watch.out" 3
is "$(jq -r .state "$tmp/watch.out" | sort | uniq -c | tr -s ' ')" " 3 delivered" \
  "each file that goes has a record at once"
# Ten at a time.
for _ in 1 2 3 4 5 6 7 8 9 10; do put; done
ok "ten files are handed over at a time" wait_until 30 wait_left 0

is_at_rest

# One that waits is named once, however often it is looked at.
waiting='22222222-.*still being written'
exec 9>"$folder/$(date +%s)-22222222-2222-3333-4444-000000000000.txt"
ok "a file that is being written waits" wait_until 30 said "$waiting"
touch "$folder/hint-1"
rm "$folder/hint-1"
printf 'whole' >&9
touch "$folder/hint-2"
rm "$folder/hint-2"
# Behind the one that waits: when this has gone, that was looked at again.
put
ok "the next file goes past one that is being written" wait_until 30 wait_left 1
is "$(grep -c "$waiting" "$tmp/watch.err") $(left)" "1 1" \
  "a file that is being written is named once"
exec 9>&-
ok "a file goes as soon as it is closed" wait_until 30 wait_left 0

# The link is cut, and nobody is there for a while.
link drop
link refuse
put
ok "a host that is away is told of" wait_until 30 said 'share-inbox: 127.0.0.1: '
is "$(left)" 1 "a file stays queued while the host is away"
put
link pass
ok "both files go when the host is back" wait_until 30 wait_left 0
ok "the message says that files are delivered again" wait_until 30 said 'files are delivered again'

# The host goes down, and comes up with no session.
stop_sshd
rtmux kill-server
before=$(lines "$tmp/watch.err")
put
again() { [ "$(lines "$tmp/watch.err")" -gt "$before" ]; }
wait_until 30 again
proxy=$port
start_sshd
port=$proxy
in_again() { grep -q 'Starting session: command' "$sshd_log"; }
ok "a host that is up again is called again" wait_until 30 in_again
is "$(left)" 1 "a file stays queued on a host without the session"
start_agent elsewhere
rtmux rename-session -t =elsewhere riff
typed_before=0
ok "a file goes when the session appears" wait_until 30 wait_left 0
came_once "after all faults" "$tmp/put-$put.bin"

# The folder is replaced.
mv "$folder" "$folder.old"
put
ok "a file in a new folder in place of the old one goes" wait_until 30 wait_left 0
find "$folder.old" -delete

is_ended

# --- what fails again is tried again in its time, and is not a hint by being noted
tries_of() { wc -l <"$tmp/$1" | tr -d ' '; }
for words in 'exit 3' 'exit $(($$ % 200 + 1))'; do
  : >"$tmp/tries"
  share-inbox add -q --inbox "$tmp/failing" "$tmp/put-1.bin"
  start failing share-inbox watch --inbox "$tmp/failing" --exec "echo x >>'$tmp/tries'; $words"
  wait_until 30 has "$tmp/failing.err" 'stays queued'
  # The time in which nothing is to happen.
  sleep 1.5
  is "$(tries_of tries)" 1 "$words: a file is tried once"
  put_there=$tmp/failing/$(date +%s)-01a20f46-e485-7738-a0a8-cedc057117f3.bin
  cp "$tmp/put-1.bin" "$tmp/failing/.copy"
  mv "$tmp/failing/.copy" "$put_there"
  more() { [ "$(tries_of tries)" -ge 3 ]; }
  ok "$words: a file that comes has all tried again" wait_until 10 more
  stop "$pid"
  rm -rf "$tmp/failing"
done
cat >"$remote_home/bin/mv" <<'END'
#!/bin/sh
case "$*" in *.part-*)
  echo "mv: cannot move '$3': no" >&2
  exit 1
  ;;
esac
exec /bin/mv "$@"
END
chmod +x "$remote_home/bin/mv"
put
inbox drain
status_is 75 "a host that moves nothing has status 75"
like "$(cat "$err")" "mv: cannot move '[0-9]+-[^' ]*\\.bin': no\$" \
  "the message does not show the name of the part"
rm "$remote_home/bin/mv"
inbox drain -q

for transport in ${transports#"${transports%% *}"}; do
  port=$direct
  start_proxy "$transport"
  put
  watch
  ok "$transport: files that are there when the watch begins go" wait_until 30 wait_left 0
  is_at_rest
  link drop
  link refuse
  put
  ok "$transport: a host that is away is told of" wait_until 30 said 'share-inbox: 127.0.0.1: '
  link pass
  ok "$transport: the file goes when the host is back" wait_until 30 wait_left 0
  is_ended
done
done_testing
