#!/usr/bin/env python3
"""microphone.py [--speed TIMES] [--once] CLIP...: what a recorder writes into a pipe while
the WAV files are said to it, one after the other, and then silence until it is ended.

It comes as fast as it would be said, or TIMES as fast, one channel of 16 bits at 16 kHz.
The header has the sizes that arecord(1) gives to a clip of which it does not know the end.
With --once it ends when all is said, after a little silence.
"""
import argparse
import math
import operator
import os
import random
import signal
import struct
import time
import wave

RATE, STEP, TAPS = 16000, 0.05, 24


def resampled(samples, rate):
    """At 16 kHz: by a windowed sinc, a row of weights for each place between two samples."""
    if rate == RATE:
        return samples
    common = math.gcd(rate, RATE)
    up, down = RATE // common, rate // common
    cut = min(1.0, RATE / rate) * 0.95

    def weight(x):
        sinc = math.sin(math.pi * x * cut) / (math.pi * x * cut) if x else 1.0
        return cut * sinc * (0.5 + 0.5 * math.cos(math.pi * x / (TAPS + 1)))

    rows = [[weight(place - TAPS - phase / up) for place in range(2 * TAPS + 1)]
            for phase in range(up)]
    padded = [0] * TAPS + samples + [0] * (TAPS + 1)
    result = []
    for number in range(len(samples) * up // down):
        place, phase = divmod(number * down, up)
        result.append(sum(map(operator.mul, padded[place:place + 2 * TAPS + 1], rows[phase])))
    return result


def heard(name):
    """The samples of a clip, with the little noise that there is in any room."""
    with wave.open(name) as clip:
        count = clip.getnframes()
        samples = list(struct.unpack(f"<{count}h", clip.readframes(count)))
        samples = resampled(samples, clip.getframerate())
    noise = random.Random(1)
    room = [0] * int(0.2 * RATE) + samples + [0] * int(0.2 * RATE)
    room = [min(32767, max(-32768, int(one + noise.gauss(0, 2)))) for one in room]
    return struct.pack(f"<{len(room)}h", *room)


parser = argparse.ArgumentParser()
parser.add_argument("--speed", type=float, default=1)
parser.add_argument("--once", action="store_true")
parser.add_argument("clips", nargs="+")
options = parser.parse_args()
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.write(1, struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 0x80000024, b"WAVEfmt ", 16, 1, 1, RATE,
                        2 * RATE, 2, 16, b"data", 0x80000000))
sound = b"".join(map(heard, options.clips))
step = int(RATE * STEP * options.speed) * 2
while sound or not options.once:
    time.sleep(STEP)
    os.write(1, sound[:step].ljust(step, b"\0"))
    sound = sound[step:]
