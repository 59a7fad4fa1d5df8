import CLibc
import Core
import Records
import Web

/// What a Pincer server can be asked for by a word (Agent/Pincer/CONTRACT.md 3).
enum PincerOperations {
  static let all: [Operation] = [
    Operation("health", listing: .health, run: health),
    list("threads", .listThreads, .pincerThreads, page: 100), list("jobs", .listJobs, .pincerJobs),
    list("schedules", .listSchedules, .pincerSchedules),
    list("devices", .listDevices, .pincerDevices), list("audit", .listAudit, .pincerAudit),
    Operation(
      "pair", Operation.Operand("FILE", isNeeded: true), fetchesToken: true, run: pair),
    Operation("revoke", Operation.Operand("DEVICE", isNeeded: true)) { call in
      let device = RecordText().string("deviceId", call.arguments.operand)
      try call.output.record(try ask(call.caller, .revokeDevice, device).bytes, facts: nil)
      return .success
    },
    Operation("pairing-code") { call in
      try call.output.record(try ask(call.caller, .createPairingCode).bytes, facts: nil)
      return .success
    },
  ]

  /// `page`: the most rows that the server gives at a time; nil where it gives all.
  private static func list(
    _ name: String, _ method: PincerMethod, _ listing: Listing, page: Int? = nil
  ) -> Operation {
    Operation(name, options: ["count"], listing: listing) { call in
      let most = call.arguments.count ?? .max
      var rows: [[UInt8]] = []
      var pages = PincerPages()
      repeat {
        var question = RecordText()
        if let page {
          question = question.number("pageSize", min(page, most - rows.count))
            .string("pageToken", pages.token)
        }
        let answer = try ask(call.caller, method, question)
        rows += PincerPages.items(answer.bytes)
        if page == nil { break }
        if try !pages.turn(answer.value, at: call.caller.place(method.path)) { break }
      } while rows.count < most
      return try call.finish(rows, listing)
    }
  }

  /// `secret`: what no message may quote; `token`: what lets in instead of the profile's token.
  static func ask(
    _ caller: Caller, _ method: PincerMethod, _ question: RecordText = RecordText(),
    secret: String? = nil, hasToken: Bool = true, token: String? = nil
  ) throws(Failure) -> PincerCalls.Reply {
    let reply = try caller.call(method.path, method: "POST", body: question.bytes) { request in
      request.mayRepeat = method.isReading
      if let secret { request.unquotable.append(secret) }
      if !hasToken || token != nil { (request.privateHeaders, request.token) = ([], nil) }
      if let token {
        request.privateHeaders = [Header("Authorization", "Bearer \(token)")]
        request.unquotable.append(token)
      }
    }
    guard let value = try? JSONValue.parse(reply.body), value.isObject else {
      throw Failure(
        caller.place(method.path), "\(reply.head.summary): not an answer of a Pincer server",
        .failure)
    }
    return PincerCalls.Reply(value: value, bytes: reply.body)
  }
}

/// The pages of a long list (Agent/Pincer/CONTRACT.md 3.2).
struct PincerPages {
  /// What asks for the next page; nil for the first.
  private(set) var token: String?
  private var count = 0

  /// Who gives more pages than this never ends.
  private static let most = 10_000

  /// False when there is no next page.
  mutating func turn(_ answer: JSONValue, at place: String) throws(Failure) -> Bool {
    let next = answer.pincerText("nextPageToken")
    if next.isEmpty { return false }
    count += 1
    guard next != token, count < Self.most else {
      throw Failure(place, "the pages of the list have no end", .failure)
    }
    token = next
    return true
  }

  static func items(_ answer: [UInt8]) -> [[UInt8]] {
    let rows = ScanMembers.copy(of: "items", in: answer).flatMap(Answer.elements) ?? []
    return rows.map { RowText.line($0) }
  }
}

extension Listing {
  static let pincerThreads = Listing(
    origin: "agent-chat MESSAGE begins one",
    columns: [
      member("ID", "threadId"), member("TITLE", "title", gives: true),
      member("MESSAGES", "messageCount"), instant("UPDATED", "updatedAt"),
    ], fields: ["threadId", "title", "messageCount", "createdAt", "updatedAt"])

  static let pincerJobs = Listing(
    origin: "the agent begins one for work that takes longer",
    columns: [
      member("ID", "jobId"), state("STATUS", "status", PincerWords.jobStates),
      member("GOAL", "goal", gives: true), member("THREAD", "threadId"),
      instant("UPDATED", "updatedAt"),
      Column("ERROR", gives: true) { .error($0.pincer("lastError")) },
    ],
    fields: [
      "jobId", "status", "goal", "threadId", "triggerType", "triggerSourceId", "lastError",
      "createdAt", "updatedAt",
    ])

  static let pincerSchedules = Listing(
    origin: "the agent makes one when it is asked to do something later",
    columns: [
      member("ID", "scheduleId"), member("NAME", "name", gives: true),
      // What is false was left out.
      Column("STATE") {
        $0.pincer("enabled")?.bool == true ? .words("on", .good) : .words("off", .odd)
      },
      state("KIND", "triggerKind", PincerWords.triggerKinds),
      member("SPEC", "triggerSpec", gives: true), member("ZONE", "timezone"),
      instant("NEXT", "nextRunAt"), instant("LAST", "lastRunAt"),
    ],
    fields: [
      "scheduleId", "name", "enabled", "triggerKind", "triggerSpec", "timezone", "nextRunAt",
      "lastRunAt",
    ])

  static let pincerDevices = Listing(
    columns: [
      member("ID", "deviceId"), member("NAME", "name", gives: true),
      Column("STATE") { device in
        if device.pincer("revokedAt") != nil { return .words("revoked", .odd) }
        return device.pincer("isCurrent")?.bool == true
          ? .words("this", .good) : .words("active", .good)
      },
      instant("PAIRED", "createdAt"), instant("REVOKED", "revokedAt"),
    ], fields: ["deviceId", "name", "isCurrent", "createdAt", "revokedAt"])

  static let pincerAudit = Listing(
    columns: [
      instant("TIME", "occurredAt"), member("EVENT", "eventType"),
      member("ABOUT", "actionId", gives: true), member("THREAD", "threadId", gives: true),
      member("JOB", "jobId", gives: true), member("PAYLOAD", "payload", gives: true),
    ],
    fields: ["entryId", "occurredAt", "eventType", "threadId", "jobId", "actionId", "payload"])

  private static func member(_ title: String, _ name: String, gives: Bool = false) -> Column {
    Column(title, gives: gives) { .text($0.pincer(name)) }
  }

  private static func instant(_ title: String, _ name: String) -> Column {
    Column(title) { .time($0.pincer(name)) }
  }

  private static func state(_ title: String, _ name: String, _ names: [String]) -> Column {
    Column(title) { row in
      guard let word = row.pincerEnum(name, names) else { return .nothing }
      return .text(try? JSONValue.parse(text: JSONQuote.string(word)))
    }
  }
}

/// The names of the values of enums, from 1 (Agent/Pincer/CONTRACT.md 5.4).
enum PincerWords {
  static let jobStates = [
    "JOB_RUNNING", "JOB_WAITING_APPROVAL", "JOB_COMPLETED", "JOB_FAILED", "JOB_PAUSED_BUDGET",
    "JOB_CANCELLED",
  ]
  static let triggerKinds = [
    "SCHEDULE_TRIGGER_CRON", "SCHEDULE_TRIGGER_INTERVAL", "SCHEDULE_TRIGGER_AT",
  ]
}

extension PincerOperations {
  static func health(_ call: OperationCall) throws -> ExitStatus {
    let caller = call.caller
    var server = HealthPart(name: "server")
    let policy = try ask(caller, .getPolicySummary).value["summary"]
    if policy?["llm_configured"]?.bool == false { server.troubles = ["no model is configured"] }
    let jobs = try ask(caller, .listJobs).value.pincer("items")?.elements ?? []
    let states = jobs.map { $0.pincerEnum("status", PincerWords.jobStates) ?? "" }
    let running = states.count { $0 == "JOB_RUNNING" }
    let waiting = states.count { $0 == "JOB_WAITING_APPROVAL" }
    let words = "\(jobs.count) jobs, \(running) running, \(waiting) wait for a person"
    var approvals = HealthPart(name: "approvals")
    do throws(Failure) {
      let list = try ask(caller, .listApprovals).value.pincer("items")
      approvals.words = ["\(list?.count ?? 0) wait for a person"]
    } catch {
      if error.status == .denied { throw error }
      approvals.troubles = ["not to be listed: " + error.reason]
    }
    return try call.finish(
      [server, HealthPart(name: "jobs", words: [words]), approvals], latency: 0,
      at: caller.place(""))
  }
}

/// Makes this machine a device of a Pincer server (Agent/Pincer/CONTRACT.md 2.1): the code
/// comes on standard input, the token goes into a file, and neither anywhere else. Where none
/// comes the server is asked for one, which it gives as long as it has no device.
extension PincerOperations {
  /// The longest code that is taken, digits; a server makes 8.
  private static let longest = 64

  static func pair(_ call: OperationCall) throws -> ExitStatus {
    let (caller, file) = (call.caller, call.arguments.operand ?? "")
    try caller.backend.requirePrivacy()
    // A token that cannot be kept is lost, and the code with it.
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    if FileName.with(folder, { access($0, W_OK) }) != 0 {
      throw Failure(folder, systemReason(systemError), .failure)
    }
    var code = try readCode()
    if code.isEmpty {
      code = try ask(caller, .createPairingCode).value.pincerText("code")
    }
    let question = RecordText().string("code", code).string("deviceName", deviceName)
      .string("publicKey", key)
    // Whatever token there is belongs to another device.
    let reply = try ask(
      caller, .bindPairingCode, question, secret: code, hasToken: false)
    let token = reply.value.pincerText("token")
    guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Failure(
        caller.place(PincerMethod.bindPairingCode.path), "the answer has no token", .failure)
    }
    let device = reply.value.pincerText("deviceId")
    do {
      try StateFile(path: file).replace(with: Array(token.utf8) + [10])
    } catch {
      try revoke(device, token, caller, file)
      throw error
    }
    let said = RecordText().string("deviceId", device)
      .string("expiresAt", reply.value.pincer("expiresAt")?.string)
      .string("renewAfter", reply.value.pincer("renewAfter")?.string)
    try call.output.record(said.bytes, facts: nil)
    return .success
  }

  /// Nobody has the token: while the server knows its device, it lets no other one in.
  private static func revoke(
    _ device: String, _ token: String, _ caller: Caller, _ file: String
  ) throws(Failure) {
    do throws(Failure) {
      let question = RecordText().string("deviceId", device)
      _ = try ask(caller, .revokeDevice, question, token: token)
    } catch {
      throw Failure(
        file,
        "the token could not be kept, and device \(device) not be revoked: do that from "
          + "another device", .failure)
    }
  }

  private static func readCode() throws(Failure) -> String {
    let code = try BoundedFile.text("-").filter { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 }
    guard code.count <= longest, code.allSatisfy({ (48...57).contains($0) }) else {
      throw Failure("standard input", "not a pairing code: digits alone", .failure)
    }
    return String(decoding: code, as: UTF8.self)
  }

  private static var deviceName: String {
    hostName.isEmpty ? "agentutils" : "agentutils on \(hostName)"
  }

  /// The server keeps a public key and never uses it: of this one nobody has the other half.
  private static var key: String { Base64.text((0..<32).map { _ in .random(in: .min ... .max) }) }
}
