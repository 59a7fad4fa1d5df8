#!/bin/sh
# What script-options tells a script of the configuration.
. "${0%/*}/../lib.sh"

config=$XDG_CONFIG_HOME/agentutils/config
# configure: standard input is the file.
configure() { cat >"$config" && chmod 600 "$config"; }
# section KIND [NAME]: what a script has of it.
section() { run script-options --section "$@"; }

# --- the names
rm -f "$config"
section bus
is "$status $(cat "$out" "$err")" "0 default=''
set --" "without a file there are no sections"
configure <<'CONF'
[bus two]
servers = nats://127.0.0.1:1
[ host  it's box ]
port = 2222
[bus local] # here
[bus two]
stream = other
[host longer than forty-nine bytes, which no heading has at all]
[host
[unknown bus]
[profile]
CONF
section bus
is "$(cat "$out" "$err")" "default='local'
set -- 'local' 'two'" "each name is there once, whatever else is at fault"
section host
is "$(cat "$out" "$err")" "default=''
set -- 'it'\\''s box'" "no default is told behind a broken heading"
eval "$(cat "$out")"
is "$#$1" "1it's box" "a shell reads the name back"
section profile
is "$(cat "$out" "$err")" "default=''
set --" "a heading without a name has none"
configure <<'CONF'
host = me@far.example
profile = there
[host one]
[host default]
CONF
section host
is "$(cat "$out")" "default='me@far.example'
set -- 'default' 'one'" "the default host may be one without a section"
section profile
is "$(cat "$out")" "default='there'
set --" "the default profile is the one at the top"
printf '\357\273\277[host one]\r\n' | configure
section host
is "$(cat "$out")" "default='one'
set -- 'one'" "the only one is the default, behind a byte order mark too"
printf '[host default]\n[host one]\n' | configure
section host
is "$(head -n 1 "$out")" "default='default'" "one of several is the default by its name"

# --- the members
configure <<'CONF'
[host box]
hostname = box.example
port = 22
identity = key
directory = $(id) 'x'
directory = ~/it's
[bus local]
servers = nats://127.0.0.1:4322, nats://me:hunter2@far.example
token-command = echo hunter2
token-file = ~/token
[profile home]
url = https://home.example
token = hunter2
token-command = echo hunter2
redis-url = redis://:hunter2@home.example
[profile query]
url = https://home.example/?token=hunter2
secret-file = /secret
[profile bad]
url
CONF
section host box
is "$status $(cat "$out" "$err")" "0 hostname='box.example'
port='22'
user=''
identity='$XDG_CONFIG_HOME/agentutils/key'
session=''
directory='~/it'\\''s'
harness=''" "a host has a variable for each member, and the last line counts"
user=left session=over hostname='' directory=''
eval "$(cat "$out")"
is "$hostname|$user|$session|$directory" "box.example|||~/it's" "a shell reads them back"
section bus local
is "$status $(head -n 2 "$out" | paste -s -d ' ' -)" "0 servers='nats://127.0.0.1:4322' stream=''" \
  "a bus has its servers without the one with a password"
is "$(sed -n '/^token/p' "$out")" "token_file='$HOME/token'" "the path of a token is no secret"
section profile home
is "$status $(sed -n '/^kind\|^url\|^redis_url/p' "$out" | paste -s -d ' ' -)" \
  "0 kind='clanky' url='https://home.example' redis_url=''" "a profile has what is plain"
run env AGENT_URL=https://other.example script-options --section profile home
like "$(cat "$out")" "url='https://home.example'" "the environment does not stand for the file"
section profile query
is "$(sed -n '/^url\|^token/p' "$out" | paste -s -d ' ' -)" "url='' token_file='/secret'" \
  "a URL with a query is not printed"
for words in 'host box' 'bus local' 'profile home' 'profile query' host bus profile; do
  eval "section $words"
  is "$(grep -c hunter2 "$out")" 0 "$words: no secret is printed"
done

# --- what is refused
section bus none
is "$status $(cat "$out" "$err")" "1 " "a section that is not there is status 1 and nothing else"
section profile bad
is "$status $(cat "$out" "$err")" "2 script-options: profile bad: line 20 of $config is at fault: \
not of the form key = value" "a section with a fault is refused"
run env AGENTUTILS_PROGRAM=outer script-options --section profile bad
err_like '^outer: profile bad' "a script is told in its own name"
section server
is "$status $(head -n 1 "$err")" "2 script-options: --section server: not profile, host or bus" \
  "a kind that nobody knows is refused"
section host a b
is "$status $(head -n 1 "$err")" "2 script-options: b: one word too many" "one name is taken"
section host ''
is "$status $(head -n 1 "$err")" "2 script-options: --section: nothing is named" \
  "a name that is empty is refused"

# --- the host of a profile
unset AGENT_URL AGENT_PROFILE
host() { run script-options --host "$@"; }
rm -f "$config"
host
is "$status $(cat "$out")" "0 host='.'
conversation=''" "where nothing is configured, it is this machine"
for name in . .: box: ; do
  host -- "$name"
  is "$(head -n 1 "$out")" "host='${name%:}'" "the host of the profile $name is told"
done
host "it's:"
eval "$(cat "$out")"
# shellcheck disable=SC2154  # of the line before
is "$host" "it's" "a shell reads the host of a profile back"
printf '[profile desk]\nkind = claude\nhost = box\n' | configure
host
is "$(head -n 1 "$out")" "host='box'" "the usual profile may name a host"
printf '[profile web]\nurl = http://127.0.0.1:1\n' | configure
for name in '' web nobody; do
  host ${name:+"$name"}
  is "$status $(head -n 1 "$out")$(cat "$err")" "0 host=''" \
    "a profile of another agent has no host: $name"
done
host a b
is "$status $(head -n 1 "$err")" "2 script-options: b: one word too many" "one profile is taken"

chmod g+w "$config"
section host
is "$status $(cat "$err")" "2 script-options: $config: refused: others can write to it (chmod go-w)" \
  "a file that others write is refused"
done_testing
