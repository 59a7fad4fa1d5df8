"""packed-damage FOLDER: what is damaged in a packed file is told, and loses nothing else.

Makes three frames and an index, reads the seek table as its specification says, flips every
byte behind the frames, damages each frame, and cuts the file in many places. Prints what is
wrong, and how much was tried.
"""
import os
import struct
import subprocess
import sys

os.chdir(sys.argv[1])
PAD = "x" * 200_000
kinds = ["first"] * 5 + ["second"] * 5 + ["third"] * 5
lines = [b'{"id":%d,"kind":"%s","content":"%s"}\n' % (n, kind.encode(), PAD.encode())
         for n, kind in enumerate(kinds)]
plain = b"".join(lines)
with open("whole", "wb") as file:
    subprocess.run(["action-filter", "--pack"], input=plain, stdout=file, check=True)
with open("whole", "rb") as file:
    whole = file.read()
wrong = []
tried = 0


def unzstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True).stdout


def run(data, *options):
    global tried
    tried += 1
    with open("file", "wb") as file:
        file.write(data)
    done = subprocess.run(
        ["action-filter", "-o", "id", *options, "file"], capture_output=True, timeout=60)
    if done.returncode not in (0, 1, 2) or done.returncode == 2 and not done.stderr:
        wrong.append("status %d: %r" % (done.returncode, done.stderr))
    return done


def ids(numbers):
    return b"".join(b'{"id":%d}\n' % n for n in numbers)


# The seek table: magic, size, entries; number of frames, flags, magic.
frames, flags, magic = struct.unpack("<IBI", whole[-9:])
table = whole[-9 - 8 * frames - 8:]
if (magic, flags) != (0x8F92EAB1, 0) or struct.unpack("<II", table[:8]) != (
        0x184D2A5E, len(table) - 8):
    wrong.append("no seek table")
places, offset, unpacked = [], 0, b""
for n in range(frames):
    size, length = struct.unpack("<II", table[8 + 8 * n:16 + 8 * n])
    part = unzstd(whole[offset:offset + size])
    if len(part) != length or not part.endswith(b"\n"):
        wrong.append("frame %d is not as the table says" % n)
    unpacked += part
    places.append((offset, size))
    offset += size
if unpacked != plain or frames != 3:
    wrong.append("the frames of the table are not the file")

# A frame that cannot match is not read: nothing is said of the others.
for n, kind in enumerate(["first", "second", "third"]):
    data = bytearray(whole)
    for m, (at, size) in enumerate(places):
        if m != n:
            data[at + 4:at + size - 4] = bytes(size - 8)
    done = run(bytes(data), "-k", kind)
    want = ids(range(5 * n, 5 * n + 5))
    if (done.returncode, done.stdout, done.stderr) != (0, want, b""):
        wrong.append("frames without %s are read: %r" % (kind, done.stderr))
    # And one that has to be read is named.
    data = bytearray(whole)
    at, size = places[n]
    data[at + size // 2] ^= 0x40
    done = run(bytes(data))
    want = ids(i for i in range(15) if not 5 * n <= i < 5 * n + 5)
    said = b"action-filter: file: frame %d, bytes %d to %d, not read: " % (n + 1, at, at + size - 1)
    if (done.returncode, done.stdout) != (2, want) or not done.stderr.startswith(said):
        wrong.append("damaged frame %d: %r" % (n, done.stderr))
    if done.stderr.count(b"\n") != 1:
        wrong.append("more than one line is said")

# Whatever is wrong with the index, no record is lost.
for at in range(offset, len(whole)):
    data = bytearray(whole)
    data[at] ^= 1 << at % 8
    done = run(bytes(data), "-k", "second")
    if done.stdout != ids(range(5, 10)):
        wrong.append("byte %d of the index is wrong, and so is the answer" % (at - offset))

cuts = {len(whole) - n for n in (1, 4, 5, 8, 9, 10, len(table) - 1, len(table), len(table) + 1)}
for at, size in places:
    cuts |= {at + 1, at + 5, at + size // 2, at + size - 1, at + size}
for cut in sorted(cuts - {0}):
    done = run(whole[:cut])
    there = sum(1 for at, size in places if at + size <= cut)
    if not done.stdout.startswith(ids(range(5 * there))) or not ids(range(15)).startswith(
            done.stdout):
        wrong.append("cut at %d: other records" % cut)
    ends = {offset, *(at + size for at, size in places), len(whole) - len(table)}
    if (done.returncode == 0) != (cut in ends):
        wrong.append("cut at %d: status %d" % (cut, done.returncode))

# An index that claims too much costs no memory, and no other frame.
def packed(text):
    with open("text", "wb") as file:
        file.write(text)
    return subprocess.run(["zstd", "-cq", "--check", "text"], capture_output=True).stdout


head = struct.unpack("<II", whole[offset:offset + 8])
index = unzstd(whole[offset + 16:offset + 8 + head[1]]).split(b"\n")
for n, (at, size) in enumerate(places):
    for length in (1000, size << 17):
        said = index[:]
        parts = said[n + 1].split(b'"length":')
        said[n + 1] = b'%s"length":%d,"lines":1,"was":%s' % (
            parts[0], length, parts[1].replace(b'"lines"', b'"then"'))
        # The lines of the file have to come to those of its frames.
        said[0] = said[0].replace(b'"lines":15', b'"lines":11')
        text = b"agentidx" + packed(b"\n".join(said))
        data = whole[:offset] + struct.pack("<II", head[0], len(text)) + text + table
        done = run(data, "-j", "1")
        want = ids(i for i in range(15) if not 5 * n <= i < 5 * n + 5)
        if (done.returncode, done.stdout) != (2, want) or b"not as long as it was" not in (
                done.stderr):
            wrong.append("frame %d said to be of %d bytes: %r" % (n + 1, length, done.stderr))

# Counts that go past every number, and frames of nothing.
def forged(head, frames):
    """A file of frames, each a line of an index without its size."""
    parts = [packed(frame) for frame, _ in frames]
    lines = [b'{"version":1,"size":%d,%s}' % (sum(map(len, parts)), head)]
    lines += [b'{"size":%d,%s}' % (len(part), said) for part, (_, said) in zip(parts, frames)]
    text = b"agentidx" + packed(b"\n".join(lines) + b"\n")
    entries = b"".join(struct.pack("<II", len(part), len(frame))
                       for part, (frame, _) in zip(parts, frames))
    return (b"".join(parts) + struct.pack("<II", 0x184D2A51, len(text)) + text
            + struct.pack("<II", 0x184D2A5E, len(entries) + 9) + entries
            + struct.pack("<IBI", len(parts), 0, 0x8F92EAB1))


line = ids([1])
many = ",".join('"k%d":%s' % (n, "9" * 18) for n in range(9)) + ',"k9":223372036854775817'
about = b'"length":%d,"lines":1,"actions":1,"plain":true,"kinds":{%s}' % (
    len(line), many.encode())
done = run(forged(about, [(line, about)]), "-d", "other")
if done.returncode not in (0, 1) or done.stderr:
    wrong.append("counts past every number: %d %r" % (done.returncode, done.stderr))
# A frame that is larger than what is in it can be: the index is not believed.
about = b'"length":20,"lines":1,"bad":1'
if b"not read" in run(forged(about, [(os.urandom(1 << 20), about)])).stderr:
    wrong.append("a frame that is too large is believed")

# What others put together is read from the first byte to the last.
for data, want in [(whole + whole, list(range(15)) * 2), (whole[:offset], range(15)),
                   (whole[:offset] + whole, list(range(15)) * 2)]:
    if run(data).stdout != ids(want):
        wrong.append("a file put together")
print("\n".join(wrong[:20]))
print(tried, "tried")
sys.exit(1 if wrong else 0)
