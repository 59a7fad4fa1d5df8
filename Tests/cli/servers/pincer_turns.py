"""The turns of a Pincer server of the tests. The first word of the message says what
happens: `read PATH` runs a tool that needs no permission, `ask N` wants N approvals, `spoilt N` N
of which the first has a text that is not UTF-8, `fail`
and `fail CODE` fail, `die` ends without a last event, `hang` never ends, `slow N` says N
pieces of output, `think` thinks first, `escape` says what a terminal would obey, `play FILE
FROM TO` brings recorded events by their numbers, and passes the gate `played` behind each pause;
any other message is echoed.
"""
import base64
import json
import threading
import time


class Turn:
    def __init__(self, store, thread, text, trigger, put):
        self.store, self.thread, self.text, self.trigger = store, thread, text, trigger
        self.puts = put
        self.id = store.new("turn")
        self.steps = 0
        self.answer = ""
        self.actions = []
        self.has_paused = self.at_work = False
        self.over = threading.Event()

    def emit(self, name, turn=None, source="SYSTEM", trust="TRUSTED_SYSTEM", **payload):
        payload = {k: v for k, v in payload.items() if v not in ("", 0, False, None)}
        with self.store.lock:
            turn = self.id if turn is None else turn
            event = self.store.emit(self.thread, {name: payload}, turn, source, trust)
            if turn:
                self.puts(("event", event))

    def finish(self, item):
        """The end of StartTurn's stream; what comes later only WatchThread tells."""
        self.puts(item)
        self.puts = lambda item: None
        self.over.set()

    # --- what happens

    def run(self):
        store = self.store
        with store.threads[self.thread]["turn"]:
            store.pass_gate("start")
            user = store.say(self.thread, "user", self.text)
            self.emit("turnStarted", userMessageId=user, triggerType=self.trigger)
            word, _, rest = self.text.partition(" ")
            store.pass_gate("middle")
            if word == "hang":
                return
            if word == "die":
                return self.finish(("error", "internal", "internal error"))
            if word == "fail":
                return self.fail(rest or "FAILED_MODEL_OUTPUT")
            if word in ("ask", "spoilt"):
                return self.ask(int(rest or 1), word == "spoilt")
            if word == "read":
                self.read(rest or "/srv/tides.txt")
            elif word == "slow":
                self.pieces(int(rest))
            elif word == "play":
                return self.play(*rest.split())
            elif word == "think":
                for delta in ("Let me see. ", "Tides need a moon."):
                    self.emit("assistantThinkingDelta", segmentId="thinking", delta=delta,
                              visibility="REASONING_SUMMARY", source="MODEL_UNTRUSTED",
                              trust="UNTRUSTED_MODEL")
            self.complete({"read": "High water at 06:12.", "slow": "All said.",
                           "think": "High water at 06:12.",
                           "escape": "red \x1b[31malert\x1b[2J \u202egnp.exe"}.get(
                               word, "You said: " + self.text))

    def play(self, path, first, last):
        """Recorded events behind a turnStarted of our own. What they do to actions is theirs."""
        with open(path, encoding="utf-8") as file:
            events = [event for event in map(json.loads, file)
                      if int(first) <= int(event["sequence"]) <= int(last)]
        for event in events:
            (name, payload), = ((k, v) for k, v in event.items() if isinstance(v, dict))
            if name == "turnStarted":
                continue
            turn = self.id if "turnId" in event else ""
            with self.store.lock:
                told = self.store.emit(self.thread, {name: payload}, turn, event["source"],
                                       event["contentTrust"])
                if turn:
                    self.puts(("event", told))
            if name in ("turnPaused", "turnCompleted"):
                self.finish(("end",))
            if name == "turnPaused":
                self.store.pass_gate("played")

    def speak(self, text):
        self.answer = text
        self.emit("assistantTextDelta", segmentId="assistant", delta=text,
                  source="MODEL_UNTRUSTED", trust="UNTRUSTED_MODEL")
        message = self.store.say(self.thread, "assistant", text, trust="UNTRUSTED_MODEL")
        self.emit("assistantMessageCommitted", messageId=message, fullText=text,
                  source="MODEL_UNTRUSTED", trust="UNTRUSTED_MODEL")
        return message

    def complete(self, text):
        message = self.speak(text)
        self.store.pass_gate("end")
        self.emit("turnCompleted", assistantMessageId=message)
        self.finish(("end",))

    def fail(self, code):
        error = ("error", "internal", "turn failed")
        if self.store.race == "before":
            self.finish(error)
        self.emit("turnFailed", code=code, message="the model said nothing of use",
                  retryable=code == "FAILED_MODEL_OUTPUT")
        if self.store.race == "after":
            self.finish(error)

    # --- tools

    def plan(self, tool, risk, args):
        call = self.store.new("tc")
        self.emit("toolCallPlanned", toolCallId=call, toolName=tool, args=args, riskClass=risk,
                  identity="IDENTITY_NONE", source="MODEL_UNTRUSTED", trust="UNTRUSTED_MODEL")
        return call

    def execution(self, call, tool, command, chunks, turn=None, code=0):
        execution, offset = self.store.new("exec"), 0
        told = {"turn": turn, "source": "TOOL_EXECUTOR", "trust": "TRUSTED_VALIDATED"}
        self.emit("toolExecutionStarted", executionId=execution, toolCallId=call, toolName=tool,
                  displayCommand=command, **told)
        for stream, chunk in chunks:
            self.emit("toolExecutionOutputDelta", executionId=execution, stream=stream,
                      chunk=base64.b64encode(chunk).decode(), offsetBytes=str(offset) * bool(offset),
                      utf8=True, **told)
            offset += len(chunk)
        self.emit("toolExecutionFinished", executionId=execution, exitCode=code, durationMs="42",
                  **told)
        self.store.say(self.thread, "tool", "$ %s\nresult: exit %d (42ms)" % (command, code))

    def read(self, path):
        call = self.plan("read_file", "READ", {"path": path})
        self.execution(call, "read_file", "read_file " + path,
                       [("STDOUT", "06:12 4.1 m, café\n".encode())])

    def pieces(self, count):
        call = self.plan("read_file", "READ", {"path": "/srv/many"})
        execution, offset = self.store.new("exec"), 0
        self.emit("toolExecutionStarted", executionId=execution, toolCallId=call,
                  toolName="read_file", displayCommand="read_file /srv/many")
        for number in range(count):
            chunk = b"%d\n" % number
            self.emit("toolExecutionOutputDelta", executionId=execution, stream="STDOUT",
                      chunk=base64.b64encode(chunk).decode(), utf8=True,
                      offsetBytes=str(offset) * bool(offset))
            offset += len(chunk)
            time.sleep(self.store.pace)  # between two pieces of a reply
        self.emit("toolExecutionFinished", executionId=execution, durationMs="9")

    def ask(self, count, is_spoilt):
        calls = [self.plan("bash", "HIGH", {"command": "tide --port KIL --day %d" % n})
                 for n in range(count)]
        self.speak("I need a tool.")
        for number, call in enumerate(calls):
            self.emit("policyDecisionMade", policyId="phase1", decision="REQUIRE_APPROVAL",
                      reason="requires_approval", source="POLICY_ENGINE")
            self.propose(call, {"command": "tide --port KIL --day %d" % number},
                         is_spoilt and number == 0)
        with self.store.lock:
            self.has_paused = True
            self.emit("turnPaused", pendingActionCount=count, stepsUsed=1, stepsRemaining=9)
            self.finish(("end",))
            self.go_on()

    def propose(self, call, preview, is_spoilt=False):
        row = {"actionId": call, "source": "chat", "sourceId": self.thread, "tool": "bash",
               "status": "PENDING", "riskClass": "HIGH", "identity": "IDENTITY_NONE",
               "deterministicSummary": "Ask for the tides \x1b[31mred", "preview": preview,
               "createdAt": self.store.moment(), "expiresAt": self.store.moment(86400)}
        with self.store.lock:
            self.store.actions[call] = {"row": row, "turn": self, "spoilt": is_spoilt}
            self.actions.append(call)
            self.store.note("action_proposed", self.thread, call)
            if is_spoilt:  # its event is lost, and leaves no hole in the numbers
                return
            self.emit("proposedActionCreated", actionId=call, tool="bash", riskClass="HIGH",
                      identity="IDENTITY_NONE", idempotencyKey=self.store.new("idem"),
                      justification="the model's own words",
                      deterministicSummary=row["deterministicSummary"], preview=preview,
                      expiresAt=row["expiresAt"], source="POLICY_ENGINE")

    # --- behind a pause

    def execute(self, action):
        """An approved action, in the executor's own time. The turn is not named."""
        with self.store.executor:
            time.sleep(0.02)  # the executor looks now and then
            row = self.store.actions[action]["row"]
            command = row["preview"]["command"]
            self.execution(action, "bash", command, turn="", chunks=[
                ("STDOUT", b"caf\xc3"), ("STDERR", b"wind\n"), ("STDOUT", b"\xa9 06:12\n")])
            with self.store.lock:
                row["status"] = "EXECUTED"
                self.emit("proposedActionStatusChanged", turn="", actionId=action,
                          status="EXECUTED")
                self.go_on()

    def go_on(self):
        """Resumes the turn when nothing of it is pending, unless it is at work: what is approved
        and has not run does not hold it back, and each that has run resumes it again."""
        rows = [self.store.actions[each]["row"] for each in self.actions]
        if not self.has_paused or self.at_work or any(row["status"] == "PENDING" for row in rows) \
                or any(row.get("rejectionReason") == "expired" for row in rows):
            return
        if all(row["status"] == "APPROVED" for row in rows):
            return
        self.at_work = True
        threading.Thread(target=self.resume, daemon=True).start()

    def resume(self):
        with self.store.threads[self.thread]["turn"]:
            self.emit("turnResumed", resumedReason="all_actions_resolved", stepsRemaining=9)
            self.store.pass_gate("resumed")
            try:
                self.complete("High water at 06:12.")
            finally:
                self.at_work = False
