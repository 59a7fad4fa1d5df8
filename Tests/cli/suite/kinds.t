#!/bin/sh
# The kind of agent that a profile names, and what a command says when an agent
# of that kind cannot be asked for what it wants.
. "${0%/*}/../lib.sh"
needs sse-tail agent-tail agent-call mem-search voice-state jq python3

config=$XDG_CONFIG_HOME/agentutils/config
serve <<'END'
forever
status 200 application/json {"ok":true}
END
# profile KIND: a profile named claw of this kind; its token comes from a command
# that leaves a mark.
profile() {
  printf '[profile claw]\nurl = %s\ntoken-command = echo x; echo ran >>%s\n%s\n' \
    "$url" "$tmp/marks" "${1:+kind = $1}" >"$config"
}
# refuses STATUS LINE TITLE: it failed with this line, and nobody was asked.
refuses() {
  is "$status" "$1" "$3"
  err_is "$2" "$3: the message says why"
  is "$(requests .n | wc -l | tr -d ' '):$(cat "$tmp/marks" 2>/dev/null)" 0: \
    "$3: nobody is asked, not even for the token"
}

# --- a kind that nobody knows
printf '[profile good]\nurl = %s\n[profile claw]\nurl = %s\nkind = dashbord\n' \
  "$url" "$url" >"$config"
reason='unknown kind dashbord: clanky, openclaw, pincer, joelclaw, riff, pds or claude'
for command in 'agent-call health' 'mem-search x' 'mem-search --offline x' voice-state \
  agent-tail 'sse-tail activity'; do
  name=${command%% *}
  # shellcheck disable=SC2086  # words
  run "$name" -p claw ${command#"$name"}
  refuses 2 "$name: profile claw: line 5 of $config is at fault: $reason" \
    "$command: an unknown kind is refused"
done
run agent-call -p good -o json health
is "$status" 0 "another profile is good"
err_is "agent-call: $config:5: $reason" "the fault in another profile is told"

# --- a dashboard, said or not
for kind in '' clanky; do
  profile "$kind"
  run agent-call -p claw -o json health
  is "$status" 0 "kind ${kind:-missing} is a dashboard"
  err_empty "kind ${kind:-missing}: nothing is said"
done
rm -f "$tmp/marks"
: >"$log"

# --- what an agent of a kind does not have
while read -r kind words; do
  profile "$kind"
  for command in '' '--facts' '--offline'; do
    # shellcheck disable=SC2086  # words
    run mem-search -p claw $command x
    refuses 2 "mem-search: claw: $words has no memory to search" \
      "mem-search $command of $kind is refused"
  done
  for command in '' '-w' history 'replay x'; do
    # shellcheck disable=SC2086  # words
    run voice-state -p claw $command
    refuses 2 "voice-state: claw: $words has no voice sessions" \
      "voice-state $command of $kind is refused"
  done
  none="has no voice sessions"
  run sse-tail -p claw voice
  refuses 2 "sse-tail: claw: $words $none" "sse-tail voice of $kind is refused"
  none="this version of sse-tail does not speak to $words"
  [ "$kind" != riff ] || none="$words has no events to follow"
  case $kind in
  openclaw | pincer | joelclaw | pds) none="$words has no activity stream: use agent-tail" ;;
  esac
  run sse-tail -p claw activity
  refuses 2 "sse-tail: claw: $none" "sse-tail activity of $kind is refused"
  case $kind in openclaw | pincer | joelclaw | pds) continue ;; esac
  none="this version of agent-tail does not speak to $words"
  [ "$kind" != riff ] || none="$words has no events to follow"
  run agent-tail -p claw
  refuses 2 "agent-tail: claw: $none" "agent-tail of $kind is refused"
  run agent-call -p claw get /health
  refuses 2 "agent-call: claw: this version of agent-call does not speak to $words" \
    "agent-call of $kind is refused"
done <<'END'
openclaw an OpenClaw gateway
pincer a Pincer server
joelclaw a joelclaw gateway
riff a riff voice server
pds a personal data server
END

# --- whom sse-tail does not follow, but agent-tail does
while read -r kind words; do
  profile "$kind"
  run sse-tail -p claw activity
  refuses 2 "sse-tail: claw: $words has no activity stream: use agent-tail" \
    "sse-tail activity of $kind names agent-tail"
done <<'END'
openclaw an OpenClaw gateway
pincer a Pincer server
pds a personal data server
END

# --- the environment, and a bar
profile openclaw
run env AGENT_URL="$url" AGENT_PROFILE=claw voice-state
refuses 2 "voice-state: claw: an OpenClaw gateway has no voice sessions" \
  "the profile's kind stays with AGENT_URL"
run voice-state -p claw -o tmux
refuses 0 "voice-state: claw: an OpenClaw gateway has no voice sessions" "a bar gets its block"
run env AGENT_URL="$url" XDG_CONFIG_HOME="$tmp/none" agent-call -o json health
is "$status" 0 "a URL alone is a dashboard's"
printf '[profile claw]\nkind = openclaw\nurl = ws://127.0.0.1:9\n' >"$config"
run env AGENT_URL="$url" agent-call -o json health
is "$status" 0 "a URL is a dashboard's where only the default profile is a gateway's"


# --- no kind, and the address of a WebSocket
port=$(free_ports)
printf '[profile claw]\nurl = %s\n' "ws://127.0.0.1:$port" >"$config"
run agent-chat --max-time 2 -p claw hello
is "$status" 75 "a profile with ws:// and without a kind is a gateway"
err_like 'ws://127.0.0.1:[0-9]*/: no answer in 2 s' \
  "the gateway of a profile with ws:// does not answer"
printf 'kind = clanky\n' >>"$config"
run agent-chat -p claw hello
is "$status" 2 "a profile with ws:// and another kind is refused"
err_is "agent-chat: claw: a Clanky dashboard takes no messages" \
  "the message says that a dashboard takes no messages"
done_testing
