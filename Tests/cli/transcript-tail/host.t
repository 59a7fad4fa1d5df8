#!/bin/sh
# The transcripts of a host: the program that runs there, in several shells and with the
# tools of other systems; what is asked for; what goes wrong. Over both transports.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"
needs transcript-tail turn-fold turn-format
cd "$tmp" || exit 1
sample=$root/Tests/fixtures/transcript.ndjson
name=7d0c9a52-3b1e-4a6f-9d57-1c2e8b90f4aa

# --- this machine as a host

HOME=$tmp/far
site=$HOME/.claude/projects/-home-ada-site
mkdir -p "$site" "$HOME/bin" "$HOME/bsd"
cp "$sample" "$site/$name.jsonl"
transcript-tail --once >want || bail "no transcript here"
t 0 "this machine can be the host" transcript-tail --once .:
ok "this machine as a host is read as it is" cmp "$out" want
ln -s "$(command -v bash)" "$HOME/bin/sh"
real=$(command -v stat)
cat >"$HOME/bsd/stat" <<END
#!/bin/sh
# As that of macOS: -f is the format, and there is no -c.
case " \$* " in *' -c '*) exit 1 ;; esac
for word; do
  shift
  case \$word in
  -f) word=-c ;;
  %Fm) word=%.9Y ;;
  '%i %z %Fm %FB %N') word='%i %s %.9Y %.9W %n' ;;
  esac
  set -- "\$@" "\$word"
done
exec $real "\$@"
END
chmod +x "$HOME/bsd/stat"
for folder in bin bsd; do
  echo "PATH=$HOME/$folder:\$PATH; echo noise; cat" >"$HOME/.profile"
  run transcript-tail --once .:
  ok "this machine is read as it is with other tools ($folder)" cmp "$out" want
done
echo 'exit 3' >"$HOME/.profile"
t 2 "a login that runs nothing is an error" transcript-tail --once .:
err_one_line transcript-tail "one line tells of a login that runs nothing"

# A host that is slow to list: what is asked for there is looked at again at the end.
mkdir "$HOME/slow" "$HOME/strange" "$HOME/elsewhere"
find=$(command -v find)
printf '#!/bin/sh\nsleep 0.2\nexec %s "$@"\n' "$find" >"$HOME/slow/find"
cat >"$HOME/strange/find" <<END
#!/bin/sh
echo "find: '/home/ada/secret': Permission denied" >&2
exec $find "\$@"
END
cat >"$HOME/strange/dd" <<END
#!/bin/sh
echo >>"$tmp/calls"
[ "\$(grep -c '' "$tmp/calls")" -ne 2 ] || until [ -e "$tmp/go" ]; do sleep 0.1; done
exec $(command -v dd) "\$@"
END
chmod +x "$HOME/slow/find" "$HOME/strange/find" "$HOME/strange/dd"
echo "PATH=$HOME/slow:\$PATH" >"$HOME/.profile"
echo '{"type":"user","n":1}' >"$HOME/elsewhere/s.jsonl"
start slow transcript-tail -v --max-time 2 .:elsewhere
slow=$pid
wait_until 10 at_least slow.out 1
slow_since=$(date +%s)
perl -e 'print "{\"type\":\"user\",\"n\":$_,\"x\":\"", "y" x 100, "\"}\n" for 1 .. 200' \
  >"$HOME/elsewhere/t.jsonl"
echo "PATH=$HOME/strange:\$PATH" >"$HOME/.profile"
start held transcript-tail --once .:elsewhere
ok "what came of a long transcript is printed" wait_until 10 has held.out '"n":100,'
ok "the beginning of a long transcript is printed before the rest comes" \
  test "$(lines held.out)" -lt 200
touch go
finished "$pid"
is "$status $(lines held.out)" "2 200" "all lines of a slow host come"
is "$(cat held.err)" "transcript-tail: /home/ada/secret: permission denied" \
  "a folder that may not be read is told"
rm "$HOME/.profile"

run transcript-tail --once ".:.claude/projects/-home-ada-site/$name.jsonl"
ok "one file can be named" cmp "$out" want
t 1 "a folder without transcripts has status 1" transcript-tail --once ".:~/.claude"
odd="it's a \$(touch got-out) \`touch got-out\` \"*;\\ "
mkdir "$HOME/$odd"
cp "$sample" "$HOME/$odd/$odd.jsonl"
# shellcheck disable=SC2088  # it is the host's to expand
for place in "$odd" "~/$odd" "$HOME/$odd" "$odd/$odd.jsonl"; do
  run transcript-tail --once ".:$place"
  is "$status $(jq -r .id "$out" | head -n 1)" "0 $odd/111" "such a name is taken in any place"
done
ok "nothing of a name is obeyed" sh -c '! find "$1" | grep -q "/got-out$"' - "$tmp"
odd=$(printf 'caf\351')
mkdir "$HOME/$odd"
cp "$sample" "$HOME/$odd/$odd.jsonl"
run transcript-tail --once ".:$odd/$odd.jsonl"
is "$status $(lines "$out")" "0 $(lines "$sample")" "a name that is not UTF-8 is taken"
t 2 "a place that does not exist is an error" transcript-tail --once .:nowhere
err_is "transcript-tail: .:nowhere: no such file or folder" "the place is named"
printf '[host box]\nhostname = .\n' >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a host needs a colon" transcript-tail --once box
err_is "transcript-tail: box: no such file or directory: did you mean box:?" \
  "the message says what is meant"
cp "$sample" "$HOME/$(printf 'a\nb')"
t 2 "a line feed is refused, too" transcript-tail --once "$(printf '.:a\nb')"
err_like 'a path on a host cannot hold control characters$' \
  "the message says that control characters cannot be in a path"
err_one_line transcript-tail "a line feed in a path is told in one line"
echo '{"type":"user","n":1}' >"$site/$(printf 'a\nb').jsonl"
run transcript-tail --once --all .:
is "$status $(lines "$out")" "0 26" "names with line feeds are left out"
echo '{"type":"user","n":2}' >"$site/z.jsonl"
touch -d '2030-01-01 00:00:00.9' "$site/$name.jsonl"
touch -d '2030-01-01 00:00:00.1' "$site/z.jsonl"
run transcript-tail --once .:
ok "the newest session is told to a part of a second" cmp "$out" want
rm "$site/z.jsonl"
t 2 "a port is for a host" transcript-tail --once -P 22 "$site"

# --- it grows

line() { printf '{"type":"user","n":%s}\n' "$1"; }
has_lines() { [ "$(jq -r 'select(.event) | .data.n' "$1" | xargs | tr ' ' ,)" = "$2" ]; }
rm -rf "$HOME/.claude"
mkdir -p "$site"
line 1 >"$site/a.jsonl"
start follow transcript-tail -L --state state .:
follow=$pid
ok "the session is printed" wait_until 10 has_lines follow.out 1
line 2 >>"$site/a.jsonl"
ok "what is added to a session is printed, too" wait_until 10 has_lines follow.out 1,2
printf '{"type":"user",' >>"$site/a.jsonl"
line 3 >"$site/b.jsonl"
ok "a session that begins is printed" wait_until 10 has_lines follow.out 1,2,3
printf '"n":4}\n' >>"$site/a.jsonl"
ok "a line is printed when it is whole" wait_until 10 has_lines follow.out 1,2,3,4
line 5 >"$site/a.jsonl"
ok "a file that became shorter is read again" wait_until 10 has_lines follow.out 1,2,3,4,5
like "$(cat follow.out)" '"reason":"truncated"' "a gap tells that a file became shorter"
stop "$follow"
is "$status" 143 "a signal ends transcript-tail"
is "$(jq -r 'select(.type) | .type' follow.out | xargs)" "open gap end" \
  "--lifecycle tells the end by a signal"
line 6 >>"$site/b.jsonl"
run transcript-tail --once --state state .:
ok "a later run goes on behind what was printed" has_lines "$out" 6
perl -e 'print "{\"type\":\"user\",\"x\":\"", "y" x 20_000_000, "\"}\n"' >"$site/big.jsonl"
run sh -c 'transcript-tail --once .: | jq -r ".data.x | length"'
out_is 20000000 "a line of 20 MB passes"

# --- a host

start_sshd
site=$remote_home/.claude/projects/-home-ada-site
mkdir -p "$site"
cp "$sample" "$site/$name.jsonl"
for transport in $transports; do
  attach_args
  # shellcheck disable=SC2086
  t 0 "$transport: the transcripts of a host come" transcript-tail --once $attach_args:
  ok "$transport: the transcript of a host is read as it is" cmp "$out" want
  # shellcheck disable=SC2086
  start live sh -c 'transcript-tail "$@" | turn-fold | turn-format -W 80' - $attach_args:
  ok "$transport: turn-format shows it at work" wait_until 20 has live.out 'tide table still build'
  pkill -P "$pid"
  finished "$pid"
  # shellcheck disable=SC2086
  t 2 "$transport: a place that does not exist is an error" \
    transcript-tail --quiet --max-time 5 --once $attach_args:nowhere
  ssh-keygen -q -t ed25519 -N '' -f "other-$transport"
  t 77 "$transport: a key that is refused has status 77" \
    transcript-tail --once --transport "$transport" -i "other-$transport" --pins pins \
    -P "$port" "$remote_user@127.0.0.1:"
  err_one_line transcript-tail "$transport: a key that is refused is told in one line"
  t 75 "$transport: a host where nobody answers has status 75" \
    transcript-tail --transport "$transport" -i "$id" --pins pins -P 1 "$remote_user@127.0.0.1:"
  err_one_line transcript-tail "$transport: a host where nobody answers is told in one line"
done
printf '[127.0.0.1]:%s ' "$port" | cat - "$host_key" >known
eval "$(ssh-agent -s)" >/dev/null
ssh-add -q "$id"
t 0 "an agent's key, and a key that OpenSSH knows has status 0" \
  transcript-tail --once --agent --known-hosts=known -P "$port" "$remote_user@127.0.0.1:"
err_empty "nothing is said of an agent's key and a known host"
ssh-agent -k >/dev/null

ok "a host lists slowly for seven seconds" \
  wait_until 10 sh -c 'test $(($(date +%s) - $1)) -ge 7' - "$slow_since"
is "$(grep -c 'link is down' slow.err)" 0 "a host that lists slowly keeps its connection"
stop "$slow"
done_testing
