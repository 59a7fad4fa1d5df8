#!/bin/sh
# make tarball: it is unpacked, the commands run where they lie, and its script installs what make
# installs, and removes it. Into folders alone, without the network.
. "${0%/*}/../lib.sh"
needs make tar gzip dpkg-query patchelf readelf
unset MAKEFLAGS MAKELEVEL MFLAGS
bound=600
version=$(sse-tail --version)
version=${version#* }
name=agentutils-$version-linux-$(uname -m)

# Not over one that somebody made, and quick to make.
PACKAGES=$tmp LEVEL=1
export PACKAGES LEVEL
t 0 "make tarball succeeds" make -s -C "$root" tarball
out_is "$tmp/$name.tar.gz" "make tarball says what it has made"
err_empty "make tarball says nothing else"
cp "$tmp/$name.tar.gz" "$tmp/first"
t 0 "make tarball succeeds once more" make -s -C "$root" tarball
ok "make tarball makes the same bytes again" cmp "$tmp/first" "$tmp/$name.tar.gz"

run tar --numeric-owner -tvzf "$tmp/$name.tar.gz"
is "$(awk '$2 != "0/0"' "$out")" "" "everything in the tarball is root's"
is "$(awk '$1 !~ /^l/ && $1 ~ /^.....w|^........w|s/' "$out")" "" \
  "nobody else may write in the tarball"
is "$(awk '{ sub(/\/.*/, "", $6); print $6 }' "$out" | sort -u)" "$name" \
  "all of the tarball is in one folder"
mkdir "$tmp/unpacked"
tar -C "$tmp/unpacked" -xzf "$tmp/$name.tar.gz"
tree=$tmp/unpacked/$name
for file in INSTALL LICENSE README.md CHANGES.md licenses/agentutils; do
  ok "the tarball has $file" test -s "$tree/$file"
done
like "$(cat "$tree/INSTALL")" "^    apt-get install .*libcurl4 .*libssh2-1 " \
  "INSTALL has the packages by the names that all releases know"
unlike "$(cat "$tree/INSTALL")" "libnats|libutf8proc" \
  "INSTALL does not have the packages whose names differ"

# --- libraries

for program in "$tree/libexec/agentutils"/agent*; do
  run readelf -d "$program"
  out_unlike 'RPATH|RUNPATH' "${program##*/} looks for no other library beside it"
  out_unlike 'NEEDED.*\[lib(nats|utf8proc)' \
    "${program##*/} needs no library that another release has not"
done
run ldd "$tree/libexec/agentutils/agentutils-remote"
out_like "^[[:space:]]*$tree/libexec/agentutils/(\./)?libnats\.so" \
  "the library of the bus is beside the programs"

# --- use

# used FOLDER: what lies below it works, with nothing else of ours in the way.
used() {
  for command in action-filter sse-tail tmux-attach bus-put; do
    run env PATH=/usr/bin:/bin "$1/bin/$command" --version
    out_is "$command $version" "$command of the tarball runs"
  done
  run env PATH="$1/bin:/usr/bin:/bin" agent-pulse -V
  out_is "agent-pulse $version" "a script finds the commands beside it"
  [ -x "$1/bin/agent-serve" ] || { skip 1 "no agent-serve" && return; }
  gzip -dc "$1/share/agentutils/sample-day.ndjson.gz" | "$1/share/agentutils/as-of-now" >"$tmp/day"
  start_server serve "$1/bin/agent-serve" -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --ingest "$tmp/day"
  run env PATH="$1/bin:/usr/bin:/bin" AGENT_URL="$url" sh -c \
    'sse-tail -n 1 activity | action-filter -u -d voice | action-format -tW 100'
  out_like "^[0-9-]{10} .* voice_" "the tarball's server and commands understand each other"
  stop "$pid"
  rm -f "$tmp/serve.sqlite"*
}
used "$tree"

# --- installation

dest=$tmp/dest
# listed FOLDER: everything below it, folders with a slash.
listed() {
  (cd "$1" && find . \( -type d -exec printf '%s/\n' {} + \) -o -print) | LC_ALL=C sort
}
mkdir -p "$dest/usr/bin" "$dest/usr/share/man/man5"
touch "$dest/usr/bin/other"
cp -R "$dest" "$tmp/made"
listed "$dest" >"$tmp/before"
# A machine that has nothing for building.
for tool in make strip swift cc perl; do
  mkdir -p "$tmp/machine"
  printf '#!/bin/sh\necho %s >>"%s/ran"\nexit 127\n' "$tool" "$tmp" >"$tmp/machine/$tool"
  chmod +x "$tmp/machine/$tool"
done
t 0 "./install succeeds" env PATH="$tmp/machine:/usr/bin:/bin" \
  "$tree/install" "DESTDIR=$dest" PREFIX=/usr
out_is "installed in $dest/usr" "./install says where it has installed"
not_ok "./install builds nothing" test -e "$tmp/ran"

make -s -C "$root" install DESTDIR="$tmp/made" PREFIX=/usr >"$out"
listed "$dest" | grep -v '^\./usr/libexec/' >"$tmp/ours"
listed "$tmp/made" | grep -v '^\./usr/libexec/' >"$tmp/theirs"
ok "./install installs what make installs" diff "$tmp/theirs" "$tmp/ours"
is "$(listed "$dest" | sed -n 's|^\./usr/libexec/agentutils/\(agentutils-.*\)|\1|p')" \
  "$(listed "$tmp/made" | sed -n 's|^\./usr/libexec/agentutils/\(agentutils-.*\)|\1|p')" \
  "./install installs the same programs as make"
# The programs load other libraries, the server's is a link, and the note names what is more.
is "$(diff -r --no-dereference -x libexec -x installed "$tmp/made/usr" "$dest/usr" |
  grep -v '/bin/agent-serve is a ')" "" "./install installs the same files as make"
is "$(cd "$dest/usr" && find bin share -type f -exec stat -c '%a %n' {} + | sort)" \
  "$(cd "$tmp/made/usr" && find bin share -type f -exec stat -c '%a %n' {} + |
    grep -vx '755 bin/agent-serve' | sort)" "./install installs the same modes as make"
used "$dest/usr"

listed "$dest" >"$tmp/installed"
echo /usr/bin/of-old >>"$dest/usr/share/agentutils/installed"
touch "$dest/usr/bin/of-old"
t 0 "./install over an older version succeeds" "$tree/install" "DESTDIR=$dest" PREFIX=/usr
listed "$dest" >"$tmp/again"
ok "./install leaves what this version has" cmp "$tmp/installed" "$tmp/again"
t 0 "./install remove succeeds" "$tree/install" remove "DESTDIR=$dest" PREFIX=/usr
listed "$dest" >"$tmp/after"
ok "./install remove leaves what was there before, and nothing else" cmp "$tmp/before" "$tmp/after"
run "$tree/install" remove "DESTDIR=$dest" PREFIX=/usr
out_is "nothing is installed in $dest/usr" "./install remove once more has nothing to do"

t 0 "a prefix may have a space" "$tree/install" "DESTDIR=$dest" "PREFIX=/home/of ada/.local"
if [ -x "$root/bin/agent-serve" ]; then
  is "$(sed -n 's/^ExecStart=//p' "$dest/home/of ada/.local/share/systemd/user/agent-serve.service")" \
    '"/home/of ada/.local/bin/agent-serve" --quiet' "a unit names the command where it is"
fi
t 0 "make uninstall removes what ./install has installed" \
  make -s -C "$root" DESTDIR="$dest" PREFIX="/home/of ada/.local" uninstall
listed "$dest" >"$tmp/after"
ok "make uninstall leaves nothing of it" cmp "$tmp/before" "$tmp/after"

mkdir -p "$dest/home/deep/er" && ln -s deep/er "$dest/home/bin"
t 0 "a folder for commands may be a link" "$tree/install" "DESTDIR=$dest" PREFIX=/home
is "$(readlink "$dest/home/deep/er/sse-tail")" "/home/libexec/agentutils/agentutils-web" \
  "links do not depend on a folder that is a link"

t 2 "a prefix that is not a path from the root is an error" "$tree/install" PREFIX=usr
err_is "PREFIX=usr: not a path from the root" \
  "the message says that the prefix is not a path from the root"
t 2 "any other word of ./install is an error" "$tree/install" uninstall
err_like "^usage: ./install " "any other word of ./install shows the usage"

# --- libraries that are missing

printf '#!/bin/sh\necho "	libcurl.so.4 => not found"\n' >"$tmp/machine/ldd"
printf '#!/bin/sh\necho 1000\n' >"$tmp/machine/id"
printf '#!/bin/sh\necho "$*" >>"%s/apt"\n[ ! -e "%s/refuse" ] || { echo no such package; exit 100; }\n' \
  "$tmp" "$tmp" >"$tmp/machine/apt-get"
chmod +x "$tmp/machine"/*
# installs WORD...: into a prefix of its own, on that machine.
installs() { run env PATH="$tmp/machine:/usr/bin:/bin" "$tree/install" "PREFIX=$tmp/own" "$@"; }
installs
status_is 1 "missing libraries are a failure"
err_like "^install: libraries are missing, install as root: apt-get install libcurl4 " \
  "the message about missing libraries says what to type"
not_ok "no library is installed by who is not root" test -e "$tmp/apt"
printf '#!/bin/sh\necho 0\n' >"$tmp/machine/id"
installs
status_is 0 "root gets the missing libraries"
out_like "^install: installing libcurl4 " "root is told that libraries are installed"
is "$(sed -n '$s/ libcurl4 .*//p' "$tmp/apt")" "install -qq -y --no-install-recommends" \
  "the missing libraries come from apt-get"
touch "$tmp/refuse"
installs
status_is 1 "a library that apt-get has not got is a failure"
err_is "no such package" "the failure is told in the words of apt-get"
rm "$tmp/apt"
installs "DESTDIR=$tmp/package"
status_is 0 "below a DESTDIR no library is asked for"
not_ok "no library is installed below a DESTDIR" test -e "$tmp/apt"

mkdir "$tmp/nothing" "$tmp/bin"
printf '#!/bin/sh\necho no such program >&2\nexit 1\n' >"$tmp/bin/patchelf"
chmod +x "$tmp/bin/patchelf"
run env PATH="$tmp/bin:$PATH" PACKAGES="$tmp/nothing" make -s -C "$root" tarball
isnt "$status" 0 "a tool that fails is a failure"
err_like "^no such program$" "the failure of a tool is told in its words"
is "$(ls "$tmp/nothing")" "" "nothing is made when a tool fails"
t 2 "a machine that cannot make a tarball is an error" \
  env PATH="$tmp/nothing" "$(command -v sh)" "$root/.ci/tarball"
err_like "^tarball: dpkg-query is missing: install " "the message says what the machine lacks"

done_testing
