#!/bin/sh
# make install and uninstall, into a folder of its own.
. "${0%/*}/../lib.sh"
needs make man

dest=$tmp/dest
# The make that runs this test is not the one that installs.
unset MAKEFLAGS MAKELEVEL MFLAGS
commands=$(make -s -C "$root" commands)
install_in() { run make -s -C "$root" DESTDIR="$dest" "$@" install; }
uninstall_in() { run make -s -C "$root" DESTDIR="$dest" "$@" uninstall; }
# Everything below the folder, folders with a slash.
tree() { find "$dest" \( -type d -exec printf '%s/\n' {} + \) -o -print | LC_ALL=C sort; }

# Somebody else's, and a folder that was there and empty.
mkdir -p "$dest/usr/bin" "$dest/usr/share/man/man5"
touch "$dest/usr/bin/other"
tree >"$tmp/before"

install_in PREFIX=/usr
status_is 0 "make install succeeds"
out_is "installed in $dest/usr" "make install says where it has installed"
for command in $commands; do
  file=$dest/usr/bin/$command
  is "$("$file" --version)" "$("$root/bin/$command" --version)" "$command runs where it is"
  like "$("$file" --version)" "^$command [0-9]+\.[0-9]+" "$command tells its version"
  ok "$command is stripped" sh -c '[ "$(wc -c <"$1")" -lt "$(wc -c <"$2")" ]' - \
    "$file" "$root/bin/$command"
  for completions in "bash-completion/completions/$command" "zsh/site-functions/_$command" \
    "fish/vendor_completions.d/$command.fish"; do
    ok "there are completions: $completions" test -s "$dest/usr/share/$completions"
  done
done
ok "links are relative" test "$(readlink "$dest/usr/bin/sse-tail")" = \
  ../libexec/agentutils/agentutils-web
is "$(find "$dest/usr/libexec" -type f | wc -l)" 3 "each program is there once"
# How much it is. Without lld nobody promises anything.
size() { find "$dest/usr" -type f "$@" -exec cat {} + | wc -c; }
if [ -n "$(cd "$root" && sh .ci/lean)" ]; then
  ok "all of it is at most 45 MB" test "$(size)" -le 45000000
  ok "without the server it is at most 31 MB" test "$(size ! -name '*agent-serve*')" -le 31000000
else
  skip 2 "no lld"
fi
for recipe in $(make -s -C "$root" recipes); do
  ok "there are completions of $recipe" \
    test -s "$dest/usr/share/bash-completion/completions/$recipe"
done
like "$("$dest/usr/bin/agent-pulse" -h)" "^usage: agent-pulse" "the recipe runs where it is"
if [ "$(uname -s)" = Linux ]; then
  is "$(sed -n 's/^ExecStart=//p' "$dest/usr/share/systemd/user/agent-serve.service")" \
    '"/usr/bin/agent-serve" --quiet' "a unit names the command where it is"
fi

for page in "$root"/man/*.[0-9]; do
  name=${page##*/}
  section=${name##*.}
  run man -M "$dest/usr/share/man" -w "$section" "${name%.*}"
  # A name of earlier versions has the page of the new one.
  out_is "$dest/usr/share/man/$(sed -n 's/^[.]so //p' "$page" | grep . || echo "man$section/$name")" \
    "man finds ${name%.*}($section)"
done
for former in $(make -s -C "$root" former); do
  like "$("$dest/usr/bin/$former" --help 2>/dev/null)" "^usage: " "$former runs where it is"
  is "$(find "$dest" -path '*complet*' -name "*$former*")" "" "$former has no completions"
  like "$(cat "$dest/usr/share/man/man1/$former.1")" '^\.so man1/[a-z-]+\.1$' \
    "the page of $former is another's"
done

# Again, over an older version that had more.
tree >"$tmp/installed"
echo /usr/bin/of-old >>"$dest/usr/share/agentutils/installed"
touch "$dest/usr/bin/of-old"
install_in PREFIX=/usr
status_is 0 "make install succeeds once more"
tree >"$tmp/again"
ok "make install leaves what this version has" cmp "$tmp/installed" "$tmp/again"

uninstall_in PREFIX=/usr
status_is 0 "make uninstall succeeds"
tree >"$tmp/after"
ok "make uninstall leaves what was there before, and nothing else" cmp "$tmp/before" "$tmp/after"
uninstall_in PREFIX=/usr
status_is 0 "make uninstall succeeds once more"
out_is "nothing is installed in $dest/usr" "make uninstall says that nothing is installed"

mkdir -p "$dest/home/deep/er" && ln -s deep/er "$dest/home/bin"
install_in PREFIX=/home BINDIR=/home//bin
status_is 0 "a folder for commands that is a link has status 0"
is "$(readlink "$dest/home/deep/er/sse-tail")" "/home/libexec/agentutils/agentutils-web" \
  "links do not depend on a folder that is a link"
uninstall_in PREFIX=/home BINDIR=/home//bin
ok "make uninstall removes links, too" test ! -L "$dest/home/deep/er/sse-tail"
rm -r "${dest:?}/home"

install_in PREFIX=usr
status_is 2 "a prefix that is not a path from the root is an error"

t 0 "make install works without the server" \
  env AGENTUTILS_WITHOUT_SERVE=1 make -s -C "$root" DESTDIR="$dest" PREFIX=/clients install
out_is "installed in $dest/clients" "the clients are installed"
is "$(find "$dest/clients" -name '*agent-serve*')" "" "nothing of the server is installed"
ok "the commands of the clients are there" test -x "$dest/clients/bin/agent-tail"
uninstall_in PREFIX=/clients

# For somebody who reads along and has no other place: folders are for others, too.
(umask 077 && make -s -C "$root" DESTDIR="$dest" PREFIX="/home/of ada/.local" install >/dev/null)
run find "$dest/home" ! -perm -444
out_empty "a strict umask does not hide what is installed"
uninstall_in PREFIX="/home/of ada/.local"
tree >"$tmp/after"
ok "a prefix may have a space" cmp "$tmp/before" "$tmp/after"

# macOS: agents of launchd, to be copied.
cat >"$tmp/codesign" <<'END'
#!/bin/sh
END
chmod +x "$tmp/codesign"
PATH=$tmp:$PATH install_in PREFIX=/usr/local SYSTEM=Darwin COMMANDS= FORMER=
ok "agents of launchd are installed" \
  test -s "$dest/usr/local/share/agentutils/launchd/agentutils.agent-archive.plist"
uninstall_in PREFIX=/usr/local
tree >"$tmp/after"
ok "agents of launchd are removed as well" cmp "$tmp/before" "$tmp/after"

# Root builds nothing: a tree with the Makefile alone.
mkdir -p "$tmp/unbuilt/bin" "$tmp/machine"
cp -R "$root/Makefile" "$root/.ci" "$tmp/unbuilt/"
printf '#!/bin/sh\necho 0\n' >"$tmp/machine/id"
chmod +x "$tmp/machine/id"
for target in install deb tarball; do
  t 2 "make $target as root, with nothing built, is an error" \
    env PATH="$tmp/machine:$PATH" make -s -C "$tmp/unbuilt" DESTDIR="$tmp/none" $target
  err_like "^bin/.* is not built, and root builds nothing: run make as yourself$" \
    "make $target as root says what to do"
  not_ok "make $target as root does nothing" test -e "$tmp/none" -o -e "$tmp/unbuilt/.build"
done

done_testing
