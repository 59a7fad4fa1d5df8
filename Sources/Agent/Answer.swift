public import Core
import Web

/// The body of an answer, taken apart.
public enum Answer {
  /// The records of a list.
  case rows([[UInt8]])
  /// One record, or one value.
  case record([UInt8])
  /// A null.
  case null
  /// Not a byte.
  case nothing

  /// Reads a body.
  ///
  /// - Parameter reply: an answer of 2xx.
  /// - Throws: `Failure` when the body is not JSON.
  public init(_ reply: Caller.Reply, place: String) throws(Failure) {
    let body = reply.body.first == 0xef ? Self.withoutMark(reply.body) : reply.body
    guard let first = body.first(where: { ![32, 9, 10, 13].contains($0) }) else {
      self = .nothing
      return
    }
    if let (fault, offset) = body.withUnsafeBytes({ ScanValidator.firstFault($0) }) {
      let head = reply.head
      let isPage =
        head.value("Content-Type")?.lowercased().holds("html") == true || body.first == 60
      let reason =
        isPage
        ? "a web page, not JSON"
        : "not JSON: \(fault.reason) at byte \(offset) (\(head.typeText))"
      throw Failure(
        place, Failure("\(reply.head.summary): \(reason)", .failure, isStray: true))
    }
    if let rows = Self.elements(body) {
      self = .rows(rows)
    } else {
      self = first == UInt8(ascii: "n") ? .null : .record(body)
    }
  }

  /// The records of a list that is asked for by name.
  ///
  /// - Parameter member: the member that holds it, nil when the answer is the list.
  /// - Throws: `Failure` when there is no such list.
  public static func list(
    _ reply: Caller.Reply, _ member: String?, place: String
  ) throws(Failure) -> [[UInt8]] {
    let answer = try Answer(reply, place: place)
    switch (answer, member) {
    case (.rows(let rows), nil): return rows
    case (.null, nil): return []
    case (.record(let record), let member?):
      let value = ScanMembers.copy(of: member, in: record)
      if let value, let rows = elements(value) { return rows }
      if let value, value.elementsEqual("null".utf8) { return [] }
    default: break
    }
    if let words = answer.refusal {
      throw Failure(place, reply.head.quoted(words), .negative)
    }
    let name = member.map { " \"\($0)\"" } ?? ""
    throw Failure(
      place, Failure("the answer has no list\(name)", .failure, isStray: true))
  }

  /// Why an answer of 2xx refuses what was asked: the reason of
  /// `{"ok":false,"reason":"..."}`; nil for any other.
  public var refusal: String? {
    guard case .record(let record) = self,
      let value = JSONValue(record),
      value["ok"]?.bool == false
    else { return nil }
    return value[either: "error", "reason", "message"]?.text ?? "refused"
  }

  /// The elements of an array; nil for anything else.
  public static func elements(_ bytes: [UInt8]) -> [[UInt8]]? {
    bytes.withUnsafeBytes { bytes in
      guard var elements = try? ScanElements(bytes) else { return nil }
      var rows: [[UInt8]] = []
      do throws(ScanFault) {
        while try elements.next() { rows.append(Array(elements.value.bytes)) }
      } catch {
        return nil
      }
      return rows
    }
  }

  /// A byte order mark is not JSON, but harmless (RFC 8259, section 8.1).
  private static func withoutMark(_ body: [UInt8]) -> [UInt8] {
    body.starts(with: [0xef, 0xbb, 0xbf]) ? Array(body.dropFirst(3)) : body
  }
}

extension Failure {
  /// What is found or made at a place, which whatever fails with it is said of.
  static func at<Value>(
    _ place: String, _ value: @autoclosure () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    do throws(Failure) { return try value() } catch { throw Failure(place, error.reason) }
  }

  /// Why nobody is there to be told anything; nil for an answer of a server that is.
  public var unsupportedReason: Failure? {
    if isStray { return Failure(message, .temporary) }
    return status == .temporary || status == .denied ? Failure(message, status) : nil
  }
}

extension LinkEnd {
  /// What a link needs; it ends where that fails.
  static func ifFailed<Value>(
    _ value: @autoclosure () throws(Failure) -> Value
  ) throws(LinkEnd) -> Value {
    do throws(Failure) { return try value() } catch { throw .failed(error) }
  }

  /// What keeps a server from doing what a link needs.
  init(_ problem: Failure) {
    self = problem.status == .temporary ? .lost(problem.message) : .failed(problem)
  }
}
