"""A client of a Pincer server by PyPI connectrpc, which holds the servers of the tests
against a Connect that is not ours.

usage: pincer.py WIRE URL TOKEN     WIRE is the folder with the generated package

Prints a line of JSON for each step.
"""
import json
import sys

sys.path.insert(0, sys.argv[1])
from google.protobuf import json_format
from connectrpc.compat import google_protobuf_json_codec
from connectrpc.errors import ConnectError
from pincer_wire import pincer_connect as services, pincer_pb2 as wire

COMMON = {"eventId", "threadId", "turnId", "jobId", "sequence", "occurredAt", "source",
          "contentTrust"}
URL = sys.argv[2]
HEADERS = {"authorization": "Bearer " + sys.argv[3]}


def client(name):
    return getattr(services, name + "ClientSync")(
        URL, codec=google_protobuf_json_codec(), send_compression=None, accept_compression=[])


def show(step, value):
    print(json.dumps({"step": step, "value": value}), flush=True)


def plain(message):
    return json_format.MessageToDict(message)


def stream(step, events):
    """The names of the payloads; the error behind them, too."""
    names, numbers = [], []
    try:
        for event in events:
            names.append("".join(plain(event).keys() - COMMON))
            numbers.append(event.sequence)
            if step == "watch" and names[-1] == "turnCompleted":
                break
    except ConnectError as error:
        names.append("error " + error.code.value)
    show(step, names)
    return numbers


def turn(step, thread, text):
    return stream(step, client("TurnsService").start_turn(
        wire.StartTurnRequest(thread_id=thread, user_text=text), headers=HEADERS))


threads, approvals = client("ThreadsService"), client("ApprovalsService")
thread = threads.create_thread(wire.Empty(), headers=HEADERS).thread_id
show("thread", thread)
turn("read", thread, "read x")
turn("fail", thread, "fail")
turn("die", thread, "die")
turn("ask", thread, "ask")
waiting = approvals.list_approvals(wire.ListApprovalsRequest(), headers=HEADERS).items
show("approvals", [plain(each)["riskClass"] for each in waiting])
decided = approvals.approve_action(
    wire.ApproveActionRequest(action_id=waiting[0].action_id), headers=HEADERS)
show("approved", plain(decided)["status"])
# From behind the first turn that completed.
numbers = stream("watch", client("EventsService").watch_thread(
    wire.WatchThreadRequest(thread_id=thread, from_sequence=8), headers=HEADERS))
show("numbers", numbers == list(range(9, 9 + len(numbers))))
try:
    threads.list_threads(wire.ListThreadsRequest(), headers={"authorization": "Bearer x"})
except ConnectError as error:
    show("refused", error.code.value)
messages = threads.list_thread_messages(
    wire.ListThreadMessagesRequest(thread_id=thread, page_size=2), headers=HEADERS)
show("page", [len(messages.items), messages.next_page_token != "", messages.last_sequence])
