#!/bin/sh
# What we run obeys us: the files and variables with which somebody made other programs do
# something else change nothing of ours. fzf and less: agent-browse/keys.t, mem-search/copy.t; tmux:
# tmux-attach/panes.t; ssh: ssh/people.t; curl: agent-serve/memory-search.t.
. "${0%/*}/../lib.sh"
needs agent-plot action-filter gnuplot git jq openssl python3 zstd
cd "$tmp" || exit

# same TITLE COMMAND: it prints the same with the settings that are exported by `hostile`.
same() {
  _title=$1
  shift
  run env - PATH="$PATH" HOME="$tmp/plain" TMPDIR="${TMPDIR:-/tmp}" "$@"
  cp "$out" "$tmp/want"
  _want=$status
  run "$@"
  is "$status" "$_want" "$_title: the status is the same"
  ok "$_title: the output is the same" cmp -s "$tmp/want" "$out"
}

# --- gnuplot
day=$root/Tests/fixtures/sample-day.ndjson
action-filter -u --by kind "$day" >kinds
printf 'set terminal dumb\nset output "/dev/null"\nset title "mine"\nset logscale y\nprint "hello"\n' >"$HOME/.gnuplot"
GNUTERM=nonsense
export GNUTERM
for form in svg png; do
  t 0 "$form is made with a ~/.gnuplot and GNUTERM" agent-plot "--$form" "with.$form" kinds
  env -u GNUTERM HOME="$tmp/plain" agent-plot "--$form" "without.$form" kinds
  ok "$form: the picture is the same" cmp "with.$form" "without.$form"
done

# --- jq
printf 'def map(f): "mine"; def join(x): "mine"; def error(x): "mine";\n' >"$HOME/.jq"
echo '{"to":["ada@example.org","bob@example.org"],"subject":"tea","text":"now"}' >draft
same "mail-draft with a ~/.jq" sh -c 'mail-draft -n <draft | grep -v -i -e ^date: -e ^message-id: -e boundary'

# --- openssl
echo 'nonsense = [' >"$HOME/openssl.cnf"
OPENSSL_CONF=$HOME/openssl.cnf
export OPENSSL_CONF
umask 077
echo 0123456789abcdef0123456789abcdef >secret
t 0 "voice-token works with a broken openssl.cnf" voice-token -k KEY -s secret room
err_empty "voice-token says nothing of a broken openssl.cnf"
unset OPENSSL_CONF

# --- gzip and zstd
mkdir -p archive
cp "$day" archive/2025-01-01.ndjson
GZIP=-v
ZSTD_NBTHREADS=nonsense
export GZIP ZSTD_NBTHREADS
run env AGENT_URL=http://127.0.0.1:9 agent-archive --folder archive --max-retries 0
compressed() { [ -f archive/2025-01-01.ndjson.zst ]; }
ok "a day is compressed" wait_until 20 compressed
err_unlike '%|replaced' "nothing is told of the compression of a day"
unset GZIP ZSTD_NBTHREADS

# --- git
git init -q other
git init -q repo
for each in other repo; do
  git -C "$each" -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$each"
done
git config --global status.showUntrackedFiles no
git config --global diff.ignoreSubmodules all
git config --global worktree.guessRemote true
git config --global branch.autoSetupMerge always
git config --global color.ui always
git config --global advice.detachedHead true
git config --global core.quotePath false
cat >claude <<'END'
#!/bin/sh
git rev-parse --show-toplevel
git log --format=%s -1
END
chmod +x claude
PATH=$tmp:$PATH
XDG_DATA_HOME=$tmp/data
export XDG_DATA_HOME
cd repo || exit
CDPATH=$tmp/other:$tmp
GIT_DIR=$tmp/other/.git
GIT_WORK_TREE=$tmp/other
GIT_INDEX_FILE=$tmp/other/index
export CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
riff() { run env RIFF_WORKTREE=1 RIFF_SESSION=s "$@"; }
riff riff-claude
status_is 0 "riff-claude works in the middle of another git"
like "$(sed -n 1p "$out")" "^$tmp/data/riff/worktrees/repo-" \
  "riff-claude makes a worktree of the repository where it is"
is "$(sed -n 2p "$out")" repo "claude is in the worktree of that repository"
tree=$(sed -n 1p "$out")
: >"$tree/new file"
riff riff-worktree-remove s "$tmp/repo"
ok "a new file keeps the worktree, whatever git is to show" test -e "$tree/new file"
err_unlike 'use --force' "the advice of git is not repeated"
rm "$tree/new file"
riff riff-worktree-remove s "$tmp/repo"
not_ok "the worktree goes when the new file is gone" test -e "$tree"
done_testing
