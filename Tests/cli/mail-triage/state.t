#!/bin/sh
# Each mail is told once, over runs and while mails come; and the mails stay as they are.
. "${0%/*}/../lib.sh"
needs jq

cd "$tmp" || exit
mkdir -p mail/new mail/cur mail/tmp
# deliver FOLDER/NAME ID
deliver() {
  printf 'From: ada@x\nSubject: %s\nMessage-ID: <%s@x>\n\nhello\n' "$2" "$2" >mail/tmp/one
  mv mail/tmp/one "mail/$1"
}
ids() { jq -r .about.id "$1" | sed 's/@x$//' | xargs; }

deliver new/1700000002.b two
deliver new/900000001.a one
deliver cur/1700000003.c:2, three
deliver cur/1700000004.d:2,FS seen
deliver cur/1700000005.e:2,T trashed
deliver cur/1700000006.f:2,R four
deliver new/.hidden hidden
find mail -type f | sort | xargs cksum >before
t 0 "a maildir is read" mail-triage mail
is "$(ids "$out")" "one two three four" "mails that nobody has seen are told, the oldest first"
find mail -type f | sort | xargs cksum >after
ok "the mails stay as they are" cmp before after
run mail-triage --state state mail
is "$(ids "$out")" "one two three four" "mails that are told are the same with a state"
is "$(jq -r '.type + " " + (.told | length | tostring)' state)" "triage_state 4" \
  "a state is a record"
is "$(find . -name state -perm 600)" ./state "a state can be read by nobody else"
deliver new/1700000007.g five
mv mail/new/1700000002.b mail/cur/1700000002.b:2,
run mail-triage --state state mail
is "$(ids "$out")" five "the next run tells what is new, wherever the others are"
run mail-triage --state state mail
out_empty "a run without new mails tells nothing"
status_is 0 "a run without new mails has status 0"

# What could not be written was not told.
deliver new/1700000008.h six
t 2 "a full disk is an error" sh -c 'mail-triage --state state mail >/dev/full'
run mail-triage --state state -n 1 mail
is "$(ids "$out")" six "a mail that could not be written is told again"
echo '{"type":"other"}' >strange
t 2 "a file that is no state is left alone" mail-triage --state strange mail
is "$(cat strange)" '{"type":"other"}' "a file that is not a state is as it was"
err_is "mail-triage: strange: not a state of mail-triage" "a file that is not a state is named"

# A stranger chooses the id of a mail, and hides no other by that.
printf 'From a@x Mon Nov 23 10:00:00 2026\nFrom: %s\nSubject: hi\nMessage-ID: <one@x>\n\n%s\n\n' \
  eve@x sent ada@x later ada@x later >mbox
for option in '' --state=once; do
  # shellcheck disable=SC2086  # no word, or one
  run mail-triage $option mbox
  is "$(jq -r '.title + " " + .text' "$out")" "eve@x: hi sent
ada@x: hi later" "two mails of one id are told: $option"
  is "$(jq -r .id "$out" | uniq | grep -c '^mail/one@x/')" 2 \
    "two mails of one id have names of their own: $option"
done
printf '%s\n' '{"contractVersion":2,"type":"message","platform":"irc","actor":{"userName":"a"},"platformIds":{"conversationId":"x/y","messageId":"z"},"text":"1"}' \
  '{"contractVersion":2,"type":"message","platform":"irc","actor":{"userName":"a"},"platformIds":{"conversationId":"x","messageId":"y/z"},"text":"2"}' >events
run mail-triage events
is "$(jq -r .text "$out" | xargs)" "1 2" "messages whose ids have slashes are both told"

# --- what mailers write

# when DATE: the time of a mail.
when() {
  printf 'From: a@x\nDate: %s\n\nhi\n' "$1" | mail-triage | jq -r .time
}
is "$(when '13 Nov 2026 10:00:00 (x (y)) +0100 (CET)')" 2026-11-13T09:00:00.000Z \
  "a comment stands anywhere in a date"
is "$(when '31 Dec 9999 23:00:00 -1200')" null "a time behind the year 9999 is none"
is "$(when '1 Jan 1970 10:00:00 +1400')" null "a time before 1970 is none"
printf 'From: a@x\nContent-Type: text/plain; charset=iso-8859-15\n\ncaf\351\n' >latin
run mail-triage latin
is "$(jq -r .text "$out")" café "a text in a charset other than UTF-8 is read"
printf 'From: a@x\nContent-Type: text/html\n\n<p>seen<!-- <b>not</b>\n' >open
run mail-triage open
is "$(jq -r .text "$out")" seen "a comment without an end ends with the text"
printf 'From: b@x\nTo: Me <Me@x>\nIn-Reply-To: <one@x>\n\nhi\n' >answer
run mail-triage --me 'Ada, Me <me@x>' answer
is "$(jq -r .urgency "$out")" attention "an own address behind a name is found"

# --- mails that come while it waits
start follow mail-triage -f --state state mail
deliver new/1700000009.i seven
ok "a new mail is told at once" wait_until 20 at_least follow.out 1
t 75 "a second run on one state has status 75" mail-triage --state state mail
err_like "^mail-triage: state.lock: locked by another command$" "the message says that it is locked"
# A mail reader takes it away; one that was read elsewhere is no news.
mv mail/new/1700000009.i mail/cur/1700000009.i:2,
deliver cur/1700000010.j:2,S eight
deliver new/1700000011.k nine
ok "the next new mail is told, too" wait_until 20 at_least follow.out 2
stop "$pid"
status_is 143 "a signal ends mail-triage --follow"
is "$(ids follow.out)" "seven nine" "each mail that came is told once"
is "$(jq '.told | length' state)" 8 "the mails that were told are written down"

start follow mail-triage -f -n 1 --state state mail
deliver new/1700000012.l ten
finished "$pid"
status_is 0 "-n 1 ends mail-triage --follow"
is "$(ids follow.out)" ten "the mail that ended it is told"

# The reader of what it writes goes away: nobody waits for the next mail.
run sh -c 'mail-triage -f mail | head -n 1'
is "$(lines "$out")" 1 "mail-triage --follow ends with its reader"
t 2 "what is not a maildir is an error" mail-triage nothing mail/new
is "$(sed 's/^mail-triage: //' "$err" | cut -c 1-22 | xargs)" "nothing: no such file mail/new: not a maildi" \
  "what is not a maildir is named"

done_testing
