#!/bin/sh
# Some hundred mails that Python wrote, into a maildir and into a mailbox, are read as
# Python's own email package reads them: who, about what, what they say first, when, and in
# which conversation.
. "${0%/*}/../lib.sh"
needs python3

mkdir "$tmp/mails"
python3 "$cli/mail-triage/oracle.py" "$tmp/mails" || bail "no mails"
is "$(lines "$tmp/mails/want")" 300 "three hundred mails are there"

for place in dir box; do
  t 0 "all of the $place is read" mail-triage "$tmp/mails/$place"
  err_empty "nothing is said against the $place"
  ok "the $place is read as Python reads it" \
    python3 "$cli/mail-triage/compare.py" "$tmp/mails/want" "$out"
done

# The same from standard input, where its first line says what it is.
cp "$out" "$tmp/box"
run sh -c "mail-triage <'$tmp/mails/box'"
ok "a mailbox on standard input is read" cmp "$out" "$tmp/box"

done_testing
