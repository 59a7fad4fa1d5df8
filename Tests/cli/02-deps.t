#!/bin/sh
# make deps: installs what is missing by name, or says it; silent when all is there.
. "${0%/*}/lib.sh"

# A machine of its own: links to a few tools, and stubs for what is looked for.
machine=$tmp/machine
mkdir "$machine"
for tool in sh env cat mktemp rm tail; do
  ln -s "$(command -v "$tool")" "$machine/$tool"
done
# stub NAME [BODY]
stub() {
  printf '#!%s\n%s\n' "$(command -v sh)" "${2:-:}" >"$machine/$1"
  chmod +x "$machine/$1"
}
for tool in swift pkg-config mandoc groff ssh sshd lexgrog prove ps python3 jq curl tmux fzf \
  openssl shellcheck dpkg-shlibdeps systemd-analyze; do
  stub "$tool"
done
stub uname 'echo Linux'
stub id 'echo 0'
deps() { run env PATH="$machine" "TMPDIR=$tmp" sh "$root/.ci/deps"; }

deps
status_is 0 "nothing is missing"
out_empty "and nothing is said"
err_empty "on standard error, either"

# apt-get that can: it is asked for what is missing, by name.
# shellcheck disable=SC2016  # for the stub to expand
stub apt-get 'echo "$*" >>"'"$tmp"'/asked"
case $* in *install*) for stub in mandoc jq; do
  echo "#!/bin/sh" >"'"$machine"'/$stub"; chmod +x "'"$machine"'/$stub"; done ;; esac'
ln -s "$(command -v chmod)" "$machine/chmod"
rm "$machine/mandoc" "$machine/jq"
deps
status_is 0 "what is missing is installed"
out_is "deps: installing mandoc jq" "and named"
like "$(cat "$tmp/asked")" "^install .* mandoc jq$" "and asked for, alone"
deps
out_empty "once"

# A library is looked for by pkg-config.
# shellcheck disable=SC2016
stub pkg-config '[ "$2" != inih ]'
stub apt-get 'echo "E: no network" >&2; exit 100'
deps
status_is 2 "an installation that fails"
err_like "^E: no network$" "shows why"
err_like "^deps: missing, install as root: apt-get install libinih-dev$" "and what to do"

# Nobody to be root.
stub id 'echo 1000'
deps
status_is 2 "not root, and no sudo"
err_is "deps: missing, install as root: apt-get install libinih-dev" "says what to do"
# shellcheck disable=SC2016
stub sudo 'echo "$*" >>"'"$tmp"'/sudo"; exit 1'
run env PATH="$machine" "TMPDIR=$tmp" sh "$root/.ci/deps" </dev/null
status_is 2 "sudo that wants a password nobody can type"
like "$(head -n 1 "$tmp/sudo")" "^-n apt-get update" "is not waited for"

# Other systems.
rm "$machine/apt-get" "$machine/sudo" "$machine/groff"
deps
status_is 2 "no apt-get"
err_like "by their Debian names: libinih-dev groff$" "names of Debian"
err_like "by their Homebrew names: inih groff$" "and of Homebrew"
stub uname 'echo Darwin'
rm "$machine/lexgrog"
deps
err_is "deps: missing, install with Homebrew: brew install inih groff" "on macOS"

rm "$machine/swift"
deps
status_is 2 "no Swift"
err_like "^deps: swift is missing: .*https://www.swift.org/install" "and where it is to be had"

done_testing
