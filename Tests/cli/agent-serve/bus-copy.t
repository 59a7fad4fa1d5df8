#!/bin/sh
# agent-serve --bus: a database that was copied, or put back from a copy, has the names and numbers
# of the other one, but other actions: all of them are published.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs agent-serve curl jq python3
needs_peers
start_bus a
printf '[bus box]\nservers = %s\n' "$bus" >"$XDG_CONFIG_HOME/agentutils/config"
bus-put -b box --create --prefix x </dev/null
serve() { start_server "$1" agent-serve -l 127.0.0.1:0 -D "$tmp/$1.sqlite" --bus "box/$1"; }
# post WORD COUNT: actions WORD1, WORD2, ...
post() {
  seq "$2" | sed "s/.*/{\"kind\":\"daily\",\"content\":\"$1&\"}/" |
    curl -s --data-binary @- "$url/api/actions" >/dev/null
}
# How often actions of a word are on the bus.
count() { bus_client dump agents | grep -c "^$1\\.actions\\..*\"content\":\"$2[0-9]"; }
are_there() { [ "$(count "$1" "$2")" -ge "$3" ]; }
each_once() {
  wait_until 20 are_there "$1" "$2" "$3"
  is "$(count "$1" "$2")" "$3" "$4"
}
copy() { cp "$tmp/$1.sqlite" "$tmp/$2.sqlite"; }

serve one
post common 3
each_once one common 3 "actions are published"
stop "$pid"
copy one two
serve one
one=$pid
post A 10
serve two
two=$pid
post B 10
each_once one A 10 "the actions of a database are published"
each_once two B 10 "the actions of its copy are published"
stop "$one"
stop "$two"

copy two kept
serve two
post C 10
each_once two C 10 "actions that come after a copy is made are published"
stop "$pid"
copy kept two
serve two
post D 10
each_once two D 10 "actions that come when the copy was put back are published"
stop "$pid"

# The bus is looked at for what may be there.
copy kept two
start_server two agent-serve -l 127.0.0.1:0 -D "$tmp/two.sqlite"
post E 10
stop "$pid"
serve two
each_once two E 10 "actions that were stored meanwhile are not taken for what is there"
stop "$pid"

# What an older version published, whose ids were shorter.
start_server two agent-serve -l 127.0.0.1:0 -D "$tmp/two.sqlite"
post F 2
stop "$pid"
python3 - "$tmp/two.sqlite" >"$tmp/id" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print("%s-%d" % (db.execute("SELECT store FROM bus_marks").fetchone()[0],
                 db.execute("SELECT min(id) FROM actions WHERE content LIKE 'F%'").fetchone()[0]))
END
echo '{"content":"F1"}' | bus_client put two.actions.-.daily "$(cat "$tmp/id")"
serve two
each_once two F 2 "an action that an older version published is there once"
stop "$pid"
done_testing
