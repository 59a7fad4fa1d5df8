#!/bin/sh
# agent-setup and a joelclaw gateway.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-call python3 jq

config=$XDG_CONFIG_HOME/agentutils/config
start_joelgate joel --token jc-secret
rm "$config"
mkdir "$tmp/tools"
PATH=$tmp/tools:$PATH
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }

talk -k joelclaw -p joel <<END
URL of the agent|${url#ws://}
Token, not shown|wrong
another token|t
Token, not shown|jc-secret
Where to keep the token|file
END
status_is 0 "a gateway gets a profile"
out_like "does not accept this token" "a wrong token is told"
out_like "agent-call -p joel get health: ok" "the profile of a joelclaw gateway is tried"
is "$(cat "$config")" "[profile joel]
kind = joelclaw
url = $url
token-file = joel.token" "the profile of a joelclaw gateway is written"
talk -k joelclaw -p joel <<END
Replace its URL and token|y
URL of the agent|ws://127.0.0.1:1
Token, not shown|
Another URL|q
END
status_is 75 "a gateway that is not there has status 75"
out_like "Nothing answers at this address" "the person is told that nothing answers"
talk -k joelclaw -p far <<END
URL of the agent|box.invalid:3018
Token, not shown|
Another URL|q
END
out_like 'Asking wss://box.invalid:3018 ' "a gateway elsewhere is asked over TLS"
talk -k joelclaw -p here <<END
URL of the agent|
Token, not shown|
Another URL|w
END
out_like 'Asking the gateway of this machine' "an empty URL means the gateway of this machine"
is "$(sed -n '/here/,$p' "$config")" "[profile here]
kind = joelclaw" "the URL of the gateway of this machine is not written"
done_testing
