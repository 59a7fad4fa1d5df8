"""The calls of a Pincer server of the tests that answer at once, over a Store."""
import secrets

from pincer_store import Refusal, moment, packed

DAY = 86400
KINDS = {1: "SCHEDULE_TRIGGER_CRON", 2: "SCHEDULE_TRIGGER_INTERVAL", 3: "SCHEDULE_TRIGGER_AT"}
STATUSES = {1: "PENDING", 2: "APPROVED", 3: "REJECTED", 4: "EXECUTED"}
PATCH = {"name", "goal", "trigger_kind", "trigger_spec", "timezone", "enabled"}


def token(store, device):
    made = "pnr_" + secrets.token_urlsafe(9) + "." + secrets.token_urlsafe(32)
    store.tokens[made] = device
    return {"token": made, "expiresAt": moment(30 * DAY), "renewAfter": moment(23 * DAY)}


def create_pairing_code(store, request, device):
    code = "%08d" % secrets.randbelow(10 ** 8)
    store.codes[code] = True
    return {"code": code, "expiresAt": moment(600)}


def bind_pairing_code(store, request, device):
    if not store.codes.pop(request.get("code", ""), None):
        raise Refusal("unauthenticated", "invalid pairing code")
    made = store.new("dev")
    store.devices[made] = {"deviceId": made, "name": request.get("deviceName", ""),
                           "createdAt": moment()}
    return dict(token(store, made), deviceId=made)


def rotate_token(store, request, device):
    for old in [each for each, owner in store.tokens.items() if owner == device]:
        del store.tokens[old]
    return token(store, device)


def list_devices(store, request, device):
    return {"items": [packed(dict(each, isCurrent=each["deviceId"] == device))
                      for each in store.devices.values()]}


def revoke_device(store, request, device):
    known = store.devices.get(request.get("deviceId", ""))
    if known is None:
        raise Refusal("not_found", "device not found")
    known["revokedAt"] = moment()
    for old in [each for each, owner in store.tokens.items() if owner == known["deviceId"]]:
        del store.tokens[old]
    return {"deviceId": known["deviceId"]}


def create_thread(store, request, device):
    made = store.new("thr")
    store.add_thread(made)
    return {"threadId": made}


def page(rows, request, most, default, token_when_full):
    size = min(request.get("pageSize") or default, most)
    try:
        start = int(request.get("pageToken") or 0)
    except ValueError:
        raise Refusal("invalid_argument", "invalid page token") from None
    shown = rows[start:start + size]
    more = len(shown) == size if token_when_full else start + size < len(rows)
    return packed({"items": shown, "nextPageToken": str(start + size) if more else ""})


def list_threads(store, request, device):
    rows = [packed({"threadId": name, "title": each["title"], "createdAt": each["createdAt"],
                    "updatedAt": each["updatedAt"], "messageCount": len(each["messages"])})
            for name, each in reversed(store.threads.items())]
    return page(rows, request, 100, store.page, False)


def refuse_spoilt(rows, field):
    if any(row.get("spoilt") for row in rows):
        raise Refusal("internal", "marshal message: proto: field pincer.protocol.v1.%s contains "
                      "invalid UTF-8" % field)


def list_messages(store, request, device):
    known = store.thread(request.get("threadId", ""))
    answer = page(known["messages"], request, 200, store.page, True)
    refuse_spoilt(answer.get("items", []), "Message.content")
    return dict(answer, **packed({"lastSequence": str(len(known["events"]))}))


def snapshot(store, request, device):
    name = request.get("threadId", "")
    known = store.thread(name)
    refuse_spoilt(known["messages"], "Message.content")
    return packed({"threadId": name, "lastSequence": str(len(known["events"])),
                   "messages": known["messages"]})


def delete_thread(store, request, device):
    name = request.get("threadId", "")
    store.thread(name)
    del store.threads[name]
    return {"threadId": name}


def send_turn(store, request, device):
    turn = store.start_turn(request.get("threadId", ""), request.get("userText", ""))
    turn.over.wait()
    return packed({"turnId": turn.id, "assistantMessage": turn.answer,
                   "actionId": turn.actions[0] if turn.actions else ""})


def list_approvals(store, request, device):
    wanted = request.get("status") or "PENDING"
    wanted = STATUSES.get(wanted, wanted)
    found = [each for each in store.actions.values() if each["row"]["status"] == wanted]
    refuse_spoilt(found, "Approval.deterministic_summary")
    return packed({"items": [each["row"] for each in found]})


def approve(store, request, device):
    return store.decide(request.get("actionId", ""), "APPROVED")


def reject(store, request, device):
    return store.decide(request.get("actionId", ""), "REJECTED",
                        request.get("reason") or "rejected_by_user")


def create_job(store, request, device):
    if not request.get("goal"):
        raise Refusal("invalid_argument", "goal is required")
    made, thread = store.new("job"), store.new("thr")
    store.jobs[made] = packed({
        "jobId": made, "goal": request["goal"], "status": "JOB_RUNNING", "threadId": thread,
        "triggerType": "JOB_WAKEUP", "maxWallTimeMs": str(request.get("maxWallTimeMs", 1800000)),
        "budget": request.get("budget"), "createdAt": moment(), "updatedAt": moment()})
    store.note("job_created", thread, made, made)
    return {"item": store.jobs[made]}


def job(store, request):
    try:
        return store.jobs[request.get("jobId", "")]
    except KeyError:
        raise Refusal("not_found", "job not found") from None


def cancel_job(store, request, device):
    known = job(store, request)
    if known["status"] in ("JOB_COMPLETED", "JOB_FAILED"):
        raise Refusal("failed_precondition", "job is finished")
    known.update(status="JOB_CANCELLED", updatedAt=moment())
    return {"jobId": known["jobId"], "status": "JOB_CANCELLED"}


def create_schedule(store, request, device):
    kind = request.get("triggerKind", "")
    kind, spec = KINDS.get(kind, kind), request.get("triggerSpec", "")
    if kind == KINDS[1] and len(spec.split()) != 5 and not spec.startswith("@"):
        raise Refusal("invalid_argument", "cron needs 5 fields")
    made = store.new("sch")
    store.schedules[made] = packed({
        "scheduleId": made, "name": request.get("name", ""), "triggerKind": kind,
        "triggerSpec": spec, "timezone": request.get("timezone") or "UTC", "enabled": True,
        "nextRunAt": moment(DAY), "createdAt": moment(), "updatedAt": moment()})
    return {"item": store.schedules[made]}


def schedule(store, request):
    try:
        return store.schedules[request.get("scheduleId", "")]
    except KeyError:
        raise Refusal("not_found", "schedule not found") from None


def update_schedule(store, request, device):
    known, patch = schedule(store, request), request.get("patch", {})
    strange = sorted(set(patch) - PATCH)
    if strange:
        raise Refusal("invalid_argument", "unknown patch key: " + strange[0])
    for key, member in (("name", "name"), ("trigger_spec", "triggerSpec"),
                        ("timezone", "timezone"), ("enabled", "enabled")):
        if key in patch:
            known[member] = patch[key]
    known["updatedAt"] = moment()
    return {"item": packed(known)}


def run_schedule(store, request, device):
    known = schedule(store, request)
    known["lastRunAt"] = moment()
    made = create_job(store, {"goal": known.get("name") or "run"}, device)["item"]
    return {"scheduleId": known["scheduleId"], "wakeupEventId": store.new("wq"),
            "jobId": made["jobId"], "turnId": store.new("turn")}


CALLS = {
    "AuthService/CreatePairingCode": create_pairing_code,
    "AuthService/BindPairingCode": bind_pairing_code,
    "AuthService/RotateToken": rotate_token,
    "DevicesService/ListDevices": list_devices,
    "DevicesService/RevokeDevice": revoke_device,
    "ThreadsService/CreateThread": create_thread,
    "ThreadsService/ListThreads": list_threads,
    "ThreadsService/GetThreadSnapshot": snapshot,
    "ThreadsService/ListThreadMessages": list_messages,
    "ThreadsService/DeleteThread": delete_thread,
    "TurnsService/SendTurn": send_turn,
    "ApprovalsService/ListApprovals": list_approvals,
    "ApprovalsService/ApproveAction": approve,
    "ApprovalsService/RejectAction": reject,
    "JobsService/ListJobs": lambda store, request, device: packed(
        {"items": list(reversed(store.jobs.values()))}),
    "JobsService/CreateJob": create_job,
    "JobsService/GetJob": lambda store, request, device: {"item": job(store, request)},
    "JobsService/CancelJob": cancel_job,
    "SchedulesService/ListSchedules": lambda store, request, device: packed(
        {"items": [packed(each) for each in store.schedules.values()]}),
    "SchedulesService/CreateSchedule": create_schedule,
    "SchedulesService/UpdateSchedule": update_schedule,
    "SchedulesService/RunScheduleNow": run_schedule,
    "SystemService/GetPolicySummary": lambda store, request, device: {
        "summary": {"READ": "inline"}, "policyVersion": "phase1"},
    "SystemService/ListAudit": lambda store, request, device: packed({"items": store.audit}),
}
# These wait; the others are done under the store's lock.
SLOW = {"TurnsService/SendTurn"}


def call(store, method, request, authorization):
    """The answer; a Refusal is raised."""
    device = store.admit(method, authorization)
    if method not in CALLS:
        raise Refusal("unimplemented", "unknown method")
    if method in SLOW:
        return CALLS[method](store, request, device)
    with store.lock:
        return CALLS[method](store, request, device)
