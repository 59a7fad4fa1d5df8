#!/bin/sh
# action-filter -j: several threads print, say and answer what one does.
. "${0%/*}/../lib.sh"
cd "$tmp" || exit 1

needs python3
# Large enough for many pieces: awkward lines at random places, and a line over some pieces.
python3 - "$root/Tests/fuzz" <<'END'
import random, sys
sys.path.insert(0, sys.argv[1])
import records
rng = random.Random(12)
made = records.Records(rng)
body = b"\xef\xbb\xbf" + b"".join(made.file().rstrip(b"\n") + b"\n" for _ in range(20))
times = ['"2026-0%d-1%dT0%d:00:00.000Z"' % (m, d, h) for m in (1, 2) for d in range(5) for h in range(9)]
plain = [('{"id":%d,"created_at":%s,"kind":"%s","user_id":"%d","content":"%s","usd_cost":0.%04d}\n' % (
    n % 9000, times[n % 90], records.KINDS[n % 5], n % 50, "word " * (n % 90), n % 9999)).encode()
    for n in range(20000)]
with open("good", "wb") as file:
    file.write(b"".join(plain))
with open("odd", "wb") as file:
    file.write(body + b"".join(plain[:9000]) + b'{"kind":"long","content":"' + b"x" * 3000000 + b'"}\n')
    file.write(b"bad\n" + b"".join(plain[9000:12000]) + body[3:] + b'{"kind":"last"}')
END
is "$(($(wc -c <odd) > 4000000))" 1 "the input is large enough to share"

# both TITLE ARG...: two and seven threads do what one does.
both() {
  title=$1
  shift
  action-filter -j 1 "$@" >one 2>one.err
  wanted=$?
  for jobs in 2 7; do
    action-filter -j "$jobs" "$@" >several 2>several.err
    is "$?" "$wanted" "-j $jobs ends as one thread does: $title"
    ok "-j $jobs prints what one thread does: $title" cmp one several
    ok "-j $jobs says what one thread does: $title" cmp one.err several.err
  done
}
both "all" odd good odd
both "a kind" -k llm_error odd
both "inverted" -v -k llm_error odd
both "others" -a odd
both "each once" -u odd
both "members" -o id,kind,/model odd
both "rows" -o canonical odd
both "count" -N odd
both "quiet" -q odd
both "quiet, none" -q -k nosuch odd
both "the first" -n 1 odd
both "some" -n 12000 odd
both "some and others" -a -n 9000 odd
both "some groups" -n 15000 --by kind good
both "groups" --by kind,user --total odd
both "hours" --by hour --usage odd
both "strict" --strict odd
both "fast" --fast -k llm_error good odd
both "a name" -U noor odd
both "text" -i -F 'WORD WORD' odd

action-filter -j 1 -R one.bad odd >one 2>one.err
action-filter -j 3 -R three.bad odd >several 2>several.err
ok "the bad lines are collected" test -s three.bad
ok "three threads collect the same bad lines as one" cmp one.bad three.bad

# Where standard input is a file, it is read from where it stands.
{ read -r _ && action-filter -j 1; } <good >one
{ read -r _ && action-filter -j 3; } <good >several
ok "the rest of standard input is read" cmp one several
{ action-filter -j 3 >several && cat; } <good >rest
is "$(wc -c <rest)" 0 "standard input is read to its end by three threads"
ok "a pipe is read as ever" sh -c 'cat good | action-filter -j 3 | cmp - good'

# Nobody reads any more.
head -n 1 good >first
t 0 "a reader may leave" \
  sh -c '{ action-filter -j 3 good good good good; echo $? >code; } | head -n 1 | cmp - first'
is "$(cat code)" 141 "SIGPIPE ends it when its reader leaves"
if [ -c /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'action-filter -j 3 good >/dev/full'
  err_is "action-filter: standard output: no space left on device" \
    "the message says that the disk is full"
fi

run action-filter -j 0 -N good
out_is 20000 "-j 0 is one thread for each core"
for wrong in x -1 257; do
  t 2 "-j $wrong is an error" action-filter -j "$wrong" good
  err_like "not a whole number from 0 to 256" "-j $wrong is refused"
done
run action-filter --jobs 2 -N good
out_is 20000 "--jobs does the same"

# --- millions of bad lines are counted, not kept
yes x | head -n 4000000 >bad
ok "memory does not grow with bad lines" \
  env ENDS=2 python3 "$cli/resident.py" $((32 * 1024)) action-filter -j 8 -N bad
t 2 "millions of bad lines have status 2" action-filter -j 8 -N bad
err_like '^action-filter: 3999990 more bad lines$' "bad lines that are not named are counted"

# --- what has to be read in order with -u is not kept line by line
yes '{}' | head -n 4000000 >bare
ok "short lines take no memory" \
  python3 "$cli/resident.py" $((24 * 1024)) action-filter -j 8 -u -N bare
ok "short lines come out the same with several threads" \
  [ "$(action-filter -j 8 -u bare | cksum)" = "$(action-filter -j 1 -u bare | cksum)" ]
done_testing
