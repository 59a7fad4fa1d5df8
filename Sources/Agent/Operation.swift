public import Core
public import Records
import Web

/// Something that an agent can be asked for by a word: `agent-call WORD`. A backend's
/// table of them says what follows the word, what is asked, and how the answer is shown.
public struct Operation: Sendable {
  /// A word behind the operation's own.
  public struct Operand: Sendable {
    /// What it is, for messages: `GUILD`.
    public let name: String
    /// Whether it must be there.
    public let isNeeded: Bool

    /// - Parameter name: what it is, for messages.
    public init(_ name: String, isNeeded: Bool = false) {
      (self.name, self.isNeeded) = (name, isNeeded)
    }
  }

  /// The word.
  public let name: String
  /// What may follow it; nil for nothing.
  public let operand: Operand?
  /// The long names of the options that it takes and not every operation does.
  public let options: Set<String>
  /// The list that is the answer; nil for another.
  public let listing: Listing?
  /// Whether it asks for the token, and so may have none yet.
  public let fetchesToken: Bool
  /// Asks, and writes the answer. Throws `Failure`, `WriteFailure`.
  public let run: @Sendable (OperationCall) throws -> ExitStatus

  /// One that does more than ask once.
  ///
  /// - Parameters:
  ///   - options: the long names of the options that it takes.
  ///   - fetchesToken: whether it asks for the token, and so may have none yet.
  public init(
    _ name: String, _ operand: Operand? = nil, options: Set<String> = [],
    listing: Listing? = nil, fetchesToken: Bool = false,
    run: @escaping @Sendable (OperationCall) throws -> ExitStatus
  ) {
    (self.name, self.operand, self.options, self.listing) = (name, operand, options, listing)
    (self.fetchesToken, self.run) = (fetchesToken, run)
  }

  /// One that asks for a list.
  ///
  /// - Parameters:
  ///   - options: the long names of the options that it takes besides `count`.
  ///   - path: what is asked for, given the most records of an answer.
  public init(
    list name: String, _ operand: Operand? = nil, options: Set<String> = [], of listing: Listing,
    path: @escaping @Sendable (OperationCall) throws(Failure) -> String
  ) {
    self.init(name, operand, options: options.union(["count"]), listing: listing) { call in
      try call.finish(try call.rows(listing, try path(call)), listing)
    }
  }

  /// One that asks for a record.
  ///
  /// - Parameters:
  ///   - facts: what a table says of it; nil for a line a leaf.
  ///   - isWell: whether the record is good news, for the status with `--quiet`.
  public init(
    record name: String, options: Set<String> = [],
    path: @escaping @Sendable (OperationArguments) -> String,
    facts: @escaping @Sendable (JSONValue) -> [OperationOutput.Detail]? = { _ in nil },
    isWell: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
  ) {
    self.init(name, options: options) { call in
      try call.record(path(call.arguments), facts: facts, isWell: isWell)
    }
  }
}

/// What the command line says of an operation.
public struct OperationArguments: Sendable {
  /// The word behind the operation's own.
  public var operand: String?
  /// `--guild`, `--channel`, `--user`.
  public var guild: String?, channel: String?, user: String?
  /// `--count`.
  public var count: Int?
  /// `--since`.
  public var since: Moment?
  /// `--kind`.
  public var kinds: [String] = []
  /// `--status`.
  public var statuses: [String] = []
  /// `--data`.
  public var data: String?
  /// `--quiet`.
  public var isQuiet = false

  /// Nothing given.
  public init() {}
}

/// Where the answers of operations go.
public protocol OperationOutput {
  /// A line of a table of one record; left out where it says nothing.
  typealias Detail = (name: String, value: Cell)

  /// Whether it is for a person.
  var isTable: Bool { get }
  /// Writes records of a list; the next batch of the same list goes on below.
  func list(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure)
  /// Writes one record.
  ///
  /// - Parameter facts: what a table says of it; nil for a line a leaf.
  func record(_ record: [UInt8], facts: [Detail]?) throws(WriteFailure)
  func flush() throws(WriteFailure)
}

/// An operation as it is asked for: the arguments, who is asked, and where the answer
/// goes.
public struct OperationCall {
  /// The operation's word.
  public let name: String
  /// What the command line says.
  public let arguments: OperationArguments
  /// Who is asked.
  public let caller: Caller
  /// Where the answer goes.
  public let output: any OperationOutput
  /// For words.
  public let diagnostics: Diagnostics

  public init(
    _ name: String, _ arguments: OperationArguments, caller: Caller,
    output: any OperationOutput, diagnostics: Diagnostics
  ) {
    (self.name, self.arguments, self.caller) = (name, arguments, caller)
    (self.output, self.diagnostics) = (output, diagnostics)
  }

  func record(
    _ path: String, facts: (JSONValue) -> [OperationOutput.Detail]?, isWell: (JSONValue) -> Bool
  ) throws -> ExitStatus {
    let place = caller.place(path)
    let answer = try Answer(try caller.call(path), place: place)
    switch answer {
    case .record(let record):
      let value = JSONValue(record)
      try output.record(record, facts: value.flatMap(facts))
      if arguments.isQuiet, value.map(isWell) == false { return .negative }
      return answer.refusal == nil ? .success : .negative
    case .null:
      tellPerson("no \(name)")
      return .negative
    case .rows, .nothing: throw Failure(place, "the answer is not an object", .failure)
    }
  }

  func rows(_ listing: Listing, _ path: String) throws(Failure) -> [[UInt8]] {
    let place = caller.place(path)
    let rows = try Answer.list(try caller.call(path), listing.member, place: place)
    if let most = listing.most, rows.count == most, arguments.count ?? .max > most {
      diagnostics.error(place, "there may be more than these \(most): the backend gives no more")
    }
    return rows
  }

  func finish(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellNone(of: listing)
      try output.list([], listing)
      return .negative
    }
    try output.list(Array(rows.prefix(arguments.count ?? .max)), listing)
    return .success
  }

  /// The most that an answer may hold, so that the backend's default cuts nothing.
  func limit(_ listing: Listing) -> Int? {
    listing.most.map { min($0, arguments.count ?? $0) }
  }

  func tellNone(of listing: Listing) {
    tellPerson("no \(name)" + (listing.origin.map { ": \($0)" } ?? ""))
  }

  /// Tells what a person at a terminal wants to know and a script sees by the status.
  func tellPerson(_ words: String) {
    if !arguments.isQuiet { diagnostics.tellPerson(words) }
  }
}

/// A part of an agent's system and how it is: what agent-status(1) shows of it.
struct HealthPart {
  let name: String
  var troubles: [String] = []
  var words: [String] = []

  static func record(
    _ name: String, _ status: String, _ summary: String, latency: String, _ place: String
  ) -> [UInt8] {
    RecordText(.health).string("source", name).string("status", status)
      .string("summary", summary).json("latency_ms", latency).string("url", place).bytes
  }
}

extension OperationCall {
  /// Writes how the parts are; `latency`: of an answer, milliseconds.
  func finish(_ parts: [HealthPart], latency: Int, at place: String) throws -> ExitStatus {
    let rows = parts.map { part in
      HealthPart.record(
        part.name, part.troubles.isEmpty ? "healthy" : "degraded",
        (part.troubles + part.words).joined(separator: ", "), latency: String(latency), place)
    }
    try output.list(rows, .health)
    return parts.allSatisfy(\.troubles.isEmpty) ? .success : .negative
  }
}

extension Listing {
  static let health = Listing(
    columns: [
      .text("SOURCE", "source"),
      Column("STATUS") { row in
        let words = row["status"]?.text ?? ""
        return .words(words, words == "healthy" ? .good : words == "degraded" ? .odd : .bad)
      },
      .milliseconds("LATENCY", "latency_ms"), .text("SUMMARY", "summary", gives: true),
      .text("URL", "url", gives: true),
    ], fields: ["source", "status", "latency_ms", "summary", "url"])
}
