#!/bin/sh
# Where the agent of a profile is: a URL, a command or a host; and what a command says of a place
# that it cannot use.
. "${0%/*}/../lib.sh"
needs sse-tail agent-tail agent-chat agent-call mem-search voice-state agent-status pds-record

config=$XDG_CONFIG_HOME/agentutils/config
while read -r place kind words; do
  printf '[profile away]\n%s = nc box # 1\nkind = %s\ntoken-command = echo x; echo ran >>%s\n' \
    "$place" "$kind" "$tmp/marks" | sed '/^host/s/ #.*//' >"$config"
  case $kind in
  clanky) set -- 'agent-call health' 'mem-search x' 'mem-search --offline x' voice-state \
    agent-status 'sse-tail activity' agent-tail ;;
  pds) set -- 'pds-record describe' agent-tail ;;
  *) set -- 'agent-chat hello' agent-tail ;;
  esac
  for command; do
    name=${command%% *}
    # shellcheck disable=SC2086  # words
    run "$name" -p away ${command#"$name"}
    is "$status" 2 "$command: a $place is refused as a place of $kind"
    err_is "$name: away: its place is a $place; $name asks $words by url only" \
      "$command: the message tells where $kind is asked"
  done
done <<'END'
command clanky a Clanky dashboard
host clanky a Clanky dashboard
command openclaw an OpenClaw gateway
host joelclaw a joelclaw gateway
command pincer a Pincer server
host pds a personal data server
END
is "$(cat "$tmp/marks" 2>/dev/null)" "" "no token was asked for"

# --- two places
printf '[profile two]\nurl = http://127.0.0.1:9\nhost = box\n' >"$config"
run agent-call -p two health
is "$status" 2 "a profile with two places is refused"
err_is "agent-call: profile two: line 3 of $config is at fault: a second place: the profile has a url" \
  "the message tells the second place"
printf '[profile two]\ncommand = one\ncommand = two\n' >"$config"
run agent-call -p two health
err_is "agent-call: two: its place is a command; agent-call asks a Clanky dashboard by url only" \
  "the later of two equal keys counts"

# --- a URL of the environment goes before it, without the profile's token
serve <<'END'
status 200 application/json {"ok":true}
END
printf '[profile away]\ncommand = nc box\ntoken-command = echo x; echo ran >>%s\n' "$tmp/marks" \
  >"$config"
run env AGENT_URL="$url" agent-call -o json health
is "$status" 0 "AGENT_URL goes before a command"
is "$(cat "$tmp/marks" 2>/dev/null)" "" "the token of the profile does not go to AGENT_URL"
done_testing
