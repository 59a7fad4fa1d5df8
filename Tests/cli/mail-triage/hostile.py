#!/usr/bin/env python3
"""hostile.py FOLDER: mails that nobody means well with, one a file."""
import os, sys

folder = sys.argv[1]


def put(name, *pieces):
    with open(os.path.join(folder, name), "wb") as file:
        for piece in pieces:
            file.write(piece)


start = b"From: a@example.com\nSubject: big\nMessage-ID: <%s@x>\n"
mime = b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="%s"\n\n'
put("large", start % b"large", b"\nhello\n", *[b"x" * 76 + b"\n"] * (50 << 20 >> 7))
put("line", start % b"line", b"\n", *[b"y" * (1 << 20)] * 50)
put("header", start % b"header", b"X-Junk: ", *[b"z" * (1 << 20)] * 20, b"\n\nhello\n")
put("folded", start % b"folded", b"References:", *[b" <a@b>\n"] * 150_000, b"\nhello\n")
put("fields", start % b"fields", *[b"X-%d: y\n" % i for i in range(60_000)], b"\nhello\n")
put("parts", start % b"parts", mime % b"b",
    *[b"--b\nContent-Type: image/png\n\nx\n"] * 10_000, b"--b\n\nlate\n--b--\n")
put("deep", start % b"deep",
    *[mime % (b"b%d" % i) + b"--b%d\n" % i for i in range(2000)], b"\nhello\n")
put("cyclic", start % b"cyclic", *[mime % b"b" + b"--b\n"] * 2000, b"\nhello\n")
put("tags", start % b"tags", b"Content-Type: text/html\n\n", b"<" * 500_000, b"<b" * 200_000)
put("script", start % b"script", b"Content-Type: text/html\n\n", b"<!--<script>" * 50_000)
put("words", b"From: a@example.com\nMessage-ID: <words@x>\nSubject: ", b"=?utf-8?q?" * 20_000, b"\n\nx\n")
put("comments", b"From: ", b"(" * 30_000, b"a@b\nMessage-ID: <comments@x>\n\nx\n")
put("groups", b"To: ", b"a:;<" * 8_000, b"\nMessage-ID: <groups@x>\n\nx\n")
put("nul", b"From: \0a\0@b\0\nSubject: a\0b\nMessage-ID: <nul@x>\n\na\0b\n")
put("escape", b"From: \x1b]0;owned\x07 <a@b>\nSubject: \x1b[2J\xe2\x80\xae\nMessage-ID: <escape@x>\n\n\x1b[31m\n")
put("broken", b"From: a@b\nMessage-ID: <broken@x>\nContent-Transfer-Encoding: base64\n"
    b"Subject: =?utf-8?b?////?= =?utf-8?q?=C3?= =?bogus?q?x?=\n\n!!!!aGVsbG8=!!!\n")
put("marks", b"From: a@b\nMessage-ID: <marks@x>\nSubject: a", b"\xcc\x81" * 5_000, b"\n\n", b"a" + b"\xcc\x81" * 30_000)
put("returns", b"From: a@b\r\nMessage-ID: <returns@x>\r\nSubject: crlf\r\n\r\nhello\r\n")
put("injection", b"From: a@b\nMessage-ID: <injection@x>\nSubject: =?utf-8?q?a=0Aurgency:_emergency=0A?=\n\nx\n")
