"""What the targets of make fuzz that cut a wire have in common: the pieces, and the records
that must be the same in all of them."""
import json

from rounds import Difference


def cuttings(rng, body):
    """Lists of pieces of the bytes, the whole first; None is a pause between two."""
    cuts = [[body]]
    if len(body) < 3000:
        cuts.append([body[at:at + 1] for at in range(len(body))])
    for _ in range(2):
        cut, at = [], 0
        most = rng.choice([2, 5, 50, 5000])
        while at < len(body):
            size = rng.randint(1, most)
            cut.append(body[at:at + size])
            if rng.random() < 0.1 and len(cut) < 300:
                cut.append(None)
            at += size
        cuts.append(cut)
    return cuts


def alike(rng, body, ask):
    """What ask(pieces) gives, which must be the same however the bytes are cut."""
    first = None
    for cut in cuttings(rng, body):
        try:
            got = ask(cut)
        except Difference as difference:
            difference.kept = body
            raise
        if first is None:
            first = got
        elif got != first:
            raise Difference(f"in {len(cut)} pieces: {got!r:.500}, in one: {first!r:.500}", body)
    return first


def compare(got, want, body):
    """The records are the expected ones."""
    if got != want:
        at = next((n for n, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        raise Difference(f"{len(got)} records, want {len(want)}; record {at}: {got[at:at + 1]!r}, "
                         f"want {want[at:at + 1]!r}", body)


def refuse(word):
    raise ValueError(word)


def parsed(text):
    """The value of a JSON text, its numbers as they are spelled."""
    return json.loads(text, parse_constant=refuse, parse_int=str, parse_float=str)


def value(text):
    """The JSON value of the text, or the text."""
    try:
        return parsed(text)
    except (ValueError, RecursionError):
        return text


class Close(Exception):
    """The code that a WebSocket is closed with; None for an echo of none."""

    def __init__(self, code):
        self.code = code


def is_whole(data):
    """Whether the bytes may be a text, and not only its beginning.

    Raises Close where they can be neither."""
    try:
        data.decode()
        return True
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            raise Close(1007) from None
        return False
