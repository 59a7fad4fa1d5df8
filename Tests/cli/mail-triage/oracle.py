#!/usr/bin/env python3
"""oracle.py FOLDER: what Python's email package makes of the mails that it wrote itself.

Writes FOLDER/dir (a maildir), FOLDER/box (a mailbox) and FOLDER/want, one line a mail: id,
name, address, subject, the first 280 characters, time, thread.
"""
import copy, email, email.header, email.policy, email.utils, json, mailbox, os, random, sys
from email.message import EmailMessage, Message
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText

random.seed(20)
folder = sys.argv[1]
words = (
    "tides harbour naïve café ☕ Größe deploy the pipeline \u201cquoted\u201d résumé £5 invoice "
    "From here = 100% a_b ? <tag> & 日本語 Ünïcödé soon, later; done: yes"
).split(" ")
plain = "tides harbour deploy the pipeline From here invoice = 100% soon, later done".split(" ")


def some(count, of=words):
    return " ".join(random.choice(of) for _ in range(count))


def body(part_words):
    return "\n".join(some(random.randint(1, 9), part_words) for _ in range(random.randint(1, 9)))


def text(kind):
    """A part by the old interface: the charset and the code of one's choice."""
    charset, code = random.choice(
        [("utf-8", "base64"), ("utf-8", "qp"), ("utf-8", "8bit"), ("iso-8859-1", "qp"),
         ("windows-1252", "base64"), ("us-ascii", "7bit"), ("us-ascii", None)]
    )
    known = words if charset == "utf-8" else ["café", "naïve"] + plain
    if charset == "us-ascii":
        known = plain
    said = body(known)
    if kind == "html":
        said = "".join(f"<p class='x'>{line}</p>\n" for line in body(plain[:6]).split("\n"))
    part = MIMENonMultipart("text", kind)
    raw = said.encode(charset)
    if code is None:
        del part["Content-Type"]
        part["Content-Type"] = f"text/{kind}"
    else:
        part.set_param("charset", charset)
    if code == "base64":
        import base64
        part.set_payload(base64.encodebytes(raw).decode())
        part["Content-Transfer-Encoding"] = "base64"
    elif code == "qp":
        import quopri
        part.set_payload(quopri.encodestring(raw).decode())
        part["Content-Transfer-Encoding"] = "quoted-printable"
    else:
        part.set_payload(raw.decode("ascii", "surrogateescape"))
        if code:
            part["Content-Transfer-Encoding"] = code
    return part


def attachment():
    part = MIMENonMultipart("application", "octet-stream", name="a.bin")
    part["Content-Disposition"] = 'attachment; filename="a.bin"'
    part.set_payload("AAAA\n")
    part["Content-Transfer-Encoding"] = "base64"
    return part


def notes():
    part = text("plain")
    part["Content-Disposition"] = "attachment"
    return part


def tree(depth=0):
    kind = random.randint(0, 5 if depth < 3 else 1)
    if kind == 0:
        return text("html")
    if kind <= 2:
        return text("plain")
    whole = MIMEMultipart(random.choice(["mixed", "alternative", "related"]))
    if random.random() < 0.5:
        whole.set_boundary(random.choice(["b", "b b", "=_x'()+,", "b-b"]) + str(depth))
    for _ in range(random.randint(1, 3)):
        whole.attach(random.choice([tree, tree, tree, lambda _: attachment(), lambda _: notes()])(depth + 1))
    return whole


def name():
    return random.choice(["Ada Lovelace", "Lovelace, Ada", "Größe", "日本語 太郎", "", 'a "b" c',
                          "A. (Bee)", some(12, ["Ünïcödé", "naïve", "tides"])])


mails = []
for number in range(300):
    mail = tree()
    mail["From"] = email.utils.formataddr((name(), f"a{number}@example.com"), "utf-8")
    mail["To"] = ", ".join(
        email.utils.formataddr((name(), f"t{i}@example.com")) for i in range(random.randint(1, 4)))
    subject = some(random.randint(1, 14), random.choice([words, plain]))
    charset = random.choice(["utf-8", "utf-8", "iso-8859-1"])
    try:
        mail["Subject"] = email.header.Header(subject, charset)
    except UnicodeEncodeError:
        mail["Subject"] = email.header.Header(subject, "utf-8")
    mail["Date"] = email.utils.format_datetime(
        email.utils.datetime.datetime.fromtimestamp(
            random.randint(0, 2_000_000_000),
            email.utils.datetime.timezone(email.utils.datetime.timedelta(minutes=random.choice([0, 60, -330, 825])))))
    if random.random() < 0.9:
        mail["Message-ID"] = f"<m{number}.x=+$@example.com>"
    if random.random() < 0.4:
        mail["References"] = "\n ".join(f"<r{number}.{i}@example.com>" for i in range(random.randint(1, 30)))
    elif random.random() < 0.3:
        mail["In-Reply-To"] = f"<r{number}.0@example.com> of some day"
    mails.append(mail)

place = mailbox.Maildir(f"{folder}/dir")
box = mailbox.mbox(f"{folder}/box")
for mail in mails:
    # Python sets new ones aside; one of three was in front of a mail reader already.
    entry = mailbox.MaildirMessage(mail)
    if random.random() < 0.3:
        entry.set_subdir("cur")
        entry.set_flags(random.choice(["", "F", "R"]))
    place.add(entry)
    # Its writer changes what it writes.
    box.add(copy.deepcopy(mail))
seen = mailbox.MaildirMessage(mails[0])
seen.replace_header("Subject", "seen")
seen.set_subdir("cur")
seen.set_flags("S")
place.add(seen)
box.close()


def first(parsed):
    """The first text, and else the first page, with what is in its paragraphs."""
    page = None
    for part in parsed.walk():
        if part.is_multipart() or part.get_content_disposition() == "attachment":
            continue
        if part.get_content_maintype() != "text":
            continue
        raw = part.get_payload(decode=True)
        said = raw.decode(part.get_content_charset() or "utf-8", "replace")
        if part.get_content_type() == "text/plain" and said.strip():
            return said
        if part.get_content_type() == "text/html" and page is None and said.strip():
            page = said.replace("<p class='x'>", " ").replace("</p>", " ")
    return page or ""


with open(f"{folder}/want", "w") as want:
    for mail in mails:
        raw = mail.as_bytes(policy=email.policy.compat32.clone(mangle_from_=False))
        parsed = email.message_from_bytes(raw, policy=email.policy.default)
        sender = parsed["From"].addresses[0]
        said = " ".join(first(parsed).split())
        ids = (parsed["References"] or parsed["In-Reply-To"] or parsed["Message-ID"] or "").split()
        print(json.dumps({
            "id": (parsed["Message-ID"] or "").strip("<> ") or None,
            "name": " ".join(sender.display_name.split()),
            "address": sender.addr_spec,
            "subject": " ".join(str(parsed["Subject"]).split()),
            "text": said[:279] + "…" if len(said) > 280 else said,
            "time": parsed["Date"].datetime.timestamp(),
            "thread": ids[0].strip("<>") if ids else None,
        }, ensure_ascii=False), file=want)
