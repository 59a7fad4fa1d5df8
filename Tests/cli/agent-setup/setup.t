#!/bin/sh
# agent-setup: from nothing to a profile that works, and what can be wrong.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
needs python3

umask 077
TMPDIR=$tmp/tmp
mkdir "$TMPDIR" "$tmp/tools"
export TMPDIR
config=$XDG_CONFIG_HOME/agentutils/config
token=Tok3n-that-nobody-sees
echo "$token" >"$tmp/right"
# It must not depend on the mask of its user.
umask 022
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --token-file "$tmp/right"
agent=$url

# Every command tells what it is given: no word, no variable is the token. Two of
# them stand in for password managers, whose own stores are not for tests.
for tool in agent-call pass secret-tool; do
  cat >"$tmp/tools/$tool" <<'END'
#!/bin/sh
{ printf '%s\n' "$0" "$@"; env; } >>"$SEEN"
case ${0##*/}:$1 in
agent-call:*) exec "$REAL/agent-call" "$@" ;;
pass:insert) cat >"$KEPT/pass" ;;
pass:show) cat "$KEPT/pass" ;;
secret-tool:store) cat >"$KEPT/secret-tool" ;;
secret-tool:lookup) cat "$KEPT/secret-tool" ;;
esac
END
  chmod +x "$tmp/tools/$tool"
done
SEEN=$tmp/seen
KEPT=$tmp/kept
mkdir "$KEPT"
REAL=$root/bin
export SEEN KEPT REAL
PATH=$tmp/tools:$PATH

# talk ARG... <SCRIPT: agent-setup on a terminal.
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }
unseen() {
  not_ok "$1: the terminal never shows the token" has "$out" "$token"
  not_ok "$1: no command has the token in its words or environment" grep -q "$token" "$SEEN"
  ok "$1: the terminal is left as it was" has "$out" "^echo on"
  ok "$1: nothing is left in TMPDIR" test -z "$(ls -A "$TMPDIR")"
}

t 0 "--help succeeds" agent-setup --help
out_like "^usage: agent-setup" "--help says how agent-setup is called"
run agent-setup --version
out_is "agent-setup $(agent-call -V | sed 's/.* //')" "--version is that of the suite"
for words in --nonsense operand -p; do
  t 2 "agent-setup $words is refused" agent-setup $words
  is "$(lines "$err")" 2 "two lines are said: $words"
done

t 2 "agent-setup needs a home" env -u HOME -u XDG_CONFIG_HOME agent-setup </dev/null
err_is "agent-setup: HOME is not set: there is no place for a profile" \
  "agent-setup asks nothing without a home"

talk <<END
Name of the profile|clanky
URL of the agent|$agent
Token, not shown|$token
Where to keep the token: pass, secret-tool, file|file
END
status_is 0 "a profile is made with the token in a file"
out_like "The agent answers" "the agent is asked before anything is written"
out_like "agent-call -p clanky health: ok" "the profile is tried afterwards"
is "$(cat "$config")" "[profile clanky]
url = $agent
token-file = clanky.token" "the profile with a token in a file is written"
is "$(find "$XDG_CONFIG_HOME/agentutils" -type f -perm 600 | wc -l | tr -d ' ')" 2 "the files are for their owner alone"
is "$(ls -A "$XDG_CONFIG_HOME/agentutils")" "clanky.token
config" "nothing else is written"
unseen "a file"

# What is there stays.
cp "$config" "$tmp/before"
talk -p clanky <<END
There is a profile clanky|n
END
status_is 1 "a profile is not replaced without a yes"
ok "the profile stays without a yes" cmp "$config" "$tmp/before"
printf '# mine\nprofile = clanky\n\n[ profile   clanky ]\nurl = http://old\n# kept\ntoken-file=old\n  token-command = old\n[host box]\nport = 22\r\nhostname = url = x' >"$config"
mv "$config" "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$config"
talk -p clanky <<END
Replace its URL and token|y
URL of the agent|$agent/
Token, not shown|$token
Where to keep|file
END
status_is 0 "a profile is replaced"
ok "a link stays a link" test -L "$config"
printf '# mine\nprofile = clanky\n\n[ profile   clanky ]\nurl = %s\ntoken-file = clanky.token\n# kept\n[host box]\nport = 22\r\nhostname = url = x\n' "$agent" >"$tmp/want"
ok "all else stays as it was when a profile is replaced" cmp "$config" "$tmp/want"
chmod 770 "${config%/*}"
run agent-setup -p clanky
is "$status $(cat "$err")" \
  "2 agent-setup: $config: a symbolic link that others could have made: not followed" \
  "a link is not followed in a folder that others can write to"
chmod 700 "${config%/*}"
talk --profile=second <<END
URL of the agent|$agent
Token, not shown|$token
Where to keep|file
END
status_is 0 "another profile is added"
is "$(tail -n 4 "$config" | head -n 2)" "
[profile second]" "another profile stands below the first"
is "$(sed -n 1,10p "$config")" "$(cat "$tmp/want")" "another profile is added behind what was there"

# Whatever the commands take for this profile is replaced: a secret of before goes nowhere else.
cp "$config" "$tmp/kept-config"
mark=$(printf '\357\273\277')
tab=$(printf '\t')
for heading in '[profile home] ; my server' "${mark}[profile home]" '[profile home] # mine' \
  "${tab}[  profile  ${tab}home$tab]$tab" '[profile home];' '[profile home]'; do
  for line in 'token-command = echo 0ldSecret' 'secret-command=echo 0ldSecret' \
    'secret-file = 0ldSecret' 'token-command : echo 0ldSecret' 'url: https://0ldSecret.example'; do
    printf '%s\n' "$heading" 'url = https://0ldSecret.example' " $line" "[host box]" 'port = 22' >"$config"
    printf 'y\n%s\n%s\nfile\n' "$agent" "$token" >"$tmp/answers"
    run agent-setup -p home <"$tmp/answers"
    is "$status $(grep -c 'There is a profile home' "$err") $(grep -c '0ldSecret' "$config")" "0 1 0" \
      "a profile is replaced below $heading with: $line"
    is "$(cat "$config")" "$heading
url = $agent
token-file = home.token
[host box]
port = 22" "$heading with $line is replaced where it stands"
  done
done
# What they take for no heading of it is left as it is.
for heading in "[profile${tab}home]" "[${tab}profile home]" '[profile home] x' '[Profile home]' \
  "[profile home] ; $(printf '%0200d' 0)"; do
  printf '%s\n' "$heading" 'token-command = echo 0ldSecret' >"$config"
  printf '%s\n%s\nfile\n' "$agent" "$token" | agent-setup -p home >"$out" 2>"$err"
  is "$(sed 2q "$config")" "$heading
token-command = echo 0ldSecret" "this is not a heading of the profile: $heading"
  is "$(sed 1,3d "$config")" "[profile home]
url = $agent
token-file = home.token" "a profile is added behind: $heading"
done
cp "$tmp/kept-config" "$config"
mkdir "$tmp/relative"
run sh -c 'cd "$1" && printf "%s\n" "$2" "$3" file | XDG_CONFIG_HOME=here XDG_STATE_HOME=there agent-setup -p relative' \
  - "$tmp/relative" "$agent" "$token"
is "$status $(ls -A "$tmp/relative")" "0 " "a relative XDG_CONFIG_HOME counts for nothing"
ok "the commands take a relative XDG_CONFIG_HOME for nothing, too" \
  grep -q '^\[profile relative\]' "$HOME/.config/agentutils/config"
cp "$tmp/kept-config" "$config"

# What others may have written is not taken over.
cp "$config" "$tmp/before"
chmod 664 "$tmp/elsewhere"
t 2 "a configuration that its group can write to is refused" agent-setup -p third </dev/null
err_is "agent-setup: $tmp/elsewhere: refused: others own it or can write to it: look through it, then chmod go-w or chown" \
  "nothing is asked about a configuration that is refused"
ok "a configuration that is refused stays as it was" cmp "$config" "$tmp/before"
chmod 600 "$tmp/elsewhere"

# Password managers.
for tool in pass secret-tool; do
  talk -p "$tool" <<END
URL of the agent|$agent
Token, not shown|$token
Where to keep the token: pass, secret-tool, file|$tool
END
  status_is 0 "the token goes to $tool"
  is "$(cat "$KEPT/$tool")" "$token" "$tool has the token"
  out_like "agent-call -p $tool health: ok" "$tool gives the token back"
  ok "no file has the token in $tool" test ! -e "$XDG_CONFIG_HOME/agentutils/$tool.token"
  unseen "$tool"
done

# What can be wrong is said in words; nothing is written.
cp "$config" "$tmp/before"
cat >"$tmp/sleeper.py" <<'END'
import json, socket
listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"type": "listening", "url": "http://127.0.0.1:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)
while True:
    connection, _ = listener.accept()
    connection.settimeout(10)
    with connection:
        path = connection.recv(65536).split(b" ")[1:2]
        status, type, body = b"530 x", b"text/html", b"<html>origin unregistered</html>"
        if b"hidden" in b"".join(path):
            status, type, body = b"404 Not Found", b"application/json", b'{"error":"Not found."}'
        if b"other" in b"".join(path):
            status, type, body = b"200 OK", b"text/html", b"<html>hello</html>"
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
                           b"Connection: close\r\n\r\n%s" % (status, type, len(body), body))
END
start_server sleeper python3 "$tmp/sleeper.py"
# wrong URL TOKEN STATUS WORDS
wrong() {
  talk -p wrong <<END
URL of the agent|$1
Token, not shown|$2
quit (u/t/w/q)|q
END
  status_is "$3" "$1: the status is $3"
  out_like "$4" "$1: the person is told: $4"
  out_like "Nothing was changed" "$1: nothing was changed"
  ok "$1: the configuration is as before" cmp "$config" "$tmp/before"
}
wrong "$agent" other-token 77 "does not accept this token"
wrong "$agent" "" 77 "wants a token"
wrong "$url" x 75 "asleep or gone"
wrong "$url/hidden" x 77 "does not accept this token"
wrong "$url/other" x 2 "not the dashboard of an agent"
wrong "http://example.com" x 2 "Over plain http everybody"
wrong "https://nowhere.invalid" x 75 "host name does not exist"
wrong "http://127.0.0.1:9" x 75 "Nothing answers at this address"
wrong "${url%%:*}s${url#http}" x 75 "but not with TLS"
unseen "what is wrong"

# Bad answers are asked again, and mistakes can be mended.
talk -p mended <<END
URL of the agent|
URL of the agent|http://a b
not a URL|-
URL of the agent|http://me:secret@host
out of the URL|-
URL of the agent|http://127.0.0.1:9
Token, not shown|$token
quit (u/t/w/q) [u]|
URL of the agent|$agent
Where to keep|nowhere
choose one|file
END
status_is 0 "another URL can be given"
talk -p mended <<END
Replace|yes
URL of the agent|$agent
Token, not shown|other-token
quit (u/t/w/q) [t]|
Token, not shown|$token
Where to keep|file
END
status_is 0 "another token can be given"
talk -p asleep <<END
URL of the agent|$url
Token, not shown|$token
quit|w
Where to keep|file
END
status_is 75 "a profile of an agent that sleeps has status 75"
ok "a profile of an agent that sleeps is written if that is wanted" has "$config" "profile asleep"
t 0 "answers may come from a pipe" \
  sh -c 'printf "%s\n" "$@" | agent-setup -p piped' sh "$agent" "$token" file
not_ok "answers from a pipe are not shown, either" grep -q "$token" "$err" "$out" "$SEEN"

# On this machine there is no TLS; elsewhere a name gets it.
talk -p near <<END
URL of the agent|${agent#http://}
Token, not shown|$token
Where to keep|file
END
status_is 0 "an address of this machine can be given"
out_like "^Asking $agent " "an address of this machine is asked over http at once"
ok "an address of this machine is written with http" has "$config" "url = $agent\$"
while read -r address asked; do
  run sh -c 'printf "%s\n" "$@" | agent-setup -p far' sh "$address" x q
  err_like "Asking $asked [.]" "$address is asked as $asked"
done <<'END'
localhost:9/x http://localhost:9/x
127.0.0.1.invalid https://127.0.0.1.invalid
localhost.invalid:9 https://localhost.invalid:9
[::1]:9 http://\[::1\]:9
END
run sh -c 'printf "%s\n" "$@" | agent-setup -k openclaw -p far' sh 127.0.0.1:9 x q
err_like 'Asking ws://127.0.0.1:9 ' "a gateway on this machine is asked over ws"

# A token that a server has refused is for no other one.
serve <<'END'
forever
status 200 application/json {"ok":true}
END
talk -p moved <<END
URL of the agent|$agent
Token, not shown|other-token
quit (u/t/w/q)|u
URL of the agent|$url
Token, not shown|third-token
Where to keep|file
END
status_is 0 "another agent can be given"
unlike "$(cat "$log")" other-token "another agent gets no token of the first"
like "$(cat "$log")" third-token "another agent gets its own token"

# The terminal is never left silent.
cp "$config" "$tmp/before"
for key in ^C ^D; do
  talk -p gone <<END
URL of the agent|$agent
Token, not shown|$key
END
  [ "$key" = ^C ] && status_is 130 "^C at the token: ended by the signal" ||
    status_is 2 "^D at the token ends it with status 2"
  unseen "$key"
  ok "$key: nothing was changed" cmp "$config" "$tmp/before"
done
# Only a job of a shell can be stopped.
run python3 "$cli/talk.py" sh -mc 'agent-setup -p gone' <<END
URL of the agent|$agent
Token, not shown|^Z
|$token
Where to keep|^C
END
out_like "^Where to keep" "^Z does not stop it at the token"
status_is 130 "^C ends agent-setup after ^Z"
unseen "^Z"
ok "no half profile is left after ^C" cmp "$config" "$tmp/before"

done_testing
