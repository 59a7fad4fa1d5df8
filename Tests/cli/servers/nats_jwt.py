#!/usr/bin/env python3
"""nats_jwt.py FOLDER: an operator, an account with JetStream and its users, made by hand as
nats-io/jwt describes them: FOLDER/operator.conf for a server, good.creds for a user, late.creds for
one whose time is over, and foreign.creds for one of an account that the server does not know."""
import base64
import hashlib
import json
import os
import sys
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization import PublicFormat

SEED, MARKS = 18 << 3, {"operator": 14 << 3, "account": 0, "user": 20 << 3}


def text(data):
    check = 0
    for byte in data:
        check ^= byte << 8
        for _ in range(8):
            check = (check << 1 ^ (0x1021 if check & 0x8000 else 0)) & 0xFFFF
    return base64.b32encode(data + check.to_bytes(2, "little")).decode().rstrip("=")


class Key:
    def __init__(self, kind):
        self.kind, self.key = kind, Ed25519PrivateKey.generate()
        mark = MARKS[kind]
        public = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = text(bytes([mark]) + public)
        raw = self.key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        self.seed = text(bytes([SEED | mark >> 5, mark << 3 & 0xFF]) + raw)


def part(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(subject, issuer, nats, **more):
    claims = {"iat": int(time.time()) - 60, "iss": issuer.public, "name": "x",
              "sub": subject.public, "nats": {**nats, "type": subject.kind, "version": 2}, **more}
    claims["jti"] = base64.b32encode(hashlib.sha256(json.dumps(claims).encode()).digest()).decode()
    body = part({"typ": "JWT", "alg": "ed25519-nkey"}) + "." + part(claims)
    return body + "." + part(issuer.key.sign(body.encode()))


def credentials(name, account, **more):
    user = Key("user")
    jwt = token(user, account, {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1}, **more)
    with open(os.path.join(sys.argv[1], name), "w") as file:
        file.write(f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
                   f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")


operator, system, account = Key("operator"), Key("account"), Key("account")
none = {"subs": -1, "conn": -1, "leaf": -1, "data": -1, "payload": -1, "imports": -1,
        "exports": -1, "wildcards": True}
store = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
accounts = {system: token(system, operator, {"limits": none}),
            account: token(account, operator, {"limits": {**none, **store}})}
with open(os.path.join(sys.argv[1], "operator.conf"), "w") as file:
    file.write(f"operator: {token(operator, operator, {'system_account': system.public})}\n"
               f"system_account: {system.public}\nresolver: MEMORY\nresolver_preload: {{\n"
               + "".join(f"  {key.public}: {jwt}\n" for key, jwt in accounts.items()) + "}\n")
credentials("good.creds", account)
credentials("late.creds", account, exp=int(time.time()) - 30)
credentials("foreign.creds", Key("account"))
