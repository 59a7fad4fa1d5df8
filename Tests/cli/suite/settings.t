#!/bin/sh
# The configuration, the environment and the tokens, as a command meets them:
# what goes over the wire, what is said, and how the command ends.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3
umask 077

config=$XDG_CONFIG_HOME/agentutils/config
stream='forever
stream
send data: x\n\n'
serve <<END
$stream
END
# follow [VARIABLE=VALUE ...] ARG...: one event of the activity stream.
follow() {
  printf '%s\n' "$stream" | script
  one=_=
  two=_=
  case ${1-} in [A-Z]*=*) one=$1 && shift ;; esac
  case ${1-} in [A-Z]*=*) two=$1 && shift ;; esac
  run env "$one" "$two" sse-tail -e message -n 1 --max-time 5 "$@" activity
}
sent() { requests '.headers["x-dashboard-token"] // ""'; }
# sends TOKEN TITLE: the last follow succeeded and its request had that token.
sends() {
  is "$status:$(sent | tail -n 1)" "0:$1" "$2"
}
# refuses STATUS ERE TITLE: it failed with one line and asked nobody.
refuses() {
  is "$status" "$1" "$3"
  err_one_line sse-tail "$3: one line is said"
  err_like "$2" "$3: the line says why"
  err_unlike 's3cr3t' "$3: the secret is not shown"
  is "$(requests .n | wc -l | tr -d ' ')" 0 "$3: nobody is asked"
}

# --- where the address comes from
follow
refuses 2 'activity: no url: run agent-setup, ' "a missing url is refused"
follow "AGENT_URL=$url"
sends "" "the environment's url is used"
printf 'profile = a\n[profile a]\nurl = %s\n[profile b]\nurl = http://127.0.0.1:1\n' "$url" >"$config"
follow
sends "" "the default profile's url is used"
follow --profile a
sends "" "the option's profile is used"
follow "AGENT_PROFILE=a"
sends "" "the environment's profile is used"
follow "AGENT_PROFILE=b" --profile a
sends "" "the option wins over the environment"
follow "AGENT_URL=$url" "AGENT_PROFILE=b"
sends "" "the environment's url wins over the file's"
follow --profile none
refuses 2 "profile none: not in $config; 'agent-setup -p none' writes it" \
  "a profile that is not there is refused"
follow "AGENT_PROFILE=none"
refuses 2 "profile none: not in $config; 'agent-setup -p none' writes it" \
  "a profile of the environment that is not there is refused"

# --- where the token comes from
cat >"$config" <<END
[profile clanky]
  url = $url/
  token-command = printf 4; cat
  token-file = five
END
mkdir "$tmp/service"
echo 1 >"$tmp/one"
echo 2 >"$tmp/service/agentutils-token"
echo 3 >"$tmp/three"
echo 5 >"$XDG_CONFIG_HOME/agentutils/five"
echo 6 >"$XDG_CONFIG_HOME/agentutils/token"
CREDENTIALS_DIRECTORY=$tmp/service
AGENT_TOKEN_FILE=$tmp/three
export CREDENTIALS_DIRECTORY AGENT_TOKEN_FILE
follow --token-file "$tmp/one"
sends 1 "1: the token of the option's file is used"
follow
sends 2 "2: the token of the service manager is used"
unset CREDENTIALS_DIRECTORY
follow
sends 3 "3: the token of the environment's file is used"
unset AGENT_TOKEN_FILE
echo ours >"$tmp/input"
follow <"$tmp/input"
sends 4 "4: the profile's command gives the token, without our standard input"
sed -i.old '/token-command/d' "$config"
follow
sends 5 "5: the token of the profile's file is used"
sed -i.old '/token-file/d' "$config"
follow
sends 6 "6: the token of last resort is used"
echo 7 >"$tmp/seven"
follow --token-file - <"$tmp/seven"
sends 7 "standard input is a token file"
mkfifo "$tmp/fifo"
start writer sh -c "echo 8 >'$tmp/fifo'"
follow --token-file "$tmp/fifo"
sends 8 "a pipe is a token file, too"
run sse-tail -n 1 "$url/elsewhere"
is "$(sent | tail -n 1)" 6 "the profile's token goes to a URL of its origin"
run sse-tail -n 1 "$other/elsewhere"
is "$status:$(sent | tail -n 1)" "0:" "the profile's token goes to no other port"
printf '[profile clanky]\nurl = %s\ntoken-file = five\n' "$other" >"$config"
follow "AGENT_URL=$url"
sends 6 "only the token of last resort goes to the environment's url"
rm "$XDG_CONFIG_HOME/agentutils/token"
follow "AGENT_URL=$url"
sends "" "a request without any token is sent"

# --- tokens that are none
printf '[profile clanky]\nurl = %s\n' "$url" >"$config"
token=$tmp/token
for mode in 640 604 660; do
  echo s3cr3t >"$token"
  chmod "$mode" "$token"
  follow --token-file "$token"
  refuses 77 "$token: refused" "a token file of mode $mode is refused"
done
chmod 600 "$token"
follow --token-file "$tmp/missing"
refuses 77 "$tmp/missing: no such file" "a missing token file is refused"
follow "AGENT_TOKEN_FILE=$tmp/missing"
refuses 77 "$tmp/missing: no such file" "a missing token file of the environment is refused"
: >"$token"
follow --token-file "$token"
refuses 77 "$token: empty" "an empty token file is refused"
follow --token-file "$tmp"
refuses 2 "$tmp: not a regular file" "a folder is refused as a token file"
printf 's3cr3t\nx-evil: 1\n' >"$token"
follow --token-file "$token"
refuses 2 "$token: more than one line" "a token of two lines is refused"
printf 's3cr3t\rx-evil: 1' >"$token"
follow --token-file "$token"
refuses 2 "$token: more than one line" "a token with a carriage return is refused"
printf 's3cr3t\033[2J' >"$token"
follow --token-file "$token"
refuses 2 "$token: control" "a token with a control character is refused"
head -c 70000 /dev/zero | tr '\0' s >"$token"
follow --token-file "$token"
refuses 2 "$token: larger than" "a long token file is refused"
printf '[profile clanky]\nurl = %s\ntoken-command = echo s3cr3t; exit 3\n' "$url" >"$config"
follow
refuses 77 'token-command of profile clanky: command failed with status 3' \
  "a failing token command is refused"
follow --verbose --token-file "$tmp/one"
err_unlike '(^|[^0-9])1$|s3cr3t' "--verbose shows no token"

# --- plain http
for host in localhost.evil.example 127.0.0.1.evil.example 100.64.evil.example; do
  AGENT_URL=http://$host follow --token-file "$tmp/one"
  is "$status" 2 "http://$host gets no token in plain text"
  err_one_line sse-tail "http://$host: one line is said"
  err_like 'plain http' "http://$host: the line says why"
done

# --- a file with faults
cat >"$config" <<END
colour = red
[profile clanky]
url = $url
urll = x
[profile bad]
url = $url
token-file
[profile
url = http://127.0.0.1:1
END
follow --profile clanky
sends "" "faults elsewhere leave a profile alone"
err_is "sse-tail: $config:1: unknown key colour
sse-tail: $config:4: unknown key urll
sse-tail: $config:7: not of the form key = value
sse-tail: $config:8: heading without ]" "each fault is a line with its number"
follow --profile bad
is "$status" 2 "a profile with a broken line is not used"
err_like "profile bad: line 7 of $config is at fault" "the message names the line"
err_one_line sse-tail "a broken line is told once"
follow
is "$status" 2 "a default is not guessed when a heading is broken"
printf '[profile a]\nurl = %s\n\033]0;x\007 = 1\nurl\n' "$url" >"$config"
follow
is "$(tr -d '[:print:]\n' <"$err" | wc -c | tr -d ' ')" 0 "a hostile file commands no terminal"
rm "$config"
mkdir "$config"
follow
refuses 2 "$config: not a regular file" "a folder as the configuration is refused"
rmdir "$config"
mkfifo "$config"
follow
refuses 2 "$config: not a regular file" "a pipe as the configuration is refused"
rm "$config"
head -c 2000000 /dev/zero >"$config"
follow
refuses 2 "$config: larger than 1048576 bytes" "a huge configuration is refused"
printf '[profile a]\nurl = %s\n' "$url" >"$config"
for mode in 666 620 602; do
  chmod "$mode" "$config"
  follow
  refuses 2 "$config: refused: others can write to it \(chmod go-w\)" \
    "a configuration of mode $mode is refused"
  err_is "sse-tail: $config: refused: others can write to it (chmod go-w)" \
    "mode $mode: the message says what to do"
done
chmod 644 "$config"
follow
sends "" "a configuration that others may read is used"
mv "$config" "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$config"
follow
sends "" "a link to the configuration is followed"
chmod 664 "$tmp/elsewhere"
follow
refuses 2 "$config: refused: others can write to it" "the mode of the file behind a link counts"
rm "$config"
mv "$tmp/elsewhere" "$config"
if [ "$(id -u)" = 0 ]; then
  chmod 600 "$config"
  chown 12345 "$config"
  follow
  refuses 2 "$config: refused: it belongs to another user" \
    "a configuration of somebody else is refused"
fi
rm "$config"

# --- relative and missing folders
cd "$tmp" || bail "no $tmp"
follow XDG_CONFIG_HOME=relative "AGENT_URL=$url"
sends "" "a relative XDG_CONFIG_HOME is passed over"
run env -u HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME AGENT_URL="$url" \
  sse-tail -e message -n 1 --max-time 5 activity
is "$status" 0 "a missing HOME does no harm"

done_testing
