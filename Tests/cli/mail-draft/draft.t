#!/bin/sh
# A draft is edited, shown and asked about; only a yes that a person types behind the question
# sends it, and what is not sent is kept.
. "${0%/*}/../lib.sh"
needs python3 perl jq

cd "$tmp" || exit
# What sends mail is the user's own command: this one writes down what it got.
cat >deliver <<'END'
#!/bin/sh
cat >>sent
[ ! -e refuse ] || { echo "mailbox full" >&2; exit "$(cat refuse)"; }
END
chmod +x deliver
SENDMAIL=./deliver
EDITOR=:
unset VISUAL
export SENDMAIL EDITOR
drafts=$XDG_STATE_HOME/agentutils/drafts

# ask FILE ANSWER... -- OPTION...
ask() {
  rm -rf sent "$drafts"
  run python3 "$cli/mail-draft/ask.py" "$@"
  tr -d '\r' <"$out" >screen
}
kept() { find "$drafts" -type f -exec cat {} +; }
printf 'To: ada@example.com\nSubject: lunch\n\nToday?\n' >mail
cat >record <<'END'
{"to":["ada@example.com","bob@example.com"],"bcc":"eve@example.com","subject":"lunch\nBcc: mallory@example.com\nX-Evil: 1","body":"Größe\nBcc: no header\n"}
END

# --- without a person
cat >alone <<'END'
#!/usr/bin/perl
use POSIX;
my $child = fork;
if (!$child) { POSIX::setsid(); exec @ARGV }
waitpid $child, 0;
exit $? >> 8;
END
t 2 "without a terminal nothing is asked" perl alone mail-draft mail
err_is "mail-draft: no terminal to ask at: nothing is sent; -n prints the mail" \
  "the message says that nothing is sent"
t 2 "a draft that is not there is an error" mail-draft none
err_is "mail-draft: none: No such file or directory" "the missing draft is named"
t 2 "a yes on standard input sends nothing without a terminal" \
  sh -c 'yes | head -n 9 | perl alone mail-draft'
not_ok "nothing was sent without a terminal" test -e sent

# --- yes and no
ask mail y -- mail-draft
status_is 0 "y sends it"
is "$(cat sent)" "$(cat mail)" "a draft is sent as it was"
is "$(grep -c '^Today?$' screen)" 1 "a draft was shown before it was sent"
not_ok "what was sent is not kept" test -d "$drafts"
for answer in '' yy yes Y ^D; do
  ask mail "$answer" -- mail-draft
  status_is 1 "'$answer' is no yes"
  not_ok "nothing is sent" test -e sent
done
is "$(kept)" "$(cat mail)" "the draft is kept"
is "$(find "$drafts" -maxdepth 0 -perm 700 | wc -l | tr -d ' ')" 1 \
  "the folder of drafts is for its owner alone"
like "$(cat screen)" "^mail-draft: the draft is in $drafts/" "the place of the kept draft is told"
ask mail early n -- mail-draft
status_is 1 "a y that was typed before the question is no answer"
ask mail ^C -- mail-draft
status_is 130 "^C ends it"
is "$(kept)" "$(cat mail)" "^C keeps the draft"
mkdir "d'q\$(touch ran)"
TMPDIR="$tmp/d'q\$(touch ran)" ask mail ^C -- mail-draft
is "$(kept)" "$(cat mail)" "the draft is kept whatever the temporary folder is called"
not_ok "no command is made of the temporary folder's name" test -e ran

# --- the editor
cat >editor <<'END'
#!/bin/sh
printf '%s\n' '/^Today/s/.*/Tomorrow?/' w q | ex -s "$2" 2>/dev/null || sed -i 's/^Today?/Tomorrow?/' "$2"
echo "$1" >>edits
END
chmod +x editor
EDITOR='./editor twice' ask - e y -- mail-draft mail
status_is 0 "e opens the editor again"
is "$(xargs <edits)" "twice twice" "the editor may have words of its own"
is "$(tail -n 1 sent)" "Tomorrow?" "what was edited is sent"
is "$(tail -n 1 mail)" "Today?" "the edit is not written into the file"
VISUAL=./editor EDITOR=false ask mail n -- mail-draft
status_is 1 "VISUAL wins over EDITOR"
EDITOR=false ask mail y -- mail-draft
status_is 2 "an editor that fails sends nothing"
is "$(kept)" "$(cat mail)" "an editor that fails keeps the draft"

cat >look <<'END'
#!/bin/sh
exec perl -e 'my @found = grep { open(my $file, "<&=", $_) } 3 .. 9; open(my $seen, ">>", "seen"); print $seen "@found\n"'
END
chmod +x look
exec 5</dev/null 7>>given
EDITOR=./look ask mail y -- mail-draft --sendmail ./look
exec 5<&- 7>&-
is "$status $(sort seen | uniq -c | xargs)" "0 2" "an editor, and what sends, have no descriptors of others"

# --- what agents write
cat >objects <<'END'
{"to":[{"email":"ada@example.com","name":"Ada \"L\", Countess\n"},"bob@example.com"],"cc":{"email":"eve@example.com"},"subject":"s","body":"b"}
END
ask objects y -- mail-draft
status_is 0 "Addresses may be objects."
is "$(python3 -c '
import email, email.policy, sys
mail = email.message_from_binary_file(open("sent", "rb"), policy=email.policy.default)
print([a.addr_spec for a in mail["To"].addresses], mail["To"].addresses[0].display_name, mail["Cc"])')" \
  "['ada@example.com', 'bob@example.com'] Ada \"L\", Countess  eve@example.com" \
  "Their names cannot make other addresses."
for address in '{"name":"Ada"}' '{"email":7}' '{"email":"a@b, c@d"}' '{"email":"a@b>\n"}'; do
  printf '{"to":%s,"body":"b"}\n' "$address" >objects
  ask objects y -- mail-draft
  status_is 2 "the address $address is refused"
done
printf '{"to":"a@example.com","subject":{"email":"a@b"},"body":"b"}\n' >objects
ask objects y -- mail-draft
status_is 2 "A subject is no address."
ask record y -- mail-draft
status_is 0 "a record is sent as a message"
is "$(sed '/^$/q' sent | cut -d : -f 1 | xargs)" \
  "To Bcc Subject MIME-Version Content-Type Content-Transfer-Encoding" \
  "a line end in a member makes no header"
is "$(python3 -c '
import email, email.policy, sys
mail = email.message_from_binary_file(open("sent", "rb"), policy=email.policy.default)
print(mail["To"], mail["Bcc"], mail["Subject"], repr(mail.get_content()), sep="|")')" \
  "ada@example.com, bob@example.com|eve@example.com|lunch Bcc: mallory@example.com X-Evil: 1|'Größe\\nBcc: no header\\n\\n'" \
  "Python reads the message of a record as it was meant"
is "$(grep -c '^Bcc: eve@example.com$' screen)" 2 "a hidden recipient is shown"
printf 'To: a@x\rBcc: b@x\nResent-To: c@x\nCC:\n d@x\nSubject: \033[2J\342\200\256hi\n\n\033]0;x\007\n' >odd
ask odd n -- mail-draft
is "$(sed -n '/^To/,/^$/p;/^Subject/q' screen)" "To: a@xBcc: b@x
Resent-To: c@x
CC: d@x
Subject: ?[2J?hi" "every recipient is shown, and nothing that a terminal obeys"
# What would push the recipients off the screen.
python3 -c '
people = ", ".join("\"you, me@x\" <p%d@x>" % i for i in range(3000))
print("Bcc: eve@x\nTo:", people, "\nSubject: long\nErrors-To: mallory@x\nX-Odd: 1\nApparently-To: eve@y\n")
print("x" * 80000)
for i in range(20): print(i)' >long
ask long n -- mail-draft
is "$(grep -B 13 '^send?' screen)" "Bcc: eve@x
To: p0@x
To: p1@x
To: p2@x
To: p3@x
To: p4@x
To: p5@x
To: p6@x
To: p7@x
To: p8@x
To: p9@x
Apparently-To: eve@y
(2990 more recipients)
send? [y/N/e] n" "the recipients of each field stand above the question"
ok "the text before the recipients is cut" test "$(wc -c <screen)" -lt 4000
is "$(grep -c '^Errors-To: mallory@x$\|^Other fields: X-Odd$' screen)" 2 \
  "no field of the header is hidden"
# Where a name looks like the address, and what may be one to whoever sends it.
python3 - >names <<'END'
x = "x" * 900
to = [
    '"friend@example.org%s%s" <evil0@x>' % (" " * 50, x),
    "(friend@example.org (%s)) evil1@x" % x,
    '(" ) evil2@x (")',
    "friend1@x %s <evil3@x>" % x,
    '"evil 4"@x',
    'Group: <evil5@%s.x>;' % x,
    '"root"',
    "(friend@x) postmaster",
    "<evil6@x, %s, evil7@x" % x,
]
print("To:", ",\n ".join(to) + "\nSubject: hi\n\nx")
END
ask names n -- mail-draft
is "$(sed -n '/^x/,$p' screen | sed -n '3,/^send/p' | sed 's/xxxx*/xx/g')" 'To: evil0@x
To: evil1@x
To: evil2@x
To: evil3@x
To: friend1@x
To: "evil?4"@x
To: evil5@xx...xx.x
To: "root"
To: postmaster
To: evil6@x
To: evil7@x
send? [y/N/e] n' "no name hides who it is for"
is "$(sed -n '/^To: evil5/p' screen | tr -d '\r' | tr -d '\n' | wc -c | tr -d ' ')" 79 \
  "each recipient has a line"
printf 'To: "a <b@x>, (c@x\nCc: (d@x) "e\nSubject: hi\n\nx\n' >torn
ask torn n -- mail-draft
is "$(grep -c '^To: b@x$\|^To: (c@x$\|^Cc: "e$' screen)" 3 \
  "a quote or a comment without an end hides no recipient"
printf 'To: ada@x\nSubject: hi\n\na\233b\330\234c\357\273\277d\033[2J\n' >raw
for option in '' -n; do
  # shellcheck disable=SC2086  # no word, or one
  ask raw n -- mail-draft $option
  is "$(grep -c '^a?b?c?d?\[2J$' screen)" 1 "no text reaches a terminal as it is: $option"
done

# --- what is a mail
printf 'Note: the heating fails.\nSince Monday: it is cold.\n' >note
run mail-draft -n note
is "$(sed 1d "$out")" "$(cat note)" "a text may begin as a header does"
printf '\357\273\277' | cat - record >marked
run mail-draft -n marked
is "$(grep -c '^Bcc: eve@example.com$' "$out")" 1 "a record may begin with a byte order mark"
echo 'See you.' >words
ask words y n -- mail-draft
status_is 1 "without a recipient a yes sends nothing"
not_ok "nothing was sent to nobody" test -e sent
ask words y -- mail-draft -t ada@example.com -s 'Größe und mehr, so dass es lang wird: 日本語 日本語 日本語'
status_is 0 "-t and -s name what the draft does not"
is "$(python3 -c '
import email, email.policy
mail = email.message_from_binary_file(open("sent", "rb"), policy=email.policy.default)
print(mail["To"], mail["Subject"], mail.get_content().strip(), sep="|")')" \
  "ada@example.com|Größe und mehr, so dass es lang wird: 日本語 日本語 日本語|See you." \
    "Python reads recipient, subject and text as they were given"
run mail-draft -s 'a
Bcc: eve@x' mail
status_is 2 "a line end in an option is refused"
err_like "a subject or an address holds a control character" \
  "the message says why a line end in an option is refused"
for bad in '[1' '{"to":3}' '{"to":"a"}{"to":"b"}'; do
  run sh -c 'printf "%s\n" "$1" | mail-draft -n' - "$bad"
  case $bad in
  '{'*)
    status_is 2 "$bad is no draft"
    err_one_line mail-draft "one line says why $bad is refused"
    ;;
  *) status_is 0 "$bad is a text" ;;
  esac
done
run mail-draft -n mail
is "$(cat "$out")" "$(cat mail)" "-n prints the mail without a terminal"
if [ -w /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'exec mail-draft -n mail >/dev/full'
  err_is "mail-draft: standard output: no space left on device" \
    "a full disk is told in the name of mail-draft"
fi
mkdir tmp
run sh -c '(TMPDIR=$PWD/tmp mail-draft -n long; echo $? >ended) | head -n 1'
is "$(cat ended)$(ls tmp)" 141 \
  "a reader that goes ends it, and no file is left"
run mail-draft -nV
out_like "^mail-draft [0-9]" "flags may stand together"
t 2 "a file that is not there is an error" \
  sh -c 'mail-draft -n >/dev/null <mail; exec mail-draft -n missing'
err_is "mail-draft: missing: No such file or directory" "the missing file is named"

# --- what sends mail fails
echo 75 >refuse
ask mail y -- mail-draft
status_is 75 "status 75 of what sends mail is passed on"
is "$(kept)" "$(cat mail)" "the draft is kept"
like "$(cat screen)" "^mail-draft: ./deliver: mailbox full$" \
  "the reason why a mail was not sent is told"
echo 67 >refuse
ask mail y -- mail-draft
status_is 2 "an unknown user is an error"
is "$(kept)" "$(cat mail)" "a draft to an unknown user is kept, too"
rm refuse
SENDMAIL=false ask mail y -- mail-draft --sendmail 'cat >other'
status_is 0 "--sendmail wins over SENDMAIL"
ok "the command of --sendmail got the mail" cmp mail other

# A line of megabytes: some awks would take hours for it.
cat >lines.py <<'END'
import email, email.policy, subprocess, sys
text = "ä" * 3000 + " x=y " + "word " * 600 + " \n" + "short\t\n" + "=" * 200 + "\n" + "z" * 5000
text += "\n.\nFrom me\n" + "".join(chr(c) for c in range(33, 300) if c != 127) * 5 + "\n"
for size in range(70, 82):
    text += "y" * size + "\n" + "y" * size + "é\n" + "y" * size + " \n" + "y" * size + "=\n"
draft = "To: ada@example.org\nSubject: s\n\n" + text
out = subprocess.run(["mail-draft", "-n"], input=draft.encode(), capture_output=True).stdout
mail = email.message_from_bytes(out, policy=email.policy.default)
print(mail["content-transfer-encoding"], max(map(len, out.split(b"\n"))) <= 76, mail.get_content() == text)
END
is "$(python3 lines.py)" "quoted-printable True True" "a paragraph on one line goes out in short ones"
printf 'To: a@b.c\nSubject: s\n\n%s\n' "$(head -c 998 /dev/zero | tr '\0' x)" >short
run mail-draft -n <short
out_unlike 'quoted-printable' "a paragraph as long as it may be stays as it is"
python3 -c 'print("x" * 50000000)' >long
(echo 'To: a@example.org' && echo && cat long) >headed
bound=40
t 0 "a text of one line of 50 MB is taken" mail-draft -n long
ok "a text of one line of 50 MB is the body" \
  sh -c 'sed "1,/^\$/d" "$1" | base64 -d | cmp - long' - "$out"
ok "the lines of such a body are short" test "$(wc -L <"$out")" -le 76
t 0 "such a text is taken behind a header, too" mail-draft -n headed
ok "a text of 50 MB behind a header is the body, too" \
  sh -c 'sed "1,/^\$/d" "$1" | base64 -d | cmp - long' - "$out"
{ printf 'Subject: ' && cat long; } >subject
t 2 "a header of that size is refused" mail-draft -n subject
err_is "mail-draft: not a draft: its header is longer than 100,000 bytes" \
  "the message tells the limit"
done_testing
