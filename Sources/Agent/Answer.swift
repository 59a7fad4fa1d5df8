public import Core
public import Web

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
  /// - Parameters:
  ///   - reply: an answer of 2xx.
  ///   - place: the address, for messages.
  /// - Throws: `CallFailure` when the body is not JSON.
  public init(_ reply: Caller.Reply, place: String) throws(CallFailure) {
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
      throw CallFailure(
        place, AnswerProblem("\(reply.head.summary): \(reason)", .failure, isStray: true))
    }
    if let rows = Self.elements(body) {
      self = .rows(rows)
    } else {
      self = first == UInt8(ascii: "n") ? .null : .record(body)
    }
  }

  /// The records of a list that is asked for by name.
  ///
  /// - Parameters:
  ///   - reply: an answer of 2xx.
  ///   - member: the member that holds it, nil when the answer is the list.
  ///   - place: the address, for messages.
  /// - Throws: `CallFailure` when there is no such list.
  public static func list(
    _ reply: Caller.Reply, _ member: String?, place: String
  ) throws(CallFailure) -> [[UInt8]] {
    let answer = try Answer(reply, place: place)
    switch (answer, member) {
    case (.rows(let rows), nil): return rows
    case (.null, nil): return []
    case (.record(let record), let member?):
      let value = record.withUnsafeBytes { bytes -> [UInt8]? in
        (try? ScanMembers.value(of: member, in: bytes)).map { Array($0.bytes) }
      }
      if let value, let rows = elements(value) { return rows }
      if let value, value.elementsEqual("null".utf8) { return [] }
    default: break
    }
    if let words = answer.refusal {
      throw CallFailure(place, reply.head.quoted(words), .negative)
    }
    let name = member.map { " \"\($0)\"" } ?? ""
    throw CallFailure(
      place, AnswerProblem("the answer has no list\(name)", .failure, isStray: true))
  }

  /// Why an answer of 2xx refuses what was asked: the reason of
  /// `{"ok":false,"reason":"..."}`; nil for any other.
  public var refusal: String? {
    guard case .record(let record) = self,
      let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }),
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

/// Why the backend's answer could not be had: one line, and how to leave.
public struct CallFailure: Reported, Equatable {
  /// One line, lower case: `http://127.0.0.1:8787/api/health: 401 Unauthorized: ...`.
  public let message: String
  /// How the command ends.
  public let status: ExitStatus
  /// Whether something else than the server answered, for all that is known.
  public let isStray: Bool

  /// - Parameters:
  ///   - what: the address or the command.
  ///   - reason: one line, lower case, no full stop.
  ///   - status: how the command ends.
  public init(_ what: String, _ reason: String, _ status: ExitStatus) {
    self.init(what, AnswerProblem(reason, status))
  }

  /// What is wrong with an answer.
  ///
  /// - Parameters:
  ///   - what: the address or the command.
  ///   - problem: with it.
  public init(_ what: String, _ problem: AnswerProblem) {
    message = "\(what): \(problem.line)"
    (status, isStray) = (problem.status, problem.isStray)
  }

  /// Why nobody is there to be told anything; nil for an answer of a server that is.
  public var unsupportedReason: AnswerProblem? {
    if isStray { return AnswerProblem(message, .temporary) }
    return status == .temporary || status == .denied ? AnswerProblem(message, status) : nil
  }

  /// What is wrong, and says itself where.
  init(_ problem: AnswerProblem) {
    message = problem.line
    (status, isStray) = (problem.status, problem.isStray)
  }

  /// A setting that stands in the way.
  public init(_ error: SettingsError) {
    message = error.message
    (status, isStray) = (error.status, false)
  }
}
