#!/bin/sh
# outbox and pds-record --queue: rows that name a handle or a DID, before any login has told whose
# that is, and deletions of what others changed: whatever ends with 75 waits.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
AGENT_PROFILE=me
export AGENT_PROFILE
state=$XDG_STATE_HOME/agentutils
printf '%s\n' '{"title":"one"}' | pds-record put $task one >"$tmp/row" || bail "no record"
did=$(jq -r '.uri | split("/")[2]' "$tmp/row")
cid=$(jq -r .cid "$tmp/row")
sed 's/^\[profile me\]/[profile did]/; s/^identifier = .*/identifier = '"$did"'/' \
  "$XDG_CONFIG_HOME/agentutils/config" >"$tmp/did"
cat "$tmp/did" >>"$XDG_CONFIG_HOME/agentutils/config"
forget() { rm -rf "$state"; }
# row NAME: a row of the list.
row() { printf '{"uri":"at://%s/%s/one","cid":"%s","value":{"title":"%s"}}\n' "$1" $task "$cid" "$2"; }
reset() {
  forget
  printf '%s\n' '{"title":"one"}' | pds-record put $task one >"$tmp/other" || bail "no record"
  cid=$(jq -r .cid "$tmp/other")
  forget
}

# --- every name of an account, in the profile and in the rows, with and without a login

for profile in me did; do
  for name in "$did" alice.test; do
    for login in no yes; do
      for how in put delete add; do
        reset
        what="$how of a row of ${name%%:*}, profile $profile, login $login"
        [ "$login" = no ] || pds-record -p "$profile" login >"$tmp/other" || bail "no login"
        down me
        row "$name" new >"$tmp/line"
        case $how in
        add) run outbox add -p "$profile" <"$tmp/line" ;;
        *) run pds-record -p "$profile" --queue --timeout 2 "$how" <"$tmp/line" ;;
        esac
        waiting=$(outbox list -p "$profile" 2>"$tmp/other" | jq -r '.op + " " + .rkey')
        is "$status $(jq -r '.op + " " + .rkey' "$out")" \
          "$([ $how = add ] && echo 0 || echo 75) $waiting" "$what: waits"
        is "${waiting#* }" one "$what: it is in the outbox"
        up me
        run outbox flush -p "$profile"
        is "$status $(jq -r .state "$out") $(stored me | jq -r .title)" \
          "0 done $([ $how = delete ] || echo new)" "$what: it is done when the server is back"
      done
    done
  done
done

# --- others

reset
down me
row bob.test stolen >"$tmp/line"
t 75 "somebody else's row is kept before any login" pds-record --queue --timeout 2 put <"$tmp/line"
is "$(jq -r .repo "$out")" bob.test "a row of somebody else is kept under that name"
given '{"title":"mine"}' pds-record --queue --timeout 2 put $task two
pds-record --queue list $task 2>"$tmp/other" | jq -r .value.title >"$tmp/titles"
is "$(cat "$tmp/titles")" mine "somebody else's row is not laid over one's own records"
up me
t 1 "somebody else's row is given up after a login" outbox flush
is "$(jq -r '.state + " " + (.reason // "")' "$out" | sort | tr '\n' '|')" \
  "done |dropped somebody else's record|" "the record says that a row is somebody else's"
is "$(stored me | jq -r .title | sort | xargs)" "mine one" "one's own is written"
pds-record delete $task two >"$tmp/other" || bail "no deletion"
row bob.test stolen >"$tmp/line"
t 2 "somebody else's row is refused after a login" pds-record --queue put <"$tmp/line"
t 2 "outbox refuses somebody else's row, too" outbox add <"$tmp/line"

reset
down me
{
  row "$did" first
  printf '{"op":"put","collection":"%s","rkey":"one","record":{"title":"last"}}\n' $task
} | outbox add >"$tmp/other"
is "$(outbox list | wc -l)" 2 "two names of one record are two things at first"
up me
run outbox flush
is "$(jq -r .state "$out") $(stored me | jq -r .title)" "done last" \
  "two names of one record are one thing after a login"

# --- deletions, after any command that read or wrote

for how in get list put lines; do
  for change in no yes; do
    reset
    case $how in
    get) pds-record get $task one ;;
    list) pds-record list $task ;;
    put) echo '{"title":"one"}' | pds-record put $task one ;;
    lines) echo one | pds-record get $task ;;
    esac >"$tmp/other" || bail "$how"
    cp -R "$state" "$tmp/seen"
    [ $change = no ] || echo '{"title":"of others"}' | pds-record put $task one >"$tmp/other"
    # The other writer was on another machine.
    forget
    mv "$tmp/seen" "$state"
    down me
    t 75 "a deletion after a plain $how waits" pds-record --queue --timeout 2 delete $task one
    up me
    run outbox flush
    if [ $change = no ]; then
      is "$status $(stored me)" "0 " "a deletion after a plain $how is done"
    else
      is "$status $(jq -r .reason "$out") $(stored me | jq -r .title)" "1 changed of others" \
        "a deletion after a plain $how keeps what others wrote"
    fi
    outbox drop --all >"$tmp/other" 2>&1
  done
done

reset
down me
t 75 "a deletion of what was never read has status 75" \
  pds-record --queue --timeout 2 delete $task one
up me
run outbox flush
is "$status $(jq -r .reason "$out") $(stored me | jq -r .title)" \
  "1 nothing tells what was to be deleted one" "a deletion of what was never read is not done later"
outbox drop --all >"$tmp/other"
run pds-record --queue delete $task one
is "$status $(stored me)" "0 " "a deletion of what was never read is done where the server is there"

done_testing
