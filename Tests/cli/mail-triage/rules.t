#!/bin/sh
# What urgency and category mails and records get: by themselves, and by rules.
. "${0%/*}/../lib.sh"
needs jq

# mail NAME: a mail with the header of standard input.
mail() { { cat; printf 'Message-ID: <%s@x>\n\nhello\n' "$1"; } >"$tmp/$1"; }
mail plain <<'END'
From: Ada <ada@work.example>
To: me@home.example
Subject: lunch
END
mail reply <<'END'
From: ada@work.example
To: Me <ME@home.example>, b@x
Subject: Re: lunch
In-Reply-To: <root@x>
END
mail copy <<'END'
From: ada@work.example
To: b@x
Cc: me@home.example
Subject: Re: lunch
In-Reply-To: <root@x>
END
mail delivered <<'END'
Delivered-To: me@home.example
From: ada@work.example
To: me@home.example
Subject: Re: lunch
References: <root@x> <next@x>
END
mail list <<'END'
From: bob@lists.example
To: me@home.example
List-Id: Tides <tides.lists.example>
In-Reply-To: <root@x>
Subject: [tides] high
END
mail bulk <<'END'
From: shop@example.com
To: me@home.example
Precedence: bulk
Subject: 50% off
END
mail robot <<'END'
From: ci@work.example
To: me@home.example
Auto-Submitted: auto-generated; type=ci
In-Reply-To: <root@x>
Subject: Build FAILED: main
END
mail meeting <<'END'
From: ada@work.example
Subject: standup
MIME-Version: 1.0
Content-Type: text/calendar
END
mail file <<'END'
From: ada@work.example
Subject: invoice
Content-Type: application/pdf; name=a.pdf
END
cat >"$tmp/records" <<'END'
{"contractVersion":2,"type":"message","eventId":"e1","platform":"telegram","occurredAt":"2026-11-23T10:00:00Z","actor":{"platformUserId":"7","userName":"bob","displayName":"Bob B","isBot":false,"isSelf":false},"platformIds":{"conversationId":"c1","messageId":"m1","threadId":"t1"},"text":"are you there?","isMention":true,"attachmentCount":0}
{"contractVersion":2,"type":"message","eventId":"e2","platform":"slack","actor":{"userName":"news","isBot":true},"platformIds":{"conversationId":"c2","messageId":"m2"},"text":"hi","isMention":true,"attachmentCount":1}
{"contractVersion":2,"type":"message","eventId":"e3","platform":"slack","actor":{"userName":"me","isSelf":true},"platformIds":{"messageId":"m3"},"text":"mine"}
{"contractVersion":2,"type":"reaction","eventId":"e4","platform":"slack","actor":{"userName":"bob"}}
{"type":"message","backend":"openclaw","profile":"claw","id":"a1","thread":"main","role":"assistant","text":"done","state":"partial"}
{"type":"message","backend":"openclaw","profile":"claw","id":"a1","thread":"main","role":"assistant","text":"done, all of it","state":"final","time":"2026-11-23T10:00:01.000Z"}
{"type":"message","backend":"openclaw","id":"u1","thread":"main","role":"user","text":"mine","state":"final"}
{"id":"cv1","subject":"Lease","status":"open","lastMessageAt":"2026-11-23T09:00:00Z","messageCount":2,"isUnread":true,"from":"Eve <eve@x.example>","to":["me@home.example"],"tags":[],"preview":"please sign"}
{"id":"cv2","subject":"Old","status":"archived","lastMessageAt":"2026-11-23T09:00:00Z","isUnread":true,"from":"eve@x.example"}
{"id":"ms1","conversationId":"cv1","from":{"name":"Eve","email":"eve@x.example"},"to":["me@home.example"],"subject":"Lease","body":"<p>please</p><p>sign</p>","date":"2026-11-23T09:00:00Z","isInbound":true,"attachments":[{"name":"a.pdf"}]}
{"id":"ms2","conversationId":"cv1","from":"me@home.example","to":[],"subject":"Re: Lease","body":"ok","date":"2026-11-23T09:00:00Z","isInbound":false,"attachments":[]}
END
# triage ARG...: ID URGENCY CATEGORY of each. told ID MEMBER
triage() { run mail-triage "$@"; }
verdicts() { jq -r '"\(.about.id | sub("@x$"; "")) \(.urgency) \(.category)"' "$out"; }
told() { jq -r "select(\"\(.about.type)/\(.about.id)\" == \"$1\") | $2" "$out"; }

cd "$tmp" || exit
mails="plain reply copy delivered list bulk robot meeting file"
# shellcheck disable=SC2086  # words
triage $mails
status_is 0 "mails have an urgency of their own"
is "$(verdicts | xargs -n 3 | tr '\n' ',')" \
  "plain info email,reply info email,copy info email,delivered attention email,list info email,bulk noise email,robot info email,meeting info calendar,file info email," \
  "nothing is urgent, and an answer is told to whom it is delivered to"
is "$(told mail/delivered@x '.thread + " " + .about.type + " " + .about.id + " " + .title')" \
  "root@x mail delivered@x ada@work.example: Re: lunch" "a notification says what it is about"
is "$(told mail/plain@x '.thread + " " + .title')" "plain@x Ada: lunch" "a title names the person"
# shellcheck disable=SC2086
triage --me other@x,Me@Home.example $mails
is "$(verdicts | grep attention | xargs)" "reply attention email delivered attention email" \
  "--me says who you are: what has others first, a list or a robot has no attention"

triage records
status_is 0 "records of several kinds are read"
is "$(verdicts | xargs -n 3 | tr '\n' ',')" \
  "telegram/c1/m1 attention message,slack/c2/m2 info message,openclaw/claw/main/a1 info message,cv1/2026-11-23T09:00:00Z info email,ms1 info email," \
  "only what came in and is not old is told"
is "$(told message/telegram/c1/m1 '[.title, .text, .thread, .time, .about.id] | join(" ")')" \
  "Bob B are you there? t1 2026-11-23T10:00:00.000Z telegram/c1/m1" "an event is told"
is "$(told message/openclaw/claw/main/a1 '[.backend, .profile, .title, .text] | join(" ")')" \
  "openclaw claw claw done, all of it" "a message of an agent is told"
is "$(told mail/ms1 '[.title, .text, .thread] | join(" ")')" "Eve: Lease please sign cv1" \
  "a mail of a service is told"
jq -c 'select(.id == "ms1")' records | mail-triage | cmp - /dev/stdin <<END
$(jq -c 'select(.about.id == "ms1")' "$out")
END
is "$?" 0 "records on standard input give the same notifications"

# --- rules: the first that is about it decides
mkdir -p "$XDG_CONFIG_HOME/agentutils"
cat >"$XDG_CONFIG_HOME/agentutils/triage" <<'END'
# who waits, and what burns
  urgent/work   subject  /build failed|^down:/
noise from *@LISTS.example

info list *tides*
attention/family from eve@x.example
attention is attachment
emergency/chat platform tele*
info/food any lunch
noise to ?@x
urgent text /^DONE, .* of it$/
END
# shellcheck disable=SC2086
triage $mails records
is "$(verdicts | xargs -n 3 | tr '\n' ',')" \
  "plain info food,reply noise email,copy noise email,delivered attention email,list noise email,bulk noise email,robot urgent work,meeting info calendar,file attention email,telegram/c1/m1 emergency chat,slack/c2/m2 attention message,openclaw/claw/main/a1 urgent message,cv1/2026-11-23T09:00:00Z attention family,ms1 attention family," \
  "the rules of the configuration are used"
: >none
triage --rules none plain
is "$(verdicts)" "plain info email" "--rules FILE is used instead"
# The name is whatever a stranger likes.
printf 'From: "eve@x.example" <mallory@x>\nMessage-ID: <spoof@x>\n\n' >spoof
triage spoof
is "$(verdicts)" "spoof info email" "a name that looks like an address is not taken for one"

cat >bad <<'END'
urgnt from a
urgent form a
urgent from
urgent/ from a
urgent is importent
urgent subject /(/
urgent subject fine
END
triage --rules bad plain
status_is 2 "bad rules are bad usage"
out_empty "nothing is read under bad rules"
is "$(sed 's/^mail-triage: bad://; s|/(/: .*|/(/|' "$err")" "1: urgnt: not emergency, urgent, attention, info or noise: did you mean urgent?
2: form: not from, to, subject, text, list, any, platform or is: did you mean from?
3: not URGENCY FIELD PATTERN
4: the category is empty
5: importent: not bulk, direct, mention, reply or attachment
6: /(/" "each bad line is named"
triage --rules missing plain
status_is 2 "a file of rules that was named must be there"
err_is "mail-triage: missing: no such file or directory" "the missing file is named"

# --- bad input
printf '%s\n' nonsense '{"kind":"llm_call"}' '[]' '{"contractVersion":3}' >strange
head -n 1 records >>strange
triage strange
status_is 2 "what is not known is bad input"
is "$(cut -d : -f 2-3 "$err" | xargs)" "strange:1 strange:2 strange:3 strange:4" \
  "bad input is named by its line"
is "$(lines "$out")" 1 "the next record is read"
triage -n 2 plain reply copy
is "$(verdicts | xargs)" "plain info food reply noise email" "-n 2 ends it after two mails"
triage plain plain
is "$(lines "$out")" 1 "a mail is told once"
triage -f
status_is 2 "-f needs a maildir"
triage -f plain
status_is 2 "-f refuses a file"
err_like "^mail-triage: plain: --follow is for maildirs" \
  "the message says that --follow is for maildirs"
triage --timeout 3
status_is 2 "--timeout needs --exec"

done_testing
