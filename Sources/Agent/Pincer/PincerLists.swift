import Core
import Records
import Web

/// The conversations of a Pincer server, and what was said in one, as records.
final class PincerLists {
  private let calls: PincerCalls
  private let origin: RecordOrigin

  typealias Then = (Result<[[UInt8]], CallFailure>) -> Void

  private static let (threadPage, messagePage) = (100, 200)

  init(_ calls: PincerCalls, _ origin: RecordOrigin) {
    self.calls = calls
    self.origin = origin
  }

  /// Fetches a list.
  func fetch(_ list: ChatList, place: String, then: @escaping Then) {
    let refuse = { then(.failure(CallFailure(place, $0, .failure))) }
    switch list {
    case .agents: refuse("a Pincer server has one agent, and no list")
    case .ending: refuse("a Pincer server ends no turn")
    case .threads:
      page(.listThreads, RecordText().number("pageSize", Self.threadPage), place) {
        [origin] result in
        then(result.map { $0.compactMap { Self.thread($0, origin)?.bytes } })
      }
    case .history(nil, _, _):
      refuse("name the thread with --thread; --threads lists them")
    case .history(let thread?, _, let count):
      let question = RecordText().string("threadId", thread).number("pageSize", Self.messagePage)
      page(.listThreadMessages, question, place) { [origin] result in
        then(
          result.map { rows in
            rows.suffix(count).compactMap { Self.message($0, thread, origin)?.bytes }
          })
      }
    }
  }

  private func page(
    _ method: PincerMethod, _ question: RecordText, _ place: String,
    _ pages: PincerPages = PincerPages(), rows: [[UInt8]] = [], then: @escaping Then
  ) {
    calls.call(method, question.string("pageToken", pages.token)) { [unowned self] outcome in
      switch outcome {
      case .failure(let failure):
        then(.failure(CallFailure(place, failure.problem.line, failure.problem.status)))
      case .success(let reply):
        let rows = rows + PincerPages.items(reply.bytes)
        var pages = pages
        do throws(CallFailure) {
          if try pages.turn(reply.value, at: place) {
            page(method, question, place, pages, rows: rows, then: then)
          } else {
            then(.success(rows))
          }
        } catch {
          then(.failure(error))
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
