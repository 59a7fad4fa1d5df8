#!/bin/sh
# agent-setup: what it finds on this machine, and writes without asking about it.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-call tmux-attach jq python3 tmux

TMUX_TMPDIR=$tmp
export TMUX_TMPDIR
no_sessions() { for label in riff default; do tmux -L $label kill-server 2>/dev/null; done; }
at_end="$at_end no_sessions"
config=$XDG_CONFIG_HOME/agentutils/config
rm -f "$config"
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }
# Nothing listens there.
OPENCLAW_GATEWAY_PORT=1
DASHBOARD_PORT=1
export OPENCLAW_GATEWAY_PORT DASHBOARD_PORT
[ ! -e /tmp/joelclaw/gateway.ws.port ] || skip_all "a joelclaw gateway is on this machine"

# --- nothing

t 1 "--found finds nothing where nothing is" agent-setup --found
err_like '^Nothing was found: ' "--found says that nothing was found"
err_like '^  agentutils demo$' "--found says what else there is"
not_ok "nothing is written where nothing was found" test -e "$config"
talk <<END
Name of the profile|^C
END
out_unlike 'Found' "the dialogue begins at once without anything to find"

# --- hosts, an agent and a gateway

mkdir -p "$HOME/.ssh/more"
cat >"$HOME/.ssh/config" <<END
Host box
  HostName 127.0.0.1
Host *.example.org pi !no
Host code
  User git
Include more/*.conf
END
echo 'Host lab odd/name' >"$HOME/.ssh/more/a.conf"
echo 'Host other' >"$HOME/.ssh/more/b"
tmux -L default new-session -d -s mine 'sleep 1000'
tmux -L default set-option -t =mine: @agent_state working
start_gateway claw --token gw-secret
rm "$config"
OPENCLAW_GATEWAY_PORT=${url##*:}
talk <<END
Found here|-
Name of the profile|^C
END
out_like '^Found here:' "a terminal is shown first what is found"
out_like '^  box +a host of ~/.ssh/config' "a host is among what is found"
out_like 'agent-setup --found writes that' "agent-setup says how what is found is written"
not_ok "what is found is not written without --found" test -e "$config"
run agent-setup </dev/null
err_unlike 'Found here' "nothing found is shown without a terminal"
printf '[profile openclaw-old]\nurl = http://127.0.0.1:1\n# mine\n[host pi]\nport = 22\n' >"$config"
cp "$config" "$tmp/before"
t 0 "what is found is written" agent-setup --found
is "$(sed '$!d' "$tmp/before")" "$(sed -n 5p "$config")" "what was in the configuration stays"
is "$(sed 1,6d "$config")" "[profile openclaw]
kind = openclaw
url = $url

[host .]
label = default
kind = sleep

[host box]

[host lab]" "sections are added for a gateway, this machine and the hosts that were not there"
err_like '^openclaw: .*AUTH_TOKEN_MISSING' "a gateway that wants a token says so"
is "$(sed -n '/^next:/,$p' "$err")" 'next:
  agent-setup -p openclaw
  tmux-attach -l .
  agentutils doctor' "the next three commands are those for what was found"
cp "$config" "$tmp/before"
t 0 "--found has status 0 when all is there already" agent-setup --found
err_like '^All that was found here is in ' "--found says that all is there already"
ok "nothing is written when all is there already" cmp "$config" "$tmp/before"
t 0 "the label that was written is used" tmux-attach -l -o tsv .
out_like '^mine' "the session is found without an option"
t 0 "the front page uses the label, too" agentutils
out_like 'running +1 session in tmux +tmux-attach -l \.$' \
  "the session needs no option on the front page"
out_like 'the host \. \(sleep\) +tmux-attach \.' "the host is shown on the front page"

printf '[profile claw]\nkind = openclaw\nurl = %s/\n' "$(echo "$url" | sed s/127.0.0.1/localhost/)" >"$config"
t 0 "a gateway that has a profile is found" agent-setup --found
not_ok "a gateway that has a profile gets no second one" grep -q 'profile openclaw' "$config"
err_like '^  agent-setup -p claw$' "the profile of the gateway is named as the next step"
echo token >"$tmp/token"
chmod 600 "$tmp/token"
if [ -x "$root/bin/agent-serve" ]; then
  start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --token-file "$tmp/token"
  DASHBOARD_PORT=${url##*:} agent-setup --found 2>"$err"
  is "$(sed -n '/profile clanky/,$p' "$config" | head -n 2)" "[profile clanky]
url = $url" "a dashboard that wants a token gets a profile"
fi

# --- some of it

rm "$config"
talk --found <<END
Write which of them|nope
Write which of them|lab, pi
END
status_is 0 "some of what is found can be chosen at a terminal"
out_like 'nope: not one of them' "a word that names nothing found is refused"
is "$(cat "$config")" "[host pi]

[host lab]" "only what was chosen is written"
talk --found <<END
Write which of them|none
END
status_is 1 "none of what is found can be chosen"

# --- what is wrong

for words in '-k clanky' '-p home'; do
  # shellcheck disable=SC2086
  t 2 "--found with $words is refused" agent-setup --found $words
done
chmod g+w "$config"
t 2 "a configuration that others can write to is refused" agent-setup --found
chmod g-w "$config"
tmux -L default kill-server
esc=$(printf '\033')
printf 'Host a%sb\nHost %s\nInclude config\nInclude more/[\nHost \n' "$esc" "$(printf '%0300d' 0)" >"$HOME/.ssh/config"
OPENCLAW_GATEWAY_PORT=nonsense
rm "$config"
run agent-setup --found
not_ok "an escape in the name of a host is not printed" has "$err" "$esc"
not_ok "a name that is not one of a host is not written" grep -q 'host a\|000' "$config"
done_testing
