#!/bin/sh
# pds-record: what the command line takes, and refuses before anybody is asked.
. "${0%/*}/../lib.sh"
needs pds-record jq python3

serve <<'END'
forever
status 200 application/json {"did":"did:web:a.test","handle":"a.test"}
END
printf '[profile me]\nkind = pds\nurl = %s\nidentifier = a.test\n' "$url" \
  >"$XDG_CONFIG_HOME/agentutils/config"
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run pds-record $words </dev/null
  is "$(head -n 1 "$err")" "pds-record: $want" "pds-record $words is refused"
  status_is 2 "pds-record $words has status 2"
done <<'END'
|a command is needed: list, get, create, put, delete, watch, describe, login, export, blob
lits com.example.a|unknown command lits: did you mean list?
list|list needs a COLLECTION
list com.example|com.example: not the name of a collection
list at://a.test/com.example.a/x|at://a.test/com.example.a/x: not the AT URI of a collection
list com.example.a x|too many words: x
get com.example.a a/b|a/b: not a record key
get at://a.test/com.example.a|at://a.test/com.example.a: not the AT URI of a record
get at://a.test/com.example.a/x y|too many words: y
get --repo b.test at://a.test/com.example.a/x|--repo and an AT URI: one of them says whose
put at://a.test/com.example.a/x|put takes names, not the AT URI at://a.test/com.example.a/x
create com.example.a x|too many words: x
create|create needs a COLLECTION
describe x|too many words: x
login x|too many words: x
export x|too many words: x
export --reverse|--reverse is not for export
list --car com.example.a|--car is not for list
blob|blob needs put or get
blob rm|blob needs put or get
blob get|blob get needs a CID
blob get x|x: not a CID
blob put png|png: not a media type, such as image/png
blob put image/png x|too many words: x
blob put --repo b.test|--repo is not for blob put
blob put --token-file -|standard input cannot be the password and the records
login --repo b.test|--repo is not for login
watch com.example|com.example: not the name of a collection
list --repo nobody com.example.a|--repo nobody: neither a handle nor a DID
put --swap x com.example.a x|--swap x: not a CID, none or row
put --swap row com.example.a x|--swap row: there are no rows with a RKEY
list --swap none com.example.a|--swap is not for list
create --reverse com.example.a|--reverse is not for create
put --repo b.test com.example.a x|--repo is not for put
get --from 1 com.example.a x|--from is not for get
watch --timeout 1|--timeout is not for watch
list --timeout 0 com.example.a|--timeout: above 0
create --token-file - com.example.a|standard input cannot be the password and the records
get --token-file - com.example.a|standard input cannot be the password and the records
END
is "$(requests .n | wc -l | tr -d ' ')" 0 "nobody is asked for what is refused"
t 0 "a name that is good has status 0" pds-record describe
is "$(requests .target)" "/xrpc/com.atproto.repo.describeRepo?repo=a.test" "the name is asked for"
t 0 "reading takes no password" pds-record -p me --token-file /dev/null describe
t 77 "without a password nobody logs in" pds-record -p me login
err_like 'no app password' "the message says that there is no app password"
printf '[profile c]\nurl = %s\n' "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "an agent without records is refused" pds-record -p c describe
err_is "pds-record: c: a Clanky dashboard keeps no records of the AT Protocol" \
  "the message says that a dashboard keeps no records"

done_testing
