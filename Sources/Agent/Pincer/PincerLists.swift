import Core
import Records
import Web

struct PincerLists {
  private static let threadPage = 100

  let calls: PincerCalls
  let origin: RecordOrigin
  let place: String

  func fetch(
    _ list: ChatList, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    switch list {
    case .agents: return refused("a Pincer server has one agent, and no list")
    case .ending: return refused("a Pincer server ends no turn")
    case .threads:
      let question = RecordText().number("pageSize", Self.threadPage)
      return try rows(.listThreads, question, waiter).map { rows in
        rows.compactMap { Self.thread($0, origin)?.bytes }
      }
    case .history(nil, _, _):
      return refused("name the thread with --thread; --threads lists them")
    case .history(let thread?, _, let count):
      var (rows, messages) = ([[UInt8]](), PincerMessages(calls, thread: thread))
      while let page = try messages.next(waiter) {
        if let problem = page.problem { return .failure(Failure(place, problem)) }
        if case .reply(let reply) = page { rows += PincerPages.items(reply.bytes) }
      }
      let missing = messages.missing.filter { $0 > rows.count + messages.missing.count - count }
      for place in missing {
        waiter.link(
          .fault("message \(place) of thread \(thread): the server cannot send it: not UTF-8"))
      }
      return .success(
        rows.suffix(max(count - missing.count, 0)).compactMap {
          Self.message($0, thread, origin)?.bytes
        })
    }
  }

  private func refused(_ reason: String) -> Result<[[UInt8]], Failure> {
    .failure(Failure(place, reason, .failure))
  }

  private func rows(
    _ method: PincerMethod, _ question: RecordText, _ waiter: Waiter
  ) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    var rows: [[UInt8]] = []
    var pages = PincerPages()
    while true {
      let outcome = try calls.ask(method, question.string("pageToken", pages.token), waiter)
      if let problem = outcome.problem { return .failure(Failure(place, problem)) }
      if case .reply(let reply) = outcome {
        rows += PincerPages.items(reply.bytes)
        do throws(Failure) {
          if !(try pages.turn(reply.value, at: place)) { return .success(rows) }
        } catch {
          return .failure(error)
        }
      }
    }
  }

  private static func thread(_ row: [UInt8], _ origin: RecordOrigin) -> ThreadRecord? {
    guard let value = row.withUnsafeBytes({ try? JSONValue.parse($0) }) else { return nil }
    let id = value.pincerText("threadId")
    if id.isEmpty { return nil }
    let last = value.pincerTime("updatedAt")
    var record = ThreadRecord(origin, id: id, time: last)
    let title = value.pincerText("title")
    record.title = title.isEmpty ? nil : title
    record.messages = value.pincerNumber("messageCount").map(Int.init(clamping:))
    record.last = last
    return record
  }

  private static func message(
    _ row: [UInt8], _ thread: String, _ origin: RecordOrigin
  ) -> MessageRecord? {
    guard let value = row.withUnsafeBytes({ try? JSONValue.parse($0) }) else { return nil }
    let id = value.pincerText("messageId")
    if id.isEmpty { return nil }
    return MessageRecord(
      origin, id: id, thread: thread,
      role: MessageRecord.Role(rawValue: value.pincerText("role")) ?? .system,
      text: value.pincerText("content"), state: .final, time: value.pincerTime("createdAt"))
  }
}
