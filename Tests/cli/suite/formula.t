#!/bin/sh
# make dist, formula and aur: what they print is what their readers take, about
# the archive of the last commit.
. "${0%/*}/../lib.sh"
needs make git python3 bash
git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all "needs the commits"
unset MAKEFLAGS MAKELEVEL MFLAGS

# A clone, for the archive not to be in anybody's way.
git clone -q --shared "$root" "$tmp/clone" 2>/dev/null || bail "no clone"
target() { run make -s --no-print-directory -C "$tmp/clone" "$@"; }
version=$(sed -n 's/.*suiteVersion = "\(.*\)"/\1/p' "$tmp/clone/Sources/Core/Version.swift")

target dist
status_is 0 "make dist succeeds"
out_is ".build/agentutils-$version.tar.gz" "make dist names the archive"
archive=$tmp/clone/$(cat "$out")
sum=$(openssl dgst -sha256 -r "$archive" | cut -d ' ' -f 1)
is "$(tar -tzf "$archive" | grep -v "^agentutils-$version/")" "" "the archive has one folder"
target dist
is "$(openssl dgst -sha256 -r "$archive" | cut -d ' ' -f 1)" "$sum" \
  "make dist makes the same bytes again"

target formula
status_is 0 "make formula succeeds"
cp "$out" "$tmp/agentutils.rb"
ok "the formula has the sum" has "$tmp/agentutils.rb" "^  sha256 \"$sum\"$"
ok "the formula has the archive" has "$tmp/agentutils.rb" "^  url \"file://$archive\"$"
if command -v ruby >/dev/null 2>&1; then
  ok "ruby accepts the formula" ruby -c "$tmp/agentutils.rb"
else
  skip 1 "no ruby"
fi
target formula URL=https://example.org/a.tar.gz
out_like '^  url "https://example.org/a.tar.gz"$' "URL= says where the archive will be"

target aur
status_is 0 "make aur succeeds"
cp "$out" "$tmp/PKGBUILD"
if [ "$(uname -s)" != Linux ] || ! [ -x "$root/bin/sse-tail" ]; then
  skip 3 "nothing to install"
  done_testing
fi
# makepkg's way, but for the build: the clone has the built commands.
tar -xzf "$archive" -C "$tmp"
for command in $(make -s -C "$root" commands former); do
  ln -s "$root/bin/$command" "$tmp/agentutils-$version/bin/$command"
done
# shellcheck disable=SC2016  # for bash to expand
run bash -euc 'cd "$0"; . ./PKGBUILD; pkgdir=$0/pkg
  echo "$pkgname $pkgver ${sha256sums[*]}"; package >&2' "$tmp"
status_is 0 "package() of the PKGBUILD installs"
out_is "agentutils $version $sum" "the PKGBUILD is about the archive"
for file in bin/sse-tail share/man/man7/agentutils.7 lib/systemd/user/agent-serve.service \
  share/licenses/agentutils/LICENSE; do
  ok "package() installs $file" test -s "$tmp/pkg/usr/$file"
done
not_ok "package() leaves no note of its own" test -e "$tmp/pkg/usr/share/agentutils/installed"

done_testing
