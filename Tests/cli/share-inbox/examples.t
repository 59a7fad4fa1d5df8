#!/bin/sh
# The files among the examples of share-inbox(1) do what is said of them: those for the
# shell are run, those for a service manager are read by it, and their command is run.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

page=$root/man/share-inbox.1
there=$tmp/files
mkdir "$there" "$tmp/stubs"
awk -v there="$there" '
  /^\.Ed/ { file = "" }
  file != "" && !/^\.\\"/ { gsub(/\\&/, ""); gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print >file }
  /^\.\\" file / { file = there "/" $3 }' "$page"
is "$(find "$there" -type f | wc -l | tr -d ' ')" 5 "five files are in the manual"

start_box
cat >>"$XDG_CONFIG_HOME/agentutils/config" <<END
[host default]
hostname = 127.0.0.1
port = $port
user = $remote_user
identity = $id
END
PATH=$tmp/stubs:$PATH
stub() {
  cat >"$tmp/stubs/$1"
  chmod +x "$tmp/stubs/$1"
}

# --- a key for screenshots
head -c 5000 /dev/urandom >"$tmp/shot.png"
echo 'echo "1,2 3x4"' | stub slurp
# shellcheck disable=SC2016
{ echo '#!/bin/sh' && echo '[ "$1 $2 $3" = "-g 1,2 3x4 -" ] && cat "'"$tmp"'/shot.png"'; } | stub grim
forget_typed
run sh "$there/shot.sh"
is "$status $(cat "$err" | grep -cv 'new host')" "0 0" "the key for screenshots works"
came_once "a screenshot" "$tmp/shot.png"
like "$(typed_now)" '\.png $' "a screenshot is a picture"

# --- a folder that something else fills
mkdir "$tmp/fill"
if ! command -v inotifywait >/dev/null; then
  # What it would say, of two files.
  # shellcheck disable=SC2016
  { echo '#!/bin/sh' && echo 'for last; do :; done; printf "%s\n" "$last/a b.txt" "$last/c"'; } |
    stub inotifywait
fi
echo one >"$tmp/fill/a b.txt"
echo two >"$tmp/fill/c"
start fill sh "$there/fill.sh" "$tmp/fill"
fill=$pid
both() { [ "$(left)" -eq 2 ]; }
# The real one sees what comes when it is there; what has been moved is not made again.
again() {
  for file in "$tmp/fill/a b.txt" "$tmp/fill/c"; do perl -e 'open F, "+<", shift' "$file"; done
  both
}
ok "a folder that something else fills is watched" wait_until 30 again
stop "$fill"
is "$(find "$tmp/fill" -type f | wc -l | tr -d ' ')" 0 \
  "the files of the folder have moved into the inbox"

# --- the services' commands, and their files
command_of() { sed -n 's,^ExecStart=/usr/local/bin/,,p' "$there/share-inbox.service"; }
forget_typed
# shellcheck disable=SC2046
run $(command_of)
is "$status $(left)" "0 0" "the command of the service works: $(command_of)"
is "$(typed_paths | wc -l | tr -d ' ')" 2 "the command of the service delivers what is there"
rtmux kill-session -t =riff
share-inbox add -q "$tmp/shot.png"
# shellcheck disable=SC2046
run $(command_of)
not_ok "the service fails with a status that has it started again" grep -Eq \
  "RestartPreventExitStatus=(.* )?$status( |\$)" "$there/share-inbox.service"
is "$status" 75 "the service has status 75 while something is queued"

python3 -c '
import plistlib, sys
said = plistlib.load(open(sys.argv[1], "rb"))
assert said["RunAtLoad"] is True and said["KeepAlive"] == {"SuccessfulExit": False}
print(" ".join(said["ProgramArguments"]))' "$there/share-inbox.plist" >"$tmp/arguments"
is "$(cat "$tmp/arguments")" "/usr/local/bin/share-inbox watch -q" \
  "launchd's file has the command of the watch"
# shellcheck disable=SC2046
start agent $(sed 's,/usr/local/bin/,,' "$tmp/arguments")
start_agent riff
ok "the command of launchd's file delivers" wait_until 30 eval '[ "$(left)" -eq 0 ]'
stop "$pid"

if command -v systemd-analyze >/dev/null; then
  mkdir "$tmp/units"
  # It looks whether the program is there.
  for unit in share-inbox.path share-inbox.service; do
    sed "s,/usr/local/bin/share-inbox,$root/bin/share-inbox," "$there/$unit" >"$tmp/units/$unit"
  done
  run systemd-analyze verify --user --man=no "$tmp/units/share-inbox.path" \
    "$tmp/units/share-inbox.service"
  is "$status $(grep -c share-inbox "$err")" "0 0" "systemd reads its files"
else
  skip 1 "needs systemd-analyze"
fi
done_testing
