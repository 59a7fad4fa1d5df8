"""What a Pincer server of the tests knows: devices, threads with their events, approvals,
jobs, schedules. Values are proto3 JSON, as dictionaries; the servers differ in their wire.

Orders (obey), which pincer.py and pincer_connect.py take through their FIFO:
  thread ID TITLE     a thread                       threads N    N of them
  event THREAD JSON   an event with this payload, e.g. {"streamGap":{}}; "turnId" as well
  fill THREAD N       N events of output
  hold POINT          turns stop at `start`, `middle` or `end` until
  release POINT       they may go on
  expire ACTION       the sweeper: rejected, and the turn stays paused
  of ACTION JOB       it is one of a job
  spoil THREAD N      its Nth message is not UTF-8: no page that it is on can be sent
  age ACTION          its 24 hours are over, and nobody looked yet
  settle ACTION WORD  somebody else decides: approve, reject
  revoke              no token holds any more
"""
import datetime
import json
import threading

from pincer_turns import Turn

OPEN = {"AuthService/BindPairingCode", "AuthService/CreatePairingCode"}


class Refusal(Exception):
    """A Connect error: code, message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


def moment(seconds=0):
    """That many seconds from now, as a Timestamp is written."""
    time = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (time.microsecond // 1000)


def packed(value):
    """Without the members that proto3 JSON leaves out."""
    return {k: v for k, v in value.items() if v not in ("", 0, False, None, [], "0")}


class Store:
    moment = staticmethod(moment)

    def __init__(self, token=None, page=50, pace=0.002):
        self.lock, self.executor = threading.RLock(), threading.Lock()
        self.page, self.pace = page, pace
        self.counters = {}
        self.devices, self.tokens, self.codes = {}, {}, {}
        self.threads = {}
        self.actions, self.jobs, self.schedules, self.audit = {}, {}, {}, []
        self.gates = {}
        self.race = "after"
        if token:
            self.devices["dev_test"] = {"deviceId": "dev_test", "name": "of the tests",
                                        "createdAt": moment()}
            self.tokens[token] = "dev_test"

    def new(self, prefix):
        with self.lock:
            self.counters[prefix] = self.counters.get(prefix, 0) + 1
            return "%s_%016x" % (prefix, self.counters[prefix])

    # --- who asks

    def device(self, authorization):
        """The id of the device whose token this is; none is None."""
        scheme, _, token = (authorization or "").partition(" ")
        device = self.tokens.get(token) if scheme.lower() == "bearer" else None
        return None if device is None or self.devices[device].get("revokedAt") else device

    def active(self):
        return [each for each in self.devices.values() if not each.get("revokedAt")]

    def admit(self, method, authorization):
        """The device that may call the method."""
        device = self.device(authorization)
        if device is None and (method not in OPEN or (
                method == "AuthService/CreatePairingCode" and self.active())):
            raise Refusal("unauthenticated", "unauthorized")
        return device

    # --- events

    def add_thread(self, name, title=""):
        self.threads[name] = {"title": title, "createdAt": moment(), "updatedAt": moment(),
                              "events": [], "messages": [], "watchers": [],
                              "turn": threading.Lock()}

    def thread(self, name):
        try:
            return self.threads[name]
        except KeyError:
            raise Refusal("not_found", "thread not found") from None

    def emit(self, thread, payload, turn="", source="SYSTEM", trust="TRUSTED_SYSTEM", job=""):
        """Stores an event and tells those who watch."""
        with self.lock:
            events = self.threads[thread]["events"]
            event = packed({"eventId": self.new("evt"), "threadId": thread, "jobId": job,
                            "turnId": turn, "sequence": str(len(events) + 1),
                            "occurredAt": moment(), "source": source, "contentTrust": trust})
            event.update(payload)
            events.append(event)
            for put in list(self.threads[thread]["watchers"]):
                put(("event", event))
        return event

    def watch(self, thread, after, put, limit=2000):
        """The stored events behind `after`, the first of them; later ones go to put until
        the function that comes second is called."""
        with self.lock:
            known = self.thread(thread)
            known["watchers"].append(put)
            return known["events"][after:after + limit], lambda: known["watchers"].remove(put)

    def say(self, thread, role, content, message=None, trust="TRUSTED_SYSTEM"):
        message = message or self.new("msg")
        with self.lock:
            self.threads[thread]["messages"].append(packed({
                "messageId": message, "role": role, "content": content,
                "contentTrust": trust, "createdAt": moment()}))
            self.threads[thread]["updatedAt"] = moment()
        return message

    def note(self, kind, thread="", action="", job=""):
        self.audit.append(packed({
            "entryId": self.new("aud"), "eventType": kind, "threadId": thread, "jobId": job,
            "actionId": action, "payload": {"n": len(self.audit)}, "occurredAt": moment()}))

    # --- turns

    def pass_gate(self, point):
        with self.lock:
            gate = self.gates.setdefault(point, threading.Event())
            if not getattr(gate, "held", False):
                return
        gate.wait()

    def start_turn(self, thread, text, trigger="CHAT_MESSAGE", put=lambda item: None):
        """A turn, in its own time; put gets its events and its end."""
        if not text:
            raise Refusal("invalid_argument", "user_text is required")
        self.thread(thread)
        turn = Turn(self, thread, text, trigger or "CHAT_MESSAGE", put)
        threading.Thread(target=turn.run, daemon=True).start()
        return turn

    def decide(self, action, status, reason=""):
        with self.lock:
            known = self.actions.get(action)
            if known is None:
                raise Refusal("not_found", "action not found")
            if known["row"]["status"] != "PENDING":
                raise Refusal("failed_precondition", "action is not pending")
            if status == "APPROVED" and known.get("aged"):
                self.settle(action, "REJECTED", "expired", resumes=False)
                raise Refusal("failed_precondition", "action is expired")
            self.settle(action, status, reason)
        return {"actionId": action, "status": status}

    def settle(self, action, status, reason="", resumes=True):
        known = self.actions[action]
        known["row"].update(packed({"status": status, "rejectionReason": reason}))
        self.note("action_" + status.lower(), known["turn"].thread, action)
        self.emit(known["turn"].thread, {"proposedActionStatusChanged": packed(
            {"actionId": action, "status": status, "reason": reason})})
        if status == "APPROVED":
            threading.Thread(target=known["turn"].execute, args=(action,), daemon=True).start()
        elif resumes:
            known["turn"].go_on()

    # --- orders of the test

    def obey(self, word, rest):
        """Whether it was an order for the store."""
        name, _, last = rest.partition(" ")
        if word == "thread":
            self.add_thread(name, last)
        elif word == "threads":
            for _ in range(int(name)):
                self.add_thread(self.new("thr"))
        elif word == "event":
            payload = json.loads(last)
            self.emit(name, payload, payload.pop("turnId", ""), job=payload.pop("jobId", ""))
        elif word == "fill":
            for number in range(int(last)):
                self.emit(name, {"auditEventRecorded": {"entryId": "aud_%d" % number}})
        elif word in ("hold", "release"):
            with self.lock:
                if word == "hold":
                    self.gates[rest] = threading.Event()
                    self.gates[rest].held = True
                elif rest in self.gates:
                    self.gates.pop(rest).set()
        elif word == "expire":
            with self.lock:
                self.settle(name, "REJECTED", "expired", resumes=False)
        elif word == "of":
            self.actions[name]["row"].update(source="job", sourceId=last)
        elif word == "spoil":
            self.threads[name]["messages"][int(last) - 1]["spoilt"] = True
        elif word == "age":
            self.actions[name]["aged"] = True
        elif word == "settle":
            self.decide(name, "APPROVED" if last == "approve" else "REJECTED",
                        "" if last == "approve" else "rejected_by_user")
        elif word == "revoke":
            self.tokens.clear()
        else:
            return False
        return True
