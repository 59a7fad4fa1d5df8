#!/bin/sh
# make install and uninstall, into a folder of its own.
. "${0%/*}/lib.sh"
needs make man

dest=$tmp/dest
# The make that runs this test is not the one that installs.
unset MAKEFLAGS MAKELEVEL MFLAGS
commands=$(make -s -C "$root" commands)

run make -C "$root" DESTDIR="$dest" PREFIX=/usr install
status_is 0 "make install"
for command in $commands; do
  file=$dest/usr/bin/$command
  is "$("$file" --version)" "$("$root/bin/$command" --version)" "$command runs where it is"
  like "$("$file" --version)" "^$command [0-9]+\.[0-9]+" "$command tells its version"
  ok "$command is stripped" sh -c '[ "$(wc -c <"$1")" -lt "$(wc -c <"$2")" ]' - \
    "$file" "$root/.build/release/$command"
  for completions in "bash-completion/completions/$command" "zsh/site-functions/_$command" \
    "fish/vendor_completions.d/$command.fish"; do
    ok "completions: $completions" test -s "$dest/usr/share/$completions"
  done
done
like "$("$dest/usr/bin/agent-pulse" -h)" "^usage: agent-pulse" "the recipe runs where it is"

for page in "$root"/man/*.[0-9]; do
  name=${page##*/}
  section=${name##*.}
  run man -M "$dest/usr/share/man" -w "$section" "${name%.*}"
  out_is "$dest/usr/share/man/man$section/$name" "man finds ${name%.*}($section)"
done

# A file of somebody else stays.
touch "$dest/usr/bin/other"
run make -C "$root" DESTDIR="$dest" PREFIX=/usr uninstall
status_is 0 "make uninstall"
is "$(find "$dest" ! -type d)" "$dest/usr/bin/other" "and nothing of it is left"

done_testing
