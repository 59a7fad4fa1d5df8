#!/bin/sh
# tmux-attach: list, new, close, reconcile and watch. The script is the same over either
# transport; names that are hostile go over ssh here, over libssh2 in places.t.
# shellcheck disable=SC2154,SC2086,SC2088  # of ssh.sh; words; the remote ~
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

attach() { run tmux-attach $attach_args "$@"; }
names() { jq -r .name "$out" | tr '\n' ' '; }
bare() { rtmux new-session -d -s "$1" -c "$remote_home" cat; }

start_sshd
# Login files that talk and read, without a line end and on both outputs.
cat >>"$remote_home/.profile" <<'END'
printf 'Last login: never\nno line end here'
echo 'a warning' >&2
read -r line
END

attach_args
no_server
rm -f "$XDG_STATE_HOME"/agentutils/sessions-*

attach -q -l
# --- both forms of an exact zero
attach -l
status_is 1 "without a server there are no sessions"
out_empty "-l without a server prints no record"
err_empty "-l without a server says no word"
# shellcheck disable=SC2086  # several
run python3 "$cli/terminal.py" tmux-attach $attach_args -l
out_like '^tmux-attach: no sessions: tmux-attach begins one, -N without attaching' \
  "a terminal is told how to begin a session"
other() { env -u TMUX TMUX_TMPDIR="$remote_tmp" tmux -L "$@"; }
other own new-session -d cat \; new-session -d cat
other 'odd name' new-session -d cat
run python3 "$cli/terminal.py" tmux-attach $attach_args -l
is "$(tr -d '\r' <"$out" | tail -n 1)" "tmux-attach: 2 sessions in the server own: --label own" \
  "a terminal is told of the sessions of other servers"
is "$status $(grep -c 'in the server' "$out")" "1 1" "a label that needs quotes is not told"
run python3 "$cli/terminal.py" tmux-attach $attach_args --label own -l
is "$status $(grep -c 'in the server' "$out")" "0 0" \
  "the server that is asked is not told as another one"
attach -l
err_empty "a pipe is told of no other servers"
other own kill-server
other 'odd name' kill-server
attach -l -o tsv --header
is "$(cut -f 1,2 "$out")" "name	windows" "--header is printed without a row"
rtmux start-server \; set-option -s exit-empty off
attach -l
status_is 1 "a server without sessions has status 1, too"
out_empty "a server without sessions prints no record"
no_server

# --- new
attach -N
status_is 0 "a new session is made"
is "$(jq -r '[.type,.name,.windows,.attached,.directory,.command]|@csv' "$out")" \
  "\"session\",\"riff-2\",1,0,\"$remote_home\",\"python3\"" "the record of a new session is printed"
like "$(jq -r .created "$out")" '^20[0-9-]+T[0-9:]+\.000Z$' "the record of a new session has a time"
attach -l -o tsv --header
is "$(cut -f 1,2 "$out")" "name	windows
riff-2	1" "--header stands above the rows"
attach -l -o table --color always
out_like 'riff-2' "a table is printed"
ok "--color always prints a table in colour" grep -q "$(printf '\033')\\[" "$out"
bare riff-1
bare riff-10
attach -N -d '~' -H 'cat -u'
is "$(names)" "riff-3 " "a new session gets the lowest free name"
attach -l
status_is 0 "the sessions are listed"
is "$(names)" "riff-1 riff-10 riff-2 riff-3 " "all sessions are in the list"
is "$(jq -r 'select(.name == "riff-3").command' "$out")" cat \
  "a session shows the harness as it was given"
attach -N -s riff-10
status_is 2 "a name of another session is refused"
err_like "session riff-10: already exists" "the message says that the session exists"
attach -N -s riff.3
status_is 2 "a name that tmux would change is refused"

# --- close
rtmux kill-session -t =riff-1
attach --close riff-1
status_is 1 "--close does not take riff-10 for riff-1"
err_is "tmux-attach: 127.0.0.1: no session riff-1" "the message names the session to close"
attach -l
is "$(names)" "riff-10 riff-2 riff-3 " "nothing was closed by another name"
# What tmux would take for another session, or for the one it likes best.
first=$(rtmux display-message -p -t =riff-2: '#{session_id}')
for name in '' '=' ':' 'riff-2:' 'riff-2:0' 'riff-2.0' 'riff-*' "$first" '@0' '%0' '!' '{last}' '~'; do
  attach --close "$name"
  status_is 1 "--close finds no session named '$name'"
done
attach -l
is "$(names)" "riff-10 riff-2 riff-3 " "all sessions are there after odd names"
attach --close riff-2
status_is 0 "a session is closed"
attach -l
is "$(names)" "riff-10 riff-3 " "a session is closed by its exact name"

# What has left the terminal ends with the session, or is named.
cat >"$remote_home/bin/leaves" <<END
#!/bin/sh
stay() { echo "\$1=\$\$" >>"$tmp/left"; exec sleep 300; }
case \${1:-} in
stubborn) trap '' TERM HUP ;;
esac
[ \$# -eq 0 ] || stay "\$1"
nohup "\$0" nohup >/dev/null 2>&1 &
setsid "\$0" setsid &
(nohup "\$0" orphan >/dev/null 2>&1 &)
(setsid "\$0" gone &)
(cd / && setsid "\$0" daemon &)
[ ! -e "$tmp/stubborn" ] || (setsid "\$0" stubborn &)
exec cat
END
chmod +x "$remote_home/bin/leaves"
ended() { # NAME...: these have.
  for one; do
    one=$(sed -n "s/^$one=//p" "$tmp/left")
    [ -n "$one" ] && gone "$one" || return
  done
}
lives() { ! ended "$1"; }
: >"$tmp/left"
bare other
rtmux new-window -d -t =other: "$remote_home/bin/leaves other"
attach -N -s leaves -H leaves
ok "six processes have begun" wait_until 30 at_least "$tmp/left" 6
rtmux new-window -d -t =leaves: "$remote_home/bin/leaves linked"
ok "a seventh process has begun" wait_until 30 at_least "$tmp/left" 7
rtmux link-window -d -s =leaves:1 -t =other:9
attach --close leaves
is "$status $(cat "$err")" "0 " "close ends what has left the terminal"
ok "descendants of the session end" ended nohup setsid
if [ -r /proc/self/environ ]; then
  ok "processes whose parents have gone end, too" ended orphan gone
else
  ok "processes of the terminal end, too" ended orphan
fi
ok "a daemon of a closed session does not end" lives daemon
ok "a process in another session does not end" lives other
ok "a process in a window that another session has does not end" lives linked
kill "$(sed -n 's/^daemon=//p' "$tmp/left")"
rtmux kill-session -t =other
: >"$tmp/left"
touch "$tmp/stubborn"
attach -N -s leaves -H leaves
ok "six processes have begun once more" wait_until 30 at_least "$tmp/left" 6
attach --close leaves
if [ -r /proc/self/environ ]; then
  is "$status $(cat "$err")" "0 tmux-attach: still running: $(sed -n 's/^stubborn=//p' "$tmp/left") sleep" \
    "close names a process that does not end"
else
  skip 1 "needs /proc"
fi
for one in stubborn daemon; do kill -9 "$(sed -n "s/^$one=//p" "$tmp/left")"; done
rm "$tmp/stubborn"

# --- memory: riff-2 is free, riff-3 still is known when it is gone
rtmux kill-session -t =riff-3
attach -N
is "$(names)" "riff-2 " "the name of a closed session is free"
attach -N
is "$(names)" "riff-4 " "a name that is remembered is not free"
bare riff
attach --reconcile
status_is 0 "--reconcile succeeds"
is "$(jq -r '.change + " " + .name' "$out" | tr '\n' ,)" \
  "dropped riff-3,kept riff-2,kept riff-4,added riff,added riff-10," \
    "--reconcile tells what became of each session"
rtmux kill-session -t =riff
attach --reconcile
is "$(jq -r '.change + " " + .name' "$out" | tr '\n' ,)" \
  "kept riff-2,kept riff-4,kept riff,kept riff-10," "the base is never dropped"
rtmux kill-session -t =riff-2
t 75 "a --reconcile that fails has status 75" tmux-attach $attach_args -P 1 --reconcile
out_empty "a --reconcile that fails says nothing of sessions"
attach --reconcile
is "$(jq -r '.change + " " + .name' "$out" | head -n 1)" "dropped riff-2" \
  "a --reconcile that failed has changed nothing"

# --- hostile names and folders: every one is one record
attach_args ssh
no_server
odd=$remote_home/$(printf 'a\tb\nc|.\nS|$9|x\\n d\377"; #(touch PWNED) %s' "'q'")
mkdir "$odd"
(cd "$odd" && rtmux new-session -d -s "we \"ird' ;|x" cat)
rtmux new-session -d -s "$(printf 'tab\there')" cat
attach -l
status_is 0 "hostile names and folders are listed"
is "$(jq -sc 'length' "$out")" 2 "each hostile session is one record of JSON"
is "$(jq -sr '.[] | select(.name | startswith("we")).name' "$out")" "we \"ird' ;|x" \
  "a hostile name is exact"
is "$(jq -sr '.[] | select(.name | startswith("we")).directory' "$out")" \
  "$(printf '%s' "$odd" | iconv -c -f utf-8 -t utf-8 | sed 's/n d"/n d\xef\xbf\xbd"/')" \
    "a hostile folder is exact"
attach --close "we \"ird' ;|x"
status_is 0 "a session of a hostile name can be closed by it"
rtmux new-session -d -s '$(id)' cat
attach --close '$(id)'
status_is 0 "a session whose name tmux would take for a number can be closed"
attach -l
is "$(jq -s 'length' "$out")" 1 "no other session is closed by such names"

# --- start folders that could be commands
n=0
for name in "with blanks" "it's" 'dollar$(touch PWNED)' 'back`touch PWNED`' 'semi;' 'hash#(touch PWNED)' \
  '#[x' 'quote"s' 'back\slash' '-dash'; do
  mkdir -p "$remote_home/$name"
  attach -N -d "~/$name"
  is "$(jq -r .directory "$out")" "$remote_home/$name" "a session starts in the folder: $name"
  attach --close "$(jq -r .name "$out")"
  n=$((n + 1))
done
attach -N -d "~/not there"
status_is 2 "a folder that is not there is an error"
err_one_line tmux-attach "a missing folder is told in one line"
attach -N -H not-there
status_is 2 "a harness that is not there is an error"
err_like 'not-there: not on the login PATH' "the message says what to do about a missing harness"
attach -N -H 'sh -c "exit 3"'
status_is 2 "a harness that ends at once is an error"
is "$(find "$remote_home" "$tmp" -name PWNED | wc -l)" 0 "nothing of the names was run"

# --- eight at once give eight names
attach_args libssh2
no_server
rm -f "$XDG_STATE_HOME"/agentutils/sessions-*
jobs=
for n in 1 2 3 4 5 6 7 8; do
  bounded 30 tmux-attach $attach_args -N >"$tmp/new.$n" 2>>"$tmp/new.err" &
  jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
is "$(cat "$tmp"/new.[1-8] | jq -r .name | sort -V | tr '\n' ' ')" \
  "riff-2 riff-3 riff-4 riff-5 riff-6 riff-7 riff-8 riff-9 " \
    "eight new sessions at once have eight names"
is "$(cat "$tmp/new.err")" "" "nothing is said of eight sessions at once"

# --- more than the transport carries
long="cat #$(printf '%0130000d' 0)"
for transport in $transports; do
  attach_args "$transport"
  attach -N -H "$long"
  status_is 2 "$transport: a command that is too long is an error"
  err_is 'tmux-attach: 127.0.0.1: the command is too long' \
    "$transport: the message says that the command is too long"
done
attach_args libssh2
sit long 10x80 tmux-attach $attach_args -s other -H "$long"
at long end 20 >"$tmp/ended"
is "$(seat_says long .status)" 2 "a command that is too long is an error where one attaches"

# --- another one takes the name between the list and the creation
no_server
rm -f "$XDG_STATE_HOME"/agentutils/sessions-*
tmux=$(command -v tmux)
cat >"$remote_home/bin/tmux" <<END
#!/bin/sh
case " \$* " in
*" new-session "*) $tmux -L riff new-session -d -s riff-2 cat 2>/dev/null ;;
esac
exec $tmux "\$@"
END
chmod +x "$remote_home/bin/tmux"
attach -N
is "$(names)" "riff-3 " "a name that was taken meanwhile is passed over"

# --- a server that ends while it is asked
no_server
cat >"$remote_home/bin/tmux" <<END
#!/bin/sh
case " \$* " in
*" \$(cat '$tmp/ending' 2>/dev/null || echo none) "*)
  rm '$tmp/ending'
  echo 'server exited unexpectedly' >&2
  exit 1
  ;;
esac
exec $tmux "\$@"
END
echo new-session >"$tmp/ending"
attach -N -s next
is "$(names)" "next " "the next server makes the session"
echo list-sessions >"$tmp/ending"
attach -l
status_is 1 "a server that ends while it is asked has no sessions"
err_empty "nothing is said of a server that ends while it is asked"
cat >"$remote_home/bin/tmux" <<END
#!/bin/sh
case " \$* " in
*" new-session "*)
  echo x >>'$tmp/endings'
  echo 'server exited unexpectedly' >&2
  exit 1
  ;;
esac
exec $tmux "\$@"
END
attach -N
status_is 75 "a server that is long in ending has status 75"
err_like 'tmux: the server is still ending; try again$' "the message says that it is ending"
is "$(wc -l <"$tmp/endings" | tr -d ' ')" 11 \
  "a server that is long in ending is told after a second"
attach -l
is "$(names)" "next " "no session was made while the server ended"
rm "$remote_home/bin/tmux"

# --- watch
no_server
start watch tmux-attach $attach_args -w
watch=$pid
changes() { [ "$(jq -r '.change + " " + .name' "$tmp/watch.out" | tr '\n' ,)" = "$1" ]; }
bare one
ok "watch tells a session that is added" wait_until 30 changes "added one,"
rtmux new-window -t =one: cat
ok "watch tells a session that is changed" wait_until 30 changes "added one,changed one,"
rtmux kill-session -t =one
ok "watch tells a session that is dropped" \
  wait_until 30 changes "added one,changed one,dropped one,"
stop "$watch"
is "$status" 143 "a signal ends watch"

# --- a reader that reads nothing
i=0
while [ "$i" -lt 20 ]; do
  bare "with-a-name-$i"
  i=$((i + 1))
done
for job in -l -w --reconcile; do
  run python3 "$cli/clients/stall.py" tmux-attach $attach_args "$job"
  is "$(cat "$out")" "SIGTERM" "$job: a signal ends it when nobody reads"
done
no_server

# --- nothing can be written here
if [ -w /dev/full ] && [ "$(id -u)" -eq 0 ] && mkdir "$tmp/small" &&
  mount -t tmpfs -o size=16k none "$tmp/small" 2>/dev/null; then
  at_end="$at_end unmount"
  unmount() { umount "$tmp/small"; }
  mkdir -p "$tmp/small/agentutils"
  dd if=/dev/zero of="$tmp/small/fill" bs=1k 2>/dev/null
  bound=30 run env XDG_STATE_HOME="$tmp/small" tmux-attach $attach_args -N -s kept
  is "$status $(names)" "0 kept " "a session that is made on a full disk is told"
  err_like 'no space left on device' "the message says why a session is not remembered"
  t 0 "a session is closed on a full disk" \
    env XDG_STATE_HOME="$tmp/small" tmux-attach $attach_args --close kept
else
  skip 3 "needs a small disk"
fi

# --- no tmux, no shell
mkdir "$remote_home/none"
for tool in sh printf env; do ln -s "$(command -v "$tool")" "$remote_home/none"; done
cp "$remote_home/.profile" "$tmp/profile"
# shellcheck disable=SC2016
echo 'PATH=$HOME/none' >>"$remote_home/.profile"
attach -l
status_is 2 "a host without tmux is not an empty list"
err_like 'tmux: not on the login PATH of the host \(install' \
  "the message says what to do without tmux"
echo 'exit 0' >>"$remote_home/.profile"
attach -l
status_is 2 "a login that ends early is not an empty list"
out_empty "a login that ends early prints no record"
cp "$tmp/profile" "$remote_home/.profile"
# Longer than anybody waits.
echo 'sleep 20' >>"$remote_home/.profile"
attach --max-time 0.5 -l
status_is 75 "a login that never answers is not an empty list"
err_like 'no answer within 0.5 s' "the message says that no answer came"

# --- whatever the login shell is
for shell in fish zsh bash dash; do
  if ! path=$(command -v "$shell"); then
    skip 1 "no $shell"
    continue
  fi
  at=$ssh_dir/$shell
  start_sshd "$shell" "SetEnv SHELL=$path HOME=$at/home TMUX_TMPDIR=$at/tm STUB_LOGS=$at/agents"
  echo 'read -r line' >>"$remote_home/.profile"
  cp "$remote_home/.profile" "$remote_home/.zprofile"
  mkdir -p "$remote_home/.config/fish"
  # shellcheck disable=SC2016
  echo 'set -x PATH $HOME/bin $PATH; echo noise; read line' >"$remote_home/.config/fish/config.fish"
  mkdir "$remote_home/it's \\ \$x"
  attach_args libssh2
  attach -N -d "~/it's \\ \$x" -s "it's"
  is "$(jq -r '.name + .directory + .command' "$out")" \
    "it's$remote_home/it's \\ \$xpython3" "a session is made where the login shell is $shell"
  head -c 9000 /dev/zero | tr '\0' x >"$tmp/long"
  run sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/long" $attach_args -t -s "it's"
  long() { [ "$(agent_typed "it's" | wc -c)" -eq 9001 ]; }
  ok "what is typed gets past the login files of $shell" wait_until 30 long
done

done_testing
