public import Core
public import Records

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
