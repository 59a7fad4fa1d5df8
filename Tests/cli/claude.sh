# Claude Code at terminals of this machine, for tests: a stand-in, a tmux of its own, and a home in
# which it is in PATH. Behind lib.sh and ssh.sh.
# shellcheck shell=sh disable=SC2154  # of lib.sh
needs perl tmux jq

mkdir -m 700 "$tmp/sessions"
mkdir -p "$HOME/bin"
cp "$cli/servers/claude.pl" "$HOME/bin/claude"
chmod +x "$HOME/bin/claude"
# shellcheck disable=SC2016
echo 'PATH=$HOME/bin:$PATH' >"$HOME/.profile"
TMUX_TMPDIR=$tmp/sessions AGENTUTILS_SSH=$tmp/no-ssh SHELL=/bin/sh CLAUDE_STUB_LOG=$tmp/told
export TMUX_TMPDIR AGENTUTILS_SSH SHELL CLAUDE_STUB_LOG
unset TMUX TMUX_PANE CLAUDE_CONFIG_DIR
at_end="$at_end end_here"
end_here() { end_tmux "$TMUX_TMPDIR"; }
: >"$tmp/told"

row() { tmux-attach -l . 2>/dev/null | jq -c "select(.name == \"$1\") | [.state, .reason, .label]"; }
# stands SESSION STATE: the state of a session, as `["idle",null,null]`.
stands() { [ "$(row "$1")" = "$2" ]; }
