#!/bin/sh
# Where a session begins and what it runs, on hosts whose login files say and do
# all kinds of things; and the few words when something is not there.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

unset COLORTERM
start_sshd box
attach_args

seated() {
  _name=$1
  shift
  # shellcheck disable=SC2086
  sit "$_name" 30x100 tmux-attach "$@" $attach_args
  at "$_name" expect 'claude> '
}
left() { at me send '\r~.' && at me end 30 >/dev/null && no_server; }
began() { agent_says riff "select(.what == \"start\") | .$1"; }
# tried ARG...: it does not come to a session; $status, and $said on its screen.
tried() {
  rm -f "$tmp/me.screen"
  # shellcheck disable=SC2086
  sit me 30x100 tmux-attach "$@" $attach_args
  at me end 30 >"$tmp/end"
  status=$(jq .status "$tmp/end")
  said=$(perl -pe 's/\e\[K|\r//g; s/^127.0.0.1: connecting//' "$tmp/me.screen")
}

quotes="it's \"quoted\" back\\slash\\"
# shellcheck disable=SC2016,SC2088
for name in 'a b' "$quotes" 'semi;' '$(touch pwned)`touch pwned`' '#(touch pwned)' \
  '#{pid}#[x]##' '-dash' '~' '$HOME !! * ümlaut 漢'; do
  mkdir -p "$remote_home/in/$name"
  for place in "$remote_home/in/$name" "~/in/$name" "\$HOME/in/$name" "in/$name"; do
    ok "a session begins in $place" seated me -d "$place"
    is "$(began cwd)" "$remote_home/in/$name" 'the agent is in $place'
    left
    case $name in 'a b' | 'semi;') ;; *) break ;; esac
  done
done
# shellcheck disable=SC2016,SC2088
for place in '' '~' '~/' '$HOME' '${HOME}'; do
  ok "a session without a folder begins in '$place'" seated me -d "$place"
  is "$(began cwd)" "$remote_home" "the agent is in the home for '$place'"
  left
done
is "$(find "$remote_home" / -maxdepth 1 -name pwned | wc -l | tr -d ' ')" 0 \
  'nothing in a name was run'

mkdir "$remote_home/tools"
ln -s ../bin/claude "$remote_home/tools/other"
# shellcheck disable=SC2016
for harness in claude ' claude ' 'claude --resume "a b;" c\;' 'tools/other x;' \
  'WITH=1 claude' 'cd /tmp && claude' '$HOME/tools/other "$HOME" *' ''; do
  ok "a session runs '$harness'" seated me -H "$harness"
  case $harness in
  *resume*) is "$(began arguments)" '["--resume","a b;","c;"]' 'the harness gets its words' ;;
  *WITH*) is "$(began env.WITH)" 1 'the harness gets its environment' ;;
  cd*) is "$(began cwd)" /tmp 'the harness runs in the folder of its cd' ;;
  *\*) like "$(began arguments)" "^\\[\"$remote_home\",\"agents|bin|in" \
    'words of the harness are expanded on the host' ;;
  claude) is "$(rtmux display-message -p -t =riff: '#{pane_pid}')" "$(began pid)" \
    'the harness is the process of the pane' ;;
  esac
  left
done
# shellcheck disable=SC2016
sit me 30x100 tmux-attach -H '$SHELL' $attach_args
at me quiet 0.3
at me send 'echo $((6 * 7))-$0\r'
ok 'a session runs a shell' at me expect '42-/'
at me send 'exit 3\r'
ok 'a session ends with its shell' at me end 30

# A worktree of its own, where the host has the script for it.
# shellcheck disable=SC2088
if command -v git >/dev/null; then
  git init -q "$remote_home/in/a b"
  git -C "$remote_home/in/a b" -c user.name=a -c user.email=a@b commit -q --allow-empty -m begin
  sit me 30x100 tmux-attach --worktree -d '~/in/a b' $attach_args
  ok 'the screen says why there is no worktree without the script' \
    at me expect 'no worktree: riff-claude is not on the login PATH'
  ok 'nothing is started without the script' at me end 30
  not_ok "no session is made without the script" rtmux has-session -t =riff
  cp "$root/bin/riff-claude" "$remote_home/bin"
  echo 'sleep 100 & wait' >"$tmp/riff-claude"
  start holder sh "$tmp/riff-claude"
  holder=$pid
  ln -s "$holder" "$remote_home/in/a b/.git/riff.lock"
  sit me 30x100 tmux-attach --worktree -d '~/in/a b' $attach_args
  ok 'the screen says that another process makes a worktree' \
    at me expect "process $holder is making or removing one"
  at me end 30 >"$tmp/end"
  is "$(jq .status "$tmp/end")" 75 'a worktree that another process makes has status 75'
  stop "$holder"
  rm "$remote_home/in/a b/.git/riff.lock"
  ok 'an agent has a worktree with the script' \
    seated me --worktree -d '~/in/a b' -s desk -H 'claude --x "y z"'
  is "$(git -C "$(agent_says desk 'select(.what == "start").cwd')" branch --show-current)" \
    riff/desk "the worktree is on the branch of its session"
  is "$(agent_says desk 'select(.what == "start").arguments | join("|")')" '--x|y z' \
    "an agent in a worktree gets its words"
  is "$(rtmux show-environment -t =desk RIFF_START_DIR)" "RIFF_START_DIR=$remote_home/in/a b" \
    'a session with a worktree knows its folder'
  left
fi

# Another label, another session, a section of the configuration.
ok "a session may have another name and another server" seated me --label other -s 'my work;'
ok "a session is on the server of another name" \
  env TMUX_TMPDIR="$remote_tmp" tmux -L other has-session -t '=my work\;'
env TMUX_TMPDIR="$remote_tmp" tmux -L other kill-server
at me end 30 >"$tmp/end"
cat >"$XDG_CONFIG_HOME/agentutils/config" <<END
[host work]
hostname = 127.0.0.1
port = $port
user = $remote_user
identity = $id
session = desk
directory = ~/in/a b
harness = claude --from-config
END
sit me 30x100 tmux-attach --transport libssh2 --pins "$tmp/pins" work
ok "a section of the configuration is used" at me expect 'claude> '
is "$(agent_says desk 'select(.what == "start") | [.cwd, .arguments[0]] | join(" ")')" \
  "$remote_home/in/a b --from-config" 'a section of the configuration says where and what'
left

# The outer terminal's colours, and one that the host does not know.
COLORTERM=truecolor TERM=xterm-kitty-of-mine
export COLORTERM TERM
ok 'a terminal that the host does not know is used' seated me
is "$(rtmux list-clients -F '#{client_termname}')" xterm-256color \
  'a terminal that the host does not know is a usual one there'
left
TERM=xterm-256color
ok "a terminal with all colours is used" seated me
like "$(rtmux list-clients -F '#{client_termfeatures}')" RGB \
  'a terminal with all colours keeps them'
left
unset COLORTERM
TERM=dumb
ok 'a terminal that says it is dumb is used' seated me
left
TERM=xterm-256color

# Login files that talk, ask, trace, and leave a line open.
cp "$remote_home/.profile" "$tmp/profile"
cat >>"$remote_home/.profile" <<'END'
echo "Welcome to the box"
printf 'no line end \033[31mred '
set -x
echo noise >&2
END
ok "login files that talk and trace do no harm" seated me
left
# shellcheck disable=SC2016
printf 'PATH=$HOME/bin:$PATH\nprintf "Name? "; read -r name; echo "hello $name"\n' >"$remote_home/.profile"
sit me 30x100 tmux-attach $attach_args
ok 'login files that ask are shown' at me expect 'Name? '
at me send 'ada\r'
ok 'login files that ask get an answer' at me expect 'hello ada'
ok 'the session comes behind login files that ask' at me expect 'claude> '
left
echo 'echo broken; exit 5' >"$remote_home/.profile"
tried
is "$status" 5 'login files that end have their own status'
like "$said" '^broken' 'login files that end show what they say'
like "$said" 'tmux-attach: .*status 5' 'the message tells the status of login files that end'
cp "$tmp/profile" "$remote_home/.profile"
cp "$tmp/profile" "$remote_home/.zprofile"
mkdir -p "$remote_home/.config/fish"
# shellcheck disable=SC2016
echo 'set PATH ~/bin $PATH' >"$remote_home/.config/fish/config.fish"
for shell in "$(command -v dash)" "$(command -v zsh)" "$(command -v fish)"; do
  [ -n "$shell" ] || continue
  stop_sshd
  start_sshd box "SetEnv SHELL=$shell HOME=$remote_home TMUX_TMPDIR=$remote_tmp STUB_LOGS=$agents"
  # shellcheck disable=SC2088
  ok "the login shell is $shell" seated me -d "~/in/$quotes"
  left
done
stop_sshd
start_sshd box

# What is not there.
tried -d '/no/such place'
is "$status" 2 "a folder that is not there is an error"
like "$said" '^tmux-attach: .*/no/such place: not there' "the message names the folder"
tried -H 'no-such-agent --x'
is "$status" 2 "a program that is not there is an error"
like "$said" '^tmux-attach: .*no-such-agent: not on the login PATH' "the message names the program"
not_ok 'no session was made for a missing program' rtmux has-session -t =riff
ok 'an attach works when folder and program are there' seated me
at me send '\x02d'
at me end 30 >"$tmp/end"
ok "an attach to a session needs neither folder nor program" \
  seated me -d '/no/such place' -H no-such-agent
left
mkdir "$tmp/empty"
echo "PATH=$tmp/empty" >"$remote_home/.profile"
ln -s /bin/sh "$tmp/empty/sh"
tried
is "$status" 2 "a host without tmux is an error"
like "$said" '^tmux-attach: .*tmux: not on the login PATH' "the message names tmux"
done_testing
