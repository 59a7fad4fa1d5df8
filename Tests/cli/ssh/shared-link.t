#!/bin/sh
# While a terminal is attached by libssh2, other commands go over its connection; and
# what becomes of them when it stops, dies, or loses the link.
# shellcheck disable=SC2154,SC2086  # of ssh.sh and inbox.sh; words
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

# shellcheck disable=SC2034  # read by `attach` and `inbox`
transport=libssh2
start_box
start_proxy
sockets() { find "$XDG_RUNTIME_DIR/agentutils" -type s; }
sockets_are() { [ "$(sockets | wc -l)" -eq "$1" ]; }
sign_ins() { grep -c 'Accepted publickey' "$sshd_log"; }
seated() {
  attach "$@" --keepalive 1
  at "$1" expect 'claude> ' && wait_until 30 sockets_are 1
}
call() { attach_args && run tmux-attach $attach_args "$@"; }
# shares TITLE ARG...: it works, and nobody signs in for it.
shares() {
  _title=$1
  shift
  # The terminal has 0.3 s to answer, for which a busy machine may be too slow once.
  for _ in 1 2 3; do
    _before=$(sign_ins)
    call "$@"
    [ "$(sign_ins)" -ne "$_before" ] || break
  done
  is "$status $(sign_ins)" "0 $_before" "$_title: the command goes over the terminal's connection"
}
# parts_with TITLE ARG...: it works, over a connection of its own.
parts_with() {
  _title=$1 _before=$(sign_ins)
  shift
  call "$@"
  is "$status $(sign_ins)" "0 $((_before + 1))" \
    "$_title: the command goes over a connection of its own"
}

ok "a terminal is attached" seated me
is "$(find "$XDG_RUNTIME_DIR/agentutils" -type s -perm 600 | wc -l)" 1 \
  "the socket of a terminal is for the user alone"
pid_of_seat=$(seat_says me .pid)
shares list -l
is "$(jq -r .name "$out")" riff "a list over the terminal's connection is right"
err_empty "nothing is said of the terminal's connection"
shares "-v" -v -l
err_like "by libssh2: shares the connection of process $pid_of_seat" \
  "-v tells whose connection is shared"
shares capture --capture
like "$(cat "$out")" 'claude>' "a screen over the terminal's connection is right"
forget_typed
printf 'a word' >"$tmp/word"
_before=$(sign_ins)
attach_args
run sh -c "tmux-attach $attach_args -t <'$tmp/word'"
is "$status $(sign_ins)" "0 $_before" "text is typed over the terminal's connection"
typed_is() { [ "$(typed_now)" = "$1" ]; }
ok "text over the terminal's connection is typed once" wait_until 30 typed_is 'a word '
call --close nobody
status_is 1 "an answer that is a no keeps its status"
: >"$tmp/lists"
_before=$(sign_ins)
# shellcheck disable=SC2016
for _ in 1 2 3 4 5 6; do tmux-attach $attach_args -l >>"$tmp/lists" 2>&1 & done
wait_until 30 at_least "$tmp/lists" 6
is "$(jq -r .name "$tmp/lists" | sort | uniq -c | tr -s ' ') $(sign_ins)" " 6 riff $_before" \
  "six commands at once go over the terminal's connection"

# --- what is another connection
cp "$tmp/pins" "$tmp/other-pins"
cp "$id" "$tmp/other-id"
parts_with "other pins" --pins "$tmp/other-pins" -l
parts_with "another key" -i "$tmp/other-id" -l
kept=$port port=$(cat "$ssh_dir/box/port")
parts_with "another port" -l
port=$kept
call --check
status_is 0 "--check passes"
# The last one was pinned, which makes the file another one.
attach_args
at me send '\r~.'
at me end >/dev/null
ok "a terminal that leaves takes its socket along" wait_until 30 sockets_are 0

# --- those who do harm
ok "a terminal is attached again" seated me
socket=$(sockets)
cat >"$tmp/harm.py" <<'END'
import os, socket, struct, sys, time
word = lambda n: struct.pack(">I", n)
text = lambda s: word(len(s)) + s
frame = lambda b: text(b)
hello = frame(word(1) + word(4))
session = lambda c: frame(word(0x10000002) + word(1) + text(b"") + word(0) * 4 + word(0xffffffff)
                          + text(b"") + text(c))
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    return s
held = []
# Reads nothing of what it asks for; pours; sends no pipes; sends too much.
s = connect()
pipes = [os.pipe() for _ in range(3)]
s.sendall(hello + session(b"yes; cat"))
for fd in (pipes[0][0], pipes[1][1], pipes[2][1]):
    socket.send_fds(s, [b"\0"], [fd])
held += [s, pipes]
for bytes_ in (word(1 << 30) + b"x" * 1000, frame(word(7)), b"\0" * 100000, hello + session(b"id") + b"\0\0\0"):
    s = connect()
    s.setblocking(False)
    try:
        s.sendall(bytes_)
    except OSError:
        pass
    held.append(s)
s = connect()
s.sendall(hello + session(b"id"))
socket.send_fds(s, [b"\0"], [os.open("/dev/zero", os.O_RDWR)] * 3)
held.append(s)
s = connect()
s.setblocking(False)
try:
    while True:
        s.send(frame(word(0x10000004) + word(0)) * 100)
except OSError:
    pass
held.append(s)
print("there", flush=True)
time.sleep(60)  # until it is ended
END
start harm "$python" "$tmp/harm.py" "$socket"
harm=$pid
wait_until 30 has "$tmp/harm.out" there
at me send '\rinc\r'
ok "the terminal does not feel those who do harm" at me expect 'count '
shares "beside them" -l
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$(seat_says me .pid)/status" 2>/dev/null || echo 0)
ok "the memory of the terminal does not grow: $rss kB" test "$rss" -lt 60000
kill "$harm"
finished "$harm"

# --- a large file, while somebody types
head -c 20000000 /dev/urandom >"$tmp/large.bin"
link rate 8000000
_before=$(sign_ins)
share-inbox add -q "$tmp/large.bin"
inbox_args
start drain share-inbox drain $inbox_args
drain=$pid
wait_until 30 sh -c "[ -n \"\$(find '$remote_inbox' -name '.part-*' -size +100k)\" ]"
at me send '\rinc\r'
ok "the terminal answers while a file goes up" at me expect 'count '
is "$(parts)" 1 "the file is still on its way while the terminal answers"
finished "$drain"
link rate 0
is "$(left) $(sign_ins)" "0 $_before" "a file goes over the terminal's connection"
is "$(sums "$(jq -r .remote_path "$tmp/drain.out")")" "$(sums "$tmp/large.bin")" \
  "a file over the terminal's connection is the same, byte for byte"

# --- the link is cut in the middle
attach_args
link delay 400
start cut tmux-attach $attach_args -v -l
cut=$pid
wait_until 30 has "$tmp/cut.err" 'shares the connection'
link rst
finished "$cut"
like "$(cat "$tmp/cut.err")" 'connection lost: the shared connection is gone|the process that had it' \
  "a call that is cut says that the connection was lost"
is "$(cat "$tmp/cut.out")" "" "a call that is cut prints no half of an answer"
link delay 0
link pass
ok "the terminal comes back, and serves again" wait_until 30 sockets_are 1
at me send '\rinc\r'
at me expect 'count '
shares "after that" -l

# --- stopped
at me stop
forget_typed
parts_with "a terminal that is stopped" -l
# So many that no more can wait there.
"$python" - "$(sockets)" <<'END'
import socket, sys
for _ in range(60):
    s = socket.socket(socket.AF_UNIX)
    s.setblocking(False)
    try:
        s.connect(sys.argv[1])
    except OSError:
        pass
END
parts_with "with many who wait for it" -l
_before=$(sign_ins)
run sh -c "tmux-attach $attach_args -t <'$tmp/word'"
is "$status $(sign_ins)" "0 $((_before + 1))" \
  "typing needs one sign-in where the terminal is stopped"
at me continue
shares "when it goes on" -l
ok "no text was typed twice" typed_is 'a word '

# --- two of them
attach she --keepalive 1
at she expect 'claude> '
shares "beside two terminals" -l
at she send '\r~.'
at she end >/dev/null
ok "the first terminal serves again when the second leaves" wait_until 30 sockets_are 1
shares "with the first" -l

# --- killed
at me kill KILL
at me end >/dev/null
ok "a terminal that was killed leaves its socket" sockets_are 1
parts_with "after a terminal that was killed" -l
err_empty "nothing is said of a terminal that was killed"
ok "the next terminal takes the place of the killed one" seated me
shares "with the next one" -l
at me send '\r~.'
at me end >/dev/null

# --- a host that grants one command to a connection
start_sshd tight 'MaxSessions 1'
ok "a terminal is attached to a host of one session" seated we
parts_with "what is not granted" -v -l
err_like 'shares no connection: it does not take the command' "-v tells why no connection is shared"

done_testing
