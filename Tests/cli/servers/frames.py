"""Frames of WebSockets (RFC 6455) by hand, so that they can also be wrong."""
import base64
import hashlib
import struct


def accept_of(key):
    """What a server answers to a key."""
    digest = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return base64.b64encode(digest).decode()


def frame(first, payload):
    """An unmasked frame that begins with this byte."""
    count = len(payload)
    if count < 126:
        return bytes([first, count]) + payload
    if count < 1 << 16:
        return struct.pack("!BBH", first, 126, count) + payload
    return struct.pack("!BBQ", first, 127, count) + payload


class FrameSource:
    """The frames that a client sends."""

    def __init__(self, connection):
        self.connection = connection
        self.data = b""

    def bytes(self, count):
        while len(self.data) < count:
            more = self.connection.recv(1 << 20)
            if not more:
                raise EOFError
            self.data += more
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def next(self):
        """The next frame as a record, or None at the end."""
        try:
            first, second = self.bytes(2)
            count = second & 127
            if count == 126:
                count, = struct.unpack("!H", self.bytes(2))
            elif count == 127:
                count, = struct.unpack("!Q", self.bytes(8))
            mask = self.bytes(4) if second & 128 else None
            payload = self.bytes(count)
        except (EOFError, OSError):
            return None
        if mask:
            pad = (mask * (count // 4 + 1))[:count]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(count, "big")
        record = {"first": "%02x" % first, "mask": mask.hex() if mask else None, "size": count}
        if first & 15 == 8 and count >= 2:
            record["code"] = struct.unpack("!H", payload[:2])[0]
            record["text"] = payload[2:].decode("utf-8", "replace")
        else:
            record["text"] = payload[:4096].decode("utf-8", "replace")
            record["sha1"] = hashlib.sha1(payload).hexdigest()
        return record
