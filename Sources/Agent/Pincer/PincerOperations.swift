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
    let rows = Answer.member("items", of: answer).flatMap(Answer.elements) ?? []
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
