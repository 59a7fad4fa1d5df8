#!/bin/sh
# make deb: the packages are made of what is built, are clean, and are installed,
# used and removed: as root on the system itself where nothing is in the way,
# else in a folder.
. "${0%/*}/../lib.sh"
needs make man dpkg-deb dpkg-shlibdeps
unset MAKEFLAGS MAKELEVEL MFLAGS
commands=$(make -s -C "$root" commands)
recipes=$(make -s -C "$root" recipes)
bound=600

# Not over one that somebody made, and quick to make: what is shipped is smaller.
PACKAGES=$tmp DEBCOMPRESSION=none
export PACKAGES DEBCOMPRESSION
# Nobody's swift is asked.
mkdir "$tmp/machine"
printf '#!/bin/sh\necho "$@" >>"%s/swift-ran"\nexit 1\n' "$tmp" >"$tmp/machine/swift"
chmod +x "$tmp/machine/swift"
t 0 "make deb succeeds" env PATH="$tmp/machine:$PATH" make -s -C "$root" deb
not_ok "make deb builds no Swift" test -e "$tmp/swift-ran"
version=$(sse-tail --version)
version=${version#* }
architecture=$(dpkg --print-architecture)
package=$tmp/agentutils_${version}_$architecture.deb
server=$tmp/agentutils-serve_${version}_$architecture.deb
[ -x "$root/bin/agent-serve" ] || server=
is "$(tail -n 2 "$out" | grep '\.deb$')" "$package${server:+
$server}" "packages are named by their version"

# depends_on PACKAGE LIBRARY...
depends_on() {
  depends=$(dpkg-deb -f "$1" Depends)
  shift
  for library; do
    like "$depends" "(^|, )${library}[^,]* \(>= [^)]+\)" \
      "the package depends on $library, of a version"
  done
}
depends_on "$package" libc6 libcurl libssh2 libjansson libedit
unlike "$depends" sqlite "the clients have no database"

inside=$tmp/inside
for each in $package $server; do
  is "$(dpkg-deb -f "$each" Version)" "$version" \
    "the package has the version of the suite: ${each##*/}"
  is "$(dpkg-deb -c "$each" | awk '$2 != "root/root"')" "" \
    "everything in the package is root's: ${each##*/}"
  is "$(dpkg-deb -c "$each" | awk '$1 !~ /^l/ && $1 ~ /^.....w|^........w|s/')" "" \
    "nobody else may write in the package: ${each##*/}"
  rm -rf "$inside" "$tmp/control"
  dpkg-deb -x "$each" "$inside"
  dpkg-deb -e "$each" "$tmp/control"
  ok "the sums are right: ${each##*/}" \
    sh -c 'cd "$1" && md5sum --quiet -c "$2/md5sums"' - "$inside" "$tmp/control"
  is "$(ls "$tmp/control" | tr '\n' ' ')" "control md5sums " \
    "the package has no scripts that run at installation: ${each##*/}"
done
if [ -n "$server" ]; then
  depends_on "$server" libc6 libsqlite3 libevent-core
  unlike "$depends" libcurl "the server's package does not depend on what only embeddings need"
  like "$(dpkg-deb -f "$server" Recommends)" "(^|, )curl(,|$)" \
    "the server's package recommends curl"
  is "$(cd "$inside" && find . -type f ! -path './usr/share/doc/*' ! -name '*agent-serve*')" "" \
    "the server's package has the server's files"
fi
is "$(dpkg-deb -c "$package" | grep agent-serve)" "" \
  "the package of the clients has none of the server's files"
dpkg-deb -x "$package" "$inside"
for file in usr/lib/systemd/user/agent-archive.service usr/share/doc/agentutils/copyright \
  usr/share/doc/agentutils/changelog.gz usr/share/doc/agentutils/CHANGES.md.gz \
  usr/share/zsh/vendor-completions/_sse-tail \
  usr/share/fish/vendor_completions.d/sse-tail.fish \
  usr/share/bash-completion/completions/sse-tail; do
  ok "the package has $file" test -s "$inside/$file"
done
is "$(find "$inside" -name '*.wants')" "" "no unit is enabled"
is "$(find "$inside/usr/share/man" -type f ! -name '*.gz')" "" \
  "the manuals of the package are compressed"

if command -v lintian >/dev/null 2>&1; then
  t 0 "lintian finds nothing wrong" \
    lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host \
    "$package" ${server:+"$server"}
else
  skip 1 "no lintian"
fi

# --- use

# used FOLDER: the installed copies below it work.
used() {
  for command in $commands; do
    run "$1/bin/$command" --version
    out_is "$command $version" "$command --version is that of the package"
    run "$1/bin/$command" --help
    out_like "^usage: $command" "$command --help shows its usage"
  done
  # The recipes find the commands beside them. All that riff-claude is given is
  # claude's.
  for recipe in $recipes; do
    [ "$recipe" != riff-claude ] || continue
    run env PATH="$1/bin:/usr/bin:/bin" "$recipe" -V
    out_is "$recipe $version" "$recipe -V is that of the package"
    run env PATH="$1/bin:/usr/bin:/bin" "$recipe" -h
    out_like "^usage: $recipe" "$recipe -h shows its usage"
  done
  for page in "$root"/man/*.[0-9]; do
    name=${page##*/}
    run man -M "$1/share/man" -w "${name##*.}" "${name%.*}"
    out_is "$1/share/man/$(sed -n 's/^[.]so //p' "$page" | grep . || echo "man${name##*.}/$name").gz" \
      "man finds ${name%.*}(${name##*.})"
  done

  [ -x "$1/bin/agent-serve" ] || { skip 2 "no agent-serve" && return; }
  "$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day"
  start_server serve "$1/bin/agent-serve" -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --ingest "$tmp/day"
  run env PATH="$1/bin:/usr/bin:/bin" AGENT_URL="$url" sh -c \
    'sse-tail -n 1 activity | action-filter -u -d voice | action-format -tW 100'
  out_like "^[0-9-]{10} .* voice_" \
    "actions from the installed server come through the installed commands"
  err_empty "nothing is said by the installed commands"
  stop "$pid"
}

# --- on the system itself

# Nothing of ours may be there, and one of us alone does this at a time.
free() {
  [ "$(id -u)" -eq 0 ] && command -v flock >/dev/null 2>&1 || return 1
  exec 9>/run/lock/agentutils-test && flock -w 60 9 || return 1
  ! dpkg -s agentutils >/dev/null 2>&1 || return 1
  for each in $package $server; do dpkg-deb -c "$each"; done | awk '/^-/ { sub(/^\./, "", $6); print $6 }' >"$tmp/files"
  while IFS= read -r file; do
    [ ! -e "$file" ] || return 1
  done <"$tmp/files"
}
# All that there is where the package puts something.
system() {
  find /usr/bin /usr/libexec /usr/lib/systemd /usr/share/man /usr/share/doc /usr/share/bash-completion \
    /usr/share/zsh /usr/share/fish /usr/share/lintian /usr/share/agentutils 2>/dev/null |
    LC_ALL=C sort
}
# shellcheck disable=SC2317  # at the end, in any case
purge() { dpkg --purge agentutils agentutils-serve >/dev/null 2>&1 9>&-; }

if free; then
  system >"$tmp/before"
  at_end=purge
  # Systems in containers often leave out the manuals of packages.
  # shellcheck disable=SC2086  # two
  t 0 "dpkg installs the packages" dpkg --path-include='/usr/share/*' -i $package $server
  used /usr
  # shellcheck disable=SC2086
  run dpkg --verify agentutils ${server:+agentutils-serve}
  out_empty "nothing is changed by use of the package"
  # shellcheck disable=SC2086
  t 0 "dpkg removes the packages" dpkg -r agentutils ${server:+agentutils-serve}
  at_end=
  system >"$tmp/after"
  ok "nothing is left of removed packages" cmp "$tmp/before" "$tmp/after"
  not_ok "removed packages are forgotten" dpkg -s agentutils
else
  used "$inside/usr"
fi

done_testing
