#!/bin/sh
# agent-serve: what is said to the gateway, and what a reply command answers.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve jq

# A reply in pieces: each waits until the test has seen the one before.
cat >"$tmp/reply" <<'END'
read -r word rest
case $word in
pieces) for piece in $rest; do until rm "$STEPS/$piece" 2>/dev/null; do sleep 0.01; done; printf '%s ' "$piece"; done; echo end ;;
fail) echo "some text"; echo "first line" >&2; printf 'it \033[31mburns\n' >&2; exit 3 ;;
die) kill -9 $$ ;;
sleep) sleep 1000 & echo "$!" >"$STEPS/child"; echo begun; wait ;;
deaf) trap '' TERM; sh -c 'trap "" TERM; sleep 1000' & echo "$!" >"$STEPS/deaf"; echo begun; wait ;;
behind) sleep 1000 & echo "$!" >"$STEPS/behind"; echo done ;;
big) head -c 2000000 /dev/zero | tr '\0' x ;;
half) printf 'a\303'; until rm "$STEPS/half" 2>/dev/null; do sleep 0.01; done; printf '\251\377\n\n' ;;
anew) printf 'first draft'; until rm "$STEPS/anew" 2>/dev/null; do sleep 0.01; done; printf '\014better'; until rm "$STEPS/anew2" 2>/dev/null; do sleep 0.01; done; printf ' still' ;;
env) echo "$REPLY_RUN $REPLY_SESSION $REPLY_AGENT"; ls -l /proc/self/fd 2>/dev/null | tr '\n' ' ' ;;
say) printf '%s\n' "$rest" ;;
ignore) exec <&-; echo ok ;;
silent) ;;
esac
END
STEPS=$tmp/steps
mkdir "$STEPS"
export STEPS
start_gateway chat -D "$tmp/chat.sqlite" --reply-command "sh $tmp/reply"
for protocol in 3 4; do checks gateway-chat.py streamed "$gateway" "$STEPS" "$protocol"; done
checks gateway-chat.py together "$gateway" "$STEPS"
checks gateway-chat.py keys "$gateway" "$STEPS"
checks gateway-chat.py odd "$gateway" "$STEPS"
like "$(cat "$tmp/chat.err")" '^agent-serve: reply command: exit status 3: it \\e\[31mburns$' \
  "a reply command that fails is told, and harmless"
checks gateway-chat.py ended "$gateway" "$STEPS"
for one in child deaf behind; do
  ok "what the command started is gone: $one" wait_until 10 gone "$(cat "$STEPS/$one")"
done
checks gateway-chat.py agent "$gateway" "$STEPS"
checks gateway-chat.py followed "$gateway" "$STEPS"
ok "a reply begins" "$peers" "$here/gateway-chat.py" begin_sleep "$gateway" "$STEPS"
stop "$pid"
is "$status" 0 "agent-serve ends in the middle of a reply"
ok "the reply command ends with agent-serve" gone "$(cat "$STEPS/child")"

start_gateway again -D "$tmp/chat.sqlite" --reply-command "sh $tmp/reply"
checks gateway-chat.py remembered "$gateway" "$STEPS"
stop "$pid"

# A store of a version in which the case of a key counted.
python3 - "$tmp/chat.sqlite" <<'END'
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("DELETE FROM grdb_migrations WHERE identifier = 'small letters'")
for key, text in [("agent:main:Work", "one"), ("agent:main:work", "two"), ("agent:main:riff:A", "x")]:
    store.execute("INSERT INTO chat_sessions VALUES (?, ?, 1)", (key, key))
    store.execute("INSERT INTO chat_messages (session, role, text, created_at) VALUES (?, 'user', ?, 1)",
                  (key, text))
store.commit()
END
start_gateway folded -D "$tmp/chat.sqlite"
checks gateway-chat.py folded "$gateway"
stop "$pid"
start_gateway mute -D :memory:
checks gateway-chat.py mute "$gateway"
done_testing
