#!/usr/bin/env python3
"""desktop.py: a service of desktop notifications, on the session bus.

Writes what it is asked to show, a line of JSON each:
{"application":...,"title":...,"body":...,"urgency":0|1|2}, behind the record `listening`.
Needs the package jeepney.
"""
import json

from jeepney import MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.Notifications"


def show(value):
    print(json.dumps(value, separators=(",", ":")), flush=True)


with open_dbus_connection(bus="SESSION") as bus:
    bus.send_and_get_reply(message_bus.RequestName(NAME))
    show({"type": "listening", "url": bus.unique_name})
    count = 0
    while True:
        message = bus.receive()
        if message.header.message_type is not MessageType.method_call:
            continue
        fields = message.header.fields
        member = next((value for key, value in fields.items() if key.name == "member"), "")
        if member == "GetServerInformation":
            reply = ("ssss", ("desktop", "tests", "1", "1.2"))
        elif member == "GetCapabilities":
            reply = ("as", (["body", "body-markup"],))
        elif member == "Notify":
            application, _, _, title, body, _, hints, _ = message.body
            count += 1
            show({"application": application, "title": title, "body": body,
                  "urgency": hints.get("urgency", (None, None))[1]})
            reply = ("u", (count,))
        else:
            reply = (None, ())
        bus.send(new_method_return(message, *reply))
