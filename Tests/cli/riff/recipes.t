#!/bin/sh
# agent-say, riff-up, and the worktrees of sessions: riff-claude, riff-worktree-remove.
# shellcheck disable=SC2154,SC2086,SC2088  # of ssh.sh; words; the remote ~/
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
needs git
start_sshd
attach_args libssh2

# begun SESSION: the agent that is in it now has begun; terminals are used again.
begun() {
  _agent=$(rtmux display-message -p -t "=$1:" '#{pane_pid}')
  grep -q "\"start\", \"pid\": $_agent," "$(agent_log "$1")"
}

# --- agent-say
run tmux-attach -q $attach_args -N -s riff
wait_until 30 begun riff
t 0 "agent-say takes words" agent-say $attach_args -- say "it's  two" '*'
ok "the words are one text, with Return" wait_until 30 typed riff "say it's  two * $(printf '\r')"
: >"$(agent_log riff)"
run sh -c 'echo "  from a pipe" | agent-say "$@" --' - $attach_args
ok "agent-say takes a text from standard input" \
  wait_until 30 typed riff "from a pipe $(printf '\r')"
: >"$(agent_log riff)"
run sh -c 'echo "options first" | agent-say "$@"' - $attach_args
ok "agent-say takes options first, without --" \
  wait_until 30 typed riff "options first $(printf '\r')"
t 2 "agent-say: an option that does not exist is refused" agent-say --no-such
t 1 "agent-say: a session that does not exist has status 1" \
  agent-say $attach_args -s riff-7 -- hello
like "$(agent-say -h)" '^usage: agent-say' "agent-say -h shows the usage"
like "$(agent-say -V)" '^agent-say [0-9]' "agent-say -V prints the version"
# The host of the configuration.
printf 'host = box\n[host box]\nhostname = 127.0.0.1\nport = %s\nidentity = %s\nuser = %s\n' \
  "$port" "$id" "$remote_user" >"$XDG_CONFIG_HOME/agentutils/config"
: >"$(agent_log riff)"
t 0 "agent-say asks the configured host" agent-say run the tests
ok "the configured host gets the text" wait_until 30 typed riff "run the tests $(printf '\r')"
: >"$(agent_log riff)"
run agent-say box hello
ok "agent-say takes a text that begins with the name of that host" \
  wait_until 30 typed riff "box hello $(printf '\r')"
# Whoever begins with another host means that one, perhaps.
cp "$XDG_CONFIG_HOME/agentutils/config" "$tmp/one"
printf '[host cellar]\nhostname = 127.0.0.1\nport = 9\n[host default]\nhostname = 127.0.0.1\nport = 9\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
mkdir -p "$HOME/.ssh"
printf 'Host attic\n' >"$HOME/.ssh/config"
for words in 'cellar hello' cellar '. hello' 'ada@cellar hello' 'cellar:22 hello' 'ssh://ada@cellar:22 hello' \
  'attic fan' 'ada@box hello' 'default hello'; do
  : >"$(agent_log riff)"
  t 2 "agent-say $words is refused" agent-say $words </dev/null
  err_like "^agent-say: ${words%% *} is a host, and the default is box: put -- " \
    "agent-say $words: the message says why"
  err_like '^usage: agent-say ' "agent-say $words: the message says how, too"
  is "$(agent_typed riff)" "" "agent-say $words: nothing is typed"
done
: >"$(agent_log riff)"
run agent-say -- cellar hello
ok "agent-say -- types the name of a host, too" wait_until 30 typed riff "cellar hello $(printf '\r')"
: >"$(agent_log riff)"
run agent-say box -- hello
ok "the text behind -- is typed at the host in front of it" \
  wait_until 30 typed riff "hello $(printf '\r')"
for words in 'cellars are cold' 'a cellar' 'box: done' 'to ada@example.org'; do
  : >"$(agent_log riff)"
  t 0 "agent-say $words is taken" agent-say $words
  ok "agent-say $words names no other host" wait_until 30 typed riff "$words $(printf '\r')"
done
: >"$(agent_log riff)"
run agent-say 'cellar hello'
ok "words in quotes name no host" wait_until 30 typed riff "cellar hello $(printf '\r')"
sed 's/^host = .*//' "$tmp/one" >"$XDG_CONFIG_HOME/agentutils/config"
: >"$(agent_log riff)"
run agent-say box hello again
ok "a host that is alone is the default" wait_until 30 typed riff "box hello again $(printf '\r')"
printf '[host cellar]\nhostname = 127.0.0.1\nport = 9\n' >>"$XDG_CONFIG_HOME/agentutils/config"
run agent-say cellar hello
err_like '^agent-say: cellar is a host: put -- ' \
  "a host in front of a text is told without a default, too"
rm "$HOME/.ssh/config"

# --- riff-up, on this machine
rtmux kill-server
up() { run env HOME="$remote_home" TMUX_TMPDIR="$remote_tmp" STUB_LOGS="$agents" PATH="$remote_home/bin:$PATH" riff-up "$@"; }
mkdir "$remote_home/work #(touch PWNED);"
up -d "$remote_home/work #(touch PWNED);"
status_is 0 "riff-up succeeds"
err_empty "riff-up says nothing"
wait_until 30 begun riff
is "$(agent_says riff 'select(.what == "start") | .cwd, .env.TMUX, .env.TMUX_PANE' | tr '\n' ,)" \
  "$remote_home/work #(touch PWNED);,null,null," \
    "the agent is in the folder, and tmux is hidden from it"
token=$(agent_says riff 'select(.what == "start").token')
up
status_is 0 "riff-up succeeds once more"
is "$(agent_says riff 'select(.what == "start").token')" "$token" \
  "riff-up once more leaves the same agent"
run tmux-attach $attach_args -l
is "$(jq -r '.name + .command' "$out")" "riffpython3" "tmux-attach finds the session of riff-up"
up -s riff-9 -H 'not-there --x'
status_is 2 "riff-up: a harness that is not there is an error"
for name in a.b "$(printf 'a\tb')" "$(printf 'a\377')" "$(printf 'a\302\233b')" "$(printf '%0201d' 1)"; do
  up -s "$name"
  status_is 2 "riff-up: this name is refused: $(printf '%.20s' "$name" | od -An -c | xargs)"
  err_one_line riff-up "riff-up tells in one line that a name is refused"
done
for n in 1 2; do
  up -s 'größe 日本'
  is "$status $(cat "$err")" "0 " "riff-up: a name of other letters is taken, try $n"
done
mkdir "$tmp/rel" "$tmp/else" "$tmp/else/rel"
CDPATH=$tmp/else
export CDPATH
cd "$tmp" && up -d rel -s riff-7
unset CDPATH
wait_until 30 begun riff-7
is "$status $(agent_says riff-7 'select(.what == "start").cwd')" "0 $tmp/rel" "riff-up: a CDPATH does no harm"
up -s riff-9 -H 'sleep 99; true;'
is "$(rtmux list-panes -t =riff-9: -F '#{pane_current_command}')" sh \
  "riff-up: any command can be run"
up -d "$remote_home/none" -s riff-8
status_is 2 "riff-up: a missing folder is an error"
for n in 1 2 3 4; do up -s twice & done
wait_until 30 rtmux has-session -t =twice
is "$(rtmux list-sessions | grep -c twice)" 1 \
  "riff-up makes one session when called several times at once"
is "$(find "$remote_home" -name PWNED | wc -l)" 0 "nothing of a name was run"
# A server that is ending makes no session.
cat >"$remote_home/bin/tmux" <<END
#!/bin/sh
case " \$* " in
*" new-session "*)
  if [ -s "$tmp/endings" ]; then
    sed -i 1d "$tmp/endings"
    echo 'server exited unexpectedly' >&2
    exit 1
  fi
  ;;
esac
exec $(command -v tmux) "\$@"
END
chmod +x "$remote_home/bin/tmux"
seq 3 >"$tmp/endings"
up -s next
is "$status$(rtmux list-sessions -F '#{session_name}' | grep -c next)" 01 \
  "riff-up: the next server makes the session"
seq 99 >"$tmp/endings"
up -s later
status_is 75 "riff-up: a server that is long in ending has status 75"
err_one_line riff-up "riff-up: one line tells of a server that is long in ending"
rm "$remote_home/bin/tmux"
like "$(riff-up -h)" '^usage: riff-up' "riff-up -h shows the usage"
rtmux kill-server

# --- worktrees
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GIT_DIR GIT_WORK_TREE
repo="$remote_home/my repo"
git init -q -b trunk "$repo"
mkdir "$repo/sub"
echo one >"$repo/sub/file"
git -C "$repo" add -A
git -C "$repo" commit -q -m one
cp "$root/bin/riff-claude" "$root/bin/riff-worktree-remove" "$remote_home/bin"

new() { run tmux-attach $attach_args -N --worktree "$@"; }
cwd() { wait_until 30 begun "$1" && agent_says "$1" 'select(.what == "start").cwd'; }
head_of() { git -C "$1" symbolic-ref --short HEAD; }

new -d "~/my repo" -s riff
status_is 0 "worktree: a new worktree is made"
tree=$(cwd riff)
like "$tree" "^$remote_home/.local/share/riff/worktrees/my repo-[0-9]*/riff\$" "the session has a folder of its own"
is "$(head_of "$tree")" riff/riff "worktree: the session is on its own branch"
is "$(git -C "$tree" rev-parse HEAD)" "$(git -C "$repo" rev-parse HEAD)" \
  "worktree: the branch begins at HEAD"
is "$(agent_says riff 'select(.what == "start") | .env.RIFF_WORKTREE + .env.RIFF_START_DIR')" \
  "1$repo" "worktree: the environment is that of the contract"
is "$(agent_says riff 'select(.what == "start").env.TMUX')" null \
  "worktree: tmux is hidden from the agent"
is "$(git -C "$repo" status --porcelain)$(head_of "$repo")" trunk \
  "worktree: the repository is as it was"
not_ok "worktree: no lock is left" test -L "$repo/.git/riff.lock"

t 0 "worktree: closing succeeds" tmux-attach $attach_args --close riff
err_empty "worktree: closing says nothing"
ok "worktree: the folder is gone after closing" test ! -e "$tree"
ok "worktree: the branch stays after closing" \
  git -C "$repo" show-ref --verify --quiet refs/heads/riff/riff

git -C "$repo" commit -q --allow-empty -m two
new -d "~/my repo/sub" -s riff
is "$(cwd riff)" "$tree/sub" \
  "worktree: a session that begins in a folder below is in the same folder"
is "$(git -C "$tree" log -1 --format=%s)" one "worktree: a new session has the branch as it was"
echo two >"$tree/sub/file"
t 0 "worktree: a session with changes is closed" tmux-attach $attach_args --close riff
err_like "kept $tree" "worktree: the message says that a worktree with changes is kept"
is "$(cat "$tree/sub/file")" two "worktree: nothing is lost by closing with changes"
new -d "~/my repo" -s riff
is "$(cwd riff)" "$tree" "worktree: a kept worktree is used again"
is "$(cat "$tree/sub/file")" two "worktree: a kept worktree has its changes"

git clone -q "$repo" "$remote_home/clone" 2>/dev/null
git -C "$remote_home/clone" commit -q --allow-empty -m local
new -d '$HOME/clone' -s riff-2
is "$(git -C "$(cwd riff-2)" log -1 --format=%s)" two \
  "worktree: a clone's worktree begins at origin's branch"

# Whatever is in the way is told, and no agent runs in the folder itself.
none() { # TITLE STATUS REASON: of the last try.
  status_is "$2" "worktree: $1: nothing is started"
  err_like "$3" "worktree: $1: the reason is told"
  not_ok "worktree: $1: there is no session" rtmux has-session -t "=$session"
}
session=riff-3
new -d "~" -s $session
none "no repository" 2 "no worktree: $remote_home is in no git repository"
git init -q "$remote_home/empty"
session=riff-4
new -d "~/empty" -s $session
none "no commit" 2 "no worktree: the repository has no commit"
mkdir -p "$tree-x" "${tree%/*}/riff-5/x"
session=riff-5
new -d "~/my repo" -s $session
none "something is where it would be" 2 "no worktree: git: .*riff-5' already exists"
git -C "$repo" checkout -q -b riff/riff-6
session=riff-6
new -d "~/my repo" -s $session
none "its branch is checked out in the repository" 2 "no worktree: git: 'riff/riff-6' is already checked out"
git -C "$repo" checkout -q trunk
rm "$remote_home/bin/riff-claude"
session=riff-7
new -d "~/my repo" -s $session
none "no script on the host" 2 'no worktree: riff-claude is not on the login PATH'
cp "$root/bin/riff-claude" "$remote_home/bin"
# A folder that is not there may be on a disk that is not mounted.
new -d "~/my repo" -s riff-9
away=$(cwd riff-9)
rtmux kill-session -t =riff-9
mv "$away" "$away.away"
session=riff-9
new -d "~/my repo" -s $session
none "its folder is not there" 2 "no worktree: $away is not there; where it is gone for good, git worktree prune forgets it"
run riff-worktree-remove riff-9 "$repo"
is "$status $(cat "$err")" "1 riff-worktree-remove: kept $away: it is not there; where it is gone for good, git worktree prune forgets it" \
  "riff-worktree-remove: a worktree that is not there is not forgotten"
mv "$away.away" "$away"
is "$(head_of "$away")" riff/riff-9 "worktree: git has not forgotten it"
new -d "~/my repo" -s riff-9
is "$status $(jq -r .directory "$out")" "0 $away" \
  "worktree: a folder that is mounted again is used, as the record says"
# A session that was renamed finds its worktree; a merge in progress keeps it.
git -C "$away" checkout -q -b side
git -C "$away" commit -q --allow-empty -m side
git -C "$away" checkout -q riff/riff-9
git -C "$away" merge -q --no-ff --no-commit side >/dev/null 2>&1
rtmux rename-session -t =riff-9 other
run tmux-attach $attach_args --close other
err_like "kept $away: git is in the middle of something there .MERGE_HEAD" \
  "worktree: a merge in progress keeps the worktree"
git -C "$away" merge --abort
run riff-worktree-remove riff-9 "$repo"
is "$status$(ls -d "$away" 2>/dev/null)" 0 \
  "riff-worktree-remove: the worktree goes when the merge is over"
# A hook that fails has its worktree all the same.
printf '#!/bin/sh\nexit 1\n' >"$repo/.git/hooks/post-checkout"
chmod +x "$repo/.git/hooks/post-checkout"
new -d "~/my repo" -s riff-10
is "$status $(cwd riff-10)" "0 ${tree%/*}/riff-10" "worktree: a hook that ends with 1 does no harm"
rm "$repo/.git/hooks/post-checkout"
rtmux kill-session -t =riff-10
# A repository that was moved.
mv "$repo" "$repo moved"
new -d "~/my repo moved" -s riff-10
is "$status $(cwd riff-10)" "0 ${tree%/*}/riff-10" \
  "worktree: the worktree of a repository that was moved is used"
is "$(head_of "${tree%/*}/riff-10")" riff/riff-10 \
  "worktree: git works in the worktree of a repository that was moved"
rtmux kill-session -t =riff-10
mv "$repo moved" "$repo"
git -C "$repo" worktree repair >/dev/null 2>&1

# A lock of somebody who was killed is no lock, whoever has the number now.
ln -s $$ "$repo/.git/riff.lock"
new -d "~/my repo" -s riff-31
is "$(cwd riff-31)" "${tree%/*}/riff-31" \
  "worktree: a lock with another process's number is no obstacle"
ln -s 999999 "$repo/.git/riff.lock"
new -d "~/my repo" -s riff-8
is "$(cwd riff-8)" "${tree%/*}/riff-8" "worktree: a stale lock is no obstacle"
# So is what whoever was to remove it has left behind.
ln -s 999999 "$repo/.git/riff.lock"
mkdir "$repo/.git/riff.lock.stale"
touch -t 202001010000 "$repo/.git/riff.lock.stale"
new -d "~/my repo" -s riff-30
is "$(cwd riff-30)" "${tree%/*}/riff-30" \
  "worktree: a stale lock that somebody began to remove is no obstacle"
not_ok "worktree: nothing of a stale lock is left" test -e "$repo/.git/riff.lock.stale"
ln -s 999999 "$repo/.git/riff.lock"
mkdir "$repo/.git/riff.lock.stale"
touch -t 202001010000 "$repo/.git/riff.lock.stale"
t 0 "worktree: a session can be closed with a stale lock" tmux-attach $attach_args --close riff-30
not_ok "worktree: the folder is gone after closing with a stale lock" test -e "${tree%/*}/riff-30"
jobs=
for n in 11 12 13 14 15 16; do
  bounded 30 tmux-attach -q $attach_args -N --worktree -d "~/my repo" -s "riff-$n" &
  jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
for n in 11 12 13 14 15 16; do cwd "riff-$n"; done | sort -u >"$tmp/trees"
is "$(grep -c '/worktrees/' "$tmp/trees")" 6 "worktree: six worktrees are made at once"
# Nor for many who find it at once, each slower to remove it than the one before.
mkdir "$tmp/slow"
cat >"$tmp/slow/rm" <<END
#!/bin/sh
case \$* in
*riff.lock)
  echo >>"$tmp/removals"
  sleep 0.\$(wc -l <"$tmp/removals" | tr -d ' ')
  ;;
esac
exec $(command -v rm) "\$@"
END
cat >"$tmp/slow/git" <<END
#!/bin/sh
case " \$*" in
*' worktree add '*)
  mkdir "$tmp/inside" || echo two >>"$tmp/overlaps"
  sleep 0.4 # somebody else has the time to remove the lock
  $(command -v git) "\$@"
  rmdir "$tmp/inside"
  ;;
*) exec $(command -v git) "\$@" ;;
esac
END
printf '#!/bin/sh\nexec pwd\n' >"$tmp/slow/claude"
chmod +x "$tmp/slow"/*
ln -s 999999 "$repo/.git/riff.lock"
jobs=
for n in 17 18 19; do
  PATH=$tmp/slow:$PATH HOME=$remote_home XDG_DATA_HOME='' RIFF_WORKTREE=1 RIFF_START_DIR=$repo \
    RIFF_SESSION=riff-$n bounded 30 riff-claude >"$tmp/slow.$n" &
  jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
is "$(cat "$tmp"/slow.1? | sort | sed 's/.*worktrees.*riff/riff/' | xargs)" "riff-17 riff-18 riff-19" \
  "worktree: three that find a stale lock make a worktree each"
not_ok "worktree: three that find a stale lock have it one after the other" test -e "$tmp/overlaps"
not_ok "worktree: the last of three leaves no lock" \
  test -e "$repo/.git/riff.lock" -o -L "$repo/.git/riff.lock" -o -e "$repo/.git/riff.lock.stale"
# Where cd looks elsewhere, and tells where.
run env PATH="$tmp/slow:$PATH" CDPATH="$repo:$remote_home" HOME="$remote_home" XDG_DATA_HOME=odd \
  RIFF_WORKTREE=1 RIFF_START_DIR="$repo" RIFF_SESSION=riff-17 riff-claude
out_like '/.local/share/riff/worktrees/my repo-[0-9]*/riff-17$' "worktree: a CDPATH does no harm"
err_empty "worktree: nothing is said of a CDPATH"
run env CDPATH="$repo:$remote_home" riff-worktree-remove riff-17 "$repo"
is "$status$(cat "$err")$(ls -d "$remote_home"/.local/share/riff/worktrees/*/riff-17 2>/dev/null)" 0 \
  "riff-worktree-remove: a CDPATH does no harm"
run env PATH="$tmp/slow:$PATH" HOME="$remote_home" XDG_DATA_HOME=odd RIFF_WORKTREE=1 \
  RIFF_START_DIR="$repo" RIFF_SESSION=riff-17 riff-claude
out_like "^$remote_home/.local/share/riff/worktrees/" "a relative XDG_DATA_HOME counts for nothing"
again() {
  run env PATH="$tmp/slow:$PATH" HOME="$remote_home" XDG_DATA_HOME= RIFF_WORKTREE=1 \
    RIFF_START_DIR="$repo" RIFF_SESSION=riff-17 riff-claude
}
own=$(cat "$out")
for way in '--detach' '-b elsewhere'; do
  git -C "$own" checkout -q $way
  again
  is "$(cat "$out" "$err")" "$own" "worktree: a worktree is used again after checkout $way"
done
run env HOME="$remote_home" XDG_DATA_HOME= riff-worktree-remove riff-17 "$repo"
is "$status $(cat "$err")" "1 riff-worktree-remove: kept $own: riff/riff-17 is not checked out there" \
  "riff-worktree-remove: another branch keeps the worktree, and that is told"
git -C "$own" checkout -q riff/riff-17
git -C "$own" branch -m renamed
again
is "$(cat "$out" "$err")" "$own" "worktree: a worktree is used again after branch -m"
# Nothing is taken from under a process of the session that lives.
new -d "~/my repo" -s riff-40
own=$(cwd riff-40)
rtmux new-window -d -t =riff-40: -c "$own" \
  "trap '' TERM HUP; echo \$\$ >'$tmp/stubborn'; exec sleep 300"
wait_until 30 test -s "$tmp/stubborn"
run tmux-attach $attach_args --close riff-40
is "$status $(cat "$err")" \
  "0 tmux-attach: still running: $(cat "$tmp/stubborn") sleep; the worktree is kept" \
  "worktree: a process of the session keeps the worktree"
ok "worktree: the worktree with a process is there" test -e "$own/.git"
kill -9 "$(cat "$tmp/stubborn")"
new -d "~/my repo" -s riff-40
is "$(cwd riff-40)" "$own" "worktree: the worktree of an ended process is used again"
rtmux new-window -d -t =riff-40: -c "$own" "nohup sh -c 'echo \$\$ >$tmp/mild; exec sleep 300' >/dev/null"
wait_until 30 test -s "$tmp/mild"
if [ -r /proc/self/environ ]; then
  # Where nothing has the terminal open any more, tmux closes the pane.
  rtmux new-window -d -t =riff-40: -c "$own" \
    "nohup sh -c 'echo \$\$ >$tmp/closed; exec sleep 300' >/dev/null 2>&1"
  wait_until 30 test -s "$tmp/closed"
  two_panes() { [ "$(rtmux list-panes -s -t =riff-40: | wc -l)" -eq 2 ]; }
  wait_until 30 two_panes
else
  cp "$tmp/mild" "$tmp/closed"
fi
run tmux-attach $attach_args --close riff-40
is "$status $(cat "$err")" "0 " "worktree: nohup ends with the session"
ok "worktree: the process under nohup ends with the session" gone "$(cat "$tmp/mild")"
ok "worktree: a process whose pane is closed ends with the session" gone "$(cat "$tmp/closed")"
not_ok "worktree: the worktree is gone when its processes have ended" test -e "$own"
git -C "$repo" worktree lock "${tree%/*}/riff-16"
for n in 11 16; do run tmux-attach $attach_args --close "riff-$n"; done
ok "worktree: a locked worktree is kept" test -d "${tree%/*}/riff-16"
ok "worktree: the worktree beside the locked one is gone" test ! -e "${tree%/*}/riff-11"

# What git ignores is nowhere else, either.
new -d "~/my repo" -s riff-20
tree=$(cwd riff-20)
printf '.env\nbuilt/\n' >"$repo/.git/info/exclude"
mkdir "$tree/built"
echo secret >"$tree/.env"
touch "$tree/built/a" "$tree/built/b"
run tmux-attach $attach_args --close riff-20
err_like "kept $tree: .*: \.env, built/\$" "worktree: ignored files are kept, and named"
is "$(cat "$tree/.env")" secret "worktree: the ignored files are still there"
cd "$repo" || exit
run riff-worktree-remove riff-20
is "$status $(cat "$err")" \
  "1 riff-worktree-remove: kept $tree: riff-worktree-remove -f removes what git ignores: .env, built/" \
  "riff-worktree-remove says that ignored files are kept"
touch "$tree/new"
git -C "$repo" config status.showUntrackedFiles no
t 1 "-f: what is not committed is kept all the same" riff-worktree-remove -f riff-20
err_like "^riff-worktree-remove: kept $tree: .*untracked" \
  "-f: the message says that a file is untracked"
rm "$tree/new"
file=$(git -C "$tree" ls-files | head -n 1)
cp "$tree/$file" "$tmp/as it was"
for flag in assume-unchanged skip-worktree; do
  git -C "$tree" update-index "--$flag" "$file"
  echo changed >>"$tree/$file"
  t 1 "-f: a change is kept that git was told not to see ($flag)" riff-worktree-remove -f riff-20
  cp "$tmp/as it was" "$tree/$file"
done
run riff-worktree-remove --force riff-20
is "$status $(cat "$err")" "0 " "-f: a worktree with ignored files is removed"
ok "-f: the folder with ignored files is gone" test ! -e "$tree"
cd "$root" || exit
# A name is no pattern, and has no escapes.
git -C "$repo" worktree add -q -b riff/s/keep "$remote_home/s-keep"
run riff-worktree-remove 's\057keep' "$repo"
ok "riff-worktree-remove: another name is another worktree" test -d "$remote_home/s-keep"
run riff-worktree-remove s/keep "$repo"
ok "riff-worktree-remove: a name removes its own worktree" test ! -d "$remote_home/s-keep"

# What git is in the middle of keeps a worktree, also where HEAD is detached for it.
share=
host() { run env HOME="$remote_home" XDG_DATA_HOME="$share" RIFF_START_DIR="$at" RIFF_SESSION="$name" "$@"; }
made() { # NAME: sets $tree to its worktree.
  name=$1
  host riff-claude --riff-tree
  tree=$(cat "$out")
}
kept() { # TITLE REASON: the whole line.
  is "$status $(cat "$err")" "1 riff-worktree-remove: kept $tree: $2" \
    "riff-worktree-remove keeps the worktree: $1"
  ok "riff-worktree-remove leaves the worktree in place: $1" test -e "$tree/.git"
}
goes() { # TITLE [OPTION]
  host riff-worktree-remove ${2:-} "$name"
  is "$status$(cat "$err")$(ls -d "$tree" 2>/dev/null)" 0 \
    "riff-worktree-remove removes the worktree: $1"
}
at=$repo
middle() { # NAME MARK
  host riff-worktree-remove "$1"
  kept "$1 under way" "git is in the middle of something there ($2)"
}
git -C "$repo" config advice.detachedHead false
made bisect
for n in 1 2 3 4; do git -C "$tree" commit -q --allow-empty -m "$n"; done
git -C "$tree" bisect start HEAD HEAD~4 >/dev/null
middle bisect BISECT_LOG
git -C "$tree" bisect reset >/dev/null 2>&1
goes "after a bisect"
made rebase
git -C "$tree" commit -q --allow-empty -m a
GIT_SEQUENCE_EDITOR='sed -i.old s/^pick/edit/' git -C "$tree" rebase -q -i --keep-empty HEAD~1 >/dev/null 2>&1
middle rebase rebase-merge
git -C "$tree" rebase --abort
goes "after a rebase"
for act in cherry-pick 'revert --no-commit'; do
  made "${act%% *}"
  git -C "$tree" commit -q --allow-empty -m a
  git -C "$tree" $act HEAD >/dev/null 2>&1
  mark=CHERRY_PICK_HEAD
  act=${act%% *}
  [ "$act" = cherry-pick ] || mark=REVERT_HEAD
  middle "$act" $mark
  git -C "$tree" "$act" --abort
  goes "after a $act"
done
made alone
git -C "$tree" checkout -q --detach
host riff-worktree-remove alone
kept "HEAD is detached" "riff/alone is not checked out there"
git -C "$tree" commit -q --allow-empty -m lost
host riff-worktree-remove -f alone
kept "a commit that only HEAD has" "a commit there is on no branch"
git -C "$tree" commit -q --allow-empty -m lost
host riff-worktree-remove alone
kept "several commits that only HEAD has" "2 commits there are on no branch"
git -C "$tree" checkout -q -b alone
host riff-worktree-remove alone
kept "another branch" "riff/alone is not checked out there"
git -C "$tree" checkout -q riff/alone
goes "its own branch"

# Submodules: a clean worktree goes, and what is nowhere else stays.
git init -q -b trunk "$tmp/deep"
git -C "$tmp/deep" commit -q --allow-empty -m deep
git init -q -b trunk "$tmp/inner"
export GIT_ALLOW_PROTOCOL=file
git -C "$tmp/inner" submodule --quiet add "$tmp/deep" deep
echo '*.log' >"$tmp/inner/.gitignore"
git -C "$tmp/inner" add -A
git -C "$tmp/inner" commit -q -m inner
at="$remote_home/with subs"
git init -q -b trunk "$at"
git -C "$at" submodule --quiet add "$tmp/inner" "a sub"
git -C "$at" commit -q -m subs
made subs
goes "a submodule that is not checked out"
made subs
touch "$tree/a sub/hidden"
host riff-worktree-remove subs
kept "a file where git does not look" "submodule a sub: it has files, and is not checked out"
rm "$tree/a sub/hidden"
with() {
  made subs
  git -C "$tree" submodule --quiet update --init --recursive
  sub="$tree/a sub"
}
with
goes "clean submodules, one in the other"
stays() { # TITLE REASON [UNDO...]: kept for this; when it is undone, it is clean.
  host riff-worktree-remove subs
  kept "$1" "$2"
  shift 2
  "$@"
}
with
touch "$sub/x.log"
stays "a file that a submodule ignores" "submodule a sub: riff-worktree-remove -f removes what git ignores: x.log" :
goes "-f" -f
with
touch "$sub/deep/new"
stays "a new file, deep" "submodule a sub: it contains modified or untracked files" rm "$sub/deep/new"
git -C "$sub/deep" commit -q --allow-empty -m mine
git -C "$sub/deep" branch mine
git -C "$sub" submodule --quiet update
stays "a commit of a branch" "submodule a sub/deep: it has a commit that is on no branch of a remote" \
  git -C "$sub/deep" branch -q -D mine
echo 1 >"$sub/deep/new"
git -C "$sub/deep" add new
git -C "$sub/deep" stash -q
stays "a stash" "submodule a sub/deep: it has a stash" git -C "$sub/deep" stash drop -q
git -C "$sub" update-index --assume-unchanged .gitignore
echo changed >>"$sub/.gitignore"
host riff-worktree-remove -f subs
kept "a change that git was told not to see" "submodule a sub: it contains modified or untracked files"
git -C "$sub" checkout -q .
git -C "$at" config submodule."a sub".ignore all
touch "$sub/new"
stays "a file in what git was told to pass over" "submodule a sub: it contains modified or untracked files" rm "$sub/new"
git -C "$at" config --unset submodule."a sub".ignore
git -C "$sub" worktree add -q -b other "$tmp/linked"
stays "a worktree of a submodule's" "submodule a sub: it has worktrees of its own" \
  git -C "$sub" worktree remove "$tmp/linked"
git -C "$sub" branch -q -D other
git -C "$sub" bisect start >/dev/null
end_bisect() { git -C "$sub" bisect reset >/dev/null 2>&1; }
stays "a bisect in a submodule" "submodule a sub: git is in the middle of something there (BISECT_LOG)" \
  end_bisect
git -C "$sub" checkout -q -b mine
git -C "$sub" commit -q --allow-empty -m mine
git -C "$sub" checkout -q -
git -C "$tree" submodule --quiet deinit "a sub"
stays "a clone that is left behind" "submodule a sub: it has a commit that is on no branch of a remote" :
git -C "$tree" submodule --quiet update --init --recursive
git -C "$sub" branch -q -D mine
git -C "$at" worktree lock "$tree"
host riff-worktree-remove subs
err_like "kept $tree: cannot remove a locked working tree" \
  "riff-worktree-remove: a locked worktree with submodules is kept"
git -C "$at" worktree unlock "$tree"
goes "with nothing of all that"
# A repository in the other, which has no clone elsewhere.
made embedded
git init -q "$tree/own"
git -C "$tree/own" commit -q --allow-empty -m own
git -C "$tree" add own 2>/dev/null
git -C "$tree" commit -q -m own
host riff-worktree-remove embedded
kept "a repository that is nowhere else" "submodule own: it has a commit that is on no branch of a remote"

# A repository that was moved: the session's worktree is used, whatever became of its branch.
git init -q -b trunk "$remote_home/here"
git -C "$remote_home/here" commit -q --allow-empty -m one
once() { # HOW: the worktree is that of before, and there is no other.
  was=$tree
  made mv
  is "$(cat "$out" "$err")" "$was" "worktree: the worktree is found after a move: $1"
  ok "worktree: git works after a move: $1" git -C "$tree" status
  is "$(git -C "$at" worktree list | grep -c '/mv ')" 1 \
    "worktree: no second worktree is made after a move: $1"
}
at=$remote_home/here
made mv
for way in 'checkout -q riff/mv' 'branch -m renamed' 'checkout -q --detach'; do
  git -C "$tree" $way
  mv "$at" "$at.moved"
  at=$at.moved
  once "$way"
done
git -C "$tree" checkout -q -b riff/mv
mv "$at" "$remote_home/there"
at=$remote_home/there
goes "of a repository that was moved"
# The folder of the worktrees, too.
made mv
git -C "$tree" checkout -q --detach
mv "$at" "$remote_home/where"
at=$remote_home/where
mv "$remote_home/.local/share/riff" "$tmp/riff"
mkdir -p "$remote_home/new/share"
mv "$tmp/riff" "$remote_home/new/share"
share=$remote_home/new/share
tree=$share/${tree#"$remote_home/.local/share/"}
once "with its worktrees"
git -C "$tree" checkout -q riff/mv
# A copy lists the worktrees of the first one.
cp -R "$at" "$at.copy"
at=$at.copy
host riff-claude --riff-tree
is "$status $(cat "$err")" "2 riff-claude: no worktree: $tree is no worktree of $at/.git" \
  "worktree: a copy takes none of the first repository's"
host riff-worktree-remove mv
kept "of the first repository" "it is no worktree of $at/.git"
at=${at%.copy}
mv "$share" "$remote_home/new/other"
tree=$remote_home/new/other/${tree#"$share/"}
share=$remote_home/new/other
goes "whose folder was moved"
# Another session's worktree is not this one's, though it has its branch.
git -C "$at" branch riff/second
made first
git -C "$tree" checkout -q riff/second
name=second
host riff-claude --riff-tree
is "$status $(cat "$err")" "2 riff-claude: no worktree: git: 'riff/second' is already checked out at '$tree'" \
  "worktree: another session's branch is not taken"
host riff-worktree-remove second
is "$status $(cat "$err")$(head_of "$tree")" "0 riff/second" \
  "riff-worktree-remove: the branch of another session stays in its worktree"

t 2 "riff-worktree-remove: a name is needed" riff-worktree-remove
t 2 "riff-worktree-remove: a repository is needed" riff-worktree-remove x "$remote_home"
t 0 "riff-worktree-remove: a worktree that does not exist has status 0" \
  riff-worktree-remove none "$repo"

run env -i HOME="$tmp" PATH=/usr/bin:/bin "$root/bin/riff-claude"
is "$status $(cat "$err")" "127 riff-claude: claude: not in PATH" "riff-claude says what it does not find"

done_testing
