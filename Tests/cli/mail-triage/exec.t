#!/bin/sh
# A command of the user's says how soon a mail matters; and a mail becomes a notification that
# a person is told.
. "${0%/*}/../lib.sh"
needs jq python3

cat >"$tmp/write.py" <<'END'
import mailbox, sys
from email.message import EmailMessage
place = mailbox.Maildir(sys.argv[1])
for number, (sender, subject, text) in enumerate([
    ("ops@work.example", "the harbour is down", "all of it; $(touch evil) `touch evil`"),
    ("shop@example.com", "'; touch evil; '", "50% off"),
    ("ada@work.example", "lunch?", "today"),
]):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, "me@home.example", subject
    mail["Message-ID"] = f"<m{number}@x>"
    mail.set_content(text)
    place.add(mail)
END
python3 "$tmp/write.py" "$tmp/mail" || bail "no mails"
cd "$tmp" || exit
urgencies() { jq -r '"\(.about.type)/\(.about.id) \(.urgency)"' "$out" | sort | xargs; }

# Not the words of a mail, but its record on standard input.
cat >model <<'END'
#!/bin/sh
cat >record
cat /proc/$$/cmdline /proc/$$/environ 2>/dev/null | tr '\0' '\n' >>around
grep -q harbour record && echo '{"urgency": "urgent", "why": "down"}' && exit
grep -q lunch record && echo 'Attention: somebody is hungry' && exit
echo noise
END
chmod +x model
t 0 "a command judges the mails" mail-triage --exec ./model mail
is "$(urgencies)" "mail/m0@x urgent mail/m1@x noise mail/m2@x attention" \
  "the first word of a command counts, or the urgency of its object"
is "$(jq -r '.type + .category' record | head -n 1)" notificationemail \
  "the command reads the record of the mail"
not_ok "nothing of a mail is in the command's words or environment" \
  grep -Eq 'harbour|evil|lunch' around
not_ok "nothing of a mail is run" test -e evil

echo 'info any *harbour*' >rules
t 2 "a command that fails is told" \
  mail-triage --rules rules --exec 'grep -q harbour && exit 3; echo soon' mail
is "$(urgencies)" "mail/m0@x info mail/m1@x info mail/m2@x info" \
  "the rules decide where the command fails"
is "$(sort "$err")" "mail-triage: --exec: mail/m0@x: ended with status 3
mail-triage: --exec: mail/m1@x: printed no urgency
mail-triage: --exec: mail/m2@x: printed no urgency" \
  "each mail that the command failed at has a line"
t 2 "a command that hangs is ended" \
  mail-triage -n 1 --timeout 0.2 --exec 'sleep 100 & exec sleep 100' mail
err_like "^mail-triage: --exec: mail/m[0-2]@x: took too long$" \
  "the message says that it took too long"
is "$(lines "$out")" 1 "a mail whose command hangs is told"
run mail-triage -n 1 --exec 'yes urgent' mail
err_like "printed more than 65536 bytes$" "a command that never stops printing is ended, too"
t 0 "a command that does not read its mail may succeed" \
  mail-triage -n 1 --exec 'exec <&-; sleep 0.05; echo URGENT!' mail
is "$(jq -r .urgency "$out")" urgent "the word of a command that does not read counts"

run mail-triage -n 1 --exec 'echo "{\"urgent\": false}"' mail
err_like ": printed no urgency$" "an object without that member has no word that counts"

# A signal ends both, and what was told stays told.
start slow mail-triage --state state --exec 'echo $$ >>pids; test $(wc -l <pids) -lt 2 || exec sleep 100; echo info' mail
wait_until 20 at_least pids 2
stop "$pid"
status_is 143 "a signal ends it by the signal"
ok "the command ends with mail-triage" wait_until 10 gone "$(tail -n 1 pids)"
is "$(lines slow.out)" 1 "one mail was told before the signal"
run mail-triage --state state mail
is "$(lines "$out")" 2 "the other mails are told by the next run"

# --- to a person
echo 'urgent from ops@*' >rules
cat >tell <<'END'
#!/bin/sh
jq -r '[.urgency, .title, .text] | join("|")' >>told
END
chmod +x tell
t 0 "an urgent mail goes by agent-notify to a person" \
  sh -c 'mail-triage --rules rules mail | agent-notify --route | agent-notify --state told.state --exec ./tell'
ok "the urgent mail is told" grep -q '^urgent|ops@work.example: the harbour is down|all of it; \$(touch evil)' told
not_ok "nothing of a mail is run on its way to a person" test -e evil

done_testing
