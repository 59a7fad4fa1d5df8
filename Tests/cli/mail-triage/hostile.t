#!/bin/sh
# What strangers send is never a crash, takes neither memory nor time without bounds, and
# reaches nothing but a string of JSON.
. "${0%/*}/../lib.sh"
needs python3 jq

mkdir -p "$tmp/mail/new" "$tmp/mail/cur"
python3 "$cli/mail-triage/hostile.py" "$tmp/mail/new" || bail "no mails"
count=$(find "$tmp/mail/new" -type f | wc -l | tr -d ' ')

# limited KB COMMAND...: with so much of addresses: the largest of the mails would not fit in.
limited() { run sh -c 'ulimit -v "$1" && shift && exec "$@"' - "$@"; }

bound=20
limited 90000 mail-triage "$tmp/mail"
status_is 2 "hostile mails are named: status 2"
is "$(lines "$out")" "$count" "each hostile mail is a notification"
is "$(sed 's/.*new.//' "$err" | sort | xargs)" \
  "fields: its header is longer than 262144 bytes: the rest is not read folded: its header is longer than 262144 bytes: the rest is not read header: its header is longer than 262144 bytes: the rest is not read" \
  "each mail with an endless header has a line"
ok "each notification of a hostile mail is an object" \
  jq -es 'all(.type == "notification" and .urgency == "info")' "$out"
ok "no text is longer than it may be" \
  jq -es 'all((.title | length) <= 200 and ((.text // "") | length) <= 280)' "$out"
is "$(LC_ALL=C tr -d '\n -~\200-\377' <"$out")" "" "nothing that a terminal obeys is written"
cp "$out" "$tmp/all"
# of ID MEMBER: what is said of one.
of() { jq -r "select(.about.id == \"$1@x\") | $2" "$tmp/all"; }
is "$(of large .text | cut -c 1-9)" "hello xxx" "the beginning of 50 MB is read"
is "$(of line '.text | length')" 280 "the beginning of a line of 50 MB is read, too"
is "$(of broken .title)" "a@b: ���� =?bogus?q?x?=" "what is broken is read as far as it can be"
is "$(of broken .text)" hello "base64 between other signs is read, too"
is "$(of returns '.title + .text')" "a@b: crlfhello" "CRLF is a line end"
is "$(of nul .text)" "a b" "a NUL is a blank"
is "$(of injection .title)" "a@b: a urgency: emergency" "a line feed in a word makes no line"

# The same as a mailbox, and one after the other on standard input.
for file in "$tmp"/mail/new/*; do
  echo "From x@example.com Mon Nov 23 12:00:00 2026"
  cat "$file"
  echo
  echo
done >"$tmp/box"
limited 90000 mail-triage "$tmp/box"
is "$(lines "$out")" "$count" "a mailbox of hostile mails is read, too"
head -c 1000000 /dev/urandom >"$tmp/noise"
limited 90000 mail-triage "$tmp/noise" "$tmp/mail/new/returns" /dev/null "$tmp"
status_is 2 "noise is bad input"
is "$(jq -r .about.id "$out")" "returns@x" "the mail behind the noise is read"
err_like "^mail-triage: $tmp: not a maildir: it has no folders new and cur$" \
  "a folder that is not a maildir is named"

# Records of any length.
{
  echo '{"contractVersion":2,"type":"message","platform":"slack","eventId":"e1","actor":{},"text":"one"}'
  printf '{"contractVersion":2,"text":"'
  head -c 30000000 /dev/zero | tr '\0' x
  printf '"}\n'
  echo '{"contractVersion":2,"type":"message","platform":"slack","eventId":"e2","actor":{},"text":"two"}'
} >"$tmp/records"
limited 150000 mail-triage "$tmp/records"
status_is 2 "a record that is too long is bad input"
err_is "mail-triage: $tmp/records:2: longer than 16777216 bytes" \
  "a record that is too long is named by its line"
is "$(jq -r .text "$out" | xargs)" "one two" "the records around one that is too long are read"

done_testing
