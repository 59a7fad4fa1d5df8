#!/usr/bin/env python3
"""frames.py SCHEMA LOG...: hold the frames that gateways were sent against a schema.

Prints `METHOD COUNT` for each method that was seen, and one line for each fault: a frame
that the schema refuses, one that it takes with a member too many, and a connect whose
signature is not that of its device over the line of Agent/OpenClaw/CONTRACT.md 4.1. The
status is 1 when there is a fault.
"""
import base64, collections, copy, hashlib, json, sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from jsonschema import Draft202012Validator

schema = json.load(open(sys.argv[1], encoding="utf-8"))
Draft202012Validator.check_schema(schema)
whole = Draft202012Validator(schema)
one = {name: Draft202012Validator(dict(schema, oneOf=[{"$ref": "#/$defs/" + name}]))
       for name in schema["$defs"]}
faults = 0
seen = collections.Counter()


def fault(words):
    global faults
    faults += 1
    print("fault: " + words)


def raw(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signature(params):
    device, client, auth = params["device"], params["client"], params.get("auth", {})
    key = raw(device["publicKey"])
    if hashlib.sha256(key).hexdigest() != device["id"]:
        fault("connect: the id is not the digest of the key")
    tokens = [auth[name] for name in ("token", "deviceToken", "bootstrapToken") if name in auth]
    line = "|".join([
        "v3", device["id"], client["id"], client["mode"], params["role"],
        ",".join(params["scopes"]), str(device["signedAt"]), (tokens + [""])[0],
        device["nonce"], client["platform"].strip().lower(),
        client.get("deviceFamily", "").strip().lower()])
    verifier = Ed25519PublicKey.from_public_bytes(key)
    verifier.verify(raw(device["signature"]), line.encode())
    try:
        verifier.verify(raw(device["signature"]), line.encode() + b"x")
        fault("connect: any line would do")
    except InvalidSignature:
        pass


def objects(value, path=()):
    """The places of all objects in a value."""
    if isinstance(value, dict):
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()
    for name, each in pairs:
        yield from objects(each, path + (name,))


def at(value, path):
    for name in path:
        value = value[name]
    return value


for name in sys.argv[2:]:
    for line in open(name, encoding="utf-8"):
        frame = json.loads(line)["frame"]
        method = frame.get("method")
        known = one.get(method, whole)
        for each in known.iter_errors(frame):
            reason = each.context[0].message if each.context else each.message
            fault("%s: %s" % (method, reason))
        if seen[method] == 0:
            for place in objects(frame):
                more = copy.deepcopy(frame)
                at(more, place)["surplus"] = 1
                if whole.is_valid(more):
                    fault("%s: the schema is open at %s" % (method, list(place)))
        seen[method] += 1
        if method == "connect":
            try:
                signature(frame["params"])
            except InvalidSignature:
                fault("connect: the signature is not of this device and line")
for method in sorted(seen):
    print(method, seen[method])
sys.exit(1 if faults else 0)
