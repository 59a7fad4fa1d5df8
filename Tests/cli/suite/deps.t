#!/bin/sh
# make deps: installs what is missing by name, or says it; silent when all is there.
. "${0%/*}/../lib.sh"

# A machine of its own: links to a few tools, and stubs for what is looked for.
machine=$tmp/machine
mkdir "$machine"
for tool in sh env cat mktemp rm tail sed; do
  ln -s "$(command -v "$tool")" "$machine/$tool"
done
# stub NAME [BODY]
stub() {
  printf '#!%s\n%s\n' "$(command -v sh)" "${2:-:}" >"$machine/$1"
  chmod +x "$machine/$1"
}
for tool in swift pkg-config mandoc groff ssh sshd lexgrog prove ps python3 jq curl tmux fzf gnuplot \
  espeak-ng pocketsphinx_batch redis-server openssl shellcheck zstd \
  dpkg-shlibdeps patchelf systemd-analyze; do
  stub "$tool"
done
wanted=$(sed -n '1s/.*swift-tools-version: *//p' "$root/Package.swift")
# swift_is VERSION: what the machine's Swift says of itself.
swift_is() {
  stub swift "echo 'Swift version $1 (swift-$1-RELEASE)'
echo 'Target: x86_64-unknown-linux-gnu'"
}
swift_is "$wanted.1"
stub uname 'echo Linux'
stub id 'echo 0'
deps() { run env PATH="$machine" "TMPDIR=$tmp" sh "$root/.ci/deps"; }

deps
status_is 0 "deps succeeds where nothing is missing"
out_empty "deps says nothing where nothing is missing"
err_empty "deps says nothing on standard error where nothing is missing"

# apt-get that can: it is asked for what is missing, by name.
# shellcheck disable=SC2016  # for the stub to expand
stub apt-get 'echo "$*" >>"'"$tmp"'/asked"
case $* in *install*) for stub in mandoc jq; do
  echo "#!/bin/sh" >"'"$machine"'/$stub"; chmod +x "'"$machine"'/$stub"; done ;; esac'
ln -s "$(command -v chmod)" "$machine/chmod"
rm "$machine/mandoc" "$machine/jq"
deps
status_is 0 "what is missing is installed"
out_is "deps: installing mandoc jq" "what is installed is named"
like "$(cat "$tmp/asked")" "^install .* mandoc jq$" "apt-get is asked for what is missing alone"
deps
out_empty "deps says once what it installs"

# A library is looked for by pkg-config.
# shellcheck disable=SC2016
stub pkg-config '[ "$2" != jansson ]'
stub apt-get 'echo "E: no network" >&2; exit 100'
deps
status_is 2 "an installation that fails is an error"
err_like "^E: no network$" "a failed installation shows why"
err_like "^deps: missing, install as root: apt-get install libjansson-dev$" \
  "a failed installation says what to do"

# Nobody to be root.
stub id 'echo 1000'
deps
status_is 2 "without root and sudo it is an error"
err_is "deps: missing, install as root: apt-get install libjansson-dev" \
  "deps without root and sudo says what to do"
# shellcheck disable=SC2016
stub sudo 'echo "$*" >>"'"$tmp"'/sudo"; exit 1'
t 2 "sudo that wants a password nobody can type is an error" \
  env PATH="$machine" "TMPDIR=$tmp" sh "$root/.ci/deps" </dev/null
like "$(head -n 1 "$tmp/sudo")" "^-n apt-get update" "deps does not wait for a password of sudo"

# Other systems.
rm "$machine/apt-get" "$machine/sudo" "$machine/groff"
deps
status_is 2 "a system without apt-get is an error"
err_like "by their Debian names: libjansson-dev groff$" "the names of Debian are told"
err_like "by their Homebrew names: jansson groff$" "the names of Homebrew are told"
stub uname 'echo Darwin'
rm "$machine/lexgrog"
deps
err_is "deps: missing, install with Homebrew: brew install jansson groff" \
  "on macOS Homebrew is advised"

# Swift: the version that Package.swift and README name, or a newer one.
ok "README names the Swift of Package.swift" grep -q "Swift $wanted or newer" "$root/README.md"
for version in "$wanted" "${wanted%.*}.99.2" "$((${wanted%.*} + 1)).0"; do
  swift_is "$version"
  deps
  err_unlike "Swift" "Swift $version will do"
done
for version in "${wanted%.*}.$((${wanted#*.} - 1))" "$((${wanted%.*} - 1)).99"; do
  swift_is "$version"
  deps
  status_is 2 "Swift $version is too old"
  err_like "^deps: Swift $version is too old: install Swift $wanted or newer from https:" \
    "the message says that Swift $version is too old"
done
stub swift 'echo noise'
deps
status_is 2 "a swift that says no version is an error"
err_one_line deps "one line tells of a swift that says no version"

rm "$machine/swift"
deps
status_is 2 "a missing Swift is an error"
err_like "^deps: swift is missing: install Swift $wanted .*https://www.swift.org/install" \
  "the message says where Swift is to be had"

done_testing
