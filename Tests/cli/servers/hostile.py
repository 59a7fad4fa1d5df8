"""What a gateway streams that means ill, or counts badly; gateway.py runs it for a message
whose first word is one of WORDS.

  huge MIB       one piece of so many MiB           tiny COUNT   so many pieces of a few bytes
  outputs COUNT  as many outputs of a tool, 1 MiB   calls COUNT  as many calls without an end
  thoughts COUNT as many pieces of a thought        odd          names that a terminal obeys
  ids            ids of 2 MiB
"""
import json
import struct

WORDS = {"huge", "tiny", "outputs", "calls", "thoughts", "odd", "ids"}
# Clears the screen, sets the title and the clipboard, turns the text, breaks the line.
ODD = "n\x1b[2J\x1b]0;owned\x07\x1b]52;c;eA==\x07\u202e\u009b31m\n\rend"


class Torrent:
    """Frames of one run to all that listen, many to a write."""

    def __init__(self, run, connections, lock):
        self.run, self.connections, self.lock = run, connections, lock

    def send(self, event, members):
        """One event for each of the members, which are JSON texts without the braces."""
        with self.lock:
            for each in [each for each in self.connections if each.isOpen]:
                whole = []
                for text in members:
                    each.seq += 1
                    self.run.seq += 1
                    data = ('{"type":"event","event":"%s","payload":{"runId":%s,"sessionKey":%s,'
                            '"seq":%d,%s},"seq":%d}'
                            % (event, json.dumps(self.run.id), json.dumps(self.run.key),
                               self.run.seq, text, each.seq)).encode()
                    size = len(data)
                    if size < 126:
                        head = bytes([0x81, size])
                    elif size < 65536:
                        head = b"\x81\x7e" + struct.pack("!H", size)
                    else:
                        head = b"\x81\x7f" + struct.pack("!Q", size)
                    whole += [head, data]
                each.write(b"".join(whole))

    def many(self, event, count, member):
        for start in range(0, count, 1000):
            self.send(event, [member(i) for i in range(start, min(start + 1000, count))])

    def tools(self, count, member):
        for number in range(count):
            self.send("agent", ['"stream":"tool","ts":1790000000000,"data":' + member(number)])


def go(run, words, connections, lock):
    word, _, count = words.partition(" ")
    count = int(count or 0)
    torrent = Torrent(run, connections, lock)
    if word == "huge":
        run.text = "0123456789abcde\n" * (count << 16)
        torrent.send("chat", ['"state":"delta","deltaText":' + json.dumps(run.text)])
    elif word == "tiny":
        run.text = "".join("%d " % number for number in range(count))
        torrent.many("chat", count, lambda i: '"state":"delta","deltaText":"%d "' % i)
    elif word == "thoughts":
        torrent.many("agent", count, lambda i: '"stream":"thinking","ts":1790000000000,'
                     '"data":{"delta":"%d "}' % i)
    elif word == "outputs":
        output = json.dumps("0123456789abcde\n" * (1 << 16))
        torrent.tools(1, lambda i: '{"phase":"start","name":"yes","toolCallId":"c","args":{}}')
        torrent.tools(count, lambda i: '{"phase":"update","name":"yes","toolCallId":"c",'
                      '"partialResult":"%d %s}' % (i, output[1:]))
    elif word == "calls":
        torrent.many("agent", count, lambda i: '"stream":"tool","ts":1790000000000,"data":'
                     '{"phase":"start","name":"t%d","toolCallId":"c%d","args":{"n":%d}}'
                     % (i, i, i))
    elif word == "ids":
        long = "x" * (2 << 20)
        torrent.tools(50, lambda i: '{"phase":"start","name":"%s","toolCallId":"%d%s","args":{}}'
                      % (long, i, long))
    elif word == "odd":
        name = json.dumps(ODD)
        torrent.tools(1, lambda i: '{"phase":"start","name":%s,"toolCallId":%s,'
                      '"args":{"command":%s,%s:1}}' % (name, name, name, name))
        torrent.tools(1, lambda i: '{"phase":"result","name":%s,"toolCallId":%s,"isError":true,'
                      '"meta":%s,"result":%s}' % (name, name, name, name))
        torrent.tools(1, lambda i: '{"phase":"start","name":"exec","toolCallId":"d","args":{}}')
        run.delta("said ")
        run.delta(ODD)
        return run.end("error", errorMessage=ODD, errorKind=ODD)
    if not run.text:
        run.text = "done"
        torrent.send("chat", ['"state":"delta","deltaText":"done"'])
    # Without the text: it is to be what was streamed.
    run.end("final", stopReason="stop")
