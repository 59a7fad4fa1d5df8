#!/bin/sh
# Mail as the world writes it: in its charsets, with blanks in encoded words, in mailboxes whose
# mails say "From".
. "${0%/*}/../lib.sh"
needs mail-triage jq python3
cd "$tmp" || exit

python3 - <<'END'
import base64
texts = {
    "iso-8859-15": "100 € für œuvre", "windows-1251": "Привет, мир", "koi8-r": "Встреча в пять",
    "gb2312": "会议在五点", "iso-2022-jp": "会議は五時です", "big5": "會議", "euc-kr": "회의 다섯 시",
    "shift_jis": "会議ア①", "iso-8859-2": "Žluťoučký kůň", "windows-1250": "Příliš – tři", "utf-16": "both ways",
    "iso-8859-9": "İstanbul", "windows-1252": "“quoted” – €5",
}
codecs = {"gb2312": "gbk", "shift_jis": "cp932", "euc-kr": "cp949", "iso-8859-9": "cp1254"}
with open("want", "w") as want:
    for number, (charset, text) in enumerate(texts.items()):
        raw = text.encode(codecs.get(charset, charset))
        word = base64.b64encode(raw).decode()
        body = base64.b64encode(raw).decode()
        want.write(text + "|" + text + "\n")
        with open("m%02d" % number, "w") as mail:
            mail.write(f"From: a@example.org\nSubject: =?{charset.upper()}?B?{word}?=\nMessage-ID: <{number}@x>\n"
                       f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\n{body}\n")
with open("odd", "wb") as mail:
    mail.write(b"From: a@example.org\nSubject: =?utf-8?Q?caf=C3=A9 au lait?= and =?koi8-r?Q?=F0_?= =?no//TRANSLIT?Q?x?=\n\n"
               b"x\n")
with open("cut", "wb") as mail:
    mail.write(b"From: a@example.org\nSubject: cut\nContent-Type: text/plain; charset=gb2312\n\n\xbb\xe1\xff\xff\xd2\n")
END
t 0 "thirteen charsets are read" sh -c 'mail-triage m*'
jq -r '.title + "|" + .text' "$out" | sed 's/^[^:]*: //;s/ *$//' >got
ok "the words of thirteen charsets are right" diff want got
cmp -s want got || diag "$(diff want got)"
run mail-triage odd
like "$(jq -r .title "$out")" 'café au lait and П' \
  "blanks in an encoded word stay, and two charsets are read"
like "$(jq -r .title "$out")" 'no//TRANSLIT' "a word in an unknown charset stays as it is"
run mail-triage cut
like "$(jq -r .text "$out")" '^会' "a text that is cut is read as far as it goes"

# --- parts that are damaged
shown() {
  printf 'From: a@example.org\nSubject: s\n%b' "$1" >damaged
  run mail-triage damaged
  like "$(jq -r .text "$out")" "$2" "$3"
}
shown 'Content-Type: multipart/mixed\n\n--b1\nContent-Type: text/plain\n\nhere I am\n--b1--\n' '^here I am' \
  "parts without a boundary are read"
shown 'Content-Type: multipart/mixed; boundary="other"\n\npreamble\n--=_b1\n\nhere I am\n--=_b1--\n' '^here I am' \
  "parts with another boundary are read"
shown 'Content-Type: multipart/mixed; boundary=\n\nhere I am\n' '^here I am' \
  "parts with an empty boundary are read"
for type in '' text text/ /plain 'text/plain charset=utf-8' 'text plain; charset=utf-8' '; charset=utf-8' \
  'text/plain/x' garbage '"text/plain"'; do
  shown "Content-Type: $type\n\nhere I am\n" '^here I am' "a text of the type '$type' is read"
done
shown 'Content-Type: text/html charset=utf-8\n\n<p>here <b>I</b> am\n' '^here I am' \
  "a text of a broken HTML type is read"

# --- names of characters
shown 'Content-Type: text/html; charset=utf-8\n\n<p>caf&eacute; &Auml;&szlig; &thetasym;&nbsp;&rarr; &frac12; &hearts;&amp;&nosuch; &check;\n' \
  '^café Äß ϑ → ½ ♥&&nosuch; ✓' "names of characters in HTML are read"

python3 - <<'END'
import html, html.entities, json
names = [name for name in html.entities.html5 if name.endswith(";")]
blank = {"nbsp;", "ensp;", "emsp;", "thinsp;", "shy;", "zwnj;", "zwj;", "lrm;", "rlm;", "ZeroWidthSpace;"}
with open("want", "w") as want, open("names", "w") as mails:
    for name in names:
        if name in blank or html.unescape("&" + name).isspace():
            continue
        mails.write(f"From a@example.org Mon Nov 23 12:00:00 2026\nFrom: a@example.org\nSubject: s\n"
                    f"Content-Type: text/html\n\n<p>x&{name}y\n\n")
        want.write(json.dumps("x" + html.unescape("&" + name) + "y", ensure_ascii=False) + "\n")
END
run mail-triage names
jq -c '.text | rtrimstr("\n")' "$out" >got
ok "all names of characters are read ($(wc -l <want))" cmp want got
cmp -s want got || diag "$(diff want got | head -n 6)"

# --- dates as old mailers wrote them
while IFS='|' read -r date want; do
  printf 'From: a@example.org\nSubject: s\nDate: %s\n\nx\n' "$date" >dated
  run mail-triage dated
  is "$(jq -r .time "$out")" "$want" "the date $date is read"
done <<'END'
Mon, 23 Nov 2026 10:00:00 +0100|2026-11-23T09:00:00.000Z
Tue, 03 Nov 2026 10:00:00 -0530|2026-11-03T15:30:00.000Z
Mon Nov 23 10:00:00 2026|2026-11-23T10:00:00.000Z
Mon Nov 23 10:00:00 EST 2026|2026-11-23T15:00:00.000Z
Monday, 23-Nov-26 10:00:00 GMT|2026-11-23T10:00:00.000Z
23-Nov-2026 10:00 PST|2026-11-23T18:00:00.000Z
Mon, 23 November 2026 10.00.00 +0100|2026-11-23T09:00:00.000Z
2026-11-23 10:00:00 +0100|2026-11-23T09:00:00.000Z
2026-11-23T10:00:00.123+01:00|2026-11-23T09:00:00.000Z
2026-11-23T10:00:00Z|2026-11-23T10:00:00.000Z
Mon, 23 Nov 2026 10:00:00 GMT+0100|2026-11-23T09:00:00.000Z
Mon, 23 Nov 2026 10:00:00 +1|2026-11-23T09:00:00.000Z
Mon, 23 Nov 26 10:00:00 UT|2026-11-23T10:00:00.000Z
END
for date in '2026-11-T' '--T' '2026-11-23' 'Nov' 'Mon' '2026-13-45T99:99:99Z' '23-Nov-26' 'Nov 23 2026' '-' ''; do
  printf 'From: a@example.org\nSubject: s\nDate: %s\n\nx\n' "$date" >dated
  t 0 "a mail with the date '$date' is read" mail-triage dated
done

cat >box <<'END'
From ada@example.org Mon Nov 23 12:00:00 2026
From: ada@example.org
Subject: one

Greetings.

From Berlin we go on to Prague at 10:30 on Mon next.

From: here
From
END
printf '\nFrom - Tue Nov 24 01:02:03 2026\nFrom: b@example.org\nSubject: two\n\nx\n' >>box
printf '\nFrom c@example.org\nFrom: c@example.org\nSubject: three\n\nx\n' >>box
printf '\nFrom "d e"@example.org  Tue Nov  4 1:02 2026 remote from x\nFrom: d@example.org\nSubject: four\n\nx\n' >>box
run mail-triage box
is "$(jq -r .title "$out" | grep -o 'one\|two\|three\|four' | xargs)" "one two three four" \
  "a sentence that begins with From begins no mail"
like "$(jq -r 'select(.title | test("one")).text' "$out")" 'From Berlin we go on' \
  "a sentence that begins with From is text"
done_testing
