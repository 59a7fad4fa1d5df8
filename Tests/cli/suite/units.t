#!/bin/sh
# The units of systemd and the agents of launchd: accepted by who reads them,
# and what they start works in the cage that they make.
. "${0%/*}/../lib.sh"
needs make python3
unset MAKEFLAGS MAKELEVEL MFLAGS

# --- agents of launchd

for plist in "$root"/units/*.plist; do
  name=${plist##*/}
  run python3 - "$plist" <<'END'
import plistlib, sys
with open(sys.argv[1], "rb") as file:
    agent = plistlib.load(file)
print(agent["Label"])
print(agent["ProgramArguments"][2])
END
  status_is 0 "$name is a property list"
  is "$(head -n 1 "$out")" "${name%.plist}" "$name has its own name as label"
  sed -n '2,$p' "$out" >"$tmp/line"
  ok "$name starts a line that sh accepts" sh -n "$tmp/line"
  command=${name#agentutils.}
  ok "$name starts its command" has "$tmp/line" "^exec ${command%.plist} "
done

# --- units of systemd

[ "$(uname -s)" = Linux ] || { done_testing; }
# A place with a space, for once.
t 0 "make install succeeds" make -s -C "$root" PREFIX="$tmp/a usr" install
units="$tmp/a usr/share/systemd/user"
mkdir "$tmp/broken"

if command -v systemd-analyze >/dev/null 2>&1; then
  # verify UNIT: as its user's manager reads it, its manuals among it.
  verify() {
    MANPATH="$tmp/a usr/share/man" run systemd-analyze verify --user "$1"
  }
  for unit in agent-serve agent-archive agent-notify@default bus-up outbox share-inbox@box; do
    if [ ! -x "$tmp/a usr/bin/${unit%@*}" ]; then
      skip 2 "no ${unit%@*}"
      continue
    fi
    verify "$units/$unit.service"
    status_is 0 "systemd accepts $unit.service"
    is "$(cat "$out" "$err")" "" "systemd says nothing of $unit.service"
  done
  verify "$units/outbox.timer"
  is "$status$(cat "$out" "$err")" 0 "systemd accepts outbox.timer"
  # That it would say so.
  sed 's/^UMask/UMaks/' "$units/share-inbox@.service" >"$tmp/broken/share-inbox@.service"
  verify "$tmp/broken/share-inbox@box.service"
  err_like "UMaks" "systemd tells a wrong word"
else
  skip 14 "no systemd-analyze"
fi

# --- for real

# What is printed is compared with what stands below.
cat >"$tmp/script" <<'END'
state=.local/state/agentutils
# What the services do when they are up; half a minute at most.
soon() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || return 1
    sleep 0.05
  done
}
mkdir -p .config/agentutils
printf '[profile default]\nurl = http://127.0.0.1:8787\n' >.config/agentutils/config
echo a-token-that-is-long-enough >.config/agentutils/token
chmod 600 .config/agentutils/token

# Something to say to nobody: that is no failure.
printf '[profile claw]\nkind = openclaw\nurl = ws://127.0.0.1:9\n' >>.config/agentutils/config
echo '{"op":"prompt","text":"hello"}' | outbox -p claw add >/dev/null
mkdir -p .config/systemd/user/outbox.service.d
printf '[Service]\nEnvironment="OPTIONS=--max-time 0.5"\n' \
  >.config/systemd/user/outbox.service.d/time.conf
systemctl --user daemon-reload
systemctl --user start outbox.timer
systemctl --user start outbox && echo "the outbox is looked into"
systemctl --user show -p Result -p ExecMainStatus --value outbox | sort | xargs
systemctl --user is-active outbox.timer
systemctl --user stop outbox.timer

systemctl --user is-enabled agent-serve agent-archive agent-notify@default share-inbox@box bus-up
systemctl --user start bus-up
there_is() { bus-put --max-wait 1 </dev/null; }
soon there_is && echo "there is a bus"
echo '{"type":"health"}' | bus-put && bus-get --all -e
systemctl --user restart bus-up
bus-get --all -n 1 --max-wait 30 && echo "it was kept"
systemctl --user start agent-serve
soon agent-call health && echo "it serves who has the token"
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8787/api/actions
systemctl --user start agent-archive agent-notify@default share-inbox@box
archived() { grep -q activity_snapshot "$state"/archive/*; }
soon archived && echo "it is archived"
soon test -d "$state/inbox" && echo "there is an inbox"
notified() {
  # What was there before it followed is no news: until it is heard, it is said again.
  curl -s -H "x-dashboard-token: $(cat .config/agentutils/token)" \
    -d '{"kind":"bot_error","content":"fell"}' http://127.0.0.1:8787/api/actions
  grep -q '"told":\["' "$state/notify-default"
}
soon notified && echo "what happens is told"
find "$state" -perm /077 -print

for unit in agent-serve agent-archive agent-notify@default share-inbox@box bus-up; do
  echo "$unit $(systemctl --user is-active "$unit")"
  pid=$(systemctl --user show -p MainPID --value "$unit")
  sed -n 's/^\(NoNewPrivs\|Seccomp\|Umask\):\t/\1 /p' "/proc/$pid/status" | sort | tr '\n' ' '
  # The home, but for the state, and the system are not to be written to.
  root=/proc/$pid/mountinfo
  awk '$5 == "/" || $5 == "/home" || $5 ~ /state/ { printf "%s%s %s", sep, $5, substr($6, 1, 2); sep = " " }' "$root"
  echo
done
server=$(systemctl --user show -p MainPID --value bus-up)
server=$(pgrep -P "$server" nats-server)
systemctl --user stop agent-archive agent-notify@default share-inbox@box agent-serve bus-up
[ -e "/proc/$server" ] || echo "its server is gone"
systemctl --user show -p Result --value agent-serve agent-archive agent-notify@default share-inbox@box bus-up | tr -s '\n'

# Without a token it is not open to everybody, but not there.
rm .config/agentutils/token
systemctl --user start agent-serve 2>/dev/null && echo "it serves everybody"
systemctl --user is-active agent-serve
END
if [ "$(id -u)" -ne 0 ] || ! command -v systemd-analyze >/dev/null 2>&1 ||
  [ ! -x "$tmp/a usr/bin/agent-serve" ]; then
  skip 1 "needs root, systemd and agent-serve"
  done_testing
fi
run make -s -C "$root" DESTDIR="$tmp/dest" install
bound=60
run "$cli/clients/user-manager" "$tmp/dest/usr/local" "$tmp/script"
if [ "$status" -eq 99 ]; then
  skip 1 "no manager of a user's own can run here"
  done_testing
fi
out_is "the outbox is looked into
75 success
active
disabled
disabled
disabled
disabled
disabled
there is a bus
{\"type\":\"health\"}
{\"type\":\"health\"}
it was kept
it serves who has the token
401
it is archived
there is an inbox
what happens is told
agent-serve active
NoNewPrivs 1 Seccomp 2 Umask 0077 / ro /home ro /home/ada/.local/state/agentutils rw
agent-archive active
NoNewPrivs 1 Seccomp 2 Umask 0077 / ro /home ro /home/ada/.local/state/agentutils rw
agent-notify@default active
NoNewPrivs 1 Seccomp 2 Umask 0077 / ro /home ro /home/ada/.local/state/agentutils rw
share-inbox@box active
NoNewPrivs 1 Seccomp 2 Umask 0077 / rw /home rw
bus-up active
NoNewPrivs 1 Seccomp 2 Umask 0077 / ro /home ro /home/ada/.local/state/agentutils rw
its server is gone
success
success
success
success
success
failed" "each unit runs, and is kept where it belongs"
done_testing
