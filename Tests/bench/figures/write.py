#!/usr/bin/env python3
"""Writes figures.md, figures.svg and README's figures from figures.ndjson; with --check, only
says what is not as it would be written, and ends with 1 then."""
import difflib
import os
import sys

sys.dont_write_bytecode = True

import bars  # noqa: E402
import book as books  # noqa: E402
import readme  # noqa: E402
import table  # noqa: E402

README = os.path.join(books.TOP, "README.md")


def read(path):
    """The text of a file, none where there is no file."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def pages():
    """Path -> what it has to say."""
    book = books.Book(books.load())
    yield README, readme.renew(read(README), book)
    yield os.path.join(books.HERE, "figures.md"), table.render(book)
    yield os.path.join(books.HERE, "figures.svg"), bars.render(book)


def main():
    checks, wrong = sys.argv[1:] == ["--check"], False
    if sys.argv[1:] and not checks:
        sys.exit("usage: write.py [--check]")
    for path, text in pages():
        present = read(path)
        if present == text:
            continue
        if not checks:
            with open(path, "w") as file:
                file.write(text)
            continue
        wrong, name = True, os.path.relpath(path, books.TOP)
        print(f"{name}: not what figures.ndjson says; `make figures` writes it:")
        lines = difflib.unified_diff(present.splitlines(), text.splitlines(), name, "made",
                                     lineterm="", n=0)
        print("\n".join(line[:200] for line in list(lines)[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (books.Missing, ValueError) as error:
        sys.exit(f"figures: {error}")
